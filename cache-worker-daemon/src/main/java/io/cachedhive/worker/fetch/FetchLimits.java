package io.cachedhive.worker.fetch;

import java.time.Duration;

import static java.util.Objects.requireNonNull;

/**
 * Limits on the concurrent fetches of a cache worker.
 *
 * @param requests requests to each bucket
 * @param heap bytes of blocks on the heap
 * @param maxRangeBytes bytes of one request
 * @param maxPreloadRequests requests for preloads to all buckets
 * @param maxHeldBlocks frames of provisional versions
 * @param framePatience how long a block that arrives waits for a frame; afterwards it is sent to its readers and not kept
 */
public record FetchLimits(RequestLimits requests, ByteBudget heap, int maxRangeBytes, int maxPreloadRequests, int maxHeldBlocks, Duration framePatience)
{
    public FetchLimits
    {
        requireNonNull(requests, "requests is null");
        requireNonNull(heap, "heap is null");
        requireNonNull(framePatience, "framePatience is null");
    }
}
