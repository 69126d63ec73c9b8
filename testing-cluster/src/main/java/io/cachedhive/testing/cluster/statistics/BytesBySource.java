package io.cachedhive.testing.cluster.statistics;

import java.util.OptionalDouble;

/**
 * Bytes that queries asked for, by where they came from.
 *
 * @param requested counted above the cache by a wrapper that knows no sources
 */
public record BytesBySource(long ramHit, long ssdHit, long nonLocalHit, long remoteRead, long bypass, long requested)
{
    public BytesBySource minus(BytesBySource earlier)
    {
        return new BytesBySource(
                ramHit - earlier.ramHit,
                ssdHit - earlier.ssdHit,
                nonLocalHit - earlier.nonLocalHit,
                remoteRead - earlier.remoteRead,
                bypass - earlier.bypass,
                requested - earlier.requested);
    }

    /// The sum over the five sources.
    public long served()
    {
        return ramHit + ssdHit + nonLocalHit + remoteRead + bypass;
    }

    /// Share of the bytes of the cache's own reads that the cache had, empty if there were none. Bypass is beside it.
    public OptionalDouble hitRate()
    {
        long cached = ramHit + ssdHit + nonLocalHit;
        return cached + remoteRead == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) cached / (cached + remoteRead));
    }

    /// Share of all bytes that came from another host's cache worker, empty if there were none.
    public OptionalDouble nonLocalShare()
    {
        return served() == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) nonLocalHit / served());
    }
}
