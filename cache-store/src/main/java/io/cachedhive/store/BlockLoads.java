package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdTier;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Reads blocks from SSD into frames. Concurrent calls for the same block share one read.
 */
final class BlockLoads
{
    // frames rest 100 ms, so a longer wait fails only if everything is pinned
    private static final long FRAME_WAIT_NANOS = 300_000_000;
    private static final long FRAME_PAUSE_NANOS = 2_000_000;
    private static final int LOAD_ATTEMPTS = 3;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final RamHits hits;

    @GuardedBy("lock")
    private final Map<Digest128, CompletableFuture<Boolean>> loads = new HashMap<>();
    @GuardedBy("lock")
    private long refused;

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
     * Returns the block from RAM, or reads it from SSD into a frame and verifies it. Blocks on I/O.
     *
     * @return empty if the block is in neither tier, failed verification, or no frame was free
     */
    Optional<PinnedBlock> load(Digest128 digest)
    {
        BlockOrigin tier = BlockOrigin.RAM;
        for (int attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
            SsdBlock block = null;
            CompletableFuture<Boolean> load;
            lock.lock();
            try {
                if (tiers.isClosed()) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = hits.pin(digest, tier);
                if (pinned.isPresent()) {
                    return pinned;
                }
                load = loads.get(digest);
                if (load == null) {
                    Optional<SsdBlock> found = ssd.find(digest);
                    if (found.isEmpty()) {
                        return Optional.empty();
                    }
                    block = found.get();
                    ssd.use(digest);
                    load = new CompletableFuture<>();
                    loads.put(digest, load);
                }
            }
            finally {
                lock.unlock();
            }
            if (block != null) {
                return load(block, load);
            }
            // another thread reads it; the next attempt finds the block in a frame
            tier = BlockOrigin.SSD;
            if (!await(load)) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private Optional<PinnedBlock> load(SsdBlock block, CompletableFuture<Boolean> load)
    {
        boolean success = false;
        try {
            Optional<PinnedBlock> pinned = readIntoFrame(block);
            success = pinned.isPresent();
            return pinned;
        }
        finally {
            lock.lock();
            try {
                loads.remove(block.digest());
            }
            finally {
                lock.unlock();
            }
            load.complete(success);
        }
    }

    private static boolean await(CompletableFuture<Boolean> load)
    {
        try {
            return load.get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        catch (ExecutionException e) {
            throw new AssertionError("a load only ever completes with a value", e);
        }
    }

    /**
     * Reads from SSD directly into the frame and publishes the frame once it is verified.
     */
    private Optional<PinnedBlock> readIntoFrame(SsdBlock block)
    {
        Frame frame = null;
        long start = System.nanoTime();
        while (frame == null) {
            lock.lock();
            try {
                if (tiers.isClosed() || !ssd.isStillThere(block)) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = hits.pin(block.digest(), BlockOrigin.RAM);
                if (pinned.isPresent()) {
                    return pinned;
                }
                frame = ram.allocate(block.length(), block.terms(), block.file()).orElse(null);
                if (frame != null) {
                    files.addFills(block.file(), 1);
                }
                else if (System.nanoTime() - start > FRAME_WAIT_NANOS || Thread.currentThread().isInterrupted()) {
                    refused++;
                    return Optional.empty();
                }
            }
            finally {
                lock.unlock();
            }
            if (frame == null) {
                LockSupport.parkNanos(FRAME_PAUSE_NANOS);
            }
        }
        OptionalInt checksum = OptionalInt.empty();
        try {
            checksum = ssd.read(block, ram.payload(frame, block.length()), Scratch.bytes());
        }
        finally {
            if (checksum.isEmpty()) {
                tiers.release(frame, block.file());
            }
        }
        if (checksum.isEmpty()) {
            return Optional.empty();
        }
        lock.lock();
        try {
            if (tiers.isClosed() || block.file().isDropped() || ram.find(block.digest()).isPresent()) {
                ram.release(frame);
                // a fill published the block first
                return tiers.isClosed() ? Optional.empty() : hits.pin(block.digest(), BlockOrigin.SSD);
            }
            ram.publish(frame, block.file(), block.digest(), block.length(), checksum.getAsInt());
            // the class may have changed during the read
            Optional<BlockClass> kept = ssd.find(block.digest()).map(found -> found.terms().blockClass());
            if (frame.holdsBlock() && kept.isPresent() && kept.get() != frame.terms().blockClass()) {
                ram.setClass(frame, kept.get());
            }
            return Optional.of(hits.of(frame, BlockOrigin.SSD));
        }
        finally {
            files.addFills(block.file(), -1);
            lock.unlock();
        }
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
