package io.cachedhive.plugin.preload;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.client.connection.CachedBlock;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message.Preloaded;
import io.trino.spi.classloader.ThreadContextClassLoader;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * owners, a few at a time to each, no faster than the job may.
 *
 * <p>What an owner has already it does not fetch again: so a job that is called again loads the rest.
 */
final class PreloadRun
        implements OwnedBytes.Source
{
    /**
     * Enough to keep a cache worker's requests to its origin going.
     */
    private static final int PIECES_PER_WORKER = 4;

    /**
     * For one piece: a hundred kilobytes a second, at the least.
     */
    private static final long PIECE_TIMEOUT_MILLIS = 60_000;

    /**
     * Threads that read footers: they wait for cache workers most of the time.
     */
    private static final int PLANNERS = 8;

    /**
     * Small enough to show progress and to be cancelled, and divisors of nearly every chunk size. The smaller one keeps a slow job from coming in bursts.
     */
    private static final long MAX_PIECE_BYTES = 8 << 20;
    private static final long MIN_PIECE_BYTES = 1 << 20;

    private final WorkerAdmin workerAdmin;
    private final Supplier<Optional<PublishedRing>> ring;
    private final long chunkSizeBytes;
    private final PreloadJob job;
    private final String table;
    private final Optional<ColumnReaders> readers;
    private final Queue<PreloadFile> files;
    private final Pace pace;
    private final long maxPieceBytes;
    private final Supplier<Optional<String>> problem;

    // guarded by this
    private final Map<WorkerAddress, Queue<PreloadPiece>> waiting = new HashMap<>();
    private final Map<WorkerAddress, Integer> sent = new HashMap<>();
    private final Set<CompletableFuture<?>> answers = new HashSet<>();
    private int planners;
    private boolean cancelled;

    /**
     * @param ring the newest, whenever it is asked for
     * @param readers of the wanted columns; empty for all columns
     * @param problem why nothing may be cached at the moment, which ends the job
     */
    PreloadRun(
            WorkerAdmin workerAdmin,
            Supplier<Optional<PublishedRing>> ring,
            long chunkSizeBytes,
            PreloadJob job,
            Collection<PreloadFile> files,
            Optional<ColumnReaders> readers,
            OptionalLong maxBytesPerSecond,
            Supplier<Optional<String>> problem)
    {
        this.problem = requireNonNull(problem, "problem is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.ring = requireNonNull(ring, "ring is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.job = requireNonNull(job, "job is null");
        this.table = job.table().toString();
        this.readers = requireNonNull(readers, "readers is null");
        this.files = new ConcurrentLinkedQueue<>(files);
        this.pace = new Pace(maxBytesPerSecond, System::nanoTime);
        this.maxPieceBytes = maxBytesPerSecond.isPresent() && maxBytesPerSecond.getAsLong() < MAX_PIECE_BYTES ? MIN_PIECE_BYTES : MAX_PIECE_BYTES;
    }

    /**
     * Returns when every byte is loaded or given up, or soon after the job was cancelled.
     */
    void run()
            throws InterruptedException
    {
        job.cancellation().thenRun(this::cancel);
        synchronized (this) {
            planners = PLANNERS;
        }
        for (int i = 0; i < PLANNERS; i++) {
            Thread.ofVirtual().name("cachedhive-preload-plan-" + i).start(this::planFiles);
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
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            PreloadFile file = files.poll();
            while (file != null && !job.isCancelled()) {
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
        List<ByteRange> ranges;
        try {
            if (readers.isEmpty()) {
                ranges = ByteRange.join(file.splits(), 0);
            }
            else if (ColumnRanges.isReadWhole(file, readers.get())) {
                ranges = ColumnRanges.whole(file);
            }
            else {
                ranges = ColumnRanges.find(file, new OwnedBytes(file, this), readers.get());
            }
        }
        catch (CancellationException _) {
            return;
        }
        catch (IOException | RuntimeException e) {
            job.addFailed(file.splitBytes(), "could not find the columns in %s: %s".formatted(file.version().location(), e.getMessage()));
            return;
        }
        job.removeLeft(file.splitBytes() - ranges.stream().mapToLong(ByteRange::length).sum());
        add(PreloadPiece.cut(file.origin(), file.version(), ranges, chunkSizeBytes, maxPieceBytes));
    }

    private void add(List<PreloadPiece> pieces)
    {
        for (PreloadPiece piece : pieces) {
            Optional<WorkerAddress> owner;
            try {
                owner = Optional.of(owner(piece.chunk()));
            }
            catch (IOException e) {
                job.addFailed(piece.length(), e.getMessage());
                continue;
            }
            synchronized (this) {
                if (cancelled) {
                    return;
                }
                waiting.computeIfAbsent(owner.get(), _ -> new ArrayDeque<>()).add(piece);
                notifyAll();
            }
        }
    }

    private WorkerAddress owner(ChunkKey chunk)
            throws IOException
    {
        PublishedRing ring = this.ring.get().orElseThrow(() -> new IOException("no cache worker answers any more: the table cache.stats tells why"));
        CacheWorkerId owner = ring.ring().owner(chunk).orElseThrow(() -> new IOException("no cache worker answers any more: the table cache.stats tells why"));
        return ring.address(owner)
                .orElseThrow(() -> new IOException("no cache worker answers for the chunks of %s: the table cache.nodes tells which are missing".formatted(owner)));
    }

    /**
     * A block of footers or indexes. It is loaded as every other, and then read.
     */
    @Override
    public CachedBlock read(PreloadFile file, long position)
            throws IOException
    {
        long locationHash = ChunkKey.locationHash(file.origin().id(), file.version().location());
        WorkerAddress owner = owner(ChunkKey.at(locationHash, position, chunkSizeBytes));
        awaitPace();
        Preloaded preloaded = answer(() -> workerAdmin.preload(owner, file.origin().index(), file.version(), position, 1, epoch(), table, PIECE_TIMEOUT_MILLIS));
        job.addFetched(preloaded.fetchedBytes());
        pace.take(preloaded.fetchedBytes());
        if (preloaded.failedBytes() > 0) {
            throw new IOException("the cache worker on %s could not load it: %s".formatted(owner, preloaded.problem().orElse("it did not say why")));
        }
        return answer(() -> workerAdmin.readBlock(owner, file.origin().index(), file.version(), position, epoch(), table, PIECE_TIMEOUT_MILLIS));
    }

    private RingEpoch epoch()
    {
        return ring.get().map(PublishedRing::epoch).orElse(new RingEpoch(0));
    }

    private void awaitPace()
            throws IOException
    {
        try {
            for (long nanos = pace.waitNanos(); nanos > 0 && !job.isCancelled(); nanos = pace.waitNanos()) {
                synchronized (this) {
                    if (!cancelled) {
                        TimeUnit.NANOSECONDS.timedWait(this, nanos);
                    }
                }
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        if (job.isCancelled()) {
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

    private record Sending(WorkerAddress owner, PreloadPiece piece) {}

    /**
     * Waits until a piece may be sent.
     *
     * @return empty if there is nothing more to be sent or waited for
     */
    private synchronized Optional<Sending> next()
            throws InterruptedException
    {
        while (!cancelled) {
            boolean idle = planners == 0 && sent.isEmpty();
            long paceNanos = pace.waitNanos();
            for (Map.Entry<WorkerAddress, Queue<PreloadPiece>> entry : waiting.entrySet()) {
                if (entry.getValue().isEmpty()) {
                    continue;
                }
                idle = false;
                if (paceNanos == 0 && sent.getOrDefault(entry.getKey(), 0) < PIECES_PER_WORKER) {
                    sent.merge(entry.getKey(), 1, Integer::sum);
                    return Optional.of(new Sending(entry.getKey(), entry.getValue().poll()));
                }
            }
            if (idle) {
                return Optional.empty();
            }
            if (paceNanos > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, paceNanos);
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
            answer = ask(() -> workerAdmin.preload(
                    sending.owner(),
                    piece.origin().index(),
                    piece.file(),
                    piece.position(),
                    piece.length(),
                    epoch(),
                    table,
                    PIECE_TIMEOUT_MILLIS));
        }
        catch (CancellationException _) {
            return;
        }
        answer.whenCompleteAsync((preloaded, failure) -> finish(sending, answer, preloaded, failure));
    }

    private void finish(Sending sending, CompletableFuture<Preloaded> answer, Preloaded preloaded, Throwable failure)
    {
        PreloadPiece piece = sending.piece();
        if (preloaded != null) {
            // the worker counts whole blocks; what it fetched beyond the piece is not the job's
            long failedBytes = Math.min(preloaded.failedBytes(), piece.length());
            if (failedBytes > 0) {
                job.addFailed(failedBytes, "the cache worker on %s could not load %s: %s"
                        .formatted(sending.owner(), piece.file().location(), preloaded.problem().orElse("it did not say why")));
            }
            job.addDone(piece.length() - failedBytes);
            job.addFetched(preloaded.fetchedBytes());
            pace.take(preloaded.fetchedBytes() - piece.length());
        }
        else if (!job.isCancelled()) {
            Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            job.addFailed(piece.length(), "the cache worker on %s did not load %s: %s".formatted(sending.owner(), piece.file().location(), cause.getMessage()));
        }
        synchronized (this) {
            answers.remove(answer);
            sent.computeIfPresent(sending.owner(), (_, count) -> count == 1 ? null : count - 1);
            notifyAll();
        }
    }
}
