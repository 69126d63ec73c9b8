package io.cachedhive.worker.fetch;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.worker.fetch.FetchQueues.Refused;
import io.cachedhive.worker.fetch.FetchQueues.Wanted;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.ObjectState;
import io.cachedhive.worker.time.WorkerTimer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import static java.util.Objects.requireNonNull;

/**
 * Fetches missing blocks from their origins.
 *
 * <p><b>Single flight.</b> A block that is being fetched is not requested again; later requests wait for it. A block
 * leaves the table of running fetches only after it has been stored. A caller that does not find a block in the table
 * checks the store again before it makes a request.
 *
 * <p><b>Joined ranges.</b> Requested blocks wait in a queue per bucket for one of the bucket's requests (see
 * {@link RequestLimits}). A request takes the longest run of adjacent blocks that are queued when it starts
 * ({@link FetchQueues}, {@link RangeFetch}).
 *
 * <p><b>Throttling.</b> A throttled request gives up its slot, so that the bucket's limit counts only requests in
 * progress. Its blocks are requested again after a pause (see {@link Pauses}), joined with adjacent queued blocks, if a
 * waiter is left. Blocks fail immediately if the wait would exceed the readers' patience, or if the bucket throttles
 * everything. Their readers then read from the origin, which replaces the retry here.
 *
 * <p><b>Bounded queues.</b> The queue of a bucket is limited to the blocks that can be fetched soon; further blocks are
 * rejected immediately. A rejected reader reads from the origin, as it would without the cache, and loses no time.
 *
 * <p><b>One version.</b> The first response binds the file version to its ETag, and later requests send it in
 * {@code If-Match}. Length and last-modified time must match the version. Any other response drops the file version
 * with all its blocks. A version so recent that an overwrite could go unnoticed is returned only to the waiters of its
 * fetch, until it is confirmed ({@link ProvisionalVersions}).
 *
 * <p><b>Former owners first.</b> A request first asks the former owners of its blocks ({@link PeerSource}), then the
 * origin for the rest.
 */
public final class BlockFetcher
{
    private static final Logger log = Logger.get(BlockFetcher.class);

    private final BlockStore store;
    private final WorkerCounters counters;
    private final WorkerTimer timer;
    private final Pauses pauses;
    private final Executor executor;
    private final FetchQueues queues;
    private final ProvisionalVersions provisionals;
    private final RangeFetch.Services services;
    private final RangeFetch.WaiterQueues waiterQueues = new PendingWaiters();

    /**
     * The priority of a fetch, the most urgent first.
     */
    public enum Priority
    {
        READ,
        PRELOAD,
        /**
         * A fetch that no read waits for. It is never queued: it starts if the bucket has spare requests, or not at
         * all.
         */
        AHEAD,
    }

    /**
     * @param peers cache workers that are asked before the origins
     */
    public BlockFetcher(BlockStore store, FetchLimits limits, WorkerCounters counters, WorkerTimer timer, Pauses pauses, FetchExecutors executors, PeerSource peers)
    {
        this.store = requireNonNull(store, "store is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.pauses = requireNonNull(pauses, "pauses is null");
        this.executor = executors.requests();
        int maxRangeBlocks = Math.max(1, limits.maxRangeBytes() / store.blockSizeBytes());
        this.queues = new FetchQueues(store, limits.requests(), timer::nanoTime, maxRangeBlocks, limits.maxPreloadRequests());
        this.provisionals = new ProvisionalVersions(store, counters, timer, executors.confirmations(), limits.maxHeldBlocks());
        this.services = new RangeFetch.Services(store, limits.requests(), counters, provisionals, limits.heap(), limits.framePatience(), peers);
    }

    public void fetch(FetchTarget target, Collection<Integer> blocks, Priority priority, BlockWaiter waiter)
    {
        Optional<Wanted> wanted = queues.want(target, blocks, priority, waiter);
        if (wanted.isEmpty()) {
            blocks.forEach(block -> waiter.failed(block, NoCause.UNAVAILABLE));
            return;
        }
        execute(wanted.get().requests());
        wanted.get().present().forEach(waiter::present);
        counters.addOverloaded(OverloadCause.FETCH_QUEUE, wanted.get().refused().size());
        wanted.get().refused().forEach(block -> waiter.failed(block, NoCause.OVERLOADED));
    }

    public enum AheadOutcome
    {
        /**
         * A request has started. The waiter will be notified of its result.
         */
        BEGUN,
        /**
         * The block is cached, being fetched, or already queued. The waiter is not notified.
         */
        NEEDLESS,
        /**
         * The bucket has no spare requests, or its limit is currently lowered. The waiter is not notified.
         */
        NO_PLACE,
    }

    /**
     * Fetches a block that no read waits for yet, unless this would delay fetches that reads wait for. Reads that
     * arrive meanwhile join the fetch.
     */
    public AheadOutcome fetchAhead(FetchTarget target, int block, BlockWaiter waiter)
    {
        List<RangeRequest> requests = new ArrayList<>(1);
        AheadOutcome outcome = queues.wantAhead(target, block, waiter, requests);
        execute(requests);
        return outcome;
    }

    private void execute(List<RangeRequest> requests)
    {
        Deque<RangeRequest> left = new ArrayDeque<>(requests);
        Optional<NoCause> problem = Optional.empty();
        while (!left.isEmpty()) {
            RangeRequest request = left.remove();
            RangeFetch fetch = new RangeFetch(services, waiterQueues, request);
            if (problem.isEmpty()) {
                problem = begin(fetch, request);
            }
            if (problem.isPresent()) {
                fetch.failRest(problem.get());
                left.addAll(queues.finished(request));
            }
        }
    }

    /**
     * Returns why the fetch cannot begin.
     */
    private Optional<NoCause> begin(RangeFetch fetch, RangeRequest request)
    {
        try {
            executor.execute(() -> run(fetch, request));
            return Optional.empty();
        }
        catch (RejectedExecutionException _) {
            return Optional.of(NoCause.UNAVAILABLE);
        }
        catch (OutOfMemoryError _) {
            // not of the heap: the system gives this process no more threads, which takes it some milliseconds to say
            return Optional.of(NoCause.OVERLOADED);
        }
    }

    private void run(RangeFetch fetch, RangeRequest request)
    {
        try {
            fetch.run();
        }
        catch (RuntimeException e) {
            log.error(e, "Fetch of %s failed", request.file().target.version().location());
        }
        finally {
            // ensures that every waiter is notified
            fetch.failRest(NoCause.ORIGIN_FAILED);
            execute(queues.finished(request));
        }
    }

    private final class PendingWaiters
            implements RangeFetch.WaiterQueues
    {
        @Override
        public Optional<List<BlockWaiter>> take(FileFetches file, WantedBlock block)
        {
            return queues.take(file, block);
        }

        @Override
        public boolean askAgain(FileFetches file, List<WantedBlock> blocks)
        {
            Refused refused = queues.refused(file, blocks, pauses);
            refused.givenUp().forEach(block -> block.waiters.forEach(waiter -> waiter.failed(block.index, NoCause.ORIGIN_FAILED)));
            if (!refused.again().isEmpty()) {
                timer.schedule(refused.pause(), () -> execute(queues.resume(file, refused.again())));
            }
            // a throttled request that no read waited for does not indicate that the origin is unhealthy
            return refused.again().isEmpty() && refused.givenUp().stream().anyMatch(block -> block.priority != Priority.AHEAD);
        }
    }

    /**
     * Removes a waiter from all blocks of a file. A request in progress continues, because it has already been paid
     * for. A request that has not started is dropped if no waiter is left.
     */
    public void abandon(FileVersionId id, BlockWaiter waiter)
    {
        queues.abandon(id, waiter);
    }

    /**
     * The current fetches of a bucket.
     *
     * @param limit the current limit on concurrent requests
     * @param requests requests in progress
     * @param queuedReads blocks that reads wait for, without a request yet
     * @param queuedPreloads blocks of preloads without a request yet
     */
    public record BucketState(String origin, String bucket, int limit, int requests, int queuedReads, int queuedPreloads) {}

    public List<BucketState> buckets()
    {
        return queues.buckets();
    }

    /**
     * Returns the pending confirmation of a file version that has been fetched but is still provisional.
     *
     * @return completes with whether the version was confirmed; empty if no confirmation is pending
     */
    public Optional<CompletableFuture<Boolean>> confirmation(FileVersionId id)
    {
        return provisionals.confirmation(id);
    }

    /**
     * Asks the origin for its current version of a file, and drops the cached version if it differs.
     *
     * @return completes when a crash can no longer bring a different version back
     * @throws ObjectSourceException if the origin does not return a version
     */
    public CompletableFuture<Void> revalidate(FetchTarget target)
            throws ObjectSourceException
    {
        Optional<FileMetadata> metadata = store.file(target.id());
        if (metadata.isEmpty()) {
            provisionals.drop(target.id());
            return CompletableFuture.completedFuture(null);
        }
        ObjectState state;
        try {
            state = target.origin().source().head(target.location());
        }
        catch (ObjectSourceException e) {
            if (e.reason() == Reason.GONE) {
                return versionChanged(target);
            }
            target.origin().health().failed(target.location().bucket(), "HEAD " + target.version().location(), e);
            throw e;
        }
        target.origin().health().succeeded(target.location().bucket());
        if (!ProvisionalVersions.isVersion(target.version(), state) || !state.etag().equals(metadata.get().etag())) {
            return versionChanged(target);
        }
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Stops receiving blocks of a file from other cache workers, because they may have the same wrong bytes.
     */
    public void distrustPeers(FileVersionId id)
    {
        services.peers().versionChanged(id);
    }

    private CompletableFuture<Void> versionChanged(FetchTarget target)
    {
        CompletableFuture<Void> dropped = provisionals.versionChanged(target);
        services.peers().versionChanged(target.id());
        return dropped;
    }

    /**
     * Returns the number of frames with blocks of provisional versions.
     */
    public int heldBlocks()
    {
        return provisionals.heldBlocks();
    }

    /**
     * Stops starting requests and fails the blocks that wait. Requests in progress end when the origins are closed.
     */
    public void stop()
    {
        Map<BlockWaiter, List<Integer>> waiting = queues.stop();
        waiting.forEach((waiter, blocks) -> blocks.forEach(block -> waiter.failed(block, NoCause.UNAVAILABLE)));
        provisionals.stop();
    }
}
