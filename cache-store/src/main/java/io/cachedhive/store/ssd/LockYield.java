package io.cachedhive.store.ssd;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Yields the store's lock between the steps of long work.
 */
public final class LockYield
{
    // bounds the delay of background work when other threads use the lock all the time
    private static final long MAX_WAIT_NANOS = 1_000_000;

    private LockYield() {}

    /**
     * Lets waiting threads acquire the lock. Called between two steps, without the lock. The lock is not fair, because
     * a fair lock suspends every reader. But a thread that reacquires an unfair lock at once overtakes the thread just
     * woken up, on every step.
     */
    @SuppressWarnings("ThreadPriorityCheck") // only the time depends on the scheduler
    public static void giveWay(ReentrantLock lock)
    {
        if (!lock.hasQueuedThreads()) {
            return;
        }
        long begin = System.nanoTime();
        do {
            Thread.yield();
        }
        while (lock.hasQueuedThreads() && System.nanoTime() - begin < MAX_WAIT_NANOS);
    }
}
