package io.cachedhive.store.ssd;

import java.util.concurrent.locks.ReentrantLock;

/**
 * For work of many steps that takes the store's lock for each of them.
 */
public final class LockYield
{
    // of work that nobody waits for it takes a small part, also if others ask for the lock all the time
    private static final long MAX_WAIT_NANOS = 1_000_000;

    private LockYield() {}

    /**
     * To be called between two steps, without the lock: lets those have it who wait for it. The lock is not fair, since a fair one makes every reader wait to be
     * woken: who asks again at once gets it before the one that was just woken is there, as often as there are steps.
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
