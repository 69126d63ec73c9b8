package io.cachedhive.chaos.resources;

import static java.util.Objects.requireNonNull;

/**
 * @param seconds since the process was first seen
 */
public record Sample(long seconds, Usage usage)
{
    public Sample
    {
        requireNonNull(usage, "usage is null");
    }
}
