package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.NEVER_MILLIS;
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
    // longer than a test may take; a link that is not used for five minutes is closed
    private static final long PROBE_NANOS = TimeUnit.MINUTES.toNanos(4);

    private ReadFixture fixture;
    private TestingWorker local;
    private TestingWorker owner;
    private CacheClient client;
    private CachedFile file;
    private long position;
    // what the client's clock is ahead of the machine's
    private final AtomicLong laterNanos = new AtomicLong();

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
        owner = fixture.worker("other");
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
        start(timeouts, () -> System.nanoTime() + laterNanos.get());
    }

    private void start(Timeouts timeouts, LongSupplier nanoTime)
            throws IOException
    {
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), owner, Optional.of(owner.listenTcp())));
        position = fixture.chunkOf(ring, owner);
        fixture.listen();
        client = fixture.connected(fixture.client(timeouts, CacheClientConfig.Limits.DEFAULT, ReadFixture.SECRET, nanoTime));
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
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("not at once").isGreaterThanOrEqualTo(Duration.ofMillis(20));

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

    /**
     * A clock that stands still but for what the test adds, and counts how often a thread reads it.
     */
    private static final class ManualClock
            implements LongSupplier
    {
        private final AtomicLong nanos = new AtomicLong();
        private final AtomicInteger looks = new AtomicInteger();
        private volatile Thread watched;

        @Override
        public long getAsLong()
        {
            if (Thread.currentThread() == watched) {
                looks.incrementAndGet();
            }
            return nanos.get();
        }

        /**
         * Returns when the watched reader has compared its deadlines with the new time.
         */
        void advance(Duration duration)
        {
            nanos.addAndGet(duration.toNanos());
            int before = looks.get();
            // one for deadlines, and one for the next wait
            Await.until("the reader looks at the clock", () -> looks.get() > before + 2);
        }
    }

    @Test
    void testFetchingHasTheTimeOfTheOrigin()
            throws Exception
    {
        ManualClock clock = new ManualClock();
        // readers look at the clock at least that often
        Timeouts timeouts = new Timeouts(3000, 3000, PATIENT.reconnectMillis(), PATIENT.probeMillis());
        start(timeouts, clock);
        fixture.awaitHit(file, position, 1);
        for (int i = 0; i < 100; i++) {
            fixture.assertReads(file, position, 1);
        }

        CountDownLatch fetched = new CountDownLatch(1);
        CompletableFuture<Void> reader = readWhileFetching(clock, exchange -> {
            fetched.await();
            owner.source = Source.REMOTE;
            exchange.answerAll();
        });
        // nobody knows yet how long the origin takes
        clock.advance(Duration.ofMillis(200));
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();
        fetched.countDown();
        reader.get();
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();

        // now it is known: 200 ms
        owner.source = Source.RAM;
        reader = readWhileFetching(clock, _ -> {});
        clock.advance(Duration.ofMillis(199));
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();
        // what is known of it is an eighth too high at most
        clock.nanos.addAndGet(Duration.ofMillis(30).toNanos());
        reader.get();
        assertThat(client.counters().get(CounterNames.HEDGES_WON)).isEqualTo(1);
        ReadFixture.assertIdle(client);
    }

    /**
     * A worker whose hits are slower than the origin: once it fetches, the reader waits as long as the origin takes, and not as long as hits take.
     */
    @Test
    void testFetchingWakesTheReader()
            throws Exception
    {
        ManualClock clock = new ManualClock();
        // nothing but a hedge ends the reader's wait within the time of a test
        start(new Timeouts(NEVER_MILLIS, NEVER_MILLIS, PATIENT.reconnectMillis(), PATIENT.probeMillis()), clock);
        owner.source = Source.REMOTE;
        readWithin(clock, Duration.ofMillis(50), 1);
        owner.source = Source.RAM;
        readWithin(clock, Duration.ofMinutes(5), 20);
        readWithin(clock, Duration.ZERO, 80);

        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        owner.reads = (exchange, _) -> {
            waits.await();
            exchange.fetching();
            told.countDown();
        };
        CompletableFuture<Void> done = startReader(clock);
        Await.until("the reader waits for a hit", () -> !owner.readRequests.isEmpty() && clock.watched.getState() == Thread.State.TIMED_WAITING);
        waits.countDown();
        told.await();
        // The reader's wait for the origin begins when it sees the message. A reader that is not woken waits the 5 minutes of a hit.
        Await.until("the origin is asked and answers", () -> {
            clock.nanos.addAndGet(Duration.ofMillis(60).toNanos());
            return done.isDone();
        });
        done.get();
        assertThat(client.counters().get(CounterNames.HEDGES_WON)).isEqualTo(1);
        ReadFixture.assertIdle(client);
    }

    /**
     * Reads that the owner answers after that time of the clock.
     */
    private void readWithin(ManualClock clock, Duration latency, int count)
            throws IOException
    {
        owner.reads = (exchange, read) -> {
            clock.nanos.addAndGet(latency.toNanos());
            exchange.answerAll(read);
        };
        for (int i = 0; i < count; i++) {
            fixture.assertReads(file, position, 1);
        }
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();
        owner.readRequests.clear();
    }

    private interface Rest
    {
        void answer(FetchingExchange exchange)
                throws IOException, InterruptedException;
    }

    private record FetchingExchange(TestingWorker.Exchange exchange, Read read)
    {
        void answerAll()
                throws IOException
        {
            exchange.answerAll(read);
        }
    }

    /**
     * Starts a reader that the clock watches, and returns when the reader's connection has been told that the owner is fetching.
     */
    private CompletableFuture<Void> readWhileFetching(ManualClock clock, Rest rest)
            throws Exception
    {
        CountDownLatch told = new CountDownLatch(1);
        owner.reads = (exchange, read) -> {
            exchange.fetching();
            told.countDown();
            rest.answer(new FetchingExchange(exchange, read));
        };
        CompletableFuture<Void> done = startReader(clock);
        told.await();
        owner.reads = TestingWorker.Exchange::answerAll;
        // what is answered later on the same connection arrives later
        fixture.assertReads(file, position, 1);
        return done;
    }

    private CompletableFuture<Void> startReader(ManualClock clock)
    {
        CompletableFuture<Void> done = new CompletableFuture<>();
        clock.watched = Thread.ofPlatform().start(() -> {
            try {
                fixture.assertReads(file, position, BLOCK);
                done.complete(null);
            }
            catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
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
         * Does not even read what it is sent: as a stopped process.
         */
        FROZEN,
    }

    /**
     * Three reads in a row wait for their time-out, and then none until the owner answers a probe.
     */
    @ParameterizedTest
    @EnumSource(names = {"SILENT", "FROZEN"})
    void testOwnerThatSaysNothing(Fault fault)
            throws Exception
    {
        // no probe is due until the test moves the clock
        start(new Timeouts(HASTY.silenceMillis(), HASTY.fetchMillis(), HASTY.reconnectMillis(), TimeUnit.NANOSECONDS.toMillis(PROBE_NANOS), NEVER_MILLIS));
        fixture.awaitHit(file, position, BLOCK);
        CountDownLatch trouble = new CountDownLatch(1);
        owner.reads = (_, _) -> {};
        if (fault == Fault.FROZEN) {
            owner.frozen = trouble;
        }
        Map<BypassCause, Long> before = fixture.observer.bypassBytes();
        for (int i = 0; i < READS_IN_TROUBLE; i++) {
            fixture.assertReads(file, position, BLOCK);
        }
        assertThat(bypassed(before)).isEqualTo(Map.of(BypassCause.TIMEOUT, 3L * BLOCK, BypassCause.BREAKER_OPEN, (READS_IN_TROUBLE - 3L) * BLOCK));
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();

        owner.reads = TestingWorker.Exchange::answerAll;
        trouble.countDown();
        Await.until("used again", () -> {
            laterNanos.addAndGet(PROBE_NANOS);
            long hits = fixture.observer.bytes(ReadSource.NON_LOCAL_HIT);
            fixture.assertReads(file, position, BLOCK);
            return fixture.observer.bytes(ReadSource.NON_LOCAL_HIT) > hits;
        });
        ReadFixture.assertIdle(client);
    }

    /**
     * No read waits for a time-out, which none would live to see.
     */
    @ParameterizedTest
    @EnumSource(names = {"GARBAGE", "RESETS"})
    void testOwnerThatBreaksConnections(Fault fault)
            throws Exception
    {
        start(new Timeouts(NEVER_MILLIS, NEVER_MILLIS, HASTY.reconnectMillis(), HASTY.probeMillis(), NEVER_MILLIS));
        fixture.assertReads(file, position, BLOCK);
        assertThat(fixture.observer.bytes(ReadSource.NON_LOCAL_HIT)).isEqualTo(BLOCK);
        owner.reads = fault == Fault.GARBAGE ? (exchange, _) -> exchange.write(new byte[100]) : (exchange, _) -> exchange.disconnect();
        for (int i = 0; i < READS_IN_TROUBLE; i++) {
            fixture.assertReads(file, position, BLOCK);
        }
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo((long) READS_IN_TROUBLE * BLOCK);
        assertThat(fixture.observer.bypassBytes().keySet()).doesNotContain(BypassCause.TIMEOUT, BypassCause.BREAKER_OPEN);
        assertThat(client.counters().get(CounterNames.HEDGES)).isZero();

        owner.reads = TestingWorker.Exchange::answerAll;
        fixture.awaitHit(file, position, BLOCK);
        ReadFixture.assertIdle(client);
    }

    private Map<BypassCause, Long> bypassed(Map<BypassCause, Long> before)
    {
        Map<BypassCause, Long> bytes = fixture.observer.bypassBytes();
        before.forEach((cause, count) -> bytes.merge(cause, -count, Long::sum));
        bytes.values().removeIf(count -> count == 0);
        return bytes;
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
