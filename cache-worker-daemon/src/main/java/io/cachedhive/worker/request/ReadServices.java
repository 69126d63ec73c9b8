package io.cachedhive.worker.request;

import io.cachedhive.worker.fetch.BlockFetcher;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.lease.FillLeases;

import static java.util.Objects.requireNonNull;

/**
 * The sources of blocks that reads use.
 */
public record ReadServices(InFlight inFlight, BlockFetcher fetcher, FetchAhead fetchAhead, FillLeases leases)
{
    public ReadServices
    {
        requireNonNull(inFlight, "inFlight is null");
        requireNonNull(fetcher, "fetcher is null");
        requireNonNull(fetchAhead, "fetchAhead is null");
        requireNonNull(leases, "leases is null");
    }
}
