package io.cachedhive.worker.fetch;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.FileMetadata;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.RequestLimits.Bucket;
import io.cachedhive.worker.origin.ObjectRange;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.ObjectState;
import io.cachedhive.worker.time.WorkerTimer;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.Objects.requireNonNull;

/**
 * Fetches missing blocks from their origins.
 *
 * <p><b>Single flight.</b> A block that is on its way is not asked for again: whoever wants it waits for it. A block leaves the table of blocks on their way
 * only after it is in the store, and whoever does not find it in the table looks into the store again before a request is made.
 *
 * <p><b>Joined ranges.</b> Wanted blocks wait in a queue per bucket for one of its requests (see {@link RequestLimits}); a request takes the longest run of
 * neighbours that is wanted at that moment. Each block is handed out as soon as its last byte is there. A stream that breaks off is taken up again where it broke.
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
 * the version's. Whatever else is answered drops the file version with all its blocks.
 *
 * <p><b>Provisional versions.</b> An object can be overwritten again within the second of its last-modified time, with the same length. Until the origin's clock is
 * two seconds past that time, fetched blocks are given to those who waited for this very fetch, and nothing is shown to anybody else: frames are filled but not
 * committed. One HEAD per file version, asked when the two seconds are over, commits them all or throws them all away. A later GET that is answered under the
 * same ETag after the two seconds says the same and serves as well.
 *
 * <p>One lock guards all tables. It is never held while waiting, while the origin or the disk is asked, or while waiters are called.
 */
public final class BlockFetcher
{
    private static final Logger log = Logger.get(BlockFetcher.class);

    /**
     * How long a version can still be overwritten unseen: last-modified times are in whole seconds, and an overwrite in the same second is done a second later.
     */
    static final Duration PROVISIONAL = Duration.ofSeconds(2);
    private static final Duration CONFIRMATION_MARGIN = Duration.ofMillis(100);
    private static final int MAX_CONFIRMATION_ATTEMPTS = 5;
    private static final int MAX_STREAM_FAILURES = 3;
    /**
     * How long blocks are asked for again and again that the origin refuses: less than readers wait for a fetch, so that they hear of it first.
     */
    static final Duration PATIENCE = Duration.ofSeconds(8);
    /**
     * Ranges that may wait for each request that a bucket's limit allows.
     */
    static final int QUEUED_RANGES = 16;
    private static final int CHUNK_BYTES = 128 << 10;

    private final BlockStore store;
    private final RequestLimits limits;
    private final WorkerCounters counters;
    private final WorkerTimer timer;
    private final Pauses pauses;
    private final Executor executor;
    private final Executor confirmationExecutor;
    private final ByteBudget heap;
    private final int blockSizeBytes;
    private final int maxRangeBlocks;
    private final int maxPreloadRequests;
    private final int maxHeldBlocks;

    private final ReentrantLock lock = new ReentrantLock();
    // all below are guarded by the lock
    private final Map<FileVersionId, FileFetches> files = new HashMap<>();
    private final Map<Bucket, BucketQueue> buckets = new HashMap<>();
    private final Map<FileVersionId, ProvisionalFile> provisionals = new HashMap<>();
    private int heldBlocks;
    private int preloadRequests;
    private boolean stopped;

    public enum Priority
    {
        READ,
        PRELOAD,
    }

    private static final class WantedBlock
    {
        private final int index;
        private final List<BlockWaiter> waiters = new ArrayList<>(1);
        private Priority priority;
        // of requests that the origin refused
        private int refusals;
        // until when it makes sense to ask; preloads have time
        private long patienceEnds;
        private boolean patient = true;

        private WantedBlock(int index, Priority priority)
        {
            this.index = index;
            this.priority = priority;
        }

        private void add(BlockWaiter waiter, Priority priority, long now)
        {
            waiters.add(waiter);
            if (priority == Priority.READ && patient) {
                patient = false;
                patienceEnds = now + PATIENCE.toNanos();
            }
        }

        /**
         * The same to be asked for again; whoever has this one finds nobody waiting.
         */
        private WantedBlock again()
        {
            WantedBlock again = new WantedBlock(index, priority);
            again.waiters.addAll(waiters);
            again.refusals = refusals + 1;
            again.patienceEnds = patienceEnds;
            again.patient = patient;
            return again;
        }
    }

    private static final class FileFetches
    {
        private final FetchTarget target;
        private final BucketQueue queue;
        private final NavigableMap<Integer, WantedBlock> wanted = new TreeMap<>();
        private final NavigableMap<Integer, WantedBlock> wantedPreloads = new TreeMap<>();
        private final Map<Integer, WantedBlock> running = new HashMap<>();
        // refused by the origin, to be wanted again after a pause
        private final Map<Integer, WantedBlock> paused = new HashMap<>();
        private boolean queued;
        private boolean queuedPreloads;

        private FileFetches(FetchTarget target, BucketQueue queue)
        {
            this.target = target;
            this.queue = queue;
        }

        private void want(WantedBlock block)
        {
            wanted(block.priority).put(block.index, block);
            queue.queued(block.priority, 1);
        }

        private WantedBlock takeWanted(Priority priority, int index)
        {
            WantedBlock block = wanted(priority).remove(index);
            if (block != null) {
                queue.queued(priority, -1);
            }
            return block;
        }

        private void forgetWaiter(BlockWaiter waiter)
        {
            for (Priority priority : Priority.values()) {
                int before = wanted(priority).size();
                wanted(priority).values().removeIf(block -> isLeft(block, waiter));
                queue.queued(priority, wanted(priority).size() - before);
            }
            paused.values().removeIf(block -> isLeft(block, waiter));
            running.values().forEach(block -> block.waiters.removeIf(candidate -> candidate == waiter));
        }

        private static boolean isLeft(WantedBlock block, BlockWaiter waiter)
        {
            return block.waiters.removeIf(candidate -> candidate == waiter) && block.waiters.isEmpty();
        }

        /**
         * All blocks for which no request is under way.
         */
        private List<WantedBlock> takeWaiting()
        {
            List<WantedBlock> waiting = new ArrayList<>(paused.values());
            paused.clear();
            for (Priority priority : Priority.values()) {
                waiting.addAll(wanted(priority).values());
                queue.queued(priority, -wanted(priority).size());
                wanted(priority).clear();
            }
            return waiting;
        }

        private NavigableMap<Integer, WantedBlock> wanted(Priority priority)
        {
            return priority == Priority.READ ? wanted : wantedPreloads;
        }

        private boolean isEmpty()
        {
            return wanted.isEmpty() && wantedPreloads.isEmpty() && running.isEmpty() && paused.isEmpty();
        }
    }

    private static final class BucketQueue
    {
        private final Bucket bucket;
        private final Deque<FileFetches> files = new ArrayDeque<>();
        private final Deque<FileFetches> preloads = new ArrayDeque<>();
        private int requests;
        // blocks
        private int queuedReads;
        private int queuedPreloads;

        private BucketQueue(Bucket bucket)
        {
            this.bucket = bucket;
        }

        private void queued(Priority priority, int count)
        {
            switch (priority) {
                case READ -> queuedReads += count;
                case PRELOAD -> queuedPreloads += count;
            }
        }
    }

    private static final class ProvisionalFile
    {
        private final FetchTarget target;
        private final Optional<String> etag;
        private final Map<Integer, Fill> held = new HashMap<>();
        private final CompletableFuture<Boolean> confirmed = new CompletableFuture<>();
        private int attempts;

        private ProvisionalFile(FetchTarget target, Optional<String> etag)
        {
            this.target = target;
            this.etag = etag;
        }
    }

    private record RangeRequest(FileFetches file, List<WantedBlock> blocks, Priority priority) {}

    /**
     * @param executor runs each request in a thread of its own; the limits bound how many
     * @param confirmationExecutor runs the HEADs of provisional versions, a few at a time
     * @param heap bounds blocks that are on the heap
     * @param maxHeldBlocks frames of provisional versions
     */
    public BlockFetcher(
            BlockStore store,
            RequestLimits limits,
            WorkerCounters counters,
            WorkerTimer timer,
            Pauses pauses,
            Executor executor,
            Executor confirmationExecutor,
            ByteBudget heap,
            int maxRangeBytes,
            int maxPreloadRequests,
            int maxHeldBlocks)
    {
        this.store = requireNonNull(store, "store is null");
        this.limits = requireNonNull(limits, "limits is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.pauses = requireNonNull(pauses, "pauses is null");
        this.executor = requireNonNull(executor, "executor is null");
        this.confirmationExecutor = requireNonNull(confirmationExecutor, "confirmationExecutor is null");
        this.heap = requireNonNull(heap, "heap is null");
        this.blockSizeBytes = store.blockSizeBytes();
        this.maxRangeBlocks = Math.max(1, maxRangeBytes / blockSizeBytes);
        this.maxPreloadRequests = maxPreloadRequests;
        this.maxHeldBlocks = maxHeldBlocks;
    }

    /**
     * Asks for blocks; the waiter is told of each.
     */
    public void fetch(FetchTarget target, Collection<Integer> blocks, Priority priority, BlockWaiter waiter)
    {
        List<Integer> present = new ArrayList<>();
        List<Integer> refused = new ArrayList<>();
        List<RangeRequest> requests = new ArrayList<>();
        boolean unavailable;
        lock.lock();
        try {
            unavailable = stopped;
            if (!unavailable) {
                FileFetches file = files.computeIfAbsent(target.id(), _ -> new FileFetches(target, buckets.computeIfAbsent(target.bucket(), BucketQueue::new)));
                for (int block : blocks) {
                    switch (join(file, block, priority, waiter)) {
                        case JOINED -> {}
                        case PRESENT -> present.add(block);
                        case REFUSED -> refused.add(block);
                    }
                }
                enqueue(file);
                pump(file.queue, requests);
                forgetIfIdle(file);
            }
        }
        finally {
            lock.unlock();
        }
        if (unavailable) {
            blocks.forEach(block -> waiter.failed(block, NoCause.UNAVAILABLE));
            return;
        }
        execute(requests);
        present.forEach(waiter::present);
        counters.addOverloaded(OverloadCause.FETCH_QUEUE, refused.size());
        refused.forEach(block -> waiter.failed(block, NoCause.OVERLOADED));
    }

    private enum Joining
    {
        JOINED,
        /**
         * The block need not be fetched.
         */
        PRESENT,
        /**
         * The bucket's queue is full.
         */
        REFUSED,
    }

    private Joining join(FileFetches file, int block, Priority priority, BlockWaiter waiter)
    {
        WantedBlock found = file.running.get(block);
        if (found == null) {
            found = file.paused.get(block);
        }
        if (found == null) {
            found = file.wanted.get(block);
        }
        if (found == null && priority == Priority.READ) {
            found = file.takeWanted(Priority.PRELOAD, block);
            if (found != null) {
                found.priority = Priority.READ;
                file.want(found);
            }
        }
        if (found == null) {
            found = file.wantedPreloads.get(block);
        }
        if (found == null) {
            if (isPresent(file.target.id().block(block))) {
                return Joining.PRESENT;
            }
            if (priority == Priority.READ && file.queue.queuedReads >= maxQueuedReads(file.queue)) {
                return Joining.REFUSED;
            }
            found = new WantedBlock(block, priority);
            file.want(found);
        }
        else if (priority == Priority.READ) {
            // should it be asked for again, then for a reader
            found.priority = Priority.READ;
        }
        found.add(waiter, priority, timer.nanoTime());
        return Joining.JOINED;
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

    private static void enqueue(FileFetches file)
    {
        if (!file.queued && !file.wanted.isEmpty()) {
            file.queued = true;
            file.queue.files.addLast(file);
        }
        if (!file.queuedPreloads && !file.wantedPreloads.isEmpty()) {
            file.queuedPreloads = true;
            file.queue.preloads.addLast(file);
        }
    }

    /**
     * Makes requests while the bucket's limit allows: a range of each file in turn, preloads after all reads.
     */
    private void pump(BucketQueue queue, List<RangeRequest> requests)
    {
        int limit = limits.limit(queue.bucket);
        while (queue.requests < limit) {
            Priority priority = Priority.READ;
            FileFetches file = queue.files.pollFirst();
            if (file != null) {
                file.queued = false;
            }
            else {
                priority = Priority.PRELOAD;
                file = preloadRequests < maxPreloadRequests ? queue.preloads.pollFirst() : null;
                if (file == null) {
                    return;
                }
                file.queuedPreloads = false;
            }
            List<WantedBlock> range = takeRange(file, priority);
            // what was wanted may have been abandoned, or moved to the other queue
            if (!range.isEmpty()) {
                queue.requests++;
                if (priority == Priority.PRELOAD) {
                    preloadRequests++;
                }
                requests.add(new RangeRequest(file, range, priority));
            }
            enqueue(file);
        }
    }

    private List<WantedBlock> takeRange(FileFetches file, Priority priority)
    {
        List<WantedBlock> range = new ArrayList<>();
        if (file.wanted(priority).isEmpty()) {
            return range;
        }
        int index = file.wanted(priority).firstKey();
        while (range.size() < maxRangeBlocks) {
            WantedBlock block = file.takeWanted(priority, index);
            if (block == null) {
                break;
            }
            file.running.put(index, block);
            range.add(block);
            index++;
        }
        return range;
    }

    private void execute(List<RangeRequest> requests)
    {
        for (RangeRequest request : requests) {
            try {
                executor.execute(() -> run(request));
            }
            catch (RejectedExecutionException _) {
                failAll(request, request.blocks(), NoCause.UNAVAILABLE);
                finished(request);
            }
        }
    }

    private void run(RangeRequest request)
    {
        try {
            new RangeFetch(request).run();
        }
        catch (RuntimeException e) {
            log.error(e, "Fetch of %s failed", request.file().target.version().location());
        }
        finally {
            // whatever happened, nobody waits for ever
            failAll(request, request.blocks(), NoCause.ORIGIN_FAILED);
            finished(request);
        }
    }

    private void finished(RangeRequest request)
    {
        List<RangeRequest> requests = new ArrayList<>();
        lock.lock();
        try {
            request.file().queue.requests--;
            if (request.priority() == Priority.PRELOAD) {
                preloadRequests--;
                // the bound is over all buckets: another one may have waited for this
                buckets.values().forEach(queue -> pump(queue, requests));
            }
            else {
                pump(request.file().queue, requests);
            }
            forgetIfIdle(request.file());
        }
        finally {
            lock.unlock();
        }
        execute(requests);
    }

    private void forgetIfIdle(FileFetches file)
    {
        if (file.isEmpty() && files.get(file.target.id()) == file) {
            files.remove(file.target.id());
        }
        // queues hold idle files until their turn, and find nothing wanted in them
    }

    /**
     * The waiter waits no more for any block of the file. A request under way goes on: it is paid for. One that has not begun is not made for nobody.
     */
    public void abandon(FileVersionId id, BlockWaiter waiter)
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
     * Takes the block out of the table.
     *
     * @return who waits for it; empty if it was taken out before
     */
    private Optional<List<BlockWaiter>> take(FileFetches file, WantedBlock block)
    {
        lock.lock();
        try {
            return file.running.remove(block.index, block) ? Optional.of(ImmutableList.copyOf(block.waiters)) : Optional.empty();
        }
        finally {
            lock.unlock();
        }
    }

    private void failAll(RangeRequest request, List<WantedBlock> blocks, NoCause cause)
    {
        for (WantedBlock block : blocks) {
            take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.failed(block.index, cause)));
        }
    }

    /**
     * The origin refused a request as one too many: what somebody still waits for is asked for again after a pause, or given up.
     *
     * @return whether all was given up
     */
    private boolean askAgain(FileFetches file, List<WantedBlock> blocks)
    {
        long now = timer.nanoTime();
        List<WantedBlock> again = new ArrayList<>();
        List<WantedBlock> givenUp = new ArrayList<>();
        boolean refusesAll = limits.refusesAll(file.queue.bucket);
        Duration pause;
        lock.lock();
        try {
            int refusals = 1 + blocks.stream().mapToInt(block -> block.refusals).max().orElse(0);
            pause = pauses.after(refusals);
            for (WantedBlock block : blocks) {
                if (!file.running.remove(block.index, block) || block.waiters.isEmpty()) {
                    continue;
                }
                boolean inTime = block.patient || (!refusesAll && now + pause.toNanos() - block.patienceEnds < 0);
                if (stopped || refusals >= file.target.origin().source().maxAttempts() || !inTime) {
                    givenUp.add(block);
                }
                else {
                    again.add(block.again());
                }
            }
            again.forEach(block -> file.paused.put(block.index, block));
        }
        finally {
            lock.unlock();
        }
        givenUp.forEach(block -> block.waiters.forEach(waiter -> waiter.failed(block.index, NoCause.ORIGIN_FAILED)));
        if (!again.isEmpty()) {
            timer.schedule(pause, () -> resume(file, again));
        }
        return again.isEmpty() && !givenUp.isEmpty();
    }

    private void resume(FileFetches file, List<WantedBlock> blocks)
    {
        List<RangeRequest> requests = new ArrayList<>();
        lock.lock();
        try {
            for (WantedBlock block : blocks) {
                // whoever waited may have left
                if (file.paused.remove(block.index, block)) {
                    file.want(block);
                }
            }
            enqueue(file);
            pump(file.queue, requests);
        }
        finally {
            lock.unlock();
        }
        execute(requests);
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
        lock.lock();
        try {
            return buckets.values().stream()
                    .map(queue -> new BucketState(
                            queue.bucket.origin(),
                            queue.bucket.name(),
                            limits.limit(queue.bucket),
                            queue.requests,
                            queue.queuedReads,
                            queue.queuedPreloads))
                    .collect(toImmutableList());
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Whether the file version is fetched but may not be shown yet.
     *
     * @return ends with whether it was confirmed; empty if there is nothing to wait for
     */
    public Optional<CompletableFuture<Boolean>> confirmation(FileVersionId id)
    {
        lock.lock();
        try {
            return Optional.ofNullable(provisionals.get(id)).map(file -> file.confirmed);
        }
        finally {
            lock.unlock();
        }
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
            dropProvisional(target.id());
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
        if (!isVersion(target.version(), state) || !state.etag().equals(metadata.get().etag())) {
            versionChanged(target);
        }
    }

    private static boolean isVersion(FileVersion version, ObjectState state)
    {
        // a listing may tell milliseconds, the head of an answer tells seconds only
        Instant expected = Instant.ofEpochMilli(version.lastModifiedMillis()).truncatedTo(SECONDS);
        return state.length() == version.length()
                && state.lastModified().map(time -> time.truncatedTo(SECONDS).equals(expected)).orElse(true);
    }

    /**
     * The object is not, or not any more, the file version.
     */
    private void versionChanged(FetchTarget target)
    {
        if (store.file(target.id()).isPresent()) {
            counters.addVersionChange();
        }
        store.dropFile(target.id());
        dropProvisional(target.id());
    }

    private Instant provisionalUntil(FileVersion version)
    {
        return Instant.ofEpochMilli(version.lastModifiedMillis()).truncatedTo(SECONDS).plus(PROVISIONAL);
    }

    /**
     * Keeps the frame of a provisional version until it is known whether it may be shown.
     *
     * @return false if it cannot be kept
     */
    private boolean hold(FetchTarget target, Optional<String> etag, Instant answered, int block, Fill fill)
    {
        boolean first = false;
        ProvisionalFile file;
        lock.lock();
        try {
            file = provisionals.get(target.id());
            if (stopped || heldBlocks >= maxHeldBlocks || (file != null && (!file.etag.equals(etag) || file.held.containsKey(block)))) {
                return false;
            }
            if (file == null) {
                file = new ProvisionalFile(target, etag);
                provisionals.put(target.id(), file);
                first = true;
            }
            file.held.put(block, fill);
            heldBlocks++;
        }
        finally {
            lock.unlock();
        }
        if (first) {
            // in the origin's time, whatever this host's clock says
            scheduleConfirmation(file, Duration.between(answered, provisionalUntil(target.version())).plus(CONFIRMATION_MARGIN));
        }
        return true;
    }

    private void scheduleConfirmation(ProvisionalFile file, Duration delay)
    {
        timer.schedule(delay, () -> {
            try {
                confirmationExecutor.execute(() -> confirm(file));
            }
            catch (RejectedExecutionException _) {
                release(file, false);
            }
        });
    }

    private void confirm(ProvisionalFile file)
    {
        if (file.confirmed.isDone()) {
            return;
        }
        FetchTarget target = file.target;
        try {
            ObjectState state = target.origin().source().head(target.location());
            target.origin().health().succeeded(target.location().bucket());
            if (!isVersion(target.version(), state) || !state.etag().equals(file.etag)) {
                versionChanged(target);
            }
            else if (isProvisional(target.version(), state)) {
                // the origin's clock is slower than this host's
                retryConfirmation(file, Duration.ofSeconds(1));
            }
            else {
                release(file, true);
            }
        }
        catch (ObjectSourceException e) {
            if (e.reason() == Reason.GONE) {
                versionChanged(target);
                return;
            }
            target.origin().health().failed(target.location().bucket(), "HEAD " + target.version().location(), e);
            retryConfirmation(file, Duration.ofSeconds(2));
        }
        catch (RuntimeException e) {
            log.error(e, "Confirmation of %s failed", target.version().location());
            release(file, false);
        }
    }

    private void retryConfirmation(ProvisionalFile file, Duration delay)
    {
        file.attempts++;
        if (file.attempts < MAX_CONFIRMATION_ATTEMPTS) {
            scheduleConfirmation(file, delay);
            return;
        }
        // not known to be wrong, only not known to be right
        release(file, false);
        store.dropFile(file.target.id());
    }

    private boolean isProvisional(FileVersion version, ObjectState state)
    {
        return state.answered().orElseGet(timer::now).isBefore(provisionalUntil(version));
    }

    private void dropProvisional(FileVersionId id)
    {
        ProvisionalFile file;
        lock.lock();
        try {
            file = provisionals.get(id);
        }
        finally {
            lock.unlock();
        }
        if (file != null) {
            release(file, false);
        }
    }

    /**
     * Shows the held blocks, or gives their frames back.
     */
    private void release(ProvisionalFile file, boolean show)
    {
        lock.lock();
        try {
            if (!provisionals.remove(file.target.id(), file)) {
                return;
            }
            heldBlocks -= file.held.size();
        }
        finally {
            lock.unlock();
        }
        if (show) {
            store.confirm(file.target.id());
        }
        for (Fill fill : file.held.values()) {
            try (fill) {
                if (show) {
                    fill.commit().ifPresent(PinnedBlock::close);
                }
            }
        }
        file.confirmed.complete(show);
    }

    /**
     * Frames of provisional versions.
     */
    public int heldBlocks()
    {
        lock.lock();
        try {
            return heldBlocks;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * No request begins any more, and who waits is told. What is under way ends by itself when the origins are closed.
     */
    public void stop()
    {
        List<ProvisionalFile> held;
        Map<BlockWaiter, List<Integer>> waiting = new HashMap<>();
        lock.lock();
        try {
            stopped = true;
            held = ImmutableList.copyOf(provisionals.values());
            for (FileFetches file : files.values()) {
                file.takeWaiting().forEach(block -> block.waiters.forEach(waiter -> waiting.computeIfAbsent(waiter, _ -> new ArrayList<>()).add(block.index)));
            }
        }
        finally {
            lock.unlock();
        }
        waiting.forEach((waiter, blocks) -> blocks.forEach(block -> waiter.failed(block, NoCause.UNAVAILABLE)));
        held.forEach(file -> release(file, false));
    }

    /**
     * One request for a range, with as many GETs as it takes.
     */
    private final class RangeFetch
    {
        private final RangeRequest request;
        private final FetchTarget target;
        private final List<WantedBlock> blocks;
        private final String bucket;
        // blocks before this one are done
        private int next;

        private RangeFetch(RangeRequest request)
        {
            this.request = request;
            this.target = request.file().target;
            this.blocks = request.blocks();
            this.bucket = target.location().bucket();
        }

        private void run()
        {
            if (blocks.stream().anyMatch(block -> block.refusals > 0)) {
                counters.addOriginRetries(1);
            }
            int failures = 0;
            while (next < blocks.size()) {
                int before = next;
                try {
                    get();
                }
                catch (ObjectSourceException e) {
                    fail(e);
                    return;
                }
                catch (IOException e) {
                    failures = next > before ? 1 : failures + 1;
                    log.debug("GET of %s broke off: %s", target.version().location(), e);
                    if (failures == MAX_STREAM_FAILURES) {
                        fail(new ObjectSourceException(Reason.UNREACHABLE, e.toString(), e));
                        return;
                    }
                    counters.addOriginRetries(1);
                }
            }
        }

        private void fail(ObjectSourceException failure)
        {
            List<WantedBlock> left = blocks.subList(next, blocks.size());
            switch (failure.reason()) {
                case GONE, CHANGED -> {
                    target.origin().health().succeeded(bucket);
                    versionChanged(target);
                    failAll(request, left, NoCause.VERSION_GONE);
                }
                case DENIED -> {
                    target.origin().health().failed(bucket, describe(), failure);
                    for (WantedBlock block : left) {
                        take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.denied(block.index)));
                    }
                }
                case THROTTLED -> {
                    if (askAgain(request.file(), left)) {
                        target.origin().health().failed(bucket, describe(), failure);
                    }
                }
                case UNREACHABLE, FAILED -> {
                    target.origin().health().failed(bucket, describe(), failure);
                    failAll(request, left, NoCause.ORIGIN_FAILED);
                }
            }
        }

        private String describe()
        {
            return "GET " + target.version().location();
        }

        private void get()
                throws ObjectSourceException, IOException
        {
            long start = (long) blocks.get(next).index * blockSizeBytes;
            int last = blocks.getLast().index;
            long end = (long) last * blockSizeBytes + target.version().blockLength(last, blockSizeBytes);
            Optional<String> bound = store.file(target.id()).flatMap(FileMetadata::etag);
            try (ObjectRange range = target.origin().source().open(target.location(), start, end - start, bound)) {
                target.origin().health().succeeded(bucket);
                ObjectState state = range.state();
                if (!isVersion(target.version(), state)) {
                    throw new ObjectSourceException(Reason.CHANGED, "length or last-modified time is not the version's", null);
                }
                boolean provisional = isProvisional(target.version(), state);
                if (!store.bind(target.version(), state.etag(), provisional, target.table())) {
                    throw new ObjectSourceException(Reason.CHANGED, "the object has another ETag", null);
                }
                if (!provisional) {
                    confirmByGet(state);
                }
                byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, end - start)];
                while (next < blocks.size()) {
                    receive(range, blocks.get(next), state, provisional, chunk);
                    next++;
                }
                limits.succeeded(target.bucket());
            }
        }

        // an answer under the same ETag, after the time in which it could have been overwritten unseen
        private void confirmByGet(ObjectState state)
        {
            ProvisionalFile file;
            lock.lock();
            try {
                file = provisionals.get(target.id());
            }
            finally {
                lock.unlock();
            }
            if (file != null && file.etag.equals(state.etag())) {
                release(file, true);
            }
            else if (store.file(target.id()).map(FileMetadata::provisional).orElse(false)) {
                store.confirm(target.id());
            }
        }

        private void receive(ObjectRange range, WantedBlock block, ObjectState state, boolean provisional, byte[] chunk)
                throws IOException
        {
            int length = target.version().blockLength(block.index, blockSizeBytes);
            long etagDigest = state.etag().map(ETags::digest).orElse(ETags.NONE);
            Optional<Fill> fill = store.beginFill(target.id().block(block.index), length, etagDigest);
            if (provisional || fill.isEmpty()) {
                receiveToHeap(range, block, state, etagDigest, length, fill, chunk);
                return;
            }
            try (Fill frame = fill.get()) {
                for (int position = 0; position < length; ) {
                    int count = read(range, chunk, 0, Math.min(chunk.length, length - position));
                    frame.buffer().put(position, chunk, 0, count);
                    position += count;
                }
                Optional<PinnedBlock> stored = frame.commit();
                List<BlockWaiter> waiters = takeCounted(block, length);
                if (stored.isEmpty()) {
                    // dropped while it was on its way
                    waiters.forEach(waiter -> waiter.failed(block.index, NoCause.VERSION_GONE));
                    return;
                }
                try (PinnedBlock _ = stored.get()) {
                    waiters.forEach(waiter -> waiter.stored(block.index));
                }
            }
        }

        private void receiveToHeap(ObjectRange range, WantedBlock block, ObjectState state, long etagDigest, int length, Optional<Fill> fill, byte[] chunk)
                throws IOException
        {
            boolean kept = false;
            Optional<SharedBytes> bytes = SharedBytes.allocate(heap, length);
            try {
                for (int position = 0; position < length; ) {
                    int count = Math.min(chunk.length, length - position);
                    count = bytes.isPresent() ? read(range, bytes.get().array(), position, count) : read(range, chunk, 0, count);
                    if (fill.isPresent()) {
                        fill.get().buffer().put(position, bytes.map(SharedBytes::array).orElse(chunk), bytes.isPresent() ? position : 0, count);
                    }
                    position += count;
                }
                bytes.ifPresent(shared -> shared.complete(etagDigest));
                kept = fill.isPresent() && hold(target, state.etag(), state.answered().orElseGet(timer::now), block.index, fill.get());
                for (BlockWaiter waiter : takeCounted(block, length)) {
                    if (bytes.isPresent()) {
                        waiter.bytes(block.index, bytes.get());
                    }
                    else {
                        counters.addOverloaded(OverloadCause.HEAP, 1);
                        waiter.failed(block.index, NoCause.OVERLOADED);
                    }
                }
            }
            finally {
                bytes.ifPresent(SharedBytes::release);
                if (!kept) {
                    fill.ifPresent(Fill::close);
                }
            }
        }

        private List<BlockWaiter> takeCounted(WantedBlock block, int length)
        {
            List<BlockWaiter> waiters = take(request.file(), block).orElse(ImmutableList.of());
            if (waiters.isEmpty() || request.priority() == Priority.PRELOAD) {
                counters.addExtraBytes(length);
            }
            return waiters;
        }

        private int read(ObjectRange range, byte[] buffer, int offset, int length)
                throws IOException
        {
            int count = range.read(buffer, offset, length);
            if (count <= 0) {
                throw new IOException("answer ends before its time");
            }
            return count;
        }
    }
}
