package io.cachedhive.plugin.placement;

import com.google.common.collect.ImmutableMap;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.spi.metrics.Metric;
import io.trino.spi.metrics.Metrics;

/**
 * Where the splits of a scan were to run; each is one of three.
 *
 * @param atOwner on the owner's node
 * @param overflowed elsewhere, since the node that should read it had its share of the scan
 * @param overflowedToAny those of them that do not ask for the second either, since it had its share as well
 * @param withoutOwner with no owner's node to run on: there is no ring, the owner's Trino worker is away, the file is not cached, or no node is wanted
 */
public record PlacementCounts(long atOwner, long overflowed, long overflowedToAny, long withoutOwner)
{
    static final String SPLITS_AT_OWNER = "splits_at_owner";
    static final String SPLITS_OVERFLOWED = "splits_overflowed";
    static final String SPLITS_OVERFLOWED_TO_ANY = "splits_overflowed_to_any";
    static final String SPLITS_WITHOUT_OWNER = "splits_without_owner";

    public Metrics toMetrics(Metrics others)
    {
        return new Metrics(ImmutableMap.<String, Metric<?>>builder()
                .putAll(others.getMetrics())
                .put(SPLITS_AT_OWNER, new LongCount(atOwner))
                .put(SPLITS_OVERFLOWED, new LongCount(overflowed))
                .put(SPLITS_OVERFLOWED_TO_ANY, new LongCount(overflowedToAny))
                .put(SPLITS_WITHOUT_OWNER, new LongCount(withoutOwner))
                .buildOrThrow());
    }
}
