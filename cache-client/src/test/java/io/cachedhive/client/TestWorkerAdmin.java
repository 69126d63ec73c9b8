package io.cachedhive.client;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.StatusMessage.CountedTable;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestWorkerAdmin
{
    private ReadFixture fixture;
    private TestingWorker worker;
    private WorkerAddress address;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        worker = fixture.worker("other", Optional.of("secret"));
        address = worker.listenTcp();
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    private static WorkerAdmin admin(Timeouts timeouts)
    {
        return WorkerAdmin.start(ReadFixture.identity(Optional.of("secret")), Optional.empty(), timeouts);
    }

    private static <T> T get(CompletableFuture<T> future)
            throws Exception
    {
        return future.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static String failure(CompletableFuture<?> future)
    {
        Throwable[] failure = new Throwable[1];
        assertThatThrownBy(() -> get(future)).satisfies(e -> failure[0] = e.getCause());
        assertThat(failure[0]).isInstanceOf(WorkerException.class);
        return failure[0].getMessage();
    }

    @Test
    void testQuestions()
            throws Exception
    {
        try (WorkerAdmin admin = admin(PATIENT)) {
            Pong pong = get(admin.ping(address));
            assertThat(pong.worker()).isEqualTo(worker.id());
            assertThat(pong.state()).isEqualTo("RUNNING");

            assertThat(get(admin.rings(address))).isEmpty();
            PublishedRing ring = ReadFixture.ring(Map.of(worker, Optional.of(address)), 5);
            get(admin.publishRing(address, ring));
            assertThat(worker.rings).containsExactly(ring);
            assertThat(get(admin.rings(address))).isEqualTo(List.of(ring));

            Stats stats = get(admin.stats(address));
            assertThat(stats.problem()).contains("a problem");
            assertThat(stats.gauges()).containsEntry("ram_used_bytes", 5L);

            worker.tables = request -> request.after().isEmpty() ?
                    new Tables(List.of(new CountedTable("s.a", Map.of("requests", 1L))), true) :
                    new Tables(List.of(new CountedTable("s.b", Map.of("after " + request.after(), 2L))), false);
            assertThat(get(admin.tables(address, ""))).isEqualTo(new Tables(List.of(new CountedTable("s.a", Map.of("requests", 1L))), true));
            assertThat(get(admin.tables(address, "s.a"))).isEqualTo(new Tables(List.of(new CountedTable("s.b", Map.of("after s.a", 2L))), false));

            Preloaded preloaded = get(admin.preload(address, 0, fixture.file, 10, 20, new RingEpoch(1), "s.t", 60_000));
            assertThat(preloaded).isEqualTo(new Preloaded(20, 0, 0, Optional.empty()));
            assertThat(worker.acceptedConnections()).isEqualTo(1);
        }
        Await.until("disconnected", () -> worker.openConnections() == 0);
    }

    @Test
    void testRequestThatIsTooLargeFailsAlone()
            throws Exception
    {
        try (WorkerAdmin admin = admin(PATIENT)) {
            get(admin.ping(address));
            assertThat(failure(admin.tables(address, "x".repeat(FrameHeader.MAX_BODY_BYTES))))
                    .isEqualTo("request to the cache worker at %s does not fit: GET_TABLES message has 8454148 bytes, and a frame has at most 8454144".formatted(address));
            get(admin.ping(address));
            assertThat(worker.acceptedConnections()).isEqualTo(1);
        }
    }

    /**
     * A worker that has no time now is another matter than one that cannot: who preloads asks it again.
     */
    @Test
    void testRefusalsThatPass()
            throws Exception
    {
        try (WorkerAdmin admin = admin(PATIENT)) {
            worker.preloads = preload -> new BlockNo((int) (preload.position() / ReadFixture.BLOCK), NoCause.UNAVAILABLE);
            assertThat(refusal(admin.preload(address, 0, fixture.file, 10, 20, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.UNREACHABLE);
            worker.preloads = _ -> new BlockNo(0, NoCause.OVERLOADED);
            assertThat(refusal(admin.preload(address, 0, fixture.file, 10, 20, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.OVERLOADED);
            worker.preloads = _ -> new BlockNo(0, NoCause.INVALID_REQUEST);
            assertThat(refusal(admin.preload(address, 0, fixture.file, 10, 20, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.PROTOCOL);
            worker.preloads = _ -> new ControlMessage.Error("no");
            assertThat(refusal(admin.preload(address, 0, fixture.file, 10, 20, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.PROTOCOL);

            worker.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.UNAVAILABLE);
            assertThat(refusal(admin.readBlock(address, 0, fixture.file, 5, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.UNREACHABLE);
            worker.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.ABSENT);
            assertThat(refusal(admin.readBlock(address, 0, fixture.file, 5, new RingEpoch(1), "s.t", 60_000))).isEqualTo(Reason.PROTOCOL);
        }
    }

    private static Reason refusal(CompletableFuture<?> future)
    {
        Reason[] reason = new Reason[1];
        assertThatThrownBy(() -> get(future)).satisfies(e -> reason[0] = ((WorkerException) e.getCause()).reason());
        return reason[0];
    }

    @Test
    void testReadBlock()
            throws Exception
    {
        try (WorkerAdmin admin = admin(PATIENT)) {
            // in the last block, which is shorter
            long position = fixture.bytes.length - 1;
            CachedBlock block = get(admin.readBlock(address, 0, fixture.file, position, new RingEpoch(1), "s.t", 60_000));
            assertThat(block.position()).isEqualTo((ReadFixture.BLOCKS - 1L) * ReadFixture.BLOCK);
            assertThat(block.bytes()).isEqualTo(Arrays.copyOfRange(fixture.bytes, (int) block.position(), fixture.bytes.length));
            assertThat(worker.readRequests).singleElement().satisfies(read -> {
                assertThat(read.inline()).isTrue();
                assertThat(read.mayFill()).isFalse();
                assertThat(read.mayLease()).isFalse();
            });

            worker.reads = (exchange, read) -> {
                exchange.fetching();
                exchange.no(read.firstBlock(), NoCause.ABSENT);
            };
            assertThat(failure(admin.readBlock(address, 0, fixture.file, 5, new RingEpoch(1), "s.t", 60_000)))
                    .isEqualTo("cache worker at %s answers ABSENT for %s".formatted(address, fixture.file.location()));

            worker.reads = (exchange, read) -> exchange.answerFlipped(read.firstBlock(), 7);
            assertThat(failure(admin.readBlock(address, 0, fixture.file, 5, new RingEpoch(1), "s.t", 60_000)))
                    .isEqualTo("cache worker at %s sent a block of %s that is damaged".formatted(address, fixture.file.location()));
        }
    }

    @Test
    void testManyAtOnce()
            throws Exception
    {
        try (WorkerAdmin admin = admin(PATIENT)) {
            List<CompletableFuture<Pong>> pings = IntStream.range(0, 200).mapToObj(_ -> admin.ping(address)).toList();
            for (CompletableFuture<Pong> ping : pings) {
                assertThat(get(ping).worker()).isEqualTo(worker.id());
            }
            assertThat(worker.acceptedConnections()).isEqualTo(1);
        }
    }

    @Test
    void testSilentWorker()
            throws Exception
    {
        worker.answersPings = false;
        try (WorkerAdmin admin = admin(HASTY)) {
            // the handshake may take longer than an answer
            awaitRings(admin);
            int before = worker.cancelled.size();
            assertThat(failure(admin.ping(address))).isEqualTo("cache worker at %s did not answer within %s ms".formatted(address, HASTY.silenceMillis()));
            Await.until("cancelled", () -> worker.cancelled.size() > before);
            // another question is another matter
            awaitRings(admin);
        }
    }

    private void awaitRings(WorkerAdmin admin)
    {
        Await.until("it says its rings", () -> {
            try {
                return get(admin.rings(address)).isEmpty();
            }
            catch (ExecutionException e) {
                return false;
            }
        });
    }

    @Test
    void testNobodyThere()
            throws Exception
    {
        worker.stop();
        try (WorkerAdmin admin = admin(PATIENT)) {
            assertThat(failure(admin.ping(address))).contains("cache worker at %s cannot be reached".formatted(address), "refused");
            assertThat(failure(admin.ping(address))).contains("cannot be reached");
            worker.listenTcp();
            Await.until("answers", () -> {
                try {
                    return get(admin.ping(address)).worker().equals(worker.id());
                }
                catch (Exception e) {
                    return false;
                }
            });
        }
    }

    @Test
    void testWrongSecret()
    {
        try (WorkerAdmin admin = WorkerAdmin.start(ReadFixture.identity(Optional.of("wrong")), Optional.empty(), PATIENT)) {
            assertThat(failure(admin.ping(address))).contains("does not prove that it knows the shared secret", "internal-communication.shared-secret");
        }
    }

    private WorkerAdmin adminWithoutSecret()
    {
        return WorkerAdmin.start(ReadFixture.identity(Optional.empty()), Optional.of(fixture.socket), PATIENT);
    }

    /**
     * Without a secret, the cache worker of this host is reached over its Unix socket, at every address of this host.
     */
    @Test
    void testWithoutSecret()
            throws Exception
    {
        fixture.local.secret = Optional.empty();
        fixture.listen();
        try (WorkerAdmin admin = adminWithoutSecret()) {
            assertThat(get(admin.ping(new WorkerAddress("127.0.0.1", 1))).worker()).isEqualTo(fixture.local.id());
            assertThat(get(admin.ping(new WorkerAddress("localhost", 1))).worker()).isEqualTo(fixture.local.id());
            // an address of the documentation, which no host has
            assertThat(failure(admin.ping(new WorkerAddress("192.0.2.1", address.port())))).contains("leaves this host and needs a shared secret", "set cachedhive.shared-secret");
        }
        assertThat(worker.acceptedConnections()).isZero();
    }

    /**
     * The socket of a cache worker with a secret admits readers only, so an administrator without the secret must hear what is missing.
     */
    @Test
    void testWithoutTheSecretOfTheWorker()
            throws Exception
    {
        fixture.local.secret = Optional.of("secret");
        fixture.listen();
        try (WorkerAdmin admin = adminWithoutSecret()) {
            assertThat(failure(admin.ping(address))).contains("asks for the shared secret", "set cachedhive.shared-secret");
        }
    }

    @Test
    void testWithoutSecretAndSocket()
            throws Exception
    {
        try (WorkerAdmin admin = adminWithoutSecret()) {
            assertThat(failure(admin.ping(address))).contains("no cache worker serves on " + fixture.socket);
        }
        try (WorkerAdmin admin = WorkerAdmin.start(ReadFixture.identity(Optional.empty()), Optional.empty(), PATIENT)) {
            assertThat(failure(admin.ping(address))).contains("needs a shared secret");
        }
        assertThat(worker.acceptedConnections()).isZero();
    }

    @Test
    void testClose()
            throws Exception
    {
        worker.answersPings = false;
        WorkerAdmin admin = admin(new Timeouts(60_000, 60_000, 100, 200));
        get(admin.rings(address));
        CompletableFuture<Pong> ping = admin.ping(address);
        Await.until("asked", () -> worker.pings.get() == 1);
        admin.close();
        assertThat(failure(ping)).contains("closed");
        assertThat(failure(admin.ping(address))).contains("closed");
    }
}
