package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.BlockTerms;
import io.cachedhive.store.RecoveryOutcome;
import io.cachedhive.store.SsdErrorCause;
import io.cachedhive.store.StoreClock;
import io.cachedhive.store.StoreException;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ssd.DirectoryHealth.Part;
import io.cachedhive.store.ssd.JournalEntry.BlockAdded;
import io.cachedhive.store.ssd.JournalEntry.BlockRemoved;
import io.cachedhive.store.ssd.JournalEntry.FileAdded;
import io.cachedhive.store.ssd.JournalEntry.FileConfirmed;
import io.cachedhive.store.ssd.JournalEntry.FileDropped;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

import static io.cachedhive.store.ssd.DirectoryHealth.Part.INDEX;
import static io.cachedhive.store.ssd.DirectoryHealth.Part.SLAB_READS;
import static io.cachedhive.store.ssd.DirectoryHealth.Part.SLAB_WRITES;
import static java.util.Objects.requireNonNull;

/**
 * One directory of the SSD tier: slabs of fixed size, an index of what is in them, and a journal and checkpoints of the index.
 *
 * <p>How a block gets here and stays: an extent is allocated (evicting what was there), block and trailer are written, the index gets its
 * entry and the journal a record, which is synced within 100 ms. After a crash the index is that of the newest checkpoint with the
 * journal after it. An entry that is wrong by then is found out by the trailer when the block is read, and by nothing else; so no order of writes
 * between slabs and journal is needed, and slabs are synced for a checkpoint only. What has to be durable in time is a drop: {@link #flushAndSeal}.
 *
 * <p>Here blocks are added, read and dropped, and the journal is told. The rest is with others, each of which has one thing to care for:
 * <ul>
 * <li>{@link DirectoryCandidate}: whose the directory is, and whether what is in it can be gone on with
 * <li>{@link DirectoryFiles}: the files, by name, size and access
 * <li>{@link DirectoryContents}: index, extents and their counts, in memory
 * <li>{@link DirectoryRecovery}: what checkpoint and journal tell; {@link DirectoryRestorer}: its second step, while blocks come and go
 * <li>{@link DirectoryCheckpoints}: when and how checkpoints are written, and the superblock that says which of them count
 * <li>{@link DirectoryHealth}: whether the disk takes blocks at present
 * </ul>
 *
 * <p>Methods are called under the store's lock, which guards all fields, unless they say otherwise; disks are used without it.
 */
final class SsdDirectory
        implements Closeable
{
    private static final Logger log = Logger.get(SsdDirectory.class);

    // a record has to fit into the smallest batch of a journal
    private static final int MAX_FILE_RECORD_BYTES = 8 << 10;
    private static final int DROPPED_AT_ONCE = 1024;
    private static final int LOOKED_AT_ONCE = 1024;
    // once a second: a block that nobody asks for goes within minutes, also from among ten million
    private static final int LOOKED_IN_A_ROUND = 64 * LOOKED_AT_ONCE;

    private final int number;
    private final Path path;
    private final long capacityBytes;
    private final Geometry geometry;
    private final ReentrantLock lock;
    private final StoreClock clock;
    private final FileTable files;
    private final DirectoryFiles opened;
    private final DirectoryContents contents;
    private final SsdIndex index;
    private final ExtentAllocator allocator;
    private final Journal journal;
    private final DirectoryRestorer restorer;
    private final DirectoryCheckpoints checkpoints;
    private final DirectoryHealth health;
    private final List<RecoveryOutcome> outcomes = new ArrayList<>();
    private final Digest128 storeId;
    private final long run;

    private long sequence;
    private long evictions;
    private long expirations;
    private long corruptBlocks;
    private int nextExpiryLook;

    /**
     * Restores or formats the directory. Its files are added to the table; of its blocks some are restored, and the rest by {@link #restorer}.
     *
     * @param lastRun the last run of this worker's store, in any directory
     * @param newStoreId for a directory that is formatted
     * @param oldTerms of blocks that were written by the version before, without any
     */
    static SsdDirectory open(
            int number,
            DirectoryCandidate candidate,
            CacheWorkerId workerId,
            long lastRun,
            Digest128 newStoreId,
            FileTable files,
            BlockTerms oldTerms,
            ReentrantLock lock,
            StoreClock clock,
            ThreadFactory threads)
            throws StoreException
    {
        try {
            return new SsdDirectory(number, candidate, workerId, lastRun, newStoreId, files, oldTerms, lock, clock, threads);
        }
        catch (IOException e) {
            throw new StoreException("SSD directory %s cannot be used (%s): let this user write there, or mend the disk".formatted(candidate.path(), e.getMessage()), e);
        }
    }

    private SsdDirectory(
            int number,
            DirectoryCandidate candidate,
            CacheWorkerId workerId,
            long lastRun,
            Digest128 newStoreId,
            FileTable files,
            BlockTerms oldTerms,
            ReentrantLock lock,
            StoreClock clock,
            ThreadFactory threads)
            throws IOException
    {
        this.number = number;
        this.path = candidate.path();
        this.capacityBytes = candidate.capacityBytes();
        this.geometry = candidate.geometry();
        this.opened = candidate.files();
        this.files = requireNonNull(files, "files is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.contents = new DirectoryContents(geometry, files);
        this.index = contents.index();
        this.health = new DirectoryHealth(path, clock);
        long openedNanos = clock.nanoTime();

        Optional<RecoveryOutcome> reason = candidate.reasonToFormat(workerId, lastRun);
        Superblock superblock;
        Optional<DirectoryRecovery> recovery;
        DirectoryRecovery.Result result;
        if (reason.isPresent()) {
            outcomes.add(reason.get());
            superblock = format(workerId, lastRun + 1, newStoreId);
            recovery = Optional.empty();
            result = new DirectoryRecovery.Result(
                    List.of(),
                    new ByteColumn(),
                    superblock.baseLsn(),
                    superblock.baseLsn(),
                    0,
                    superblock.baseLsn(),
                    superblock.minCheckpoint(),
                    0,
                    false);
        }
        else {
            Superblock found = candidate.superblock().orElseThrow();
            candidate.superblockDoubt().ifPresent(outcomes::add);
            boolean[] slabIsNew = opened.open(geometry, outcomes::add);
            try (ExecutorService executor = Executors.newSingleThreadExecutor(threads)) {
                recovery = Optional.of(new DirectoryRecovery(
                        path,
                        found,
                        opened.journal(),
                        opened.checkpoints(),
                        index,
                        contents.slabs(),
                        slabIsNew,
                        files,
                        oldTerms,
                        executor));
                result = recover(recovery.get());
            }
            result.outcomes().stream().distinct().forEach(outcomes::add);
            Superblock next = found.withRun(lastRun + 1);
            if (result.givenUp()) {
                next = next.withBase(result.nextLsn(), result.nextCheckpoint());
            }
            superblock = next.writeTo(opened.superblock());
            // not before the superblock says that what the journal had is void
            opened.journal().allocate(geometry.journalBytes());
        }
        this.storeId = superblock.storeId();
        this.run = superblock.run();
        // never used before: neither by an earlier run nor, for lack of a synced journal, unknown to this one
        this.sequence = run << 40;
        this.journal = new Journal(opened.journal(), storeId, geometry.journalBytes(), lock, result.nextLsn(), result.liveLsn());
        this.allocator = new ExtentAllocator(geometry.sizeClasses(), contents.slabs(), new ExtentAllocator.Evictor()
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
        this.restorer = new DirectoryRestorer(path, recovery, result.files(), result.checkpointBytes(), contents, allocator, health, lock, clock, openedNanos);
        this.checkpoints = new DirectoryCheckpoints(
                path,
                superblock,
                result.newestCheckpoint(),
                result.newestStartLsn(),
                result.nextCheckpoint(),
                opened,
                contents,
                restorer,
                health,
                journal,
                lock,
                clock);
        lock.lock();
        try {
            restorer.start();
        }
        finally {
            lock.unlock();
        }
    }

    private Superblock format(CacheWorkerId workerId, long run, Digest128 storeId)
            throws IOException
    {
        opened.make(geometry);
        Superblock made = new Superblock(storeId, 0, run, workerId, geometry, Journal.firstLsn(geometry.journalBytes()), 1).writeTo(opened.superblock());
        opened.sync();
        return made;
    }

    private DirectoryRecovery.Result recover(DirectoryRecovery recovery)
            throws IOException
    {
        lock.lock();
        try {
            // nobody waits for the lock while the store is being opened
            return recovery.recover();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Of the blocks that are not restored yet. Without the lock.
     */
    DirectoryRestorer restorer()
    {
        return restorer;
    }

    /**
     * Without the lock.
     */
    DirectoryCheckpoints checkpoints()
    {
        return checkpoints;
    }

    /**
     * Without the lock.
     */
    List<RecoveryOutcome> outcomes()
    {
        return outcomes;
    }

    /**
     * Without the lock.
     */
    Path path()
    {
        return path;
    }

    /**
     * Without the lock.
     */
    long run()
    {
        return run;
    }

    Optional<SsdBlock> find(Digest128 digest)
    {
        int entry = contents.find(digest);
        if (entry == SsdIndex.NONE || !health.isReadable() || files.isDropped(index.file(entry))) {
            return Optional.empty();
        }
        if (isExpired(entry)) {
            expire(entry);
            return Optional.empty();
        }
        StoredFile file = files.byOrdinal(index.file(entry));
        return Optional.of(new SsdBlock(digest, file, index.length(entry), number, index.slab(entry), index.extent(entry), index.sequence(entry), index.terms(entry)));
    }

    private boolean isExpired(int entry)
    {
        return BlockTerms.isExpired(index.expirySeconds(entry), clock.currentTimeMillis());
    }

    private void expire(int entry)
    {
        remove(entry);
        expirations++;
    }

    /**
     * Looks at some of the blocks, in turn, and removes those that are expired. Without the lock.
     */
    void removeExpired()
    {
        int looked = 0;
        int limit;
        do {
            lock.lock();
            try {
                limit = index.limit();
                if (nextExpiryLook >= limit) {
                    nextExpiryLook = 0;
                }
                int end = Math.min(limit, nextExpiryLook + LOOKED_AT_ONCE);
                looked += end - nextExpiryLook;
                for (; nextExpiryLook < end; nextExpiryLook++) {
                    if (index.isUsed(nextExpiryLook) && isExpired(nextExpiryLook) && journal.hasRoom()) {
                        expire(nextExpiryLook);
                    }
                }
            }
            finally {
                lock.unlock();
            }
        }
        while (looked < Math.min(limit, LOOKED_IN_A_ROUND));
    }

    void use(Digest128 digest)
    {
        int entry = contents.find(digest);
        if (entry != SsdIndex.NONE) {
            index.setFrequency(entry, index.frequency(entry) + 1);
        }
    }

    /**
     * Whether blocks are written here at present.
     */
    boolean isInService()
    {
        return health.isWritable();
    }

    Optional<String> problem()
    {
        return health.problem();
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
        long fileRecordBytes = contents.fileRecordBytes(file.ordinal());
        if (!journal.hasRoom() || fileRecordBytes > MAX_FILE_RECORD_BYTES || files.lengthBytes(file) > JournalEntry.MAX_FILE_BYTES) {
            return Optional.empty();
        }
        long added = DirectoryContents.withChunkHeaders(DirectoryContents.BLOCK_RECORD_BYTES + 1 + (contents.contains(file) ? 0 : fileRecordBytes));
        boolean mayGrow = checkpointBytes() + added <= geometry.checkpointBytes();
        int units = Extent.units(length);
        ExtentAllocator.Place place = allocator.allocate(units, mayGrow);
        if (place == null) {
            return Optional.empty();
        }
        sequence++;
        Reservation reservation = new Reservation(place.slab(), place.extent(), units, sequence);
        if (checkpointBytes() + added > geometry.checkpointBytes()) {
            // its file's record was larger than what left
            cancel(reservation);
            return Optional.empty();
        }
        restorer.addCheckpointBytes(added);
        return Optional.of(reservation);
    }

    private long checkpointBytes()
    {
        return restorer.isRestored() ? contents.checkpointBytes() : restorer.checkpointBytes();
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
        int slab = reservation.slab.number;
        // the slab keeps its class for as long as something in it is being written
        watched(SLAB_WRITES, () -> opened.slab(slab).write(contents.position(slab, reservation.extent), buffer));
        checkpoints.setUnsynced(slab);
    }

    private interface DiskCall
    {
        void run()
                throws IOException;
    }

    /**
     * Has the disk do something and keeps in mind how that went. Without the lock.
     */
    private void watched(Part part, DiskCall call)
            throws IOException
    {
        DirectoryHealth.Operation operation = begin(part);
        Optional<IOException> failure = Optional.empty();
        boolean success = false;
        try {
            call.run();
            success = true;
        }
        catch (IOException e) {
            failure = Optional.of(e);
            throw e;
        }
        finally {
            lock.lock();
            try {
                if (success) {
                    health.succeeded(operation);
                }
                else {
                    health.ended(operation);
                    failure.ifPresent(e -> health.failed(part, e));
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    private DirectoryHealth.Operation begin(Part part)
    {
        lock.lock();
        try {
            return health.begin(part);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Without the lock.
     */
    Digest128 storeId()
    {
        return storeId;
    }

    /**
     * The block is in its extent. Replaces an earlier one of the same digest.
     */
    void add(Reservation reservation, StoredFile file, Digest128 digest, int length, BlockTerms terms)
    {
        int same = contents.find(digest);
        if (same != SsdIndex.NONE) {
            remove(same);
        }
        if (!contents.contains(file)) {
            journal.append(new FileAdded(file.id(), file.metadata()).encode());
        }
        SsdSlab slab = reservation.slab;
        contents.add(slab, reservation.extent, digest, reservation.sequence, length, file, terms);
        journal.append(new BlockAdded(
                digest,
                file.id(),
                slab.number,
                slab.sizeClass,
                reservation.extent,
                reservation.sequence,
                length,
                Optional.of(terms)).encode());
    }

    private void remove(int entry)
    {
        Digest128 digest = new Digest128(index.digestHigh(entry), index.digestLow(entry));
        long removed = index.sequence(entry);
        contents.remove(entry);
        restorer.forget(removed);
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
        long position;
        lock.lock();
        try {
            if (!isStillThere(block)) {
                return false;
            }
            position = contents.position(block.slab(), block.extent());
        }
        finally {
            lock.unlock();
        }
        buffer.clear().limit(Extent.units(block.length()) * Geometry.UNIT_BYTES);
        watched(SLAB_READS, () -> opened.slab(block.slab()).read(position, buffer));
        buffer.flip();
        return Extent.verify(buffer, block.digest(), block.sequence(), block.file().etagDigest(), block.length(), storeId);
    }

    /**
     * Whether the index still says of the block what it said.
     */
    boolean isStillThere(SsdBlock block)
    {
        int entry = contents.find(block.digest());
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
            remove(contents.find(block.digest()));
        }
    }

    /**
     * A block could not be read: it is dropped.
     */
    void dropUnreadable(SsdBlock block, IOException failure)
    {
        if (isStillThere(block)) {
            log.warn("Block %s of %s in %s cannot be read, dropped: %s", block.digest(), block.file().version().location(), path, failure.getMessage());
            remove(contents.find(block.digest()));
        }
    }

    /**
     * Reads something if it is time to see whether a disk that did not read works again. Without the lock.
     */
    void probe()
    {
        boolean wanted;
        lock.lock();
        try {
            wanted = health.wantsReadProbe();
        }
        finally {
            lock.unlock();
        }
        if (wanted) {
            try {
                watched(SLAB_READS, () -> opened.slab(0).read(0, StagingBuffers.allocate(Geometry.UNIT_BYTES)));
            }
            catch (IOException e) {
                log.debug("SSD directory %s does not work yet: %s", path, e.getMessage());
            }
        }
    }

    void confirm(StoredFile file)
    {
        if (contents.contains(file) || restorer.isHeld(file)) {
            journal.append(new FileConfirmed(file.id()).encode());
            contents.setChanged();
        }
    }

    /**
     * The file was dropped. Its blocks are removed by {@link #removeDropped}, and durably by {@link #flushAndSeal}.
     */
    void drop(StoredFile file)
    {
        if (contents.contains(file) || restorer.isHeld(file)) {
            journal.append(new FileDropped(file.id()).encode());
            contents.setChanged();
        }
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
                if (file.ssdBlocks() == 0 || !contents.contains(file)) {
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
        DirectoryHealth.Operation operation = begin(INDEX);
        Optional<IOException> failure = Optional.empty();
        try {
            if (seal) {
                journal.flushAndSeal();
            }
            else {
                journal.flush();
            }
            return true;
        }
        catch (Journal.BrokenException e) {
            // what broke it was counted
            return false;
        }
        catch (IOException e) {
            failure = Optional.of(e);
            return false;
        }
        finally {
            lock.lock();
            try {
                // that it works is no proof: after a failure the journal goes on when a checkpoint was written
                health.ended(operation);
                failure.ifPresent(e -> health.failed(INDEX, e));
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Without the lock.
     */
    long capacityBytes()
    {
        return capacityBytes;
    }

    long usedBytes()
    {
        return contents.usedBytes();
    }

    long blocks()
    {
        return contents.blocks();
    }

    long restoredBlocks()
    {
        return restorer.restoredBlocks();
    }

    long evictions()
    {
        return evictions;
    }

    long expirations()
    {
        return expirations;
    }

    long corruptBlocks()
    {
        return corruptBlocks;
    }

    long errors(SsdErrorCause cause)
    {
        return health.errors(cause);
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        contents.checkInvariants();
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
