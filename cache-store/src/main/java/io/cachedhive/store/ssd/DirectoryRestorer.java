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
 * The second step of a {@link DirectoryRecovery}: brings the blocks of the checkpoint back, while the directory is in use.
 *
 * <p>Until all are back, extents that they may be in are not given out, no checkpoint is written (the one that is being restored knows more), and
 * files that the checkpoint or the journal named are held in the table by a fill each, so that their ordinals stay theirs. While a file is held, its drop
 * is a record of the journal; so what is not restored after all must not be durable any more when its file is let go.
 *
 * <p>Fields are guarded by the store's lock.
 */
final class DirectoryRestorer
{
    private static final Logger log = Logger.get(DirectoryRestorer.class);

    private static final int RESTORED_AT_ONCE = 256;

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
    // of no meaning: what is read is to be read
    @SuppressWarnings("UnusedVariable")
    private int touched;

    /**
     * A piece of a checkpoint, taken apart before the lock is taken.
     */
    private static final class RestoredBlocks
            implements DirectoryRecovery.BlockTaker
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
     * @param opening its recovery is after its first step
     * @param openedNanos when the directory began to be opened
     * @param invalidator declares void everything that is durable in the directory, or says that it could not; called without the lock
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
     * Takes over what the first step restored from the journal.
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
     * Restores blocks of the checkpoint. By one thread, without the lock, which is taken for some at a time.
     *
     * @param maxBlocks for now; it may become some more
     * @return false if nothing is left to be done
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
                    // its files may be closed already, and that is no reason to give up what they hold
                    return false;
                }
                health.countError(e);
            }
            finally {
                lock.unlock();
            }
            // it was whole a moment ago
            log.warn("The rest of the checkpoint of %s cannot be read: going on without the blocks that are not restored yet: %s", directory, e);
            // who drops a file that is not held any more tells no journal, and the next start would find it in the checkpoint; else it is held until then
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
     * @param release whether held files are let go; if not, they are held as long as the store is open
     */
    private void finish(boolean release)
    {
        if (release) {
            releaseFiles();
        }
        for (SsdSlab slab : contents.slabs()) {
            lock.lock();
            try {
                slab.settle();
            }
            finally {
                lock.unlock();
            }
        }
        lock.lock();
        try {
            recovery = Optional.empty();
            allocator.settle();
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
                            // its last block left, and what came then is not told by any journal
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
     * Waits until all blocks are restored, or nobody restores them any more. Without the lock.
     *
     * @return whether all are
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

    /**
     * Whoever restores leaves off.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void stop()
    {
        stopped = true;
        restored.signalAll();
    }

    /**
     * The block is gone: what the checkpoint says of it counts no more.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void forget(long sequence)
    {
        recovery.ifPresent(source -> source.forget(sequence));
    }

    /**
     * Whether there may be blocks of the file that are not restored yet, or durable ones that were not restored.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isHeld(StoredFile file)
    {
        return heldFiles.find(file.ordinal()) != 0;
    }

    /**
     * Until all is restored: bytes of a checkpoint of all that was found and all that came since; not less.
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
