package io.cachedhive.worker.fetch;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.BlockFetcher.AheadOutcome;
import io.cachedhive.worker.fetch.BlockFetcher.BucketState;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.fetch.RequestLimits.Bucket;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;

/**
 * Tracks the blocks that are queued or being fetched, and decides which requests to start. It does not make requests
 * itself.
 *
 * <p>One lock guards all tables. It is never held while waiting, during requests to the origin or to disks, or while
 * waiters are called.
 */
final class FetchQueues
{
    /**
     * The number of queued ranges per request that a bucket's limit allows.
     */
    static final int QUEUED_RANGES = 16;

    private final BlockStore store;
    private final RequestLimits limits;
    private final LongSupplier nanoTime;
    private final int maxRangeBlocks;
    private final int maxPreloadRequests;

    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Map<FileVersionId, FileFetches> files = new HashMap<>();
    @GuardedBy("lock")
    private final Map<Bucket, BucketQueue> buckets = new HashMap<>();
    @GuardedBy("lock")
    private int preloadRequests;
    @GuardedBy("lock")
    private boolean stopped;

    FetchQueues(BlockStore store, RequestLimits limits, LongSupplier nanoTime, int maxRangeBlocks, int maxPreloadRequests)
    {
        this.store = requireNonNull(store, "store is null");
        this.limits = requireNonNull(limits, "limits is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.maxRangeBlocks = maxRangeBlocks;
        this.maxPreloadRequests = maxPreloadRequests;
    }

    /**
     * The result of {@link #want}.
     *
     * @param present blocks that are already cached
     * @param refused blocks rejected because the bucket's queue is full
     * @param requests requests to start now
     */
    record Wanted(List<Integer> present, List<Integer> refused, List<RangeRequest> requests) {}

    /**
     * Queues blocks.
     *
     * @return empty after {@link #stop}
     */
    Optional<Wanted> want(FetchTarget target, Collection<Integer> blocks, Priority priority, BlockWaiter waiter)
    {
        Wanted wanted = new Wanted(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        lock.lock();
        try {
            if (stopped) {
                return Optional.empty();
            }
            FileFetches file = files.computeIfAbsent(target.id(), _ -> new FileFetches(target, buckets.computeIfAbsent(target.bucket(), BucketQueue::new)));
            for (int block : blocks) {
                Optional<WantedBlock> found = file.find(block, priority);
                if (found.isEmpty()) {
                    if (isPresent(target.id().block(block))) {
                        wanted.present().add(block);
                        continue;
                    }
                    if (priority == Priority.READ && file.queue.queuedReads() >= maxQueuedReads(file.queue)) {
                        wanted.refused().add(block);
                        continue;
                    }
                    found = Optional.of(new WantedBlock(block, priority, target.terms()));
                    file.want(found.get());
                }
                found.get().add(waiter, priority, nanoTime.getAsLong());
            }
            file.enqueue();
            pump(file.queue, wanted.requests());
            forgetIfIdle(file);
        }
        finally {
            lock.unlock();
        }
        return Optional.of(wanted);
    }

    /**
     * Starts a fetch with priority AHEAD, or rejects it; it is never queued. It starts only if the bucket's limit is
     * not lowered and reads currently leave requests unused. These requests do not count against the limit for reads,
     * so no read waits for them.
     *
     * @param requests the list to which the request is added
     */
    AheadOutcome wantAhead(FetchTarget target, int block, BlockWaiter waiter, List<RangeRequest> requests)
    {
        lock.lock();
        try {
            if (stopped) {
                return AheadOutcome.NO_PLACE;
            }
            FileFetches known = files.get(target.id());
            if ((known != null && known.find(block, Priority.AHEAD).isPresent()) || isPresent(target.id().block(block))) {
                return AheadOutcome.NEEDLESS;
            }
            BucketQueue queue = buckets.computeIfAbsent(target.bucket(), BucketQueue::new);
            int limit = limits.limit(queue.bucket);
            // includes requests that reads have joined since they started
            if (limit < limits.maxRequests() || queue.requests + queue.aheadRequests >= limit || queue.aheadRequests >= Math.max(1, limit / 2)) {
                return AheadOutcome.NO_PLACE;
            }
            FileFetches file = files.computeIfAbsent(target.id(), _ -> new FileFetches(target, queue));
            WantedBlock wanted = new WantedBlock(block, Priority.AHEAD, target.terms());
            wanted.add(waiter, Priority.AHEAD, nanoTime.getAsLong());
            file.run(wanted);
            queue.aheadRequests++;
            requests.add(new RangeRequest(file, List.of(wanted), Priority.AHEAD));
            return AheadOutcome.BEGUN;
        }
        finally {
            lock.unlock();
        }
    }

    private int maxQueuedReads(BucketQueue queue)
    {
        return limits.limit(queue.bucket) * QUEUED_RANGES * maxRangeBlocks;
    }

    private boolean isPresent(BlockKey key)
    {
        Optional<PinnedBlock> pinned = store.pin(key);
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent() || store.isOnSsd(key);
    }

    /**
     * Starts requests while the bucket's limit allows: a range of each file in turn, preloads after all reads.
     */
    @GuardedBy("lock")
    private void pump(BucketQueue queue, List<RangeRequest> requests)
    {
        int limit = limits.limit(queue.bucket);
        while (queue.requests < limit) {
            Priority priority = Priority.READ;
            FileFetches file = queue.files.pollFirst();
            if (file == null) {
                priority = Priority.PRELOAD;
                file = preloadRequests < maxPreloadRequests ? queue.preloads.pollFirst() : null;
                if (file == null) {
                    return;
                }
            }
            file.dequeued(priority);
            List<WantedBlock> range = file.takeRange(priority, maxRangeBlocks);
            if (!range.isEmpty()) {
                queue.requests++;
                if (priority == Priority.PRELOAD) {
                    preloadRequests++;
                }
                requests.add(new RangeRequest(file, range, priority));
            }
            file.enqueue();
        }
    }

    /**
     * Records that a request has ended.
     *
     * @return requests to start now
     */
    List<RangeRequest> finished(RangeRequest request)
    {
        List<RangeRequest> requests = new ArrayList<>();
        lock.lock();
        try {
            BucketQueue ended = request.file().queue;
            switch (request.priority()) {
                case READ -> {
                    ended.requests--;
                    pump(ended, requests);
                }
                case PRELOAD -> {
                    ended.requests--;
                    preloadRequests--;
                    // the limit covers all buckets, so another bucket may have waited for this request
                    buckets.values().forEach(queue -> pump(queue, requests));
                }
                // no other request waited for it to end
                case AHEAD -> ended.aheadRequests--;
            }
            forgetIfIdle(request.file());
        }
        finally {
            lock.unlock();
        }
        return requests;
    }

    // an idle file may still be queued; its turn then finds no blocks
    @GuardedBy("lock")
    private void forgetIfIdle(FileFetches file)
    {
        if (file.isEmpty() && files.get(file.target.id()) == file) {
            files.remove(file.target.id());
        }
    }

    void abandon(FileVersionId id, BlockWaiter waiter)
    {
        lock.lock();
        try {
            FileFetches file = files.get(id);
            if (file == null) {
                return;
            }
            file.forgetWaiter(waiter);
            forgetIfIdle(file);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Removes a block of a request from the table.
     *
     * @return its waiters; empty if the block was removed before
     */
    Optional<List<BlockWaiter>> take(FileFetches file, WantedBlock block)
    {
        lock.lock();
        try {
            return file.takeRunning(block) ? Optional.of(ImmutableList.copyOf(block.waiters)) : Optional.empty();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * The result of {@link #refused}.
     *
     * @param pause the time until {@link #resume}
     * @param again blocks to request again
     * @param givenUp blocks whose waiters must be notified of the failure
     */
    record Refused(Duration pause, List<WantedBlock> again, List<WantedBlock> givenUp) {}

    /**
     * Handles a throttled request: pauses the blocks that should be requested again, and returns the blocks to fail.
     */
    Refused refused(FileFetches file, List<WantedBlock> blocks, Pauses pauses)
    {
        long now = nanoTime.getAsLong();
        boolean refusesAll = limits.refusesAll(file.queue.bucket);
        lock.lock();
        try {
            int refusals = 1 + blocks.stream().mapToInt(block -> block.refusals).max().orElse(0);
            Refused refused = new Refused(pauses.after(refusals), new ArrayList<>(), new ArrayList<>());
            for (WantedBlock block : blocks) {
                if (!file.takeRunning(block) || block.waiters.isEmpty()) {
                    continue;
                }
                boolean worthAsking = block.isWorthAsking(now + refused.pause().toNanos(), refusesAll);
                if (stopped || refusals >= file.target.origin().source().maxAttempts() || !worthAsking) {
                    refused.givenUp().add(block);
                }
                else {
                    refused.again().add(block.again());
                }
            }
            refused.again().forEach(file::pause);
            return refused;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Queues paused blocks again.
     *
     * @return requests to start now
     */
    List<RangeRequest> resume(FileFetches file, List<WantedBlock> blocks)
    {
        List<RangeRequest> requests = new ArrayList<>();
        lock.lock();
        try {
            blocks.forEach(file::resume);
            file.enqueue();
            pump(file.queue, requests);
        }
        finally {
            lock.unlock();
        }
        return requests;
    }

    List<BucketState> buckets()
    {
        lock.lock();
        try {
            return buckets.values().stream()
                    .map(queue -> new BucketState(
                            queue.bucket.origin(),
                            queue.bucket.name(),
                            limits.limit(queue.bucket),
                            queue.requests + queue.aheadRequests,
                            queue.queuedReads(),
                            queue.queuedPreloads()))
                    .collect(toImmutableList());
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Stops queueing blocks and starting requests.
     *
     * @return the waiters of blocks for which no request is in progress
     */
    Map<BlockWaiter, List<Integer>> stop()
    {
        Map<BlockWaiter, List<Integer>> waiting = new HashMap<>();
        lock.lock();
        try {
            stopped = true;
            for (FileFetches file : files.values()) {
                file.takeWaiting().forEach(block -> block.waiters.forEach(waiter -> waiting.computeIfAbsent(waiter, _ -> new ArrayList<>()).add(block.index)));
            }
        }
        finally {
            lock.unlock();
        }
        return waiting;
    }
}
