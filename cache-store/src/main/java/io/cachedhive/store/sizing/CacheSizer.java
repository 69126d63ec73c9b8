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
 * Predicts the hit rates, in bytes, of caches with other capacities. It runs the requests for a sample of all blocks
 * through models of these caches with an equally reduced capacity ({@link CapacityModel}; Waldspurger et al., "Cache
 * modeling and optimization using miniature simulations", USENIX ATC 2017). Thread-safe.
 *
 * <p>The digest of a block decides whether it is in the sample, so the sample has all requests for a block or none. The
 * sampling rate is chosen so that about {@value #MODEL_BLOCKS} blocks model the actual capacity. It is halved when
 * small blocks would exceed {@value #MAX_BLOCKS} blocks in the largest model (the fixed-size variant of Waldspurger et
 * al., "Efficient MRC construction with SHARDS", FAST 2015), which bounds memory and time. As in that paper, the
 * estimate covers the misses, while all requested bytes are counted. So it does not matter whether the few most popular
 * blocks are in the sample, because they rarely miss.
 *
 * <p>Results cover the last one to two days.
 */
public final class CacheSizer
{
    /**
     * The modelled capacities in percent of the cache's capacity, ascending.
     */
    public static final List<Integer> PERCENTS = List.of(25, 50, 100, 200, 400, 800, 1600);

    private static final int MODEL_BLOCKS = 2048;
    private static final int MAX_BLOCKS = 48 << 10;
    private static final int MAX_SHIFT = 18;
    // bits of the digest that neither the sketch nor the samples of the policies use
    static final int FIRST_BIT = 45;
    private static final long PERIOD_MILLIS = TimeUnit.DAYS.toMillis(1);
    // ignores smaller changes, because SSD directories go offline and come back
    private static final int CAPACITY_STEP_SHARE = 16;

    private final int blockSizeBytes;
    private final boolean filter;
    private final StoreClock clock;
    // bytes requested in the current period outside the sample
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
        // cached before the sizer saw a request for them: restored from an earlier run, or preloaded
        long unknownBytes;
        final long[] missBytes = new long[PERCENTS.size()];

        Period(long endMillis)
        {
            this.endMillis = endMillis;
        }
    }

    /**
     * @param filter whether the cache has an admission filter
     */
    public CacheSizer(long capacityBytes, int blockSizeBytes, boolean filter, StoreClock clock)
    {
        this.blockSizeBytes = blockSizeBytes;
        this.filter = filter;
        this.clock = requireNonNull(clock, "clock is null");
        begin(capacityBytes);
    }

    /**
     * Sets the capacity. A large change restarts the prediction.
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
     * Records a query's request for a block.
     *
     * @param length bytes of the block
     * @param isHeld whether the cache has the block; called only for blocks in the sample
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
        // takes the store's lock, under which this object's monitor is never taken
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
     * Returns the current prediction.
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
     * The predicted hits by capacity.
     *
     * @param capacityBytes actual capacity of the cache
     * @param requestedBytes bytes of blocks requested by queries
     * @param distinctBytes bytes of distinct blocks among them, as far as the largest model has them
     * @param hitBytes predicted hits among the requested bytes, in the order of {@link #PERCENTS}
     */
    public record Prediction(long capacityBytes, long requestedBytes, long distinctBytes, List<Long> hitBytes)
    {
        public Prediction
        {
            hitBytes = List.copyOf(hitBytes);
        }
    }
}
