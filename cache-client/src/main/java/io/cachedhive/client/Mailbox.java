package io.cachedhive.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where I/O threads leave answers for the one thread that reads.
 */
final class Mailbox<T>
{
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    @GuardedBy("lock")
    private final Queue<T> letters = new ArrayDeque<>();
    @GuardedBy("lock")
    private boolean closed;

    /**
     * @return false if nobody will take it: then it stays the sender's
     */
    boolean put(T letter)
    {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            letters.add(letter);
            arrived.signal();
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * @return null if there was nothing in that time
     */
    T take(long nanos)
            throws InterruptedException
    {
        long left = nanos;
        lock.lockInterruptibly();
        try {
            while (letters.isEmpty()) {
                if (left <= 0) {
                    return null;
                }
                left = arrived.awaitNanos(left);
            }
            return letters.remove();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * @return what was not taken
     */
    List<T> close()
    {
        lock.lock();
        try {
            closed = true;
            List<T> left = List.copyOf(letters);
            letters.clear();
            return left;
        }
        finally {
            lock.unlock();
        }
    }
}
