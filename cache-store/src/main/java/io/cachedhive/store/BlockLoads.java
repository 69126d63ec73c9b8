package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdLoad;
import io.cachedhive.store.ssd.SsdTier;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Reads blocks from SSD into frames, on threads of the block's directory. Concurrent loads of the same block share one
 * read. A read that takes too long continues, but its readers are refused.
 */
final class BlockLoads
{
    private static final Logger log = Logger.get(BlockLoads.class);

    // frames rest 100 ms, so a longer wait fails only if everything is pinned
    private static final long FRAME_WAIT_NANOS = 300_000_000;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final RamHits hits;

    @GuardedBy("lock")
    private final Map<Digest128, Load> loads = new HashMap<>();
    @GuardedBy("lock")
    private long refused;

    private static final class Load
    {
        private final SsdBlock block;
        private final SsdLoad reserved;
        // guarded by the lock
        private List<LoadListener> listeners = new ArrayList<>(1);
        // of the loading thread
        private boolean answered;

        private Load(SsdBlock block, SsdLoad reserved)
        {
            this.block = block;
            this.reserved = reserved;
        }
    }

    private interface Result
    {
        void deliver();
    }

    BlockLoads(Tiers tiers, RamHits hits)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.hits = requireNonNull(hits, "hits is null");
    }

    /**
     * See {@link BlockStore#load(io.cachedhive.protocol.file.BlockKey, LoadListener)}.
     */
    void load(Digest128 digest, LoadListener listener)
    {
        Load begun = null;
        Result result = listener::absent;
        lock.lock();
        try {
            Optional<PinnedBlock> pinned = tiers.isClosed() ? Optional.empty() : hits.pin(digest, BlockOrigin.RAM);
            if (pinned.isPresent()) {
                result = () -> listener.loaded(pinned.get());
            }
            else if (!tiers.isClosed()) {
                Load running = loads.get(digest);
                if (running != null && !running.reserved.isLate()) {
                    running.listeners.add(listener);
                    return;
                }
                Optional<SsdBlock> found = ssd.find(digest);
                if (found.isPresent()) {
                    ssd.use(digest);
                    Optional<SsdLoad> reserved = running == null ? ssd.beginLoad(found.get()) : Optional.empty();
                    if (reserved.isPresent()) {
                        begun = new Load(found.get(), reserved.get());
                        begun.listeners.add(listener);
                        loads.put(digest, begun);
                    }
                    else {
                        result = () -> listener.refused(LoadRefusal.DIRECTORY);
                    }
                }
            }
        }
        finally {
            lock.unlock();
        }
        if (begun == null) {
            result.deliver();
        }
        else {
            execute(begun);
        }
    }

    private void execute(Load load)
    {
        try {
            load.reserved.execute(() -> run(load));
        }
        catch (RejectedExecutionException _) {
            // the store is being closed
            end(load, LoadListener::absent);
        }
        catch (OutOfMemoryError _) {
            // not of the heap: the system gives this process no more threads. The block is there, so it must not be fetched
            end(load, listener -> listener.refused(LoadRefusal.DIRECTORY));
        }
    }

    /**
     * Refuses the readers of blocks whose reads take too long. Callers must not hold the lock.
     */
    void refuseLate()
    {
        List<LoadListener> late = new ArrayList<>();
        lock.lock();
        try {
            for (Load load : loads.values()) {
                if (!load.listeners.isEmpty() && load.reserved.isLate()) {
                    late.addAll(takeListeners(load));
                }
            }
        }
        finally {
            lock.unlock();
        }
        late.forEach(listener -> deliver(() -> listener.refused(LoadRefusal.DIRECTORY)));
    }

    @GuardedBy("lock")
    private List<LoadListener> takeListeners(Load load)
    {
        List<LoadListener> taken = load.listeners;
        load.listeners = new ArrayList<>(0);
        taken.removeIf(LoadListener::isCancelled);
        return taken;
    }

    private static void deliver(Result result)
    {
        try {
            result.deliver();
        }
        catch (RuntimeException e) {
            // the other listeners need their results
            log.error(e, "The result of a load could not be delivered");
        }
    }

    private interface Outcome
    {
        void deliver(LoadListener listener);
    }

    private void end(Load load, Outcome outcome)
    {
        List<LoadListener> listeners;
        lock.lock();
        try {
            listeners = endLocked(load);
        }
        finally {
            lock.unlock();
        }
        listeners.forEach(listener -> deliver(() -> outcome.deliver(listener)));
    }

    @GuardedBy("lock")
    private List<LoadListener> endLocked(Load load)
    {
        loads.remove(load.block.digest(), load);
        load.reserved.end(load.answered);
        return takeListeners(load);
    }

    /**
     * Ends the load of a block that is in RAM.
     *
     * @param pinned the block
     * @param tier the tier in which it was found
     * @return what to do without the lock
     */
    @GuardedBy("lock")
    private List<Result> endLoaded(Load load, PinnedBlock pinned, BlockOrigin tier)
    {
        List<LoadListener> listeners = endLocked(load);
        if (listeners.isEmpty()) {
            pinned.close();
            return List.of();
        }
        List<Result> results = new ArrayList<>(listeners.size());
        results.add(() -> listeners.getFirst().loaded(pinned));
        for (LoadListener listener : listeners.subList(1, listeners.size())) {
            PinnedBlock another = hits.pin(load.block.digest(), tier).orElseThrow();
            results.add(() -> listener.loaded(another));
        }
        return results;
    }

    private void run(Load load)
    {
        try {
            if (isNeeded(load)) {
                readIntoFrame(load);
            }
            else {
                end(load, LoadListener::absent);
            }
        }
        catch (RuntimeException | Error e) {
            log.error(e, "Block %s could not be loaded", load.block.digest());
            end(load, LoadListener::absent);
        }
    }

    private boolean isNeeded(Load load)
    {
        lock.lock();
        try {
            load.listeners.removeIf(LoadListener::isCancelled);
            return !load.listeners.isEmpty();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Reads from SSD directly into the frame and publishes the frame once it is verified.
     */
    private void readIntoFrame(Load load)
    {
        SsdBlock block = load.block;
        Frame frame = null;
        long start = System.nanoTime();
        List<Result> results = null;
        while (frame == null) {
            boolean there;
            lock.lock();
            try {
                there = !tiers.isClosed() && ssd.isStillThere(block);
                Optional<PinnedBlock> pinned = there ? hits.pin(block.digest(), BlockOrigin.RAM) : Optional.empty();
                if (pinned.isPresent()) {
                    results = endLoaded(load, pinned.get(), BlockOrigin.RAM);
                }
                else if (there) {
                    frame = ram.allocate(block.length(), block.terms(), block.file()).orElse(null);
                    if (frame != null) {
                        files.addFills(block.file(), 1);
                    }
                    else if (System.nanoTime() - start > FRAME_WAIT_NANOS) {
                        refused++;
                        List<LoadListener> listeners = endLocked(load);
                        results = List.of(() -> listeners.forEach(listener -> deliver(() -> listener.refused(LoadRefusal.FRAMES))));
                    }
                }
            }
            finally {
                lock.unlock();
            }
            if (!there) {
                end(load, LoadListener::absent);
                return;
            }
            if (results != null) {
                results.forEach(BlockLoads::deliver);
                return;
            }
            if (frame == null) {
                LockSupport.parkNanos(BlockFills.FRAME_PAUSE_NANOS);
            }
        }
        Optional<PieceChecksums> checksums = Optional.empty();
        try {
            checksums = ssd.read(block, ram.payload(frame, block.length()));
            load.answered = true;
        }
        finally {
            if (checksums.isEmpty()) {
                tiers.release(frame, block.file());
            }
        }
        if (checksums.isEmpty()) {
            end(load, LoadListener::absent);
            return;
        }
        publish(load, frame, checksums.get());
    }

    private void publish(Load load, Frame frame, PieceChecksums checksums)
    {
        SsdBlock block = load.block;
        List<Result> results;
        lock.lock();
        try {
            if (tiers.isClosed() || block.file().isDropped() || ram.find(block.digest()).isPresent()) {
                ram.release(frame);
                // a fill published the block first
                Optional<PinnedBlock> pinned = tiers.isClosed() ? Optional.empty() : hits.pin(block.digest(), BlockOrigin.SSD);
                if (pinned.isPresent()) {
                    results = endLoaded(load, pinned.get(), BlockOrigin.SSD);
                }
                else {
                    List<LoadListener> listeners = endLocked(load);
                    results = List.of(() -> listeners.forEach(listener -> deliver(listener::absent)));
                }
            }
            else {
                ram.publish(frame, block.file(), block.digest(), checksums);
                // the class may have changed during the read
                Optional<BlockClass> kept = ssd.find(block.digest()).map(found -> found.terms().blockClass());
                if (frame.holdsBlock() && kept.isPresent() && kept.get() != frame.terms().blockClass()) {
                    ram.setClass(frame, kept.get());
                }
                results = endLoaded(load, hits.of(frame, BlockOrigin.SSD), BlockOrigin.SSD);
            }
        }
        finally {
            files.addFills(block.file(), -1);
            lock.unlock();
        }
        results.forEach(BlockLoads::deliver);
    }

    /**
     * Returns the number of loads without a free frame. The caller holds the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    long refused()
    {
        return refused;
    }
}
