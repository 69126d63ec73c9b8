package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.fetch.RequestLimits.Bucket;

import java.util.ArrayDeque;
import java.util.Deque;

import static java.util.Objects.requireNonNull;

/**
 * The queue of a bucket: files with queued blocks, in the order of their turns. Guarded by the lock of
 * {@link FetchQueues}.
 */
final class BucketQueue
{
    final Bucket bucket;
    final Deque<FileFetches> files = new ArrayDeque<>();
    final Deque<FileFetches> preloads = new ArrayDeque<>();
    // requests in progress, except those that started with priority AHEAD
    int requests;
    int aheadRequests;
    // numbers of blocks
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
