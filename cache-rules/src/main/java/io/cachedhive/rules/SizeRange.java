package io.cachedhive.rules;

import io.airlift.units.DataSize;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A range of sizes with inclusive bounds. An empty bound is open.
 */
public record SizeRange(Optional<DataSize> min, Optional<DataSize> max)
{
    public SizeRange
    {
        requireNonNull(min, "min is null");
        requireNonNull(max, "max is null");
    }

    public boolean contains(long bytes)
    {
        return min.map(least -> least.toBytes() <= bytes).orElse(true) && max.map(most -> bytes <= most.toBytes()).orElse(true);
    }

    /**
     * Returns whether this range contains all sizes of another range.
     */
    boolean covers(SizeRange other)
    {
        boolean from = min.isEmpty() || other.min.filter(least -> least.toBytes() >= min.get().toBytes()).isPresent();
        boolean to = max.isEmpty() || other.max.filter(most -> most.toBytes() <= max.get().toBytes()).isPresent();
        return from && to;
    }
}
