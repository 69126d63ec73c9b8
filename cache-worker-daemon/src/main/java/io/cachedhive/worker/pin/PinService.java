package io.cachedhive.worker.pin;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.PinState;
import io.cachedhive.protocol.wire.PinMessage.Pins;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.PinUsage;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.time.WorkerTimer;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * Applies pins to the blocks of the store. A pin is recorded before its blocks are updated, so that a run that is
 * interrupted in between leaves the update to the next one.
 */
public final class PinService
{
    private static final Logger log = Logger.get(PinService.class);

    private static final Duration RESTORE_WAIT = Duration.ofMinutes(10);
    // time for a checkpoint, which empties the journal
    private static final long JOURNAL_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long JOURNAL_PAUSE_MILLIS = 200;

    private final BlockStore store;
    private final WorkerTimer timer;
    private final Executor executor;
    @GuardedBy("this")
    private final PinRegistry book;
    // whether the last attempt to record the pins failed
    @GuardedBy("this")
    private boolean unsaved;
    // the current pins; replaced, never modified
    private volatile LocationIndex<Pin> pinned = LocationIndex.ofPins(List.of());
    private volatile LocationIndex<Pin> unpinned = LocationIndex.ofPins(List.of());
    // used only by the executor's thread: pins of which some blocks could not be updated
    private List<Pin> left = List.of();

    /**
     * @param executor an executor with one thread
     */
    public PinService(BlockStore store, StateDirectory state, WorkerTimer timer, Executor executor)
    {
        this.store = requireNonNull(store, "store is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.executor = requireNonNull(executor, "executor is null");
        this.book = PinRegistry.open(state, nowMillis());
        index();
        // before any block is filled
        store.pins().set(this::isPinned);
    }

    /**
     * Applies pins that the last run may have left unfinished.
     */
    public void resume()
    {
        List<Pin> notApplied;
        boolean trusted;
        synchronized (this) {
            notApplied = book.toBeApplied();
            trusted = book.isTrusted();
        }
        keepAlive();
        if (trusted && notApplied.isEmpty()) {
            return;
        }
        executor.execute(() -> {
            try {
                if (trusted) {
                    apply(notApplied);
                }
                else if (applyTo(_ -> true)) {
                    // blocks may be pinned by pins that were lost; rules pin their blocks again when they are read
                    setAllApplied(notApplied);
                }
            }
            catch (RuntimeException | Error e) {
                log.error(e, "Cannot search for blocks to pin");
            }
        });
    }

    /**
     * Records that this worker is alive, and removes pins that are no longer needed.
     */
    public synchronized void keepAlive()
    {
        book.forget(nowMillis());
        index();
        save();
    }

    private synchronized void index()
    {
        pinned = LocationIndex.ofPins(book.pins().stream().filter(Pin::pinned).toList());
        unpinned = LocationIndex.ofPins(book.pins().stream().filter(pin -> !pin.pinned()).toList());
    }

    private boolean isPinned(FileVersion file)
    {
        return pinned.covers(file);
    }

    /**
     * Returns whether the file is no longer pinned by name. A worker that does not know this yet may still have pinned
     * blocks of it.
     */
    public boolean isUnpinned(FileVersion file)
    {
        return !pinned.covers(file) && unpinned.covers(file);
    }

    /**
     * Adds pins and applies them. Returns immediately.
     *
     * @return completes when cached blocks have been updated; fails if that, or recording the pins, is impossible
     */
    public CompletableFuture<Void> set(Collection<Pin> pins)
    {
        CompletableFuture<Void> done = new CompletableFuture<>();
        List<Pin> changed;
        boolean saved;
        synchronized (this) {
            Optional<List<Pin>> added = book.add(pins, nowMillis());
            if (added.isEmpty()) {
                done.completeExceptionally(new IllegalStateException("no more than %s places are pinned: pin whole tables in place of partitions".formatted(PinRegistry.MAX_PINS)));
                return done;
            }
            changed = added.get();
            if (!changed.isEmpty()) {
                index();
            }
            // retries also for known pins, because a caller repeats them after a failure
            saved = (changed.isEmpty() && !unsaved) || save();
        }
        boolean kept = saved;
        try {
            executor.execute(() -> {
                try {
                    // runs also without new pins, so that earlier updates are complete before this one completes
                    boolean complete = apply(changed);
                    if (complete && kept) {
                        done.complete(null);
                    }
                    else {
                        done.completeExceptionally(new IllegalStateException(complete ?
                                "cannot record the pins, which are lost with a restart: make the state directory writable, and call again" :
                                "some blocks keep their class, since the journal of an SSD directory is full: call again"));
                    }
                }
                catch (RuntimeException | Error e) {
                    log.error(e, "Pinning failed");
                    done.completeExceptionally(e);
                }
            });
        }
        catch (RejectedExecutionException e) {
            done.completeExceptionally(new IllegalStateException("the cache worker is stopping, or has too many pins to apply", e));
        }
        return done;
    }

    private boolean apply(List<Pin> changed)
    {
        List<Pin> all = new ArrayList<>(left);
        all.addAll(changed);
        if (all.isEmpty()) {
            return true;
        }
        boolean complete = applyTo(LocationIndex.ofPins(all)::covers);
        left = complete ? List.of() : all;
        if (complete) {
            setApplied(all);
        }
        return complete;
    }

    private synchronized void setApplied(List<Pin> applied)
    {
        book.setApplied(applied);
        save();
    }

    private synchronized void setAllApplied(List<Pin> known)
    {
        book.setTrusted();
        book.setApplied(known);
        save();
    }

    private boolean applyTo(Predicate<FileVersion> files)
    {
        // blocks that are restored later have the class that they had before
        store.awaitRestored(RESTORE_WAIT);
        long start = System.nanoTime();
        boolean complete = store.pins().set(this::isPinned, files);
        while (!complete && System.nanoTime() - start < JOURNAL_WAIT_NANOS) {
            try {
                Thread.sleep(JOURNAL_PAUSE_MILLIS);
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            complete = store.pins().set(this::isPinned, files);
        }
        if (!complete) {
            log.warn("Some blocks keep their class, since the journal of an SSD directory is full");
        }
        return complete;
    }

    /**
     * Answers with the known pins. With the usage, this takes a scan of all files.
     */
    public Pins answer(GetPins request)
    {
        Digest128 all;
        List<Pin> some;
        synchronized (this) {
            all = book.xor();
            some = request.known().equals(all) ? List.of() : book.pins(request.after(), PinMessage.SetPins.MAX_PINS);
        }
        Map<Pin, PinUsage> usage = request.usage() && !some.isEmpty() ? usage(some) : Map.of();
        PinUsage none = new PinUsage(0, 0);
        return new Pins(all, some.stream()
                .map(pin -> new PinState(pin, usage.getOrDefault(pin, none).cachedBytes(), usage.getOrDefault(pin, none).pinnedBytes()))
                .toList());
    }

    private Map<Pin, PinUsage> usage(List<Pin> pins)
    {
        LocationIndex<Pin> index = LocationIndex.ofPins(pins);
        // several pins may cover a file
        Map<List<Pin>, PinUsage> together = store.contents().pinUsage(file -> Optional.of(index.covering(file.origin(), file.location())).filter(covering -> !covering.isEmpty()));
        Map<Pin, PinUsage> usage = new HashMap<>();
        together.forEach((covering, there) -> covering.forEach(pin -> usage.merge(pin, there, PinUsage::add)));
        return usage;
    }

    /**
     * Returns the XOR of the ids of all known pins.
     */
    public synchronized Digest128 xor()
    {
        return book.xor();
    }

    @GuardedBy("this")
    private boolean save()
    {
        try {
            book.save(nowMillis());
            unsaved = false;
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot record the pins (%s): after a restart, they are read from peers again", e.getMessage());
            unsaved = true;
            return false;
        }
    }

    private long nowMillis()
    {
        return timer.now().toEpochMilli();
    }
}
