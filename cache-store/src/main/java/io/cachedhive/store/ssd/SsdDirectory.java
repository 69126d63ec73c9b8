package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.ByteSize;
import io.cachedhive.store.FileMetadata;
import io.cachedhive.store.RecoveryFinding;
import io.cachedhive.store.RecoveryOutcome;
import io.cachedhive.store.StoreClock;
import io.cachedhive.store.StoreException;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.column.IntColumn;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.Disk.Access;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;
import io.cachedhive.store.ssd.JournalEntry.BlockAdded;
import io.cachedhive.store.ssd.JournalEntry.BlockRemoved;
import io.cachedhive.store.ssd.JournalEntry.FileAdded;
import io.cachedhive.store.ssd.JournalEntry.FileConfirmed;
import io.cachedhive.store.ssd.JournalEntry.FileDropped;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * One directory of the SSD tier: slabs of fixed size, an index of what is in them, and a journal and checkpoints of the index.
 *
 * <p>How a block gets here and stays: an extent is allocated (evicting what was there), block and trailer are written, the index gets its
 * entry and the journal a record, which is synced within 100 ms. After a crash the index is that of the newest checkpoint with the
 * journal after it. An entry that is wrong by then is found out by the trailer when the block is read, and by nothing else; so no order of writes
 * between slabs and journal is needed, and slabs are synced for a checkpoint only. What has to be durable in time is a drop: {@link #flushAndSeal}.
 *
 * <p>Fields are guarded by the store's lock unless they say otherwise; disks are used without it.
 */
final class SsdDirectory
        implements Closeable
{
    private static final Logger log = Logger.get(SsdDirectory.class);

    static final String LOCK_NAME = "lock";
    static final String SUPERBLOCK_NAME = "superblock";
    static final String JOURNAL_NAME = "journal";
    static final List<String> CHECKPOINT_NAMES = List.of("checkpoint-0", "checkpoint-1");
    private static final String SLAB_PREFIX = "slab-";

    private static final long SUSPENSION_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int BLOCK_CHUNK_ENTRIES = 4096;
    static final int BLOCK_RECORD_BYTES = 8 + 8 + 8 + 4 + 1 + 4 + 4 + 4 + 1;
    private static final int FILES_AT_ONCE = 256;
    // a record has to fit into the smallest batch of a journal
    private static final int MAX_FILE_RECORD_BYTES = 8 << 10;
    private static final int FILES_CHUNK_BYTES = 32 << 10;
    private static final int DROPPED_AT_ONCE = 1024;
    private static final int RESTORED_AT_ONCE = 256;

    private final int number;
    private final Path path;
    private final long capacityBytes;
    private final Geometry geometry;
    private final Disk disk;
    private final StoreClock clock;
    private final ReentrantLock lock;
    private final FileTable files;

    // not guarded: set when the directory is opened
    private final DirectoryFiles opened;
    private final Journal journal;
    private final ExtentAllocator allocator;
    private final AtomicIntegerArray unsyncedSlabs;
    private final SizeClasses sizeClasses;
    private final List<RecoveryOutcome> outcomes;
    private final Digest128 storeId;
    private final long run;

    private final SsdIndex index;
    private final SsdSlab[] slabs;
    private final IntColumn blocksByFile = new IntColumn();
    private long blocks;
    private long usedBytes;
    private long fileRecordBytes;
    private long sequence;
    private long evictions;
    private long corruptBlocks;
    private long errors;
    private long suspendedUntilNanos;
    private Optional<String> problem = Optional.empty();

    // guarded by this, so that checkpoints come one at a time
    private Superblock superblock;
    private long newestCheckpoint;
    private long nextCheckpoint;
    private long lastCheckpointNanos;
    private long failedCheckpointNanos;
    // guarded by the store's lock
    private long newestStartLsn;
    private boolean changed;
    // until all blocks are restored
    private Optional<DirectoryRecovery> restoring = Optional.empty();
    private ByteColumn heldFiles = new ByteColumn();
    private final Condition restored;
    private final long openedNanos;
    private boolean stopRestoring;
    private long restoringCheckpointBytes;
    private long restoredBlocks;

    /**
     * The open files of a directory.
     */
    private static final class DirectoryFiles
            implements Closeable
    {
        final Closeable lock;
        DiskFile superblock;
        DiskFile journal;
        final List<DiskFile> checkpoints = new ArrayList<>();
        DiskFile[] slabs = {};

        DirectoryFiles(Closeable lock)
        {
            this.lock = requireNonNull(lock, "lock is null");
        }

        @Override
        public void close()
                throws IOException
        {
            IOException failure = null;
            List<Closeable> all = new ArrayList<>(checkpoints);
            all.addAll(Arrays.asList(slabs));
            all.add(journal);
            all.add(superblock);
            // the lock last: whoever gets it may use all others
            all.add(lock);
            for (Closeable file : all) {
                try {
                    if (file != null) {
                        file.close();
                    }
                }
                catch (IOException e) {
                    failure = e;
                }
            }
            if (failure != null) {
                throw failure;
            }
        }
    }

    /**
     * A directory that is locked and looked at, but not restored.
     */
    static final class Candidate
            implements Closeable
    {
        private final Path path;
        private final long capacityBytes;
        private final Geometry geometry;
        private final Disk disk;
        private final DirectoryFiles opened;
        private final Optional<Superblock> superblock;
        private final Optional<RecoveryFinding> doubt;

        private Candidate(
                Path path,
                long capacityBytes,
                Geometry geometry,
                Disk disk,
                DirectoryFiles opened,
                Optional<Superblock> superblock,
                Optional<RecoveryFinding> doubt)
        {
            this.path = path;
            this.capacityBytes = capacityBytes;
            this.geometry = geometry;
            this.disk = disk;
            this.opened = opened;
            this.superblock = superblock;
            this.doubt = doubt;
        }

        /**
         * @return empty if there is no superblock, or none that can be read
         */
        Optional<Superblock> superblock()
        {
            return superblock;
        }

        Path path()
        {
            return path;
        }

        @Override
        public void close()
                throws IOException
        {
            opened.close();
        }
    }

    /**
     * Locks the directory and reads its superblock. Changes nothing but for making the lock's file.
     *
     * @throws StoreException if somebody else has it, or the capacity cannot be had
     */
    static Candidate look(Path path, long capacityBytes, int blockSizeBytes, Disk disk)
            throws StoreException
    {
        Geometry geometry;
        try {
            geometry = Geometry.forCapacity(capacityBytes, blockSizeBytes);
        }
        catch (IllegalArgumentException e) {
            throw new StoreException("the capacity of SSD directory %s cannot be used: %s".formatted(path, e.getMessage()), e);
        }
        boolean success = false;
        DirectoryFiles opened = null;
        try {
            Closeable lock = disk.tryLock(path.resolve(LOCK_NAME)).orElseThrow(() -> new StoreException(
                    "SSD directory %s is in use by another cache worker: stop it, or name another directory in cache.ssd.directories".formatted(path)));
            opened = new DirectoryFiles(lock);
            Optional<Superblock> superblock = Optional.empty();
            Optional<RecoveryFinding> doubt = Optional.of(RecoveryFinding.NEW_DIRECTORY);
            if (disk.exists(path.resolve(SUPERBLOCK_NAME))) {
                opened.superblock = disk.open(path.resolve(SUPERBLOCK_NAME), false, Access.BUFFERED);
                Superblock.Read read = Superblock.read(opened.superblock);
                superblock = read.superblock();
                doubt = read.doubt();
            }
            long present = 0;
            for (String name : disk.list(path)) {
                if (isOurs(name)) {
                    try (DiskFile file = disk.open(path.resolve(name), false, Access.BUFFERED)) {
                        present += file.size();
                    }
                }
            }
            long usable = disk.usableBytes(path);
            if (geometry.totalBytes() - present > usable) {
                throw new StoreException("SSD directory %s is to hold %s, but its disk has %s left for it: make its size in cache.ssd.max-sizes smaller".formatted(
                        path,
                        ByteSize.format(capacityBytes),
                        ByteSize.format(usable + present)));
            }
            success = true;
            return new Candidate(path, capacityBytes, geometry, disk, opened, superblock, doubt);
        }
        catch (IOException e) {
            throw new StoreException("SSD directory %s cannot be used (%s): let this user write there, or mend the disk".formatted(path, e.getMessage()), e);
        }
        finally {
            if (!success && opened != null) {
                closeQuietly(opened);
            }
        }
    }

    static String slabName(int number)
    {
        return SLAB_PREFIX + "%05d".formatted(number);
    }

    static boolean isOurs(String name)
    {
        return name.equals(SUPERBLOCK_NAME) || name.equals(JOURNAL_NAME) || CHECKPOINT_NAMES.contains(name) || name.startsWith(SLAB_PREFIX);
    }

    private static void closeQuietly(Closeable closeable)
    {
        try {
            closeable.close();
        }
        catch (IOException e) {
            log.warn("Cannot close: %s", e.getMessage());
        }
    }

    /**
     * Restores or formats the directory. Its files are added to the table; of its blocks some are restored, and the rest by {@link #restore}.
     *
     * @param lastRun the last run of this worker's store, in any directory
     * @param newStoreId for a directory that is formatted
     */
    static SsdDirectory open(
            int number,
            Candidate candidate,
            CacheWorkerId workerId,
            long lastRun,
            Digest128 newStoreId,
            FileTable files,
            ReentrantLock lock,
            StoreClock clock)
            throws StoreException
    {
        try {
            return new SsdDirectory(number, candidate, workerId, lastRun, newStoreId, files, lock, clock);
        }
        catch (IOException e) {
            throw new StoreException("SSD directory %s cannot be used (%s): let this user write there, or mend the disk".formatted(candidate.path, e.getMessage()), e);
        }
    }

    private SsdDirectory(
            int number,
            Candidate candidate,
            CacheWorkerId workerId,
            long lastRun,
            Digest128 newStoreId,
            FileTable files,
            ReentrantLock lock,
            StoreClock clock)
            throws IOException
    {
        this.number = number;
        this.path = candidate.path;
        this.capacityBytes = candidate.capacityBytes;
        this.geometry = candidate.geometry;
        this.disk = candidate.disk;
        this.opened = candidate.opened;
        this.files = requireNonNull(files, "files is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.restored = lock.newCondition();
        this.clock = requireNonNull(clock, "clock is null");
        this.openedNanos = clock.nanoTime();
        this.sizeClasses = geometry.sizeClasses();
        this.slabs = new SsdSlab[geometry.slabCount()];
        for (int i = 0; i < slabs.length; i++) {
            slabs[i] = new SsdSlab(i);
        }
        this.unsyncedSlabs = new AtomicIntegerArray(slabs.length);
        this.index = new SsdIndex();
        this.outcomes = new ArrayList<>();
        this.lastCheckpointNanos = clock.nanoTime();
        this.failedCheckpointNanos = clock.nanoTime() - SUSPENSION_NANOS;

        Optional<RecoveryOutcome> reason = reasonToFormat(candidate, workerId, lastRun);
        long journalNext;
        long journalLive;
        if (reason.isPresent()) {
            outcomes.add(reason.get());
            superblock = format(workerId, lastRun + 1, newStoreId);
            journalNext = superblock.baseLsn();
            journalLive = superblock.baseLsn();
            newestStartLsn = superblock.baseLsn();
            nextCheckpoint = superblock.minCheckpoint();
        }
        else {
            superblock = candidate.superblock.orElseThrow();
            candidate.doubt.ifPresent(doubt -> outcomes.add(new RecoveryOutcome(
                    doubt,
                    path.resolve(SUPERBLOCK_NAME),
                    "one of its two pages does not verify; going on with the other")));
            boolean[] slabIsNew = openFiles(true);
            DirectoryRecovery recovery = new DirectoryRecovery(path, superblock, opened.journal, opened.checkpoints, index, slabs, slabIsNew, files);
            DirectoryRecovery.Result result;
            lock.lock();
            try {
                // nobody waits for the lock while the store is being opened
                result = recovery.recover();
            }
            finally {
                lock.unlock();
            }
            result.outcomes().stream().distinct().forEach(outcomes::add);
            journalNext = result.nextLsn();
            journalLive = result.liveLsn();
            newestStartLsn = result.newestStartLsn();
            newestCheckpoint = result.newestCheckpoint();
            nextCheckpoint = result.nextCheckpoint();
            heldFiles = result.files();
            restoring = Optional.of(recovery);
            restoringCheckpointBytes = 2L * HeaderPage.BYTES + result.checkpointBytes();
            Superblock next = superblock.withRun(lastRun + 1);
            if (result.givenUp()) {
                next = next.withBase(result.nextLsn(), result.nextCheckpoint());
            }
            superblock = next.writeTo(opened.superblock);
            // not before the superblock says that what the journal had is void
            opened.journal.allocate(geometry.journalBytes());
        }
        // never used before: neither by an earlier run nor, for lack of a synced journal, unknown to this one
        this.storeId = superblock.storeId();
        this.run = superblock.run();
        this.sequence = run << 40;
        this.journal = new Journal(opened.journal, storeId, geometry.journalBytes(), lock, journalNext, journalLive);
        this.allocator = new ExtentAllocator(sizeClasses, slabs, new ExtentAllocator.Evictor()
        {
            @Override
            public int frequency(int entry)
            {
                return index.frequency(entry);
            }

            @Override
            public void setFrequency(int entry, int frequency)
            {
                index.setFrequency(entry, frequency);
            }

            @Override
            public void evict(int entry)
            {
                evictions++;
                remove(entry);
            }
        });
        lock.lock();
        try {
            countRestored();
            allocator.start(restoring.isPresent());
        }
        finally {
            lock.unlock();
        }
    }

    private Optional<RecoveryOutcome> reasonToFormat(Candidate candidate, CacheWorkerId workerId, long lastRun)
    {
        if (candidate.superblock.isEmpty()) {
            RecoveryFinding doubt = candidate.doubt.orElseThrow();
            String decision = switch (doubt) {
                case NEW_DIRECTORY -> "there is no store; making one of %s".formatted(ByteSize.format(capacityBytes));
                case SUPERBLOCK_TOO_OLD -> "its superblock is of an older format than this version reads; starting empty";
                case SUPERBLOCK_TOO_NEW -> "its superblock is of a newer format than this version reads; starting empty";
                default -> "its superblock does not verify; starting empty";
            };
            return Optional.of(new RecoveryOutcome(doubt, doubt == RecoveryFinding.NEW_DIRECTORY ? path : path.resolve(SUPERBLOCK_NAME), decision));
        }
        Superblock found = candidate.superblock.get();
        if (!found.workerId().equals(workerId)) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.FOREIGN_STORE,
                    path,
                    "it is of cache worker %s, and this is %s; starting empty".formatted(found.workerId(), workerId)));
        }
        if (!found.geometry().equals(geometry)) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.GEOMETRY_CHANGED,
                    path,
                    "it was made for %s, and is configured as %s; starting empty".formatted(found.geometry(), geometry)));
        }
        if (found.run() != lastRun) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.CHECKPOINT_OUTDATED,
                    path,
                    "its last run was %s, and the worker's %s: it does not know what was dropped since; starting empty".formatted(found.run(), lastRun)));
        }
        return Optional.empty();
    }

    private Superblock format(CacheWorkerId workerId, long run, Digest128 storeId)
            throws IOException
    {
        if (opened.superblock != null) {
            opened.superblock.close();
            opened.superblock = null;
        }
        for (String name : disk.list(path)) {
            if (isOurs(name)) {
                disk.delete(path.resolve(name));
            }
        }
        openFiles(false);
        opened.superblock = disk.open(path.resolve(SUPERBLOCK_NAME), true, Access.BUFFERED);
        opened.superblock.allocate(2 * Superblock.PAGE_BYTES);
        Superblock made = new Superblock(storeId, 0, run, workerId, geometry, Journal.firstLsn(geometry.journalBytes()), 1).writeTo(opened.superblock);
        disk.syncDirectory(path);
        return made;
    }

    /**
     * Opens journal, checkpoints and slabs; makes those that are missing, or of another size than they should be. The size of a journal that
     * is expected is for the recovery to judge.
     *
     * @param expected whether all of them should be there
     * @return which slabs were made
     */
    private boolean[] openFiles(boolean expected)
            throws IOException
    {
        opened.journal = disk.open(path.resolve(JOURNAL_NAME), true, Access.BUFFERED);
        if (!expected) {
            opened.journal.allocate(geometry.journalBytes());
        }
        for (String name : CHECKPOINT_NAMES) {
            opened.checkpoints.add(openSized(name, geometry.checkpointBytes()));
        }
        opened.slabs = new DiskFile[geometry.slabCount()];
        boolean[] isNew = new boolean[geometry.slabCount()];
        Access access = Access.DIRECT;
        for (int i = 0; i < opened.slabs.length; i++) {
            Path slab = path.resolve(slabName(i));
            isNew[i] = !disk.exists(slab);
            DiskFile file;
            try {
                file = disk.open(slab, true, access);
            }
            catch (DiskException e) {
                if (access == Access.BUFFERED || e.reason() != DiskException.Cause.NOT_SUPPORTED) {
                    throw e;
                }
                log.info("The file system of %s does not know O_DIRECT: going through the page cache", path);
                access = Access.BUFFERED;
                file = disk.open(slab, true, access);
            }
            opened.slabs[i] = file;
            long size = file.size();
            if (expected && isNew[i]) {
                outcomes.add(new RecoveryOutcome(RecoveryFinding.SLAB_MISSING, slab, "making it anew, without the blocks that were in it"));
            }
            else if (expected && size != geometry.slabBytes()) {
                isNew[i] = true;
                outcomes.add(new RecoveryOutcome(
                        RecoveryFinding.SLAB_SIZE_CHANGED,
                        slab,
                        "it has %s bytes, not %s; going on without the blocks that were in it".formatted(size, geometry.slabBytes())));
            }
            if (size != geometry.slabBytes() || !expected) {
                file.allocate(geometry.slabBytes());
            }
        }
        if (access == Access.DIRECT && !readsDirectly()) {
            log.info("The file system of %s does not read with O_DIRECT: going through the page cache", path);
            for (int i = 0; i < opened.slabs.length; i++) {
                opened.slabs[i].close();
                opened.slabs[i] = disk.open(path.resolve(slabName(i)), false, Access.BUFFERED);
            }
        }
        return isNew;
    }

    private DiskFile openSized(String name, long bytes)
            throws IOException
    {
        DiskFile file = disk.open(path.resolve(name), true, Access.BUFFERED);
        boolean success = false;
        try {
            if (file.size() != bytes) {
                file.allocate(bytes);
            }
            success = true;
            return file;
        }
        finally {
            if (!success) {
                file.close();
            }
        }
    }

    private boolean readsDirectly()
            throws IOException
    {
        try {
            opened.slabs[0].read(0, StagingBuffers.allocate(Geometry.UNIT_BYTES));
            return true;
        }
        catch (DiskException e) {
            if (e.reason() == DiskException.Cause.NOT_SUPPORTED) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Of the journal.
     */
    private void countRestored()
    {
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry)) {
                count(index.file(entry), index.length(entry), 1);
                restoredBlocks++;
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
        DirectoryRecovery recovery;
        lock.lock();
        try {
            if (restoring.isEmpty()) {
                return false;
            }
            recovery = restoring.get();
        }
        finally {
            lock.unlock();
        }
        RestoredBlocks piece = new RestoredBlocks();
        try {
            for (long blocks = 0; blocks < maxBlocks; blocks += piece.count) {
                piece.count = 0;
                if (!recovery.readBlocks(piece)) {
                    finishRestoring();
                    return false;
                }
                for (int first = 0; first < piece.count; first += RESTORED_AT_ONCE) {
                    if (!restore(recovery, piece, first)) {
                        return false;
                    }
                }
            }
            return true;
        }
        catch (IOException | RuntimeException e) {
            // it was whole a moment ago
            log.warn("The rest of the checkpoint of %s cannot be read: going on without the blocks that are not restored yet: %s", path, e.getMessage());
            lock.lock();
            try {
                errors++;
            }
            finally {
                lock.unlock();
            }
            finishRestoring();
            return false;
        }
    }

    private boolean restore(DirectoryRecovery recovery, RestoredBlocks piece, int first)
    {
        lock.lock();
        try {
            if (stopRestoring) {
                return false;
            }
            for (int i = first; i < Math.min(piece.count, first + RESTORED_AT_ONCE); i++) {
                int entry = recovery.restoreBlock(
                        piece.digestHighs[i],
                        piece.digestLows[i],
                        piece.sequences[i],
                        piece.slabs[i],
                        piece.sizeClasses[i],
                        piece.extents[i],
                        piece.lengths[i],
                        piece.files[i],
                        piece.frequencies[i]);
                if (entry != SsdIndex.NONE) {
                    count(index.file(entry), index.length(entry), 1);
                    restoredBlocks++;
                }
            }
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * A piece of a checkpoint, taken apart before the lock is taken.
     */
    private static final class RestoredBlocks
            implements DirectoryRecovery.BlockTaker
    {
        private static final int MAX_COUNT = Checkpoint.MAX_CHUNK_BODY_BYTES / BLOCK_RECORD_BYTES;

        final long[] digestHighs = new long[MAX_COUNT];
        final long[] digestLows = new long[MAX_COUNT];
        final long[] sequences = new long[MAX_COUNT];
        final int[] slabs = new int[MAX_COUNT];
        final byte[] sizeClasses = new byte[MAX_COUNT];
        final int[] extents = new int[MAX_COUNT];
        final int[] lengths = new int[MAX_COUNT];
        final int[] files = new int[MAX_COUNT];
        final byte[] frequencies = new byte[MAX_COUNT];
        int count;

        @Override
        public void take(long digestHigh, long digestLow, long sequence, int slab, int sizeClass, int extent, int length, int file, int frequency)
        {
            digestHighs[count] = digestHigh;
            digestLows[count] = digestLow;
            sequences[count] = sequence;
            slabs[count] = slab;
            sizeClasses[count] = (byte) sizeClass;
            extents[count] = extent;
            lengths[count] = length;
            files[count] = file;
            frequencies[count] = (byte) frequency;
            count++;
        }
    }

    private void finishRestoring()
    {
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
        for (SsdSlab slab : slabs) {
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
            restoring = Optional.empty();
            heldFiles = new ByteColumn();
            allocator.settle();
            restored.signalAll();
            log.info("%s blocks of %s are restored, %s ms after it was opened", restoredBlocks, path, Duration.ofNanos(clock.nanoTime() - openedNanos).toMillis());
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
            while (restoring.isPresent() && !stopRestoring && left > 0) {
                left = restored.awaitNanos(left);
            }
            return restoring.isEmpty();
        }
        finally {
            lock.unlock();
        }
    }

    boolean isRestored()
    {
        return restoring.isEmpty();
    }

    /**
     * Whoever restores leaves off.
     */
    void stopRestoring()
    {
        stopRestoring = true;
        restored.signalAll();
    }

    List<RecoveryOutcome> outcomes()
    {
        return outcomes;
    }

    Path path()
    {
        return path;
    }

    long run()
    {
        return run;
    }

    private void count(int ordinal, int length, int change)
    {
        int before = blocksByFile.find(ordinal);
        blocksByFile.set(ordinal, before + change);
        if (before == 0) {
            fileRecordBytes += fileRecordBytes(ordinal);
        }
        else if (before + change == 0) {
            fileRecordBytes -= fileRecordBytes(ordinal);
        }
        blocks += change;
        usedBytes += (long) change * length;
        changed = true;
        files.addSsdBlocks(ordinal, change);
    }

    private long fileRecordBytes(int ordinal)
    {
        return 100 + files.textBytes(ordinal);
    }

    /**
     * Bytes of a checkpoint of what is there now; not less. While blocks are restored, of all that were found and all that came since.
     */
    private long checkpointBytes()
    {
        if (restoring.isPresent()) {
            return restoringCheckpointBytes;
        }
        long content = blocks * BLOCK_RECORD_BYTES + fileRecordBytes + slabs.length * 5L;
        return 2L * HeaderPage.BYTES + content + content / 256;
    }

    private boolean contains(StoredFile file)
    {
        return blocksByFile.find(file.ordinal()) > 0;
    }

    Optional<SsdBlock> find(Digest128 digest)
    {
        int entry = index.find(digest.high(), digest.low());
        if (entry == SsdIndex.NONE) {
            return Optional.empty();
        }
        if (files.isDropped(index.file(entry))) {
            return Optional.empty();
        }
        StoredFile file = files.byOrdinal(index.file(entry));
        return Optional.of(new SsdBlock(digest, file, index.length(entry), number, index.slab(entry), index.extent(entry), index.sequence(entry)));
    }

    void use(Digest128 digest)
    {
        int entry = index.find(digest.high(), digest.low());
        if (entry != SsdIndex.NONE) {
            index.setFrequency(entry, index.frequency(entry) + 1);
        }
    }

    /**
     * Whether blocks are written here at present.
     */
    boolean isInService()
    {
        return clock.nanoTime() - suspendedUntilNanos >= 0 || problem.isEmpty();
    }

    Optional<String> problem()
    {
        return problem;
    }

    /**
     * An extent for a block, and its sequence number.
     */
    record Reservation(SsdSlab slab, int extent, int units, long sequence) {}

    /**
     * @return empty if the block cannot be written now
     */
    Optional<Reservation> reserve(StoredFile file, int length)
    {
        if (!journal.hasRoom() || fileRecordBytes(file.ordinal()) > MAX_FILE_RECORD_BYTES || files.lengthBytes(file) > JournalEntry.MAX_FILE_BYTES) {
            return Optional.empty();
        }
        long added = BLOCK_RECORD_BYTES + 1 + (contains(file) ? 0 : fileRecordBytes(file.ordinal()));
        boolean mayGrow = checkpointBytes() + added + added / 256 <= geometry.checkpointBytes();
        int units = Extent.units(length);
        ExtentAllocator.Place place = allocator.allocate(units, mayGrow);
        if (place == null) {
            return Optional.empty();
        }
        sequence++;
        Reservation reservation = new Reservation(place.slab(), place.extent(), units, sequence);
        if (checkpointBytes() + added + added / 256 > geometry.checkpointBytes()) {
            // its file's record was larger than what left
            cancel(reservation);
            return Optional.empty();
        }
        restoringCheckpointBytes += added + added / 256;
        return Optional.of(reservation);
    }

    /**
     * The extent stays free.
     */
    void cancel(Reservation reservation)
    {
        reservation.slab.written(reservation.extent, SsdSlab.FREE);
    }

    /**
     * Writes an extent. Without the lock.
     */
    void write(Reservation reservation, ByteBuffer buffer)
            throws IOException
    {
        opened.slabs[reservation.slab.number].write(position(reservation.slab, reservation.extent), buffer);
        unsyncedSlabs.set(reservation.slab.number, 1);
    }

    Digest128 storeId()
    {
        return storeId;
    }

    private long position(SsdSlab slab, int extent)
    {
        return (long) extent * sizeClasses.units(slab.sizeClass) * Geometry.UNIT_BYTES;
    }

    /**
     * The block is in its extent. Replaces an earlier one of the same digest.
     */
    void add(Reservation reservation, StoredFile file, Digest128 digest, int length)
    {
        int same = index.find(digest.high(), digest.low());
        if (same != SsdIndex.NONE) {
            remove(same);
        }
        if (!contains(file)) {
            journal.append(new FileAdded(file.id(), file.metadata()).encode());
        }
        int entry = index.insert(digest.high(), digest.low(), reservation.sequence, reservation.slab.number, reservation.extent, length, file.ordinal());
        reservation.slab.written(reservation.extent, entry);
        count(file.ordinal(), length, 1);
        journal.append(new BlockAdded(digest, file.id(), reservation.slab.number, reservation.slab.sizeClass, reservation.extent, reservation.sequence, length).encode());
    }

    private void remove(int entry)
    {
        int ordinal = index.file(entry);
        Digest128 digest = new Digest128(index.digestHigh(entry), index.digestLow(entry));
        long removed = index.sequence(entry);
        int length = index.length(entry);
        slabs[index.slab(entry)].free(index.extent(entry));
        index.remove(entry);
        count(ordinal, length, -1);
        restoring.ifPresent(recovery -> recovery.forget(removed));
        journal.append(new BlockRemoved(digest, removed).encode());
    }

    /**
     * Reads a block and verifies it. Without the lock.
     *
     * @return whether the buffer holds the block
     */
    boolean read(SsdBlock block, ByteBuffer buffer)
            throws IOException
    {
        SsdSlab slab = slabs[block.slab()];
        long position;
        lock.lock();
        try {
            if (!isStillThere(block)) {
                return false;
            }
            position = position(slab, block.extent());
        }
        finally {
            lock.unlock();
        }
        buffer.clear().limit(Extent.units(block.length()) * Geometry.UNIT_BYTES);
        opened.slabs[block.slab()].read(position, buffer);
        buffer.flip();
        return Extent.verify(buffer, block.digest(), block.sequence(), block.file().etagDigest(), block.length(), storeId);
    }

    /**
     * Whether the index still says of the block what it said.
     */
    boolean isStillThere(SsdBlock block)
    {
        int entry = index.find(block.digest().high(), block.digest().low());
        return entry != SsdIndex.NONE && index.sequence(entry) == block.sequence() && !block.file().isDropped();
    }

    /**
     * A block did not verify: it is dropped, unless it was gone already, which is why it did not.
     */
    void dropCorrupt(SsdBlock block)
    {
        if (isStillThere(block)) {
            corruptBlocks++;
            log.warn("Block %s of %s in %s does not verify: dropped", block.digest(), block.file().version().location(), path);
            remove(index.find(block.digest().high(), block.digest().low()));
        }
    }

    /**
     * A block could not be read: it is dropped.
     */
    void dropUnreadable(SsdBlock block, IOException failure)
    {
        errors++;
        if (isStillThere(block)) {
            log.warn("Block %s of %s in %s cannot be read, dropped: %s", block.digest(), block.file().version().location(), path, failure.getMessage());
            remove(index.find(block.digest().high(), block.digest().low()));
        }
    }

    /**
     * No blocks are written for a while.
     */
    void suspend(IOException failure)
    {
        errors++;
        suspendedUntilNanos = clock.nanoTime() + SUSPENSION_NANOS;
        if (problem.isEmpty()) {
            log.warn("SSD directory %s takes no blocks for now: %s", path, failure.getMessage());
        }
        problem = Optional.of("SSD directory %s takes no blocks since a failure (%s); it is tried again every %s s: mend the disk".formatted(
                path,
                failure.getMessage(),
                Duration.ofNanos(SUSPENSION_NANOS).toSeconds()));
    }

    /**
     * A write succeeded.
     */
    void resume()
    {
        if (problem.isPresent() && !journal.isBroken()) {
            log.info("SSD directory %s takes blocks again", path);
            problem = Optional.empty();
        }
    }

    void confirm(StoredFile file)
    {
        if (contains(file) || isHeld(file)) {
            journal.append(new FileConfirmed(file.id()).encode());
            changed = true;
        }
    }

    /**
     * The file was dropped. Its blocks are removed by {@link #removeDropped}, and durably by {@link #flushAndSeal}.
     */
    void drop(StoredFile file)
    {
        if (contains(file) || isHeld(file)) {
            journal.append(new FileDropped(file.id()).encode());
            changed = true;
        }
    }

    /**
     * Whether there may be blocks of the file that are not restored yet.
     */
    private boolean isHeld(StoredFile file)
    {
        return heldFiles.find(file.ordinal()) != 0;
    }

    /**
     * Removes the blocks of a dropped file. Without the lock, which is taken for some at a time.
     */
    void removeDropped(StoredFile file)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        for (int first = 0; first < count; first += DROPPED_AT_ONCE) {
            lock.lock();
            try {
                // the ordinal is the file's own for as long as it has blocks
                if (file.ssdBlocks() == 0 || !contains(file)) {
                    return;
                }
                count = file.version().blockCount(geometry.blockSizeBytes());
                for (int i = first; i < Math.min(count, first + DROPPED_AT_ONCE); i++) {
                    int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
                    if (entry != SsdIndex.NONE && index.file(entry) == ordinal) {
                        remove(entry);
                        if (file.ssdBlocks() == 0) {
                            return;
                        }
                    }
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * What the journal was told before is durable when this returns. Without the lock.
     *
     * @return false if it is not
     */
    boolean flush()
    {
        return flush(false);
    }

    /**
     * As {@link #flush}, so that no damage to a single place of the journal makes it forget either. Without the lock.
     */
    boolean flushAndSeal()
    {
        return flush(true);
    }

    private boolean flush(boolean seal)
    {
        try {
            if (seal) {
                journal.flushAndSeal();
            }
            else {
                journal.flush();
            }
            return true;
        }
        catch (IOException e) {
            lock.lock();
            try {
                suspend(e);
            }
            finally {
                lock.unlock();
            }
            return false;
        }
    }

    /**
     * Declares everything that is durable here void: the last resort for a drop that the journal did not take. Without the lock.
     *
     * @return false if even that failed
     */
    synchronized boolean invalidate()
    {
        try {
            // beyond all that the journal may have
            long base = (journal.nextLsn() / geometry.journalBytes() + 2) * geometry.journalBytes();
            superblock = superblock.withBase(base, nextCheckpoint).writeTo(opened.superblock);
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot declare %s void: %s", path, e.getMessage());
            return false;
        }
    }

    /**
     * Writes a checkpoint if there is reason to. Without the lock.
     */
    synchronized void checkpointIfDue(Duration interval)
    {
        long now = clock.nanoTime();
        boolean due;
        lock.lock();
        try {
            if (restoring.isPresent()) {
                return;
            }
            boolean journalIsLong = journal.bytesSince(newestStartLsn) > geometry.journalBytes() / 4;
            due = !journal.hasRoom() || (changed && (journalIsLong || now - lastCheckpointNanos >= interval.toNanos()));
        }
        finally {
            lock.unlock();
        }
        if (due && now - failedCheckpointNanos >= SUSPENSION_NANOS) {
            checkpoint(false);
        }
    }

    /**
     * Writes a checkpoint. Without the lock.
     *
     * @param clean whether nothing will change any more
     */
    synchronized boolean checkpoint(boolean clean)
    {
        lock.lock();
        try {
            if (restoring.isPresent()) {
                // the one that is being restored knows more
                return false;
            }
            files.holdOrdinals();
            changed = false;
        }
        finally {
            lock.unlock();
        }
        boolean success = false;
        try {
            long startLsn = journal.boundary();
            long checkpointNumber = nextCheckpoint;
            int slot = (int) (checkpointNumber % 2);
            // its old content is gone from here on, and with it the need for the journal before the other one
            Checkpoint.Writer writer = new Checkpoint.Writer(opened.checkpoints.get(slot), geometry.checkpointBytes(), storeId, checkpointNumber);
            if (newestCheckpoint > 0) {
                journal.setLiveLsn(newestStartLsnNow());
            }
            writeSlabs(writer);
            long blockCount = writeBlocks(writer);
            long fileCount = writeFiles(writer);
            syncSlabs();
            writer.finish(run, startLsn, clean, blockCount, fileCount);
            newestCheckpoint = checkpointNumber;
            nextCheckpoint = checkpointNumber + 1;
            lastCheckpointNanos = clock.nanoTime();
            lock.lock();
            try {
                newestStartLsn = startLsn;
                resume();
            }
            finally {
                lock.unlock();
            }
            success = true;
            return true;
        }
        catch (IOException e) {
            failedCheckpointNanos = clock.nanoTime();
            lock.lock();
            try {
                suspend(e);
            }
            finally {
                lock.unlock();
            }
            return false;
        }
        finally {
            lock.lock();
            try {
                files.releaseOrdinals();
                changed |= !success;
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * What the checkpoint names survives a loss of power as well; what is written later may have to be fetched again after one.
     */
    private void syncSlabs()
            throws IOException
    {
        for (int i = 0; i < opened.slabs.length; i++) {
            if (unsyncedSlabs.getAndSet(i, 0) != 0) {
                opened.slabs[i].sync();
            }
        }
    }

    private long newestStartLsnNow()
    {
        lock.lock();
        try {
            return newestStartLsn;
        }
        finally {
            lock.unlock();
        }
    }

    private void writeSlabs(Checkpoint.Writer writer)
            throws IOException
    {
        WireWriter body = new WireWriter(slabs.length * 5);
        lock.lock();
        try {
            for (SsdSlab slab : slabs) {
                if (slab.sizeClass >= 0) {
                    body.putInt(slab.number).putByte(slab.sizeClass);
                }
            }
        }
        finally {
            lock.unlock();
        }
        writer.write(DirectoryRecovery.SLABS_CHUNK, body);
    }

    private long writeBlocks(Checkpoint.Writer writer)
            throws IOException
    {
        long count = 0;
        for (int first = 0; ; first += BLOCK_CHUNK_ENTRIES) {
            WireWriter body = new WireWriter(BLOCK_CHUNK_ENTRIES * BLOCK_RECORD_BYTES);
            lock.lock();
            try {
                if (first >= index.limit()) {
                    return count;
                }
                for (int entry = first; entry < Math.min(index.limit(), first + BLOCK_CHUNK_ENTRIES); entry++) {
                    if (index.isUsed(entry) && !files.isDropped(index.file(entry))) {
                        int slab = index.slab(entry);
                        body.putLong(index.digestHigh(entry))
                                .putLong(index.digestLow(entry))
                                .putLong(index.sequence(entry))
                                .putInt(slab)
                                .putByte(slabs[slab].sizeClass)
                                .putInt(index.extent(entry))
                                .putInt(index.length(entry))
                                .putInt(index.file(entry))
                                .putByte(index.frequency(entry));
                        count++;
                    }
                }
            }
            finally {
                lock.unlock();
            }
            writer.write(DirectoryRecovery.BLOCKS_CHUNK, body);
        }
    }

    private long writeFiles(Checkpoint.Writer writer)
            throws IOException
    {
        long count = 0;
        WireWriter body = new WireWriter(2 * FILES_CHUNK_BYTES);
        for (int first = 0; ; first += FILES_AT_ONCE) {
            List<StoredFile> some = new ArrayList<>();
            List<FileMetadata> metadata = new ArrayList<>();
            lock.lock();
            try {
                if (first >= blocksByFile.size()) {
                    break;
                }
                for (int ordinal = first; ordinal < Math.min(blocksByFile.size(), first + FILES_AT_ONCE); ordinal++) {
                    if (blocksByFile.get(ordinal) > 0) {
                        files.find(ordinal).ifPresent(file -> {
                            some.add(file);
                            metadata.add(file.metadata());
                        });
                    }
                }
            }
            finally {
                lock.unlock();
            }
            for (int i = 0; i < some.size(); i++) {
                body.putInt(some.get(i).ordinal());
                JournalEntry.writeFile(body, some.get(i).id(), metadata.get(i));
                count++;
                if (body.length() > FILES_CHUNK_BYTES) {
                    writer.write(DirectoryRecovery.FILES_CHUNK, body);
                    body = new WireWriter(2 * FILES_CHUNK_BYTES);
                }
            }
        }
        writer.write(DirectoryRecovery.FILES_CHUNK, body);
        return count;
    }

    long capacityBytes()
    {
        return capacityBytes;
    }

    long usedBytes()
    {
        return usedBytes;
    }

    long blocks()
    {
        return blocks;
    }

    long restoredBlocks()
    {
        return restoredBlocks;
    }

    long evictions()
    {
        return evictions;
    }

    long corruptBlocks()
    {
        return corruptBlocks;
    }

    long errors()
    {
        return errors;
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        long counted = 0;
        long bytes = 0;
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry)) {
                counted++;
                bytes += index.length(entry);
                SsdSlab slab = slabs[index.slab(entry)];
                verify(slab.entry(index.extent(entry)) == entry, "extent %s of slab %s is not that of entry %s", index.extent(entry), slab.number, entry);
                verify(Extent.units(index.length(entry)) <= sizeClasses.units(slab.sizeClass), "entry %s does not fit into its extent", entry);
                verify(index.find(index.digestHigh(entry), index.digestLow(entry)) == entry, "entry %s is not found", entry);
                verify(contains(files.byOrdinal(index.file(entry))), "the file of entry %s is not counted", entry);
            }
        }
        verify(counted == index.size() && counted == blocks, "%s blocks are counted as %s, %s", counted, index.size(), blocks);
        verify(bytes == usedBytes, "%s bytes are counted as %s", bytes, usedBytes);
        verify(checkpointBytes() <= geometry.checkpointBytes(), "a checkpoint of %s bytes does not fit into %s", checkpointBytes(), geometry.checkpointBytes());
    }

    /**
     * Closes the files, whatever they hold. Without the lock.
     */
    @Override
    public void close()
            throws IOException
    {
        opened.close();
    }
}
