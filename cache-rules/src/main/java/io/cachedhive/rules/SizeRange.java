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
}
