package io.cachedhive.client;

import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PreloadMessage;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.AnswerHandler;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What a worker that does not read can make of its client's memory, and what becomes of requests when a connection ends.
 */
class TestWorkerConnections
{
    private static final int REQUESTS = 100;
    private static final int FILL_BYTES = 1 << 20;

    private ReadFixture fixture;
    private TestingWorker worker;
    private WorkerConnections connections;
    private WorkerSession session;

    @BeforeEach
    void setUp()
            throws Exception
    {
        fixture = new ReadFixture();
        worker = fixture.worker("other");
        connections = new WorkerConnections("cachedhive-test", ReadFixture.identity(), Optional.empty(), PATIENT, 1, REQUESTS, System::nanoTime);
        WorkerLink link = connections.peer(worker.listenTcp(), Optional.empty());
        session = link.acquire();
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        worker.frozen.countDown();
        connections.close();
        fixture.close();
    }

    private static final class Counting
            implements AnswerHandler
    {
        private final AtomicInteger answers = new AtomicInteger();
        private final AtomicInteger failures = new AtomicInteger();

        @Override
        public int maxPayloadBytes()
        {
            return 0;
        }

        @Override
        public boolean answered(Message message)
        {
            answers.incrementAndGet();
            return true;
        }

        @Override
        public void failed(WorkerException reason)
        {
            failures.incrementAndGet();
        }
    }

    @Test
    void testRequestsAreBounded()
            throws Exception
    {
        worker.answersPings = false;
        Counting handler = new Counting();
        List<Long> requests = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            requests.add(session.send(new StatusMessage.Ping(), handler));
        }
        assertThatThrownBy(() -> session.send(new StatusMessage.Ping(), handler))
                .isInstanceOf(WorkerException.class)
                .satisfies(e -> assertThat(((WorkerException) e).reason()).isEqualTo(WorkerException.Reason.OVERLOADED));
        requests.forEach(session::cancel);
        // twice changes nothing
        requests.forEach(session::cancel);
        assertThat(session.pendingRequests()).isZero();
        worker.answersPings = true;
        session.send(new StatusMessage.Ping(), handler);
        Await.until("answered", () -> handler.answers.get() == 1);
        assertThat(handler.failures).hasValue(0);
    }

    @Test
    void testUnsentBytesAreBounded()
            throws Exception
    {
        worker.frozen = new CountDownLatch(1);
        Counting handler = new Counting();
        Message large = new PreloadMessage.Preload(0, fixture.file, 0, 1, new RingEpoch(1), "t".repeat(100_000));
        int sent = 0;
        try {
            while (true) {
                session.cancel(session.send(large, handler));
                sent++;
                assertThat(sent).isLessThan(1000);
            }
        }
        catch (WorkerException e) {
            assertThat(e.reason()).isEqualTo(WorkerException.Reason.OVERLOADED);
        }
        assertThat(session.pendingRequests()).isZero();
        worker.frozen.countDown();
        Await.until("taken", () -> worker.cancelled.size() > 0);
        Await.until("answered", () -> {
            try {
                session.send(new StatusMessage.Ping(), handler);
            }
            catch (WorkerException e) {
                assertThat(e.reason()).isEqualTo(WorkerException.Reason.OVERLOADED);
            }
            return handler.answers.get() > 0;
        });
        assertThat(worker.acceptedConnections()).isEqualTo(1);
    }

    @Test
    void testFillsOfALostConnection()
            throws Exception
    {
        worker.frozen = new CountDownLatch(1);
        Counting handler = new Counting();
        AtomicInteger written = new AtomicInteger();
        int accepted = 0;
        for (int i = 0; i < 20; i++) {
            session.sendFill(new Fill(i, 1, 1, 1, ByteBuffer.allocate(FILL_BYTES)), handler, written::incrementAndGet);
            accepted++;
        }
        assertThat(written.get()).isLessThan(accepted);
        worker.disconnectAll();
        int expected = accepted;
        Await.until("given back", () -> written.get() == expected && handler.answers.get() + handler.failures.get() == expected);
        // the frame that the worker was already waiting for
        assertThat(handler.answers.get()).isLessThanOrEqualTo(1);
        assertThatThrownBy(() -> session.sendFill(new Fill(1, 1, 1, 1, ByteBuffer.allocate(1)), handler, written::incrementAndGet))
                .isInstanceOf(WorkerException.class);
        assertThat(written).hasValue(expected);
        assertThat(session.pendingRequests()).isZero();
    }

    /**
     * A reader that learns of the loss first reconnects before the link is told.
     */
    @Test
    void testConnectionIsReplacedBeforeItsLossIsTold()
            throws Exception
    {
        TestingWorker lossy = fixture.worker("lossy");
        lossy.answersPings = false;
        try (WorkerConnections several =
                new WorkerConnections("several", ReadFixture.identity(), Optional.empty(), PATIENT, 2, REQUESTS, System::nanoTime)) {
            WorkerLink link = several.peer(lossy.listenTcp(), Optional.empty());
            WorkerSession first = link.acquire();
            CompletableFuture<WorkerSession> second = new CompletableFuture<>();
            first.send(new StatusMessage.Ping(), new AnswerHandler()
            {
                @Override
                public int maxPayloadBytes()
                {
                    return 0;
                }

                @Override
                public boolean answered(Message message)
                {
                    return true;
                }

                @Override
                public void failed(WorkerException reason)
                {
                    // holds the thread of the lost connection; the next one is another thread's
                    Await.until("reconnected", () -> link.session().isPresent() || connects(link));
                    second.complete(link.session().orElseThrow());
                }
            });
            Await.until("asked, and not answered", () -> lossy.pings.get() == 1);
            lossy.answersPings = true;
            lossy.disconnectAll();
            WorkerSession replacement = second.get(60, TimeUnit.SECONDS);
            assertThat(replacement).isNotSameAs(first);

            // both threads are alive, and the link keeps the new connection
            Counting handler = new Counting();
            replacement.send(new StatusMessage.Ping(), handler);
            Await.until("answered", () -> handler.answers.get() == 1);
            assertThat(link.acquire()).isSameAs(replacement);
            assertThat(link.problem()).isEmpty();
            WorkerSession third = several.peer(fixture.worker("third").listenTcp(), Optional.empty()).acquire();
            assertThat(third.isOpen()).isTrue();
        }
    }

    /**
     * Who comes between the end of a connection whose worker was silent and the link's own attempt to connect anew does not wait for that either.
     */
    @Test
    void testNobodyWaitsForASilentWorkerToConnectAnew()
            throws Exception
    {
        fixture.local.answersPings = false;
        fixture.listen();
        AtomicReference<WorkerLink> link = new AtomicReference<>();
        CompletableFuture<WorkerException> refusal = new CompletableFuture<>();
        AtomicLong laterNanos = new AtomicLong();
        try (WorkerConnections few =
                new WorkerConnections("few", ReadFixture.identity(), Optional.empty(), PATIENT, 1, REQUESTS, () -> System.nanoTime() + laterNanos.get())) {
            link.set(few.local(fixture.socket, new WorkerLink.Listener()
            {
                @Override
                public void disconnected(WorkerSession lost)
                {
                    refusal.complete(refusal(link.get()));
                }
            }));
            WorkerSession connected = link.get().acquire();
            while (!link.get().isBreakerOpen()) {
                link.get().silent();
            }
            fixture.local.answersHello = false;
            // the last attempt to connect is long ago
            laterNanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
            connected.close(new WorkerException(WorkerException.Reason.SILENT, "it was silent for too long"));
            assertThat(refusal.get(PATIENT.silenceMillis() / 2, TimeUnit.MILLISECONDS)).hasMessage("it was silent for too long");
        }
    }

    private static WorkerException refusal(WorkerLink link)
    {
        try {
            throw new AssertionError("connected: " + link.acquire());
        }
        catch (WorkerException e) {
            return e;
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean connects(WorkerLink link)
    {
        try {
            return link.acquire().isOpen();
        }
        catch (WorkerException e) {
            // too early after the attempt before
            return false;
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void testFillsArriveWhole()
            throws Exception
    {
        Counting handler = new Counting();
        AtomicInteger written = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            byte[] bytes = new byte[FILL_BYTES - i];
            Arrays.fill(bytes, (byte) i);
            session.sendFill(new Fill(i, 1, 2, 3, ByteBuffer.wrap(bytes)), handler, written::incrementAndGet);
            session.send(new StatusMessage.Ping(), handler);
        }
        Await.until("answered", () -> handler.answers.get() == 20);
        assertThat(written).hasValue(10);
        int i = 0;
        for (Fill fill : worker.fills) {
            byte[] bytes = new byte[FILL_BYTES - i];
            Arrays.fill(bytes, (byte) i);
            assertThat(fill).isEqualTo(new Fill(i, 1, 2, 3, ByteBuffer.wrap(bytes)));
            i++;
        }
    }

    @Test
    void testReconnectsWithThePreferredSecret()
            throws Exception
    {
        AtomicReference<List<String>> secrets = new AtomicReference<>(List.of("old"));
        AtomicLong elapsedNanos = new AtomicLong();
        ClientIdentity identity = new ClientIdentity("cluster", "catalog", "node", List.of(), secrets::get);
        worker = fixture.worker("rotated", Optional.of("old"));
        LongSupplier clock = () -> System.nanoTime() + elapsedNanos.get();
        try (WorkerConnections rotated = new WorkerConnections("cachedhive-rotated", identity, Optional.empty(), PATIENT, 1, REQUESTS, clock)) {
            WorkerLink link = rotated.peer(worker.listenTcp(), Optional.empty());
            WorkerSession former = link.acquire();
            worker.answersPings = false;
            Counting handler = new Counting();
            long request = former.send(new StatusMessage.Ping(), handler);

            worker.formerSecret = Optional.of("old");
            worker.secret = Optional.of("new");
            secrets.set(List.of("new", "old"));
            Await.until("connected with the preferred secret", () -> link.session().filter(session -> session != former).isPresent());
            WorkerSession preferred = link.acquire();

            // the request in progress keeps its connection, however often the link looks at it
            elapsedNanos.set(TimeUnit.SECONDS.toNanos(5));
            AtomicInteger ticks = new AtomicInteger();
            rotated.every(10, ticks::incrementAndGet);
            Await.until("the links were looked at", () -> ticks.get() >= 50);
            assertThat(former.isOpen()).isTrue();
            assertThat(handler.failures).hasValue(0);
            former.cancel(request);
            Await.until("the connection with the former secret ends", () -> !former.isOpen());
            assertThat(link.acquire()).isSameAs(preferred);
            assertThat(preferred.isOpen()).isTrue();
        }
    }
}
