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

import java.util.ArrayList;
import java.util.Collection;
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
 * <p><b>Single flight.</b> A block that is on its way is not asked for again: whoever wants it waits for it. A block leaves the table of blocks on their way
 * only after it is in the store, and whoever does not find it in the table looks into the store again before a request is made.
 *
 * <p><b>Joined ranges.</b> Wanted blocks wait in a queue per bucket for one of its requests (see {@link RequestLimits}); a request takes the longest run of
 * neighbours that is wanted at that moment ({@link FetchQueues}, {@link RangeFetch}).
 *
 * <p><b>Refusals.</b> A request that the origin refuses as one too many gives its place up and its blocks are asked for again after a pause (see {@link Pauses}),
 * joined with whatever else is wanted by then, and only if somebody still waits. So the bucket's limit is of requests that are really being made. Blocks that would
 * make a reader wait longer than it is willing to, and blocks of a bucket that refuses everything, are given up, for the reader to ask for itself: its first request
 * is the one that would be made again here.
 *
 * <p><b>Bounded queues.</b> What waits for a request of a bucket is at most what its limit can serve soon; blocks beyond that are refused at once. A reader that is
 * refused asks the origin itself, as it would without the cache, and loses no time.
 *
 * <p><b>One version.</b> The first answer binds the file version to its ETag; later requests carry it in {@code If-Match}; length and last-modified time must be
 * the version's. Whatever else is answered drops the file version with all its blocks. A version that could have been overwritten unseen is shown to nobody but those
 * who waited for its fetch until it is known ({@link ProvisionalVersions}).
 *
 * <p><b>Former owners first.</b> A request asks the workers that owned its blocks until recently ({@link PeerSource}), and the origin for what they do not have.
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
    private final RangeFetch.Takers takers = new QueueTakers();

    /**
     * The most urgent first.
     */
    public enum Priority
    {
        READ,
        PRELOAD,
        /**
         * Nobody waits for it yet. Never queued: asked for when the bucket has places to spare, or not at all.
         */
        AHEAD,
    }

    /**
     * @param peers asked before the origins
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
        this.services = new RangeFetch.Services(store, limits.requests(), counters, provisionals, limits.heap(), peers);
    }

    /**
     * Asks for blocks; the waiter is told of each.
     */
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
         * A request is under way; the waiter is told how it ends.
         */
        BEGUN,
        /**
         * It is here, on its way, or wanted by others anyway. The waiter is told nothing.
         */
        NEEDLESS,
        /**
         * The bucket is busy with what is read now, or bears fewer requests than it may be asked. The waiter is told nothing.
         */
        NO_PLACE,
    }

    /**
     * Asks for a block that nobody waits for yet, if it takes nothing from those who wait. Readers that come meanwhile join it.
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
        for (RangeRequest request : requests) {
            RangeFetch fetch = new RangeFetch(services, takers, request);
            try {
                executor.execute(() -> run(fetch, request));
            }
            catch (RejectedExecutionException _) {
                fetch.failRest(NoCause.UNAVAILABLE);
                execute(queues.finished(request));
            }
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
            // whatever happened, nobody waits for ever
            fetch.failRest(NoCause.ORIGIN_FAILED);
            execute(queues.finished(request));
        }
    }

    private final class QueueTakers
            implements RangeFetch.Takers
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
            // one refusal of a request that nobody waited for says nothing of the origin's health
            return refused.again().isEmpty() && refused.givenUp().stream().anyMatch(block -> block.priority != Priority.AHEAD);
        }
    }

    /**
     * The waiter waits no more for any block of the file. A request under way goes on: it is paid for. One that has not begun is not made for nobody.
     */
    public void abandon(FileVersionId id, BlockWaiter waiter)
    {
        queues.abandon(id, waiter);
    }

    /**
     * What is wanted of a bucket at the moment.
     *
     * @param limit requests at the same time, as many as the bucket bears
     * @param requests under way
     * @param queuedReads blocks that reads wait for, without a request yet
     * @param queuedPreloads blocks of preloads without a request yet
     */
    public record BucketState(String origin, String bucket, int limit, int requests, int queuedReads, int queuedPreloads) {}

    public List<BucketState> buckets()
    {
        return queues.buckets();
    }

    /**
     * Whether the file version is fetched but may not be shown yet.
     *
     * @return ends with whether it was confirmed; empty if there is nothing to wait for
     */
    public Optional<CompletableFuture<Boolean>> confirmation(FileVersionId id)
    {
        return provisionals.confirmation(id);
    }

    /**
     * Asks the origin which version it has, and drops this one if it is another.
     *
     * @throws ObjectSourceException if the origin does not say
     */
    public void revalidate(FetchTarget target)
            throws ObjectSourceException
    {
        Optional<FileMetadata> metadata = store.file(target.id());
        if (metadata.isEmpty()) {
            provisionals.drop(target.id());
            return;
        }
        ObjectState state;
        try {
            state = target.origin().source().head(target.location());
        }
        catch (ObjectSourceException e) {
            if (e.reason() == Reason.GONE) {
                versionChanged(target);
                return;
            }
            target.origin().health().failed(target.location().bucket(), "HEAD " + target.version().location(), e);
            throw e;
        }
        target.origin().health().succeeded(target.location().bucket());
        if (!ProvisionalVersions.isVersion(target.version(), state) || !state.etag().equals(metadata.get().etag())) {
            versionChanged(target);
        }
    }

    /**
     * What other cache workers have of a file is not taken over any more: it may be what was found wrong here.
     */
    public void distrustPeers(FileVersionId id)
    {
        services.peers().versionChanged(id);
    }

    private void versionChanged(FetchTarget target)
    {
        provisionals.versionChanged(target);
        services.peers().versionChanged(target.id());
    }

    /**
     * Frames of provisional versions.
     */
    public int heldBlocks()
    {
        return provisionals.heldBlocks();
    }

    /**
     * No request begins any more, and who waits is told. What is under way ends by itself when the origins are closed.
     */
    public void stop()
    {
        Map<BlockWaiter, List<Integer>> waiting = queues.stop();
        waiting.forEach((waiter, blocks) -> blocks.forEach(block -> waiter.failed(block, NoCause.UNAVAILABLE)));
        provisionals.stop();
    }
}
