package io.cachedhive.worker.request;

import io.cachedhive.worker.fetch.BlockFetcher;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.lease.FillLeases;

import java.util.concurrent.Executor;

import static java.util.Objects.requireNonNull;

/**
 * The sources of blocks that reads use.
 *
 * @param loads runs reads from SSD; rejects tasks when its queue is full
 */
public record ReadServices(InFlight inFlight, BlockFetcher fetcher, FetchAhead fetchAhead, FillLeases leases, Executor loads)
{
    public ReadServices
    {
        requireNonNull(inFlight, "inFlight is null");
        requireNonNull(fetcher, "fetcher is null");
        requireNonNull(fetchAhead, "fetchAhead is null");
        requireNonNull(leases, "leases is null");
        requireNonNull(loads, "loads is null");
    }
}
