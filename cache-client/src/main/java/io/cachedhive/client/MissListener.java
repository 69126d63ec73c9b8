package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;

import java.util.Map;
import java.util.Optional;

/**
 * Hears of each read of a file for which bytes came from the origin, when it is done, on the reading thread. Reads that find all of it in caches cost nothing more.
 */
@FunctionalInterface
public interface MissListener
{
    /**
     * For those who need not hear of it.
     */
    MissListener NONE = _ -> {};

    void missed(Miss miss);

    /**
     * @param position of the first byte in the file
     * @param bytesBySource without zeros; their sum is what was read
     * @param bypass why the cache was not used; empty if it was
     * @param waitNanos how long the reader waited for it
     */
    record Miss(long position, Map<ReadSource, Long> bytesBySource, Optional<BypassCause> bypass, long waitNanos) {}
}
