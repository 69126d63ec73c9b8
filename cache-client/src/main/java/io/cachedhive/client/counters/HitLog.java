package io.cachedhive.client.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;

import java.util.ArrayList;
import java.util.List;

/**
 * The blocks that were read from shared memory, of which the worker knows nothing unless it is told. Bounded: what does not fit is dropped,
 * since it only makes a block look a little less used than it is.
 */
public final class HitLog
{
    private static final int STRIPES = 8;

    private final Stripe[] stripes = new Stripe[STRIPES];

    public HitLog(int capacity)
    {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe(Math.ceilDiv(capacity, STRIPES));
        }
    }

    private static final class Stripe
    {
        @GuardedBy("this")
        final long[] digests;
        @GuardedBy("this")
        int count;

        Stripe(int capacity)
        {
            digests = new long[2 * capacity];
        }

        synchronized void add(long high, long low)
        {
            // a thread that reads a block in small pieces is one use of it
            if (count > 0 && digests[2 * count - 1] == low && digests[2 * count - 2] == high) {
                return;
            }
            if (2 * count < digests.length) {
                digests[2 * count] = high;
                digests[2 * count + 1] = low;
                count++;
            }
        }

        synchronized void drainTo(List<Digest128> target)
        {
            for (int i = 0; i < count; i++) {
                target.add(new Digest128(digests[2 * i], digests[2 * i + 1]));
            }
            count = 0;
        }
    }

    public void add(long digestHigh, long digestLow)
    {
        stripes[(int) Thread.currentThread().threadId() & (STRIPES - 1)].add(digestHigh, digestLow);
    }

    public List<Digest128> drain()
    {
        List<Digest128> hits = new ArrayList<>();
        for (Stripe stripe : stripes) {
            stripe.drainTo(hits);
        }
        return hits;
    }
}
