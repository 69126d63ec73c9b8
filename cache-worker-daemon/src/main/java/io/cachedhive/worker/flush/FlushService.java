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
 * Does what tombstones say, once each, one after the other.
 *
 * <p>A tombstone is written down before anything is done, and again when it is: a run that ends in between leaves it to the next one, which serves nothing before.
 */
public final class FlushService
{
    private static final Logger log = Logger.get(FlushService.class);

    // by then whoever read a block before it went has offered it
    private static final long GUESTS_REFUSED_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final BlockStore store;
    private final WorkerTimer timer;
    private final Executor executor;
    @GuardedBy("this")
    private final TombstoneLog book;
    // known, and not done; of the book; replaced, never changed
    private volatile LocationIndex<Tombstone> undone = LocationIndex.ofTombstones(List.of());
    // done lately
    private volatile List<Recent> recent = List.of();
    private volatile boolean ready;
    private volatile boolean hiding;
    private volatile boolean resuming;

    private record Recent(LocationIndex<Tombstone> tombstones, long endNanos) {}

    /**
     * To be opened before anything is cached in this run: what the store has then is from earlier ones.
     *
     * @param executor of one thread
     */
    public FlushService(BlockStore store, StateDirectory state, WorkerTimer timer, Executor executor)
    {
        this.store = requireNonNull(store, "store is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.executor = requireNonNull(executor, "executor is null");
        StoreGauges found = store.gauges();
        // blocks may still be restored; their files are all there
        this.book = TombstoneLog.open(state, found.files() + found.ssdBlocks() > 0, timer.now().toEpochMilli());
    }

    /**
     * Begins to do what the last run left undone: before it is done, nothing is served. Where nothing was left, the
     * file is durable on return, before the first block is cached: blocks without a file are those of a worker that
     * lost it.
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
                log.error(e, "What was flushed before could not be removed: this cache worker serves nothing");
            }
        });
    }

    /**
     * Writes down that this worker lives: one that does not for long has to start empty.
     */
    synchronized void keepAlive()
    {
        book.forget(nowMillis());
        save();
    }

    /**
     * Whether blocks may be served: not before it is known what was flushed while this worker was away, as far as anybody knows.
     */
    public boolean isReady()
    {
        return ready && !hiding && !resuming;
    }

    void setReady(boolean ready)
    {
        this.ready = ready;
    }

    /**
     * Does what somebody calls for. Returns at once.
     *
     * @return ends when all of these is done, also by somebody else; fails with a sentence if it cannot be
     */
    public CompletableFuture<Flushed> flush(Collection<Tombstone> tombstones)
    {
        return execute(() -> flushNow(tombstones, true));
    }

    /**
     * Does what another worker knows of, as far as it matters still. Returns at once.
     *
     * @return ends when all of these is done, also by somebody else; fails with a sentence if it cannot be
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
            merged.completeExceptionally(new IllegalStateException("the cache worker stops, or has too many flushes to do", e));
        }
        return merged;
    }

    /**
     * @param called whether somebody waits for it: then it is done, unless it was, whatever the clocks say and other flushes cover
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
        FlushResult result;
        // what is not restored yet cannot be taken from readers any sooner
        hiding = !store.awaitRestored(Duration.ZERO);
        try {
            result = store.flushes().flush(index::covers);
        }
        finally {
            hiding = false;
        }
        keepRecent(index);
        result.problem().ifPresent(problem -> log.warn("%s", problem));
        log.info("Flushed %s files of %s", result.files(), tombstones.stream().map(Tombstone::location).limit(10).toList());
        finish(tombstones, result);
        return new Flushed(result.files(), result.problem());
    }

    private synchronized void keepRecent(LocationIndex<Tombstone> tombstones)
    {
        long now = timer.nanoTime();
        recent = Stream.concat(recent.stream().filter(flushed -> flushed.endNanos() - now > 0), Stream.of(new Recent(tombstones, now + GUESTS_REFUSED_NANOS))).toList();
    }

    private synchronized void finish(List<Tombstone> tombstones, FlushResult result)
    {
        // who asks again is not to hear that all is well
        if (result.durable() && result.problem().isEmpty()) {
            book.setDone(tombstones, nowMillis());
        }
        undone = LocationIndex.ofTombstones(book.notDone());
        save();
    }

    /**
     * Whether a block that a reader had from another cache worker may be kept: it may have left there, and before it was flushed here.
     */
    public boolean mayBeGuest(FileVersion file)
    {
        // what is done is among the recent ones before it is not being done any more: in the other order, a flush that ends in between is in neither
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
     * Whether a flush of the file is known here and not done yet: what another worker has of it may be what is flushed.
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
     * Exclusive or of the ids of those that are done.
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
     * Returns when all is done that was learned before.
     */
    void awaitMerged()
            throws InterruptedException
    {
        try {
            merge(List.of()).get();
        }
        catch (ExecutionException e) {
            log.debug("Nothing is merged any more: %s", e.getMessage());
        }
    }

    /**
     * How often the book says anew that this worker lives.
     */
    static Duration keepAliveInterval()
    {
        return Duration.ofHours(1);
    }
}
