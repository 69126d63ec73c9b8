package io.cachedhive.worker.flush;

import io.cachedhive.worker.pin.PinService;

import static java.util.Objects.requireNonNull;

/**
 * The records that all cache workers of a cluster keep, and exchange if one of them missed some.
 */
public record ExchangedRecords(FlushService flushes, PinService pins)
{
    public ExchangedRecords
    {
        requireNonNull(flushes, "flushes is null");
        requireNonNull(pins, "pins is null");
    }
}
