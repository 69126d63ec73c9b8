package io.cachedhive.client;

import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The origin is asked beside an owner that is silent, now and then; and an owner that is in trouble, of whatever kind, costs no more than a time-out.
 */
@Timeout(120)
@Tag("slow")
class TestHedgedReads
{
    private static final int READS_IN_TROUBLE = 10;

    private ReadFixture fixture;
    private TestingWorker local;
    private TestingWorker owner;
    private CacheClient client;
    private CachedFile file;
    private long position;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
        owner = fixture.worker("other", Optional.empty());
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    private void start(Timeouts timeouts)
            throws IOException
    {
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), owner, Optional.of(owner.listenTcp())));
        position = fixture.chunkOf(ring, owner);
        fixture.listen();
        client = fixture.connected(fixture.client(timeouts));
        file = fixture.open(client, Optional.of(ring.epoch()), true);
    }

    /**
     * So many reads that the next may be hedged.
     */
    private void earnAHedge()
            throws IOException
    {
        for (int i = 0; i < 99; i++) {
            fixture.assertReads(file, position, 1);
        }
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();
        assertThat(fixture.input.reads()).isEmpty();
    }

    @Test
    void testOriginIsFasterThanASilentOwner()
            throws Exception
    {
        start(PATIENT);
        earnAHedge();
        owner.reads = (_, _) -> {};
        long begin = System.nanoTime();
        fixture.assertReads(file, position + 3, 2 * BLOCK);
        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .as("not at once, and long before the time-out")
                .isBetween(Duration.ofMillis(20), Duration.ofMillis(PATIENT.silenceMillis() / 2));

        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, 99L, ReadSource.BYPASS, 2L * BLOCK));
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.HEDGED, 2L * BLOCK));
        assertThat(client.counters().get(CounterNames.HEDGES)).isEqualTo(1);
        assertThat(client.counters().get(CounterNames.HEDGES_WON)).isEqualTo(1);
        assertThat(client.counters().get(CounterNames.HEDGE_EXTRA_BYTES)).isZero();
        assertThat(fixture.input.reads()).containsExactly(new TestingInput.Read(position + 3, 2 * BLOCK));
        Await.until("cancelled", () -> owner.cancelled.size() == 1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testOwnerIsFasterThanTheOrigin()
            throws Exception
    {
        start(PATIENT);
        earnAHedge();
        CountDownLatch gate = new CountDownLatch(1);
        fixture.input.setGate(gate);
        owner.reads = (exchange, read) -> {
            Await.until("the origin is asked", () -> !fixture.input.reads().isEmpty());
            exchange.answerAll(read);
        };
        fixture.assertReads(file, position, BLOCK);

        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, 99L + BLOCK));
        assertThat(client.counters().get(CounterNames.HEDGES)).isEqualTo(1);
        assertThat(client.counters().get(CounterNames.HEDGES_WON)).isZero();
        assertThat(client.counters().get(CounterNames.HEDGE_EXTRA_BYTES)).isEqualTo(BLOCK);
        // the read from the origin is interrupted: the gate is still closed
        ReadFixture.assertIdle(client);
    }

    @Test
    void testOwnerThatFailsWhileTheOriginIsAsked()
            throws Exception
    {
        start(PATIENT);
        earnAHedge();
        CountDownLatch gate = new CountDownLatch(1);
        fixture.input.setGate(gate);
        owner.reads = (exchange, _) -> {
            Await.until("the origin is asked", () -> !fixture.input.reads().isEmpty());
            exchange.disconnect();
        };
        CompletableFuture<Void> read = CompletableFuture.runAsync(() -> {
            try {
                fixture.assertReads(file, position, BLOCK);
            }
            catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        Await.until("the owner is lost", () -> owner.openConnections() == 0 || owner.acceptedConnections() > 1);
        gate.countDown();
        read.get();
        assertThat(fixture.input.reads()).as("asked once").hasSize(1);
        assertThat(fixture.observer.bypassBytes().values()).containsExactly((long) BLOCK);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testOriginThatFails()
            throws Exception
    {
        start(PATIENT);
        earnAHedge();
        fixture.input.fail(new IOException("503"));
        owner.reads = (exchange, read) -> {
            Await.until("the origin is asked", () -> !fixture.input.reads().isEmpty());
            exchange.answerAll(read);
        };
        fixture.assertReads(file, position, BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, 99L + BLOCK));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFetchingHasTheTimeOfTheOrigin()
            throws Exception
    {
        start(PATIENT);
        CountDownLatch never = new CountDownLatch(1);
        // a worker that takes 200 ms now and then may be silent for 600 ms: also on a busy machine it says earlier than that that it is fetching
        AtomicInteger answers = new AtomicInteger();
        owner.reads = (exchange, read) -> {
            if (answers.incrementAndGet() % 10 == 0) {
                assertThat(never.await(200, TimeUnit.MILLISECONDS)).isFalse();
            }
            exchange.answerAll(read);
        };
        earnAHedge();
        owner.source = Source.REMOTE;
        owner.reads = (exchange, read) -> {
            exchange.fetching();
            assertThat(never.await(200, TimeUnit.MILLISECONDS)).isFalse();
            exchange.answerAll(read);
        };
        // nobody knows yet how long the origin takes
        fixture.assertReads(file, position, BLOCK);
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();

        // now it is known: 200 ms
        owner.reads = (exchange, _) -> exchange.fetching();
        long begin = System.nanoTime();
        fixture.assertReads(file, position, BLOCK);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofMillis(200), Duration.ofMillis(PATIENT.silenceMillis() / 2));
        assertThat(client.counters().get(CounterNames.HEDGES_WON)).isEqualTo(1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testInterruptedReaderLeavesNothing()
            throws Exception
    {
        start(PATIENT);
        earnAHedge();
        fixture.input.setGate(new CountDownLatch(1));
        owner.reads = (_, _) -> {};
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                fixture.read(file, position, BLOCK);
            }
            catch (Throwable e) {
                failure.set(e);
            }
        });
        Await.until("the origin is asked", () -> !fixture.input.reads().isEmpty());
        reader.interrupt();
        reader.join();
        assertThat(failure.get()).isInstanceOf(InterruptedIOException.class);
        ReadFixture.assertIdle(client);
    }

    enum Fault
    {
        /**
         * Takes requests and never answers.
         */
        SILENT,
        GARBAGE,
        RESETS,
        /**
         * Does not even read what it is sent, nor accept: as a stopped process.
         */
        FROZEN,
    }

    @ParameterizedTest
    @EnumSource
    void testOwnerInTrouble(Fault fault)
            throws Exception
    {
        start(HASTY);
        fixture.assertReads(file, position, BLOCK);
        CountDownLatch trouble = new CountDownLatch(1);
        switch (fault) {
            case SILENT -> {
                owner.reads = (_, _) -> {};
                owner.answersPings = false;
            }
            case GARBAGE -> owner.reads = (exchange, _) -> exchange.write(new byte[100]);
            case RESETS -> owner.reads = (exchange, _) -> exchange.disconnect();
            case FROZEN -> {
                owner.frozen = trouble;
                owner.answersHello = false;
                // what it waits for already is answered
                fixture.assertReads(file, position, BLOCK);
            }
        }
        // on a busy machine that one may be late itself
        long bypassedBefore = fixture.observer.bytes(ReadSource.BYPASS);
        List<Duration> durations = new ArrayList<>();
        for (int i = 0; i < READS_IN_TROUBLE; i++) {
            durations.add(timedRead());
        }
        Collections.sort(durations);
        System.out.printf("%s: reads took %s%n", fault, durations);
        // but for some that a busy machine made slower still
        assertThat(durations.get(READS_IN_TROUBLE - 3)).as("a time-out, and the origin's time").isLessThan(Duration.ofMillis(HASTY.silenceMillis() + 600));
        // three wait, and then the breaker is open
        assertThat(durations.get(READS_IN_TROUBLE - 6)).as("the breaker is open").isLessThan(Duration.ofMillis(HASTY.silenceMillis() / 2));
        assertThat(fixture.observer.bytes(ReadSource.BYPASS) - bypassedBefore).isEqualTo((long) READS_IN_TROUBLE * BLOCK);
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();

        owner.reads = TestingWorker.Exchange::answerAll;
        owner.answersPings = true;
        owner.answersHello = true;
        trouble.countDown();
        Await.until("used again", () -> {
            long before = fixture.observer.bytes(ReadSource.NON_LOCAL_HIT);
            timedRead();
            return fixture.observer.bytes(ReadSource.NON_LOCAL_HIT) > before;
        });
        ReadFixture.assertIdle(client);
    }

    private Duration timedRead()
    {
        long begin = System.nanoTime();
        try {
            fixture.assertReads(file, position, BLOCK);
        }
        catch (IOException e) {
            throw new AssertionError(e);
        }
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    @Test
    void testHealthyOwnerIsHardlyHedged()
            throws Exception
    {
        start(PATIENT);
        int reads = 2000;
        for (int i = 0; i < reads; i++) {
            fixture.assertReads(file, position + i, BLOCK / 16);
        }
        assertThat(client.counters().get(CounterNames.HEDGES)).isLessThanOrEqualTo(reads / 100);
        assertThat(fixture.input.readBytes()).isLessThanOrEqualTo(reads / 100 * (BLOCK / 16));
    }
}
