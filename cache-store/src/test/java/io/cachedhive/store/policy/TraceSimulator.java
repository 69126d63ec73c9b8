package io.cachedhive.store.policy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Plays traces of requests for blocks through caches that hold so many of them, and tells which percentage of the requests they answered.
 */
public final class TraceSimulator
{
    // its admission lets some in by chance
    private static final int CAFFEINE_RUNS = 3;

    private TraceSimulator() {}

    public static double lru(long[] trace, int capacity)
    {
        Map<Long, Boolean> cache = new LinkedHashMap<>(16, 0.75f, true)
        {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest)
            {
                return size() > capacity;
            }
        };
        int hits = 0;
        for (long block : trace) {
            if (cache.get(block) != null) {
                hits++;
            }
            else {
                cache.put(block, true);
            }
        }
        return percent(hits, trace.length);
    }

    /**
     * Caffeine's W-TinyLFU, on the mean of some runs.
     */
    public static double caffeine(long[] trace, int capacity)
    {
        double sum = 0;
        for (int i = 0; i < CAFFEINE_RUNS; i++) {
            sum += caffeineOnce(trace, capacity);
        }
        return sum / CAFFEINE_RUNS;
    }

    private static double caffeineOnce(long[] trace, int capacity)
    {
        Cache<Long, Boolean> cache = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumWeight(capacity)
                .weigher((_, _) -> 1)
                .initialCapacity(capacity)
                .build();
        int hits = 0;
        for (long block : trace) {
            if (cache.getIfPresent(block) != null) {
                hits++;
            }
            else {
                cache.put(block, true);
            }
        }
        return percent(hits, trace.length);
    }

    public static double policy(long[] trace, int capacity)
    {
        return new PolicyCache(capacity).play(trace);
    }

    private static final class PolicyCache
            implements PolicyEntries
    {
        private final int capacity;
        private final EvictionPolicy policy;
        private final Digest128[] digests;
        private final Map<Digest128, Integer> entries = new HashMap<>();

        private PolicyCache(int capacity)
        {
            this.capacity = capacity;
            this.digests = new Digest128[capacity];
            FrequencySketch sketch = new FrequencySketch();
            sketch.setEntryCount(capacity);
            this.policy = new EvictionPolicy(new EntryLinks(), this, sketch);
            policy.setCapacity(capacity);
        }

        private double play(long[] trace)
        {
            int hits = 0;
            for (long block : trace) {
                Digest128 digest = digest(block);
                Integer found = entries.get(digest);
                if (found != null) {
                    hits++;
                    policy.use(found);
                    continue;
                }
                int entry = entries.size();
                if (entry == capacity) {
                    entry = policy.pollVictim(BlockClass.NORMAL);
                    entries.remove(digests[entry]);
                }
                digests[entry] = digest;
                entries.put(digest, entry);
                policy.add(entry, BlockClass.NORMAL);
            }
            return percent(hits, trace.length);
        }

        @Override
        public long digestHigh(int entry)
        {
            return digests[entry].high();
        }

        @Override
        public long digestLow(int entry)
        {
            return digests[entry].low();
        }

        @Override
        public boolean isPinned(int entry)
        {
            return false;
        }
    }

    public static double percent(long part, long whole)
    {
        return 100.0 * part / whole;
    }

    public static Digest128 digest(long block)
    {
        return new Digest128(mix(2 * block), mix(2 * block + 1));
    }

    private static long mix(long value)
    {
        long mixed = value * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
