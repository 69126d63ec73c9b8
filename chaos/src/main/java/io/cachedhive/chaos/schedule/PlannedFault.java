package io.cachedhive.chaos.schedule;

import static java.util.Objects.requireNonNull;

/**
 * A fault as the seed draws it.
 *
 * @param number from 1, in the order of the starts
 * @param startMillis since the start of the run
 * @param lengthMillis from its begin to its end
 * @param host 1-based; meaningless for kinds that concern no host
 * @param seed of everything else that the fault draws
 */
public record PlannedFault(int number, FaultKind kind, long startMillis, long lengthMillis, int host, long seed)
{
    public PlannedFault
    {
        requireNonNull(kind, "kind is null");
    }

    public long endMillis()
    {
        return startMillis + lengthMillis;
    }

    @Override
    public String toString()
    {
        return "%s %s at %.1f s for %.1f s, host %s".formatted(number, kind.text(), startMillis / 1000.0, lengthMillis / 1000.0, host);
    }
}
