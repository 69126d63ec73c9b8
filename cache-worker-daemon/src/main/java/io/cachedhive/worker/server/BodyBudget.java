package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory for the bodies of large requests that are being received and handled. Each peer may use only a part of it,
 * so that a peer that sends its bodies slowly does not hold up the requests of others.
 */
final class BodyBudget
{
    private final int maxBytes;
    private final int maxPeerBytes;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    @GuardedBy("lock")
    private final Map<String, Integer> peers = new HashMap<>();
    @GuardedBy("lock")
    private long usedBytes;

    /**
     * @param maxBytes the limit for all peers together
     * @param maxPeerBytes the limit for one peer
     */
    BodyBudget(int maxBytes, int maxPeerBytes)
    {
        this.maxBytes = maxBytes;
        this.maxPeerBytes = maxPeerBytes;
    }

    /**
     * Waits until the peer may use the memory. A single body that exceeds a limit is admitted alone.
     */
    void acquire(String peer, int bytes)
            throws InterruptedException
    {
        lock.lockInterruptibly();
        try {
            while (exceeds(usedBytes, bytes, maxBytes) || exceeds(peers.getOrDefault(peer, 0), bytes, maxPeerBytes)) {
                released.await();
            }
            usedBytes += bytes;
            peers.merge(peer, bytes, Integer::sum);
        }
        finally {
            lock.unlock();
        }
    }

    private static boolean exceeds(long used, int more, int max)
    {
        return used > 0 && used + more > max;
    }

    void release(String peer, int bytes)
    {
        lock.lock();
        try {
            usedBytes -= bytes;
            peers.computeIfPresent(peer, (_, used) -> used == bytes ? null : used - bytes);
            // peers wait for different limits
            released.signalAll();
        }
        finally {
            lock.unlock();
        }
    }

    long usedBytes()
    {
        lock.lock();
        try {
            return usedBytes;
        }
        finally {
            lock.unlock();
        }
    }
}
