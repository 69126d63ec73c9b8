package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Runs the second step of a {@link DirectoryRecovery}: restores the checkpoint's blocks while the directory is in use.
 *
 * <p>Until it is complete, the allocator withholds extents that may have blocks, and no checkpoint is written, because
 * the one being restored is more complete. A fill holds each file of the checkpoint or journal in the table, so that it
 * keeps its ordinal. The drop of a held file is recorded in the journal. So if the restore fails, the unrestored blocks
 * have to be invalidated on disk before their files are released.
 *
 * <p>Fields are guarded by the store's lock.
 */
final class DirectoryRestorer
{
    private static final Logger log = Logger.get(DirectoryRestorer.class);

    private static final int RESTORED_AT_ONCE = 256;
    // each with up to 65,536 extents
    private static final int SLABS_SETTLED_AT_ONCE = 1;

    private final Path directory;
    private final DirectoryContents contents;
    private final ExtentAllocator allocator;
    private final DirectoryHealth health;
    private final ReentrantLock lock;
    private final StoreClock clock;
    private final long openedNanos;
    private final Condition restored;
    private final BooleanSupplier invalidator;

    // until all blocks are restored
    @GuardedBy("lock")
    private Optional<DirectoryRecovery> recovery;
    @GuardedBy("lock")
    private ByteColumn heldFiles;
    @GuardedBy("lock")
    private long checkpointBytes;
    @GuardedBy("lock")
    private boolean stopped;
    @GuardedBy("lock")
    private long restoredBlocks;
    // meaningless; keeps the prefetching reads from being optimized away
    @SuppressWarnings("UnusedVariable")
    private int touched;

    /**
     * A chunk of a checkpoint, decoded before the lock is taken.
     */
    private static final class RestoredBlocks
            implements DirectoryRecovery.BlockConsumer
    {
        private static final int MAX_COUNT = Checkpoint.MAX_CHUNK_BODY_BYTES / DirectoryContents.BLOCK_RECORD_BYTES;

        final long[] digestHighs = new long[MAX_COUNT];
        final long[] digestLows = new long[MAX_COUNT];
        final long[] sequences = new long[MAX_COUNT];
        final int[] slabs = new int[MAX_COUNT];
        final byte[] sizeClasses = new byte[MAX_COUNT];
        final int[] extents = new int[MAX_COUNT];
        final int[] lengths = new int[MAX_COUNT];
        final int[] files = new int[MAX_COUNT];
        final byte[] heats = new byte[MAX_COUNT];
        final byte[] classes = new byte[MAX_COUNT];
        final int[] expiries = new int[MAX_COUNT];
        int count;

        @Override
        public void take(
                long digestHigh,
                long digestLow,
                long sequence,
                int slab,
                int sizeClass,
                int extent,
                int length,
                int file,
                int heat,
                int blockClass,
                int expirySeconds)
        {
            digestHighs[count] = digestHigh;
            digestLows[count] = digestLow;
            sequences[count] = sequence;
            slabs[count] = slab;
            sizeClasses[count] = (byte) sizeClass;
            extents[count] = extent;
            lengths[count] = length;
            files[count] = file;
            heats[count] = (byte) heat;
            classes[count] = (byte) blockClass;
            expiries[count] = expirySeconds;
            count++;
        }
    }

    /**
     * @param opening after the first step of recovery
     * @param openedNanos start time of the opening
     * @param invalidator invalidates everything durable in the directory, or returns false on failure; called without
     *         the lock
     */
    DirectoryRestorer(DirectoryContext context, DirectoryOpening opening, ExtentAllocator allocator, long openedNanos, BooleanSupplier invalidator)
    {
        this.invalidator = requireNonNull(invalidator, "invalidator is null");
        this.directory = context.path();
        this.recovery = opening.recovery();
        this.heldFiles = opening.result().files();
        this.checkpointBytes = 2L * HeaderPage.BYTES + opening.result().checkpointBytes();
        this.contents = context.contents();
        this.allocator = requireNonNull(allocator, "allocator is null");
        this.health = context.health();
        this.lock = context.lock();
        this.clock = context.clock();
        this.openedNanos = openedNanos;
        this.restored = lock.newCondition();
    }

    /**
     * Adopts the result of the first step.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void start()
    {
        allocator.start(recovery.isPresent());
        recovery.ifPresent(source -> source.policyFindings().forEach(contents.policy()::restoreFindings));
        SsdIndex index = contents.index();
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry) && keepRestored(entry)) {
                contents.countReplayed(entry);
            }
        }
    }

    /**
     * Restores blocks of the checkpoint. Called by one thread, without the lock, which it takes for a few blocks at a
     * time.
     *
     * @param maxBlocks rounded up to whole chunks
     * @return false if the restore is over
     */
    boolean restore(long maxBlocks)
    {
        DirectoryRecovery source;
        lock.lock();
        try {
            if (recovery.isEmpty()) {
                return false;
            }
            source = recovery.get();
        }
        finally {
            lock.unlock();
        }
        try {
            RestoredBlocks piece = new RestoredBlocks();
            for (long blocks = 0; blocks < maxBlocks; blocks += piece.count) {
                piece.count = 0;
                if (!source.readBlocks(piece)) {
                    finish(true);
                    return false;
                }
                for (int first = 0; first < piece.count; first += RESTORED_AT_ONCE) {
                    if (!restore(source, piece, first)) {
                        return false;
                    }
                    LockYield.giveWay(lock);
                }
            }
            return true;
        }
        catch (IOException | RuntimeException | OutOfMemoryError e) {
            lock.lock();
            try {
                if (stopped) {
                    // the files may be closed already, which is no reason to invalidate them
                    return false;
                }
                health.countError(e);
            }
            finally {
                lock.unlock();
            }
            // the first step verified this checkpoint
            log.warn("Cannot read the rest of the checkpoint of %s: continuing without the blocks that are not restored yet: %s", directory, e);
            // the journal does not record drops of released files, so the next start would restore them from this
            // checkpoint: the files stay held unless the invalidation succeeds
            finish(invalidator.getAsBoolean());
            return false;
        }
    }

    private boolean restore(DirectoryRecovery source, RestoredBlocks piece, int first)
    {
        lock.lock();
        try {
            if (stopped) {
                return false;
            }
            int end = Math.min(piece.count, first + RESTORED_AT_ONCE);
            for (int i = first; i < end; i++) {
                touched += contents.index().touchBucket(piece.digestLows[i]) + contents.policy().touch(piece.digestLows[i]);
            }
            for (int i = first; i < end; i++) {
                touched += contents.index().touch(piece.digestLows[i]) + source.touch(piece.slabs[i], piece.extents[i], piece.files[i]);
            }
            for (int i = first; i < end; i++) {
                int entry = source.restoreBlock(
                        piece.digestHighs[i],
                        piece.digestLows[i],
                        piece.sequences[i],
                        piece.slabs[i],
                        piece.sizeClasses[i],
                        piece.extents[i],
                        piece.lengths[i],
                        piece.files[i],
                        piece.heats[i],
                        piece.classes[i],
                        piece.expiries[i]);
                if (entry != SsdIndex.NONE && keepRestored(entry)) {
                    contents.countRestored(entry, piece.heats[i]);
                }
            }
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private boolean keepRestored(int entry)
    {
        if (contents.hasRoomForRestored(entry)) {
            restoredBlocks++;
            return true;
        }
        contents.removeUncounted(entry);
        return false;
    }

    /**
     * @param release false to hold the files until the store is closed
     */
    private void finish(boolean release)
    {
        if (release) {
            releaseFiles();
        }
        boolean more = true;
        for (int first = 0; more; first += SLABS_SETTLED_AT_ONCE) {
            lock.lock();
            try {
                more = allocator.settle(first, first + SLABS_SETTLED_AT_ONCE);
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
        lock.lock();
        try {
            recovery = Optional.empty();
            allocator.endRestore();
            restored.signalAll();
            log.info("%s blocks of %s are restored, %s ms after it was opened", restoredBlocks, directory, Duration.ofNanos(clock.nanoTime() - openedNanos).toMillis());
        }
        finally {
            lock.unlock();
        }
    }

    private void releaseFiles()
    {
        FileTable files = contents.files();
        int limit;
        lock.lock();
        try {
            limit = files.ordinalLimit();
        }
        finally {
            lock.unlock();
        }
        for (int first = 0; first < limit; first += RESTORED_AT_ONCE) {
            lock.lock();
            try {
                for (int ordinal = first; ordinal < Math.min(limit, first + RESTORED_AT_ONCE); ordinal++) {
                    if (heldFiles.find(ordinal) != 0) {
                        heldFiles.set(ordinal, 0);
                        StoredFile file = files.byOrdinal(ordinal);
                        files.addFills(file, -1);
                        if (!file.isDropped() && files.isIdle(file)) {
                            // it has no blocks left, and later changes would not be in the journal
                            files.drop(file);
                        }
                    }
                }
            }
            finally {
                lock.unlock();
            }
        }
        lock.lock();
        try {
            heldFiles = new ByteColumn();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all blocks are restored, or the restore is stopped. Callers must not hold the lock.
     *
     * @return whether all blocks are restored
     */
    boolean awaitRestored(Duration timeout)
            throws InterruptedException
    {
        lock.lock();
        try {
            long left = timeout.toNanos();
            while (recovery.isPresent() && !stopped && left > 0) {
                left = restored.awaitNanos(left);
            }
            return recovery.isEmpty();
        }
        finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isRestored()
    {
        return recovery.isEmpty();
    }

    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void stop()
    {
        stopped = true;
        restored.signalAll();
    }

    /**
     * Marks a block as removed, so that the checkpoint does not restore it.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void forget(long sequence)
    {
        recovery.ifPresent(source -> source.forget(sequence));
    }

    /**
     * Returns whether the file may have blocks that are durable but not restored.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isHeld(StoredFile file)
    {
        return heldFiles.find(file.ordinal()) != 0;
    }

    /**
     * Returns an upper bound for a checkpoint of everything found and added since, in bytes. Valid until all is
     * restored.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    long checkpointBytes()
    {
        return checkpointBytes;
    }

    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void addCheckpointBytes(long bytes)
    {
        checkpointBytes += bytes;
    }

    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    long restoredBlocks()
    {
        return restoredBlocks;
    }
}
