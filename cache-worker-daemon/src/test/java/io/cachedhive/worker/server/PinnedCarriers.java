package io.cachedhive.worker.server;

import io.cachedhive.testing.Await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Occupies all carriers of virtual threads until it is closed, as virtual threads do that wait for the initialization of a class. At most once in a process,
 * because a class is initialized once.
 */
final class PinnedCarriers
        implements AutoCloseable
{
    private static final CountDownLatch RELEASE = new CountDownLatch(1);
    private static final AtomicInteger BEGUN = new AtomicInteger();
    // long enough for a virtual thread that can run
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final List<Thread> threads = new ArrayList<>();

    private PinnedCarriers() {}

    private static final class Slow
    {
        private static final Object VALUE = initialize();

        private static Object initialize()
        {
            try {
                RELEASE.await();
            }
            catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return new Object();
        }
    }

    static PinnedCarriers pin()
            throws InterruptedException
    {
        PinnedCarriers pinned = new PinnedCarriers();
        int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
        for (int i = 0; i < carriers; i++) {
            pinned.threads.add(Thread.ofVirtual().start(() -> {
                BEGUN.incrementAndGet();
                assert Slow.VALUE != null;
            }));
        }
        Await.until("each carrier has a thread", () -> BEGUN.get() == carriers);
        Await.until("no virtual thread runs", () -> !isFree());
        return pinned;
    }

    /**
     * Whether a new virtual thread runs.
     */
    static boolean isFree()
            throws InterruptedException
    {
        return Thread.ofVirtual().start(() -> {}).join(PATIENCE);
    }

    @Override
    public void close()
            throws InterruptedException
    {
        RELEASE.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
