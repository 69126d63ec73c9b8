package io.cachedhive.worker.fetch;

import static java.util.Objects.requireNonNull;

/**
 * Limits on what a cache worker fetches at the same time.
 *
 * @param requests to each bucket
 * @param heap bytes of blocks that are on the heap
 * @param maxRangeBytes of one request
 * @param maxPreloadRequests to all buckets
 * @param maxHeldBlocks frames of provisional versions
 */
public record FetchLimits(RequestLimits requests, ByteBudget heap, int maxRangeBytes, int maxPreloadRequests, int maxHeldBlocks)
{
    public FetchLimits
    {
        requireNonNull(requests, "requests is null");
        requireNonNull(heap, "heap is null");
    }
}
