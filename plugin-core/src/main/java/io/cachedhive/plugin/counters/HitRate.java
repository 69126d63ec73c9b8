package io.cachedhive.plugin.counters;

import java.util.Map;
import java.util.OptionalDouble;

import static io.cachedhive.protocol.wire.CounterNames.NON_LOCAL_HIT_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.RAM_HIT_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.REMOTE_READ_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.SSD_HIT_BYTES;

/**
 * The fraction of cacheable bytes that the cache served. Bypassed bytes are not cacheable.
 */
public final class HitRate
{
    private HitRate() {}

    /**
     * @param hit bytes that the cache served
     * @param cacheable bytes that the cache served, and bytes that were read from the origin into the cache
     */
    record Bytes(long hit, long cacheable)
    {
        static Bytes of(Map<String, Long> counters)
        {
            long hit = counters.getOrDefault(RAM_HIT_BYTES, 0L) + counters.getOrDefault(SSD_HIT_BYTES, 0L) + counters.getOrDefault(NON_LOCAL_HIT_BYTES, 0L);
            return new Bytes(hit, hit + counters.getOrDefault(REMOTE_READ_BYTES, 0L));
        }

        OptionalDouble rate()
        {
            return cacheable == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) hit / cacheable);
        }
    }

    /**
     * @param counters by names of {@link io.cachedhive.protocol.wire.CounterNames}
     * @return 0 to 1; empty before the first read
     */
    public static OptionalDouble of(Map<String, Long> counters)
    {
        return Bytes.of(counters).rate();
    }
}
