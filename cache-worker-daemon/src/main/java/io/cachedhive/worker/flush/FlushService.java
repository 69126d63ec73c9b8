package io.cachedhive.worker.flush;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Tombstones;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.FlushResult;
import io.cachedhive.store.StoreGauges;
import io.cachedhive.worker.state.DurableLog;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.time.WorkerTimer;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Applies tombstones to the store, one after another and each of them once.
 *
 * <p>A tombstone is recorded before it is applied, and again afterwards. If a run is interrupted in between, the next
 * run applies the tombstone before it serves blocks.
 */
public final class FlushService
{
    private static final Logger log = Logger.get(FlushService.class);

    // by then, readers have offered the guest blocks that they read before the flush
    private static final long GUESTS_REFUSED_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final String NOT_DURABLE =
            "cannot write that blocks were flushed to any SSD directory or to the state directory: after a crash, flushed blocks may come back until they are flushed again";

    private static final String NO_ROOM = "more than %s flushes of the last %s days are remembered, and the rest is for those that users request"
            .formatted(TombstoneLog.MAX_TOMBSTONES_OF_REMOVED, DurableLog.KEPT.toDays());

    private final BlockStore store;
    private final WorkerTimer timer;
    private final Executor executor;
    @GuardedBy("this")
    private final TombstoneLog book;
    // known tombstones that are not applied yet; replaced, never modified
    private volatile LocationIndex<Tombstone> undone = LocationIndex.ofTombstones(List.of());
    // recently applied
    private volatile List<Recent> recent = List.of();
    private volatile boolean ready;
    private volatile boolean resuming;

    private record Recent(LocationIndex<Tombstone> tombstones, long endNanos) {}

    /**
     * Opens the service. Call it before this run caches anything: all blocks must be from earlier runs.
     *
     * @param executor an executor with one thread
     */
    public FlushService(BlockStore store, StateDirectory state, WorkerTimer timer, Executor executor)
    {
        this.store = requireNonNull(store, "store is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.executor = requireNonNull(executor, "executor is null");
        StoreGauges found = store.gauges();
        // blocks may still be restored, but all files are known
        this.book = TombstoneLog.open(state, found.files() + found.ssdBlocks() > 0, timer.now().toEpochMilli());
    }

    /**
     * Starts to apply the tombstones that the last run left unfinished; blocks are not served before. If there are
     * none, the file is durable on return, before the first block is cached. A store with blocks but without a file has
     * therefore lost it.
     */
    public void resume()
    {
        List<Tombstone> left;
        boolean trusted;
        synchronized (this) {
            left = book.notDone();
            undone = LocationIndex.ofTombstones(left);
            trusted = book.isTrusted();
        }
        if (trusted && left.isEmpty()) {
            keepAlive();
            return;
        }
        resuming = true;
        executor.execute(() -> {
            try {
                if (trusted) {
                    run(left);
                }
                else {
                    finish(left, store.flushes().flush(_ -> true));
                }
                keepAlive();
                resuming = false;
            }
            catch (RuntimeException | Error e) {
                log.error(e, "Cannot remove blocks that were flushed earlier: this cache worker serves no blocks");
            }
        });
    }

    /**
     * Records that this worker is alive. A worker that was offline for too long has to start empty.
     */
    synchronized void keepAlive()
    {
        book.forget(nowMillis());
        save();
    }

    /**
     * Returns whether blocks may be served: unfinished flushes have been applied, and peers asked for missed ones.
     */
    public boolean isReady()
    {
        return ready && !resuming;
    }

    void setReady(boolean ready)
    {
        this.ready = ready;
    }

    /**
     * Applies tombstones that a client requested. Returns immediately.
     *
     * @param requested false for files that a statement removed: such flushes leave room for those that a user requests
     * @return completes when all of them have been applied, including by other calls; fails if that is impossible
     */
    public CompletableFuture<Flushed> flush(Collection<Tombstone> tombstones, boolean requested)
    {
        return execute(() -> requested || hasRoomForRemoved(tombstones.size()) ? flushNow(tombstones, true) : new Flushed(0, Optional.of(NO_ROOM)));
    }

    private synchronized boolean hasRoomForRemoved(int count)
    {
        return book.hasRoomForRemoved(count, nowMillis());
    }

    /**
     * Applies tombstones of another worker that are still relevant. Returns immediately.
     *
     * @return completes when all of them have been applied, including by other calls; fails if that is impossible
     */
    public CompletableFuture<Flushed> merge(Collection<Tombstone> tombstones)
    {
        return execute(() -> flushNow(tombstones, false));
    }

    private CompletableFuture<Flushed> execute(Supplier<Flushed> flush)
    {
        CompletableFuture<Flushed> merged = new CompletableFuture<>();
        try {
            executor.execute(() -> {
                try {
                    merged.complete(flush.get());
                }
                catch (RuntimeException | Error e) {
                    log.error(e, "Flush failed");
                    merged.completeExceptionally(e);
                }
            });
        }
        catch (RejectedExecutionException e) {
            merged.completeExceptionally(new IllegalStateException("the cache worker is stopping, or has too many flushes to apply", e));
        }
        return merged;
    }

    /**
     * Records and applies tombstones.
     *
     * @param called whether a client requested the flush; it is then applied unless it has been applied before, even if
     * it is old or covered by another tombstone
     */
    private Flushed flushNow(Collection<Tombstone> tombstones, boolean called)
    {
        List<Tombstone> added;
        List<Tombstone> wanted;
        boolean saved = true;
        synchronized (this) {
            added = book.add(tombstones, nowMillis())
                    .orElseThrow(() -> new IllegalStateException("more than %s flushes of the last %s days are remembered: flush whole tables in place of partitions"
                            .formatted(TombstoneLog.MAX_TOMBSTONES, DurableLog.KEPT.toDays())));
            if (!added.isEmpty()) {
                saved = save();
            }
            Set<Digest128> done = book.doneIds();
            wanted = called ? tombstones.stream().filter(tombstone -> !done.contains(tombstone.id())).toList() : added;
            undone = LocationIndex.ofTombstones(book.notDone());
        }
        if (wanted.isEmpty()) {
            return new Flushed(0, Optional.empty());
        }
        Flushed flushed = run(wanted);
        return saved ? flushed : new Flushed(flushed.files(), flushed.problem().or(() ->
                Optional.of("cannot record the flush: after a restart, this cache worker will not report it to unreachable peers")));
    }

    private Flushed run(List<Tombstone> tombstones)
    {
        LocationIndex<Tombstone> index = LocationIndex.ofTombstones(tombstones);
        FlushResult result = store.flushes().flush(index::covers);
        keepRecent(index);
        log.info("Flushed %s files of %s", result.files(), tombstones.stream().map(Tombstone::location).limit(10).toList());
        finish(tombstones, result);
        if (result.durable()) {
            return new Flushed(result.files(), Optional.empty());
        }
        log.warn("%s", NOT_DURABLE);
        return new Flushed(result.files(), Optional.of(NOT_DURABLE));
    }

    private synchronized void keepRecent(LocationIndex<Tombstone> tombstones)
    {
        long now = timer.nanoTime();
        recent = Stream.concat(recent.stream().filter(flushed -> flushed.endNanos() - now > 0), Stream.of(new Recent(tombstones, now + GUESTS_REFUSED_NANOS))).toList();
    }

    private synchronized void finish(List<Tombstone> tombstones, FlushResult result)
    {
        // a repeated request must not report success
        if (result.durable()) {
            book.setDone(tombstones, nowMillis());
        }
        undone = LocationIndex.ofTombstones(book.notDone());
        save();
    }

    /**
     * Returns whether a block that a reader received from another cache worker may be stored. Recently flushed files
     * are refused, because the block may have been sent before the flush.
     */
    public boolean mayBeGuest(FileVersion file)
    {
        // checked before the recent flushes: run adds a flush to them before it leaves the tombstones in progress
        if (isBeingFlushed(file)) {
            return false;
        }
        List<Recent> flushed = recent;
        if (flushed.isEmpty()) {
            return true;
        }
        long now = timer.nanoTime();
        return flushed.stream().noneMatch(each -> each.endNanos() - now > 0 && each.tombstones().covers(file));
    }

    /**
     * Returns whether a flush of the file is known but not applied yet. Other workers may have outdated blocks then.
     */
    public boolean isBeingFlushed(FileVersion file)
    {
        return undone.covers(file);
    }

    public synchronized Tombstones answer(GetTombstones request)
    {
        Digest128 all = book.doneXor();
        return new Tombstones(all, request.known().equals(all) ? List.of() : book.done(request.after(), InvalidationMessage.Flush.MAX_TOMBSTONES));
    }

    /**
     * Returns the XOR of the ids of the applied tombstones.
     */
    synchronized Digest128 doneXor()
    {
        return book.doneXor();
    }

    synchronized Set<Digest128> doneIds()
    {
        return book.doneIds();
    }

    @GuardedBy("this")
    private boolean save()
    {
        try {
            book.save(nowMillis());
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot record the flushes (%s): after a restart, they are read from peers again", e.getMessage());
            return false;
        }
    }

    private long nowMillis()
    {
        return timer.now().toEpochMilli();
    }

    /**
     * Waits until all tombstones that were received before have been applied.
     */
    void awaitMerged()
            throws InterruptedException
    {
        try {
            merge(List.of()).get();
        }
        catch (ExecutionException e) {
            log.debug("Stopped merging flushes: %s", e.getMessage());
        }
    }

    /**
     * Returns the interval at which the log records that this worker is alive.
     */
    static Duration keepAliveInterval()
    {
        return Duration.ofHours(1);
    }
}
