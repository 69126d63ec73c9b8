package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.fetch.RequestLimits.Bucket;

import java.util.ArrayDeque;
import java.util.Deque;

import static java.util.Objects.requireNonNull;

/**
 * Files of a bucket of which something is wanted, in the order of their turns. Guarded by the lock of {@link FetchQueues}.
 */
final class BucketQueue
{
    final Bucket bucket;
    final Deque<FileFetches> files = new ArrayDeque<>();
    final Deque<FileFetches> preloads = new ArrayDeque<>();
    // under way, without those for blocks that nobody waited for when they began
    int requests;
    int aheadRequests;
    // blocks
    private int queuedReads;
    private int queuedPreloads;

    BucketQueue(Bucket bucket)
    {
        this.bucket = requireNonNull(bucket, "bucket is null");
    }

    void queued(Priority priority, int count)
    {
        switch (priority) {
            case READ -> queuedReads += count;
            case PRELOAD -> queuedPreloads += count;
            case AHEAD -> throw new IllegalArgumentException("prefetched blocks are not queued");
        }
    }

    int queuedReads()
    {
        return queuedReads;
    }

    int queuedPreloads()
    {
        return queuedPreloads;
    }
}
