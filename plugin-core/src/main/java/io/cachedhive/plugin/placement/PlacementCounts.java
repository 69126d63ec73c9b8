package io.cachedhive.plugin.placement;

/**
 * How many splits of a scan were given where.
 */
public record PlacementCounts(long atOwner, long overflowed, long overflowedToAny, long withoutOwner) {}
