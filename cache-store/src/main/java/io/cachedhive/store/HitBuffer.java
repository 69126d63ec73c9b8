package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Buffers hits on their way to the eviction policies. A thread that adds a hit never waits. If the buffer is full, the
 * hit is lost, which only makes its block appear slightly less used.
 *
 * <p>The design is that of Caffeine's read buffer (Ben Manes, {@code StripedBuffer} and {@code BoundedBuffer}, after
 * Lea's {@code Striped64}): several ring buffers with many producers and one consumer. A thread starts at the ring of
 * its id. It claims a position by compare-and-set on the tail, and then stores the element with release. If the ring is
 * full or another thread was faster, it tries the next ring. The consumer reads up to the first position without an
 * element. Other than Caffeine, a full buffer does not make the producer drain, because that takes the store's lock.
 */
final class HitBuffer
{
    // powers of two
    private static final int RINGS = 8;
    private static final int RING_HITS = 4096;

    static final int CAPACITY = RINGS * RING_HITS;

    private final Ring[] rings = new Ring[RINGS];
    private final LongAdder lost = new LongAdder();
    @GuardedBy("this")
    private int next;

    HitBuffer()
    {
        for (int i = 0; i < RINGS; i++) {
            rings[i] = new Ring();
        }
    }

    /**
     * A hit of a block.
     *
     * @param ahead whether the block was prefetched and this is its first read
     */
    record Hit(Digest128 digest, boolean ahead) {}

    private static final class Ring
    {
        final AtomicReferenceArray<Hit> hits = new AtomicReferenceArray<>(RING_HITS);
        // written by the consumer
        final AtomicLong head = new AtomicLong();
        final AtomicLong tail = new AtomicLong();

        boolean offer(Hit hit)
        {
            long position = tail.get();
            if (position - head.getAcquire() >= RING_HITS || !tail.compareAndSet(position, position + 1)) {
                return false;
            }
            hits.setRelease(index(position), hit);
            return true;
        }

        /**
         * Returns the oldest hit, or null if there is none, or if its producer has not stored it yet.
         */
        Hit poll()
        {
            long position = head.getPlain();
            Hit hit = hits.getAcquire(index(position));
            if (hit != null) {
                // before the position is free again
                hits.setPlain(index(position), null);
                head.setRelease(position + 1);
            }
            return hit;
        }

        private static int index(long position)
        {
            return (int) position & (RING_HITS - 1);
        }
    }

    /**
     * Adds a hit without waiting.
     */
    void add(Hit hit)
    {
        int first = (int) Thread.currentThread().threadId();
        for (int i = 0; i < RINGS; i++) {
            if (rings[(first + i) & (RINGS - 1)].offer(hit)) {
                return;
            }
        }
        lost.increment();
    }

    /**
     * Moves hits into a list.
     *
     * @return the number of hits moved
     */
    synchronized int drainTo(List<Hit> target, int maxCount)
    {
        int count = 0;
        // continues with the ring at which the last call stopped
        for (int i = 0; i < RINGS && count < maxCount; i++) {
            Ring ring = rings[next];
            Hit hit = ring.poll();
            while (hit != null) {
                target.add(hit);
                count++;
                hit = count < maxCount ? ring.poll() : null;
            }
            if (count < maxCount) {
                next = (next + 1) & (RINGS - 1);
            }
        }
        return count;
    }

    /**
     * Returns the number of hits that did not fit.
     */
    long lost()
    {
        return lost.sum();
    }
}
