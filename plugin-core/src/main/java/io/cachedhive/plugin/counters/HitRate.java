package io.cachedhive.plugin.counters;

import java.util.Map;
import java.util.OptionalDouble;

import static io.cachedhive.protocol.wire.CounterNames.NON_LOCAL_HIT_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.RAM_HIT_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.REMOTE_READ_BYTES;
import static io.cachedhive.protocol.wire.CounterNames.SSD_HIT_BYTES;

/**
 * The share of bytes that the cache had, of those that were asked of it. What went past the cache is neither.
 */
public final class HitRate
{
    private HitRate() {}

    /**
     * @param counters by names of {@link io.cachedhive.protocol.wire.CounterNames}
     * @return 0 to 1; empty before the first read
     */
    public static OptionalDouble of(Map<String, Long> counters)
    {
        long hits = counters.getOrDefault(RAM_HIT_BYTES, 0L) + counters.getOrDefault(SSD_HIT_BYTES, 0L) + counters.getOrDefault(NON_LOCAL_HIT_BYTES, 0L);
        long all = hits + counters.getOrDefault(REMOTE_READ_BYTES, 0L);
        return all == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) hits / all);
    }
}
