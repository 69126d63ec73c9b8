package io.cachedhive.store.sizing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.store.block.StoreClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Tells which hit rates caches of other capacities would have had, in bytes of blocks, by playing the requests for a share of all blocks through models of
 * these caches with as large a share of their capacities ({@link CapacityModel}; Waldspurger and others, "Cache modeling and optimization using miniature
 * simulations", USENIX ATC 2017). Safe for use by any number of threads.
 *
 * <p>Which blocks are looked at is a matter of their digests, so all requests for a block are, or none. The share is such that the capacity itself is
 * modelled by about {@value #MODEL_BLOCKS} blocks; it is halved when small blocks would make more than {@value #MAX_BLOCKS} of the largest model's (the
 * fixed-size variant of Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015), so what all this takes is bounded. As there, what is
 * estimated is the misses: all bytes that were asked for are counted, and whether the few blocks that nearly everybody asks for are
 * among those looked at makes no difference, since they miss hardly ever.
 *
 * <p>Results are of the last one to two days.
 */
public final class CacheSizer
{
    /**
     * The capacities that are modelled, in percent of that of the cache, ascending.
     */
    public static final List<Integer> PERCENTS = List.of(25, 50, 100, 200, 400, 800, 1600);

    private static final int MODEL_BLOCKS = 2048;
    private static final int MAX_BLOCKS = 48 << 10;
    private static final int MAX_SHIFT = 18;
    // bits of the digest that neither the sketch nor the samples of the policies use
    static final int FIRST_BIT = 45;
    private static final long PERIOD_MILLIS = TimeUnit.DAYS.toMillis(1);
    // directories come and go: below that, a change is no other cache
    private static final int CAPACITY_STEP_SHARE = 16;

    private final int blockSizeBytes;
    private final boolean filter;
    private final StoreClock clock;
    // of the requests in the present period that were not looked at
    private final LongAdder otherBytes = new LongAdder();
    private volatile long sampleMask;

    @GuardedBy("this")
    private long capacityBytes;
    @GuardedBy("this")
    private int shift;
    @GuardedBy("this")
    private CapacityModel[] models = {};
    @GuardedBy("this")
    private Period present;
    @GuardedBy("this")
    private Period last;

    private static final class Period
    {
        final long endMillis;
        long requestedBytes;
        // were there, though nobody asked for them since this began to look: of an earlier run, or preloaded
        long unknownBytes;
        final long[] missBytes = new long[PERCENTS.size()];

        Period(long endMillis)
        {
            this.endMillis = endMillis;
        }
    }

    /**
     * @param filter whether the cache keeps out what is better not written
     */
    public CacheSizer(long capacityBytes, int blockSizeBytes, boolean filter, StoreClock clock)
    {
        this.blockSizeBytes = blockSizeBytes;
        this.filter = filter;
        this.clock = requireNonNull(clock, "clock is null");
        begin(capacityBytes);
    }

    /**
     * The capacity is another now. If it is another by much, all begins anew.
     */
    public synchronized void setCapacity(long bytes)
    {
        if (Math.abs(bytes - capacityBytes) > capacityBytes / CAPACITY_STEP_SHARE) {
            begin(bytes);
        }
    }

    @GuardedBy("this")
    private void begin(long bytes)
    {
        capacityBytes = bytes;
        long blocks = Math.max(1, bytes / blockSizeBytes);
        shift = 0;
        while (shift < MAX_SHIFT && blocks >> shift > MODEL_BLOCKS) {
            shift++;
        }
        models = new CapacityModel[PERCENTS.size()];
        for (int i = 0; i < models.length; i++) {
            models[i] = new CapacityModel((bytes >> shift) * PERCENTS.get(i) / 100, blockSizeBytes, filter);
        }
        otherBytes.reset();
        present = new Period(clock.currentTimeMillis() + PERIOD_MILLIS);
        last = new Period(0);
        sampleMask = mask(shift);
    }

    private static long mask(int shift)
    {
        return ((1L << shift) - 1) << FIRST_BIT;
    }

    /**
     * A query asked for a block.
     *
     * @param length bytes of the block
     * @param isHeld whether the cache has it; asked for few blocks only
     */
    public void request(long digestHigh, long digestLow, int length, BooleanSupplier isHeld)
    {
        if ((digestHigh & sampleMask) == 0) {
            play(digestHigh, digestLow, length, isHeld);
        }
        else {
            otherBytes.add(length);
        }
    }

    private void play(long digestHigh, long digestLow, int length, BooleanSupplier isHeld)
    {
        // takes another lock, which is never taken within this one
        boolean held = isHeld.getAsBoolean();
        synchronized (this) {
            Period period = period();
            period.requestedBytes += length;
            if ((digestHigh & sampleMask) != 0) {
                return;
            }
            boolean known = !held;
            for (CapacityModel model : models) {
                known |= model.contains(digestHigh, digestLow);
            }
            if (!known) {
                period.unknownBytes += (long) length << shift;
            }
            for (int i = 0; i < models.length; i++) {
                if (!models[i].request(digestHigh, digestLow, length) && known) {
                    period.missBytes[i] += (long) length << shift;
                }
            }
            while (models[models.length - 1].size() > MAX_BLOCKS && shift < MAX_SHIFT) {
                shift++;
                sampleMask = mask(shift);
                for (CapacityModel model : models) {
                    model.halve(high -> (high & sampleMask) == 0);
                }
            }
        }
    }

    @GuardedBy("this")
    private Period period()
    {
        long now = clock.currentTimeMillis();
        if (now >= present.endMillis) {
            present.requestedBytes += otherBytes.sumThenReset();
            last = now >= present.endMillis + PERIOD_MILLIS ? new Period(0) : present;
            present = new Period(now + PERIOD_MILLIS);
        }
        return present;
    }

    /**
     * What is known now.
     */
    public synchronized Prediction prediction()
    {
        Period period = period();
        long requested = period.requestedBytes + otherBytes.sum() + last.requestedBytes;
        requested = Math.max(0, requested - period.unknownBytes - last.unknownBytes);
        List<Long> hits = new ArrayList<>();
        for (int i = 0; i < models.length; i++) {
            hits.add(Math.max(0, requested - period.missBytes[i] - last.missBytes[i]));
        }
        return new Prediction(capacityBytes, requested, models[models.length - 1].usedBytes() << shift, hits);
    }

    /**
     * @param capacityBytes of the cache as it is
     * @param requestedBytes of blocks, that queries asked for
     * @param distinctBytes of different blocks among them, as far as the largest model has them
     * @param hitBytes of the requested, that would have been there: in the order of {@link #PERCENTS}
     */
    public record Prediction(long capacityBytes, long requestedBytes, long distinctBytes, List<Long> hitBytes)
    {
        public Prediction
        {
            hitBytes = List.copyOf(hitBytes);
        }
    }
}
