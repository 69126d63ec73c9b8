package io.cachedhive.worker.fetch;

import static java.util.Objects.requireNonNull;

/**
 * Limits on the concurrent fetches of a cache worker.
 *
 * @param requests requests to each bucket
 * @param heap bytes of blocks on the heap
 * @param maxRangeBytes bytes of one request
 * @param maxPreloadRequests requests for preloads to all buckets
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
