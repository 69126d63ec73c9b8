package io.cachedhive.plugin.preload;

import io.airlift.log.Logger;
import io.cachedhive.plugin.preload.PieceQueue.Patience;
import io.cachedhive.plugin.preload.PieceQueue.Sending;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.WorkerException;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Loads the files of one job: some threads find out which ranges of each file are wanted, and the thread of the job sends these ranges, in pieces, to their
 * owners, a few at a time to each, no faster than the job may. Owners that are away are waited for, see {@link PieceQueue}.
 *
 * <p>What an owner has already it does not fetch again: so a job that is called again loads the rest.
 */
public final class PreloadRun
        implements OwnedBytes.Source
{
    private static final Logger log = Logger.get(PreloadRun.class);

    /**
     * Threads that read footers: they wait for cache workers most of the time.
     */
    private static final int PLANNERS = 8;

    /**
     * That wait to be sent: with so many, nothing more is planned until some were sent.
     */
    static final int MAX_WAITING_PIECES = 10_000;

    /**
     * Small enough to show progress and to be cancelled, and divisors of nearly every chunk size. The smaller one keeps a slow job from coming in bursts.
     */
    private static final long MAX_PIECE_BYTES = 8 << 20;
    private static final long MIN_PIECE_BYTES = 1 << 20;

    private final Owners owners;
    private final Supplier<Optional<PublishedRing>> ring;
    private final long chunkSizeBytes;
    private final PreloadJob job;
    private final Optional<WantedColumns> columns;
    private final Queue<PreloadFile> files;
    private final Pace pace;
    private final long maxPieceBytes;
    private final Supplier<Optional<String>> problem;
    private final Patience patience;

    // guarded by this
    private final PieceQueue waiting;
    private final Set<CompletableFuture<?>> answers = new HashSet<>();
    private int planners;
    private boolean cancelled;
    private long budgetBytes;
    private boolean budgetUsed;

    /**
     * What a job loads.
     *
     * @param columns the columns to load; empty for all columns
     * @param files in the order of their importance
     * @param budgetBytes the limit on the bytes to load: the first file that exceeds it and all later files are omitted; empty for no limit
     * @param maxBytesPerSecond the limit of the job; empty for no limit
     */
    public record Load(Collection<PreloadFile> files, Optional<WantedColumns> columns, OptionalLong budgetBytes, OptionalLong maxBytesPerSecond)
    {
        public Load
        {
            requireNonNull(files, "files is null");
            requireNonNull(columns, "columns is null");
            requireNonNull(budgetBytes, "budgetBytes is null");
            requireNonNull(maxBytesPerSecond, "maxBytesPerSecond is null");
        }
    }

    /**
     * @param ring the newest, whenever it is asked for
     * @param problem why nothing may be cached at the moment, which ends the job
     */
    public PreloadRun(
            Owners owners,
            Supplier<Optional<PublishedRing>> ring,
            long chunkSizeBytes,
            PreloadJob job,
            Load load,
            Supplier<Optional<String>> problem,
            Patience patience)
    {
        this.problem = requireNonNull(problem, "problem is null");
        this.owners = requireNonNull(owners, "owners is null");
        this.ring = requireNonNull(ring, "ring is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.job = requireNonNull(job, "job is null");
        this.columns = load.columns();
        this.files = new ConcurrentLinkedQueue<>(load.files());
        this.budgetBytes = load.budgetBytes().orElse(Long.MAX_VALUE);
        OptionalLong maxBytesPerSecond = load.maxBytesPerSecond();
        this.pace = new Pace(maxBytesPerSecond, System::nanoTime);
        this.maxPieceBytes = maxBytesPerSecond.isPresent() && maxBytesPerSecond.getAsLong() < MAX_PIECE_BYTES ? MIN_PIECE_BYTES : MAX_PIECE_BYTES;
        this.patience = requireNonNull(patience, "patience is null");
        this.waiting = new PieceQueue(patience);
    }

    /**
     * Begins the job, unless it was cancelled, and returns when it has ended: when every byte is loaded or given up, or soon after the job was cancelled.
     */
    public void run()
    {
        if (!job.begin()) {
            return;
        }
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(getClass().getClassLoader());
        try {
            load();
            job.end(Instant.now());
        }
        catch (InterruptedException e) {
            thread.interrupt();
            job.cancel("the catalog is shut down", Instant.now());
            job.end(Instant.now());
        }
        catch (Throwable e) {
            // also an error: whoever waits for the job would wait for ever
            log.error(e, "Preload %s failed", job.id());
            job.fail("it failed: " + e, Instant.now());
        }
        finally {
            thread.setContextClassLoader(before);
        }
    }

    private void load()
            throws InterruptedException
    {
        job.cancellation().thenRun(this::cancel);
        synchronized (this) {
            planners = PLANNERS;
        }
        try {
            for (int i = 0; i < PLANNERS; i++) {
                Thread.ofPlatform().daemon().name("cachedhive-preload-plan-" + i).start(this::planFiles);
            }
            Optional<Sending> next = next();
            while (next.isPresent()) {
                Optional<String> mayNot = problem.get();
                if (mayNot.isPresent()) {
                    job.cancel(mayNot.get(), Instant.now());
                    return;
                }
                send(next.get());
                next = next();
            }
        }
        finally {
            // whoever still plans, after a failure, would wait for ever for somebody to send
            cancel();
        }
    }

    private synchronized void cancel()
    {
        cancelled = true;
        // a piece that was sent is taken back: what its worker has not begun to fetch is not fetched
        List.copyOf(answers).forEach(answer -> answer.cancel(false));
        waiting.clear();
        notifyAll();
    }

    // ---- what is wanted

    private void planFiles()
    {
        // of a thread that ends with this; readers of footers look for classes by it
        Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
        try {
            PreloadFile file = files.poll();
            while (file != null && !isCancelled()) {
                plan(file);
                file = files.poll();
            }
        }
        finally {
            synchronized (this) {
                planners--;
                notifyAll();
            }
        }
    }

    private void plan(PreloadFile file)
    {
        if (isBudgetUsed()) {
            job.omit(file.splitBytes());
            return;
        }
        List<ByteRange> ranges;
        try {
            if (columns.isEmpty()) {
                ranges = ByteRange.join(file.splits(), 0);
            }
            else if (columns.get().isReadWhole(file)) {
                ranges = file.whole();
            }
            else {
                ranges = columns.get().find(file, new OwnedBytes(file, this));
            }
        }
        catch (CancellationException _) {
            return;
        }
        catch (IOException e) {
            job.addFailed(file.splitBytes(), "could not find the columns in %s: %s".formatted(file.version().location(), e.getMessage()));
            return;
        }
        catch (Throwable e) {
            // also an error, such as of a class that is missing: a job that is said to be finished has loaded everything
            job.addFailed(file.splitBytes(), "could not find the columns in %s: %s".formatted(file.version().location(), e));
            return;
        }
        long bytes = ranges.stream().mapToLong(ByteRange::length).sum();
        if (!takeBudget(bytes)) {
            job.omit(file.splitBytes());
            return;
        }
        job.removeLeft(file.splitBytes() - bytes);
        add(PreloadPiece.cut(file.origin(), file.version(), ranges, chunkSizeBytes, maxPieceBytes));
    }

    private synchronized boolean isBudgetUsed()
    {
        return budgetUsed;
    }

    private synchronized boolean takeBudget(long bytes)
    {
        budgetUsed |= bytes > budgetBytes;
        if (!budgetUsed) {
            budgetBytes -= bytes;
        }
        return !budgetUsed;
    }

    /**
     * Those that were planned and not yet sent.
     */
    synchronized int waitingPieces()
    {
        return waiting.size();
    }

    private synchronized boolean isCancelled()
    {
        return cancelled;
    }

    private void add(Iterator<PreloadPiece> pieces)
    {
        while (pieces.hasNext()) {
            PreloadPiece piece = pieces.next();
            synchronized (this) {
                try {
                    while (!cancelled && waiting.size() >= MAX_WAITING_PIECES) {
                        wait();
                    }
                }
                catch (InterruptedException e) {
                    throw new IllegalStateException("unexpected interrupt", e);
                }
                if (cancelled) {
                    return;
                }
                waiting.add(piece);
                notifyAll();
            }
        }
    }

    private WorkerAddress owner(ChunkKey chunk)
            throws WorkerException
    {
        PublishedRing ring = this.ring.get().orElseThrow(() -> away("no cache worker answers any more: see the table cache.stats for the reason"));
        CacheWorkerId owner = ring.ring().owner(chunk).orElseThrow(() -> away("no cache worker answers any more: see the table cache.stats for the reason"));
        return ring.address(owner)
                .orElseThrow(() -> away("no cache worker answers for the chunks of %s: see the table cache.nodes for the missing ones".formatted(owner)));
    }

    private static WorkerException away(String message)
    {
        return new WorkerException(WorkerException.Reason.UNREACHABLE, message);
    }

    /**
     * A block of footers or indexes. It is loaded as every other, and then read.
     */
    @Override
    public CachedBlock read(PreloadFile file, long position)
            throws IOException
    {
        long begin = System.nanoTime();
        for (int failures = 1; ; failures++) {
            try {
                return readOnce(file, position);
            }
            catch (WorkerException e) {
                if (!mayComeBack(e) || System.nanoTime() - begin >= patience.giveUpAfter().toNanos()) {
                    throw e;
                }
                pause(patience.pauseNanos(failures));
            }
        }
    }

    private CachedBlock readOnce(PreloadFile file, long position)
            throws IOException
    {
        awaitPace();
        long locationHash = ChunkKey.locationHash(file.origin().id(), file.version().location());
        WorkerAddress owner = owner(ChunkKey.at(locationHash, position, chunkSizeBytes));
        Preloaded preloaded = answer(() -> owners.preload(owner, file.origin(), file.version(), position, 1, epoch()));
        job.addFetched(preloaded.fetchedBytes());
        pace.take(preloaded.fetchedBytes());
        if (preloaded.failedBytes() > 0) {
            throw new IOException("the cache worker on %s could not load it: %s".formatted(owner, preloaded.problem().orElse("no reason given")));
        }
        return answer(() -> owners.readBlock(owner, file.origin(), file.version(), position, epoch()));
    }

    /**
     * Whether the same question may be answered later.
     */
    private static boolean mayComeBack(WorkerException failure)
    {
        return switch (failure.reason()) {
            case UNREACHABLE, SILENT, BREAKER_OPEN, OVERLOADED -> true;
            case REFUSED, PROTOCOL, CLOSED -> false;
        };
    }

    private RingEpoch epoch()
    {
        return ring.get().map(PublishedRing::epoch).orElse(new RingEpoch(0));
    }

    private void awaitPace()
            throws InterruptedIOException
    {
        pause(0);
        for (long nanos = pace.waitNanos(); nanos > 0; nanos = pace.waitNanos()) {
            pause(nanos);
        }
    }

    /**
     * @throws CancellationException if the job is cancelled, or was before
     */
    private synchronized void pause(long nanos)
            throws InterruptedIOException
    {
        long deadline = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0 && !cancelled; left = deadline - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        if (cancelled) {
            throw new CancellationException();
        }
    }

    private <T> T answer(Supplier<CompletableFuture<T>> question)
            throws IOException
    {
        CompletableFuture<T> answer = ask(question);
        try {
            return answer.get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof WorkerException failure) {
                throw failure;
            }
            throw new IOException(e.getCause().getMessage(), e.getCause());
        }
        finally {
            synchronized (this) {
                answers.remove(answer);
            }
        }
    }

    /**
     * @throws CancellationException if the job is cancelled
     */
    private <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> question)
    {
        CompletableFuture<T> answer;
        synchronized (this) {
            if (cancelled) {
                throw new CancellationException();
            }
            answer = question.get();
            answers.add(answer);
        }
        return answer;
    }

    // ---- sending

    /**
     * Waits until a piece may be sent.
     *
     * @return empty if there is nothing more to be sent or waited for
     */
    private synchronized Optional<Sending> next()
            throws InterruptedException
    {
        while (!cancelled) {
            waiting.update(ring.get());
            long paceNanos = pace.waitNanos();
            Optional<Sending> next = paceNanos == 0 ? waiting.poll(System.nanoTime()) : Optional.empty();
            waiting.takeGivenUp().forEach(givenUp -> job.addFailed(givenUp.piece().length(), givenUp.problem()));
            if (next.isPresent()) {
                notifyAll();
                return next;
            }
            if (planners == 0 && waiting.isIdle()) {
                return Optional.empty();
            }
            OptionalLong again = waiting.nextNanos();
            if (paceNanos > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, paceNanos);
            }
            else if (again.isPresent()) {
                // no shorter than what a wait can be
                TimeUnit.NANOSECONDS.timedWait(this, Math.max(1_000_000, again.getAsLong() - System.nanoTime()));
            }
            else {
                wait();
            }
        }
        return Optional.empty();
    }

    private void send(Sending sending)
    {
        PreloadPiece piece = sending.piece();
        pace.take(piece.length());
        CompletableFuture<Preloaded> answer;
        try {
            answer = ask(() -> owners.preload(sending.address(), piece.origin(), piece.file(), piece.position(), piece.length(), epoch()));
        }
        catch (CancellationException _) {
            return;
        }
        answer.whenCompleteAsync((preloaded, failure) -> finish(sending, answer, preloaded, failure));
    }

    private void finish(Sending sending, CompletableFuture<Preloaded> answer, Preloaded preloaded, Throwable failure)
    {
        PreloadPiece piece = sending.piece();
        Optional<String> away = Optional.empty();
        if (preloaded != null) {
            // the worker counts whole blocks; what it fetched beyond the piece is not the job's
            long failedBytes = Math.min(preloaded.failedBytes(), piece.length());
            if (failedBytes > 0) {
                job.addFailed(failedBytes, "the cache worker on %s could not load %s: %s"
                        .formatted(sending.address(), piece.file().location(), preloaded.problem().orElse("no reason given")));
            }
            job.addDone(piece.length() - failedBytes);
            job.addFetched(preloaded.fetchedBytes());
            pace.take(preloaded.fetchedBytes() - piece.length());
        }
        else if (!job.isCancelled()) {
            Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            String problem = "the cache worker on %s did not load %s: %s".formatted(sending.address(), piece.file().location(), cause.getMessage());
            if (cause instanceof WorkerException workerFailure && mayComeBack(workerFailure)) {
                away = Optional.of(problem);
                // it is taken again when it is sent again
                pace.take(-piece.length());
            }
            else {
                job.addFailed(piece.length(), problem);
            }
        }
        synchronized (this) {
            answers.remove(answer);
            if (away.isPresent() && !cancelled) {
                waiting.failed(sending, System.nanoTime(), away.get());
            }
            else {
                waiting.answered(sending);
            }
            notifyAll();
        }
    }
}
