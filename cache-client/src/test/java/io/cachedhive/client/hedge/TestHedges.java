package io.cachedhive.client.hedge;

import io.cachedhive.testing.Await;
import io.cachedhive.transport.LatencyHistogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

@Timeout(600)
class TestHedges
{
    private static final int LIMIT = 100;
    private static final long UNKNOWN = MILLISECONDS.toNanos(1000);

    private final ThreadPoolExecutor executor = new ThreadPoolExecutor(0, 2, 1, TimeUnit.SECONDS, new SynchronousQueue<>());
    private final AtomicLong reserved = new AtomicLong();
    private final Hedges hedges = new Hedges(
            executor,
            MILLISECONDS.toNanos(20),
            UNKNOWN,
            bytes -> {
                if (reserved.addAndGet(bytes) <= LIMIT) {
                    return true;
                }
                reserved.addAndGet(-bytes);
                return false;
            },
            bytes -> reserved.addAndGet(-bytes));

    @AfterEach
    void stop()
            throws InterruptedException
    {
        executor.shutdownNow();
        assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(reserved).hasValue(0);
    }

    private void addReads(int count)
    {
        for (int i = 0; i < count; i++) {
            hedges.addRead();
        }
    }

    private Optional<Hedge> begin(int length)
    {
        return hedges.begin(length, target -> target[0] = 1, () -> {});
    }

    @Test
    void testOneHundredthOfTheReads()
            throws Exception
    {
        assertThat(begin(1)).isEmpty();
        addReads(99);
        assertThat(begin(1)).isEmpty();
        int begun = 0;
        for (int i = 0; i < 10_000; i++) {
            addReads(1);
            Optional<Hedge> hedge = begin(1);
            if (hedge.isPresent()) {
                begun++;
                assertThat(hedge.get().await()).isPresent();
            }
        }
        assertThat(begun).isBetween(90, 100);
    }

    @Test
    void testLittleIsSaved()
            throws Exception
    {
        addReads(1_000_000);
        for (int i = 0; i < HedgeBudget.MAX_SAVED_HEDGES; i++) {
            beginWhenAThreadIsFree().await();
        }
        Await.until("the threads are free", () -> executor.getActiveCount() == 0);
        for (int i = 0; i < 1000; i++) {
            assertThat(begin(1)).as("no more is saved").isEmpty();
        }
    }

    /**
     * A thread is free a moment after its bytes are there.
     */
    private Hedge beginWhenAThreadIsFree()
    {
        return Await.untilPresent("a hedge", Await.DEADLINE, Duration.ofMillis(1), () -> begin(1));
    }

    @Test
    void testPatience()
    {
        LatencyHistogram hits = new LatencyHistogram();
        assertThat(hedges.patienceNanos(hits, false)).isEqualTo(MILLISECONDS.toNanos(20));
        for (int i = 0; i < 100; i++) {
            hits.add(MILLISECONDS.toNanos(1));
        }
        assertThat(hedges.patienceNanos(hits, false)).as("no less than 20 ms").isEqualTo(MILLISECONDS.toNanos(20));
        for (int i = 0; i < 10; i++) {
            hits.add(MILLISECONDS.toNanos(40));
        }
        assertThat(hedges.patienceNanos(hits, false)).as("three times the p95").isBetween(MILLISECONDS.toNanos(120), MILLISECONDS.toNanos(140));

        assertThat(hedges.patienceNanos(hits, true)).as("an origin that nobody knows").isEqualTo(UNKNOWN);
        for (int i = 0; i < 99; i++) {
            hedges.addOriginLatency(MILLISECONDS.toNanos(30));
        }
        hedges.addOriginLatency(MILLISECONDS.toNanos(300));
        assertThat(hedges.patienceNanos(hits, true)).isBetween(MILLISECONDS.toNanos(30), MILLISECONDS.toNanos(35));
        for (int i = 0; i < 10; i++) {
            hedges.addOriginLatency(MILLISECONDS.toNanos(300));
        }
        assertThat(hedges.patienceNanos(hits, true)).as("the p99").isBetween(MILLISECONDS.toNanos(300), MILLISECONDS.toNanos(340));
    }

    @Test
    void testMemoryAndThreadsAreBounded()
            throws Exception
    {
        addReads(1000);
        assertThat(begin(LIMIT + 1)).isEmpty();
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(2);
        Hedge.Origin slow = _ -> {
            begun.countDown();
            awaitOrFail(gate);
        };
        Hedge first = hedges.begin(LIMIT / 2, slow, () -> {}).orElseThrow();
        Hedge second = hedges.begin(LIMIT / 4, slow, () -> {}).orElseThrow();
        begun.await();
        assertThat(begin(LIMIT / 2)).as("no memory").isEmpty();
        assertThat(begin(1)).as("no thread").isEmpty();
        assertThat(reserved).hasValue(LIMIT / 2 + LIMIT / 4);
        gate.countDown();
        assertThat(first.await()).isPresent();
        assertThat(second.await()).isPresent();
        // what did not come about is not spent
        addReads(0);
        for (int i = 0; i < 8; i++) {
            Optional<Hedge> hedge = Optional.empty();
            while (hedge.isEmpty()) {
                hedge = begin(1);
            }
            hedge.get().await();
        }
    }

    private static void awaitOrFail(CountDownLatch gate)
            throws IOException
    {
        try {
            gate.await();
        }
        catch (InterruptedException e) {
            throw new IOException("interrupted");
        }
    }

    @Test
    void testThreadsAreShort()
    {
        addReads(1000);
        ThreadFactory threads = executor.getThreadFactory();
        executor.setThreadFactory(_ -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        for (int i = 0; i < 10; i++) {
            assertThat(begin(LIMIT)).isEmpty();
            assertThat(reserved).hasValue(0);
        }
        executor.setThreadFactory(threads);
        assertThat(begin(LIMIT).orElseThrow().cancel()).isTrue();
    }

    @Test
    void testCancelEndsTheRead()
            throws Exception
    {
        addReads(100);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        Hedge hedge = hedges.begin(1, _ -> {
            begun.countDown();
            try {
                awaitOrFail(new CountDownLatch(1));
            }
            finally {
                ended.countDown();
            }
        }, () -> {}).orElseThrow();
        begun.await();
        assertThat(hedge.cancel()).isTrue();
        assertThat(hedge.cancel()).isFalse();
        ended.await();
    }

    @Test
    void testOriginThatFails()
            throws Exception
    {
        addReads(100);
        CountDownLatch arrived = new CountDownLatch(1);
        Hedge hedge = hedges.begin(
                1,
                _ -> {
                    throw new IOException("503");
                },
                arrived::countDown).orElseThrow();
        assertThat(hedge.await()).isEmpty();
        assertThat(arrived.getCount()).as("nobody is woken").isEqualTo(1);
    }
}
