package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.HotBlocks;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.quota.TableQueues;
import io.cachedhive.store.slab.SizeClasses;
import io.cachedhive.store.ssd.JournalEntry.BlockAdded;
import io.cachedhive.store.ssd.JournalEntry.BlockRemoved;
import io.cachedhive.store.ssd.JournalEntry.FileAdded;
import io.cachedhive.store.ssd.JournalEntry.FileConfirmed;
import io.cachedhive.store.ssd.JournalEntry.FileDropped;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * A directory of the SSD tier: slabs of fixed size, an index of their blocks, and a journal and checkpoints of the
 * index.
 *
 * <p>Writing a block allocates an extent (evicting its block), writes the payload and trailer, adds the index entry and
 * appends a journal record, which is synced within 100 ms. After a crash, the index is the newest checkpoint plus the
 * journal after it. The trailer alone reveals a stale entry when its block is read. So slabs and journal need no write
 * order, and slabs are synced for checkpoints only. Only drops have to be durable in time, see {@link #flushAndSeal}.
 *
 * <p>This class adds, reads and drops blocks and records the changes in the journal. Other parts:
 * <ul>
 * <li>{@link DirectoryCandidate}: the owner of the directory, and whether its contents are usable
 * <li>{@link DirectoryOpening}: formats the directory or starts to restore it
 * <li>{@link DirectoryFiles}: the files by name, size and access mode
 * <li>{@link DirectoryContents}: index, extents and their counters, in memory
 * <li>{@link DirectoryPolicy}: eviction and admission; {@link ExtentAllocator}: allocation of extents
 * <li>{@link DirectoryRecovery}: restores the index; {@link DirectoryRestorer}: runs its second step while blocks
 *       change
 * <li>{@link DirectoryCheckpoints}: writes checkpoints, and the superblock that determines the valid ones
 * <li>{@link DirectoryDrops}: removes the blocks of dropped files
 * <li>{@link DirectoryLoads}: limits the loads of blocks, and runs them on the directory's own threads
 * <li>{@link DirectoryHealth}: whether the disk is readable and writable; {@link WatchedDisk} reports the result of
 *       each call
 * </ul>
 *
 * <p>Callers hold the store's lock, which guards all fields, unless a method specifies otherwise. Disk operations run
 * without it.
 */
final class SsdDirectory
        implements Closeable
{
    private static final Logger log = Logger.get(SsdDirectory.class);

    // a file record has to fit into the smallest batch of a journal
    private static final int MAX_FILE_RECORD_BYTES = 8 << 10;
    private static final int SWEPT_AT_ONCE = 1024;
    // steps per second: visits all of ten million blocks within minutes
    private static final int LOOKS_IN_A_ROUND = 64;

    private final int number;
    private final Path path;
    private final long capacityBytes;
    private final Geometry geometry;
    private final SizeClasses sizeClasses;
    private final ReentrantLock lock;
    private final FileTable files;
    private final DirectoryFiles opened;
    private final DirectoryContents contents;
    private final SsdIndex index;
    private final DirectoryPolicy policy;
    private final ExpirySweep expirySweep;
    private final ExtentAllocator allocator;
    private final Journal journal;
    private final WatchedDisk disk;
    private final DirectoryRestorer restorer;
    private final DirectoryCheckpoints checkpoints;
    private final DirectoryHealth health;
    private final DirectoryDrops drops;
    private final DirectoryLoads loads;
    private final DropThread dropThread;
    private final List<RecoveryOutcome> outcomes;
    private final Digest128 storeId;

    private long sequence;
    private long evictions;
    private long expirations;
    private long corruptBlocks;

    /**
     * Restores or formats the directory, and adds its files to the table. {@link #restorer} restores the remaining
     * blocks.
     *
     * @throws DirectoryOutException if its disk fails; the table is then unchanged
     */
    static SsdDirectory open(DirectoryCandidate candidate, OpeningRun run, FileTable files, ReentrantLock lock, StoreClock clock, ThreadFactory threads)
            throws StoreException, DirectoryOutException
    {
        try {
            return new SsdDirectory(candidate, run, files, lock, clock, threads);
        }
        catch (IOException e) {
            throw DirectoryOutException.of(candidate.path(), e, candidate.wasMade());
        }
    }

    private SsdDirectory(DirectoryCandidate candidate, OpeningRun run, FileTable files, ReentrantLock lock, StoreClock clock, ThreadFactory threads)
            throws IOException
    {
        this.number = candidate.number();
        this.path = candidate.path();
        this.capacityBytes = candidate.capacityBytes();
        this.geometry = candidate.geometry();
        this.sizeClasses = geometry.sizeClasses();
        this.opened = candidate.files();
        this.files = requireNonNull(files, "files is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.contents = new DirectoryContents(geometry, files);
        this.index = contents.index();
        this.policy = contents.policy();
        this.expirySweep = new ExpirySweep(index, clock, this::expire);
        this.health = new DirectoryHealth(path, clock);
        long openedNanos = clock.nanoTime();
        DirectoryContext context = new DirectoryContext(path, geometry, opened, contents, health, lock, clock);

        DirectoryOpening opening = DirectoryOpening.open(candidate, run, contents, lock, threads);
        this.outcomes = opening.outcomes();
        Superblock superblock = opening.superblock();
        DirectoryRecovery.Result result = opening.result();
        this.storeId = superblock.storeId();
        // above the sequences of all earlier runs, even of blocks whose journal records were lost
        this.sequence = superblock.run() << 40;
        this.journal = new Journal(opened.journal(), storeId, opened.cipher(), geometry.journalBytes(), lock, result.nextLsn(), result.liveLsn());
        this.disk = new WatchedDisk(context, journal);
        this.allocator = new ExtentAllocator(sizeClasses, contents.slabs(), policy, new ExtentAllocator.Evictor()
        {
            @Override
            public void evict(int entry)
            {
                SsdDirectory.this.evict(entry);
            }

            @Override
            public void evictExpired()
            {
                expirySweep.sweep(SWEPT_AT_ONCE);
            }
        });
        this.restorer = new DirectoryRestorer(context, opening, allocator, openedNanos, this::invalidate);
        this.checkpoints = new DirectoryCheckpoints(context, opening, restorer, journal);
        this.drops = new DirectoryDrops(context, journal, checkpoints, this::remove);
        this.loads = new DirectoryLoads(clock, threads);
        this.dropThread = new DropThread(threads);
        lock.lock();
        try {
            restorer.start();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Invalidates the directory for the restorer, which is created before the checkpoints. Callers must not hold the
     * lock.
     */
    private boolean invalidate()
    {
        return checkpoints.invalidate();
    }

    /**
     * Returns the position among the configured directories. May be called without the lock.
     */
    int number()
    {
        return number;
    }

    /**
     * Marks the run as used, once all directories are open. Callers must not hold the lock.
     */
    void setUsed()
            throws IOException
    {
        checkpoints.setUsed();
    }

    /**
     * Returns the restorer of the remaining blocks. May be called without the lock.
     */
    DirectoryRestorer restorer()
    {
        return restorer;
    }

    /**
     * May be called without the lock.
     */
    DirectoryCheckpoints checkpoints()
    {
        return checkpoints;
    }

    /**
     * Returns the loads of the blocks. May be called without the lock.
     */
    DirectoryLoads loads()
    {
        return loads;
    }

    /**
     * Returns the thread that makes drops durable. May be called without the lock.
     */
    DropThread dropThread()
    {
        return dropThread;
    }

    /**
     * May be called without the lock.
     */
    List<RecoveryOutcome> outcomes()
    {
        return outcomes;
    }

    /**
     * May be called without the lock.
     */
    Path path()
    {
        return path;
    }

    boolean collect(int firstEntry, int endEntry, Predicate<Digest128> known, HotBlocks hottest)
    {
        if (!health.isReadable()) {
            return false;
        }
        int limit = index.limit();
        for (int entry = firstEntry; entry < Math.min(endEntry, limit); entry++) {
            if (!index.isUsed(entry) || expirySweep.isExpired(entry)) {
                continue;
            }
            Digest128 digest = new Digest128(index.digestHigh(entry), index.digestLow(entry));
            Optional<StoredFile> file = files.find(index.file(entry));
            if (file.isPresent() && !known.test(digest)) {
                hottest.add(file.get(), digest, false, policy.frequency(entry));
            }
        }
        return endEntry < limit;
    }

    Optional<SsdBlock> find(Digest128 digest)
    {
        int entry = contents.find(digest);
        if (entry == SsdIndex.NONE || !health.isReadable() || files.isDropped(index.file(entry))) {
            return Optional.empty();
        }
        if (expirySweep.isExpired(entry)) {
            expire(entry);
            return Optional.empty();
        }
        StoredFile file = files.byOrdinal(index.file(entry));
        return Optional.of(new SsdBlock(digest, file, index.length(entry), number, index.slab(entry), index.extent(entry), index.sequence(entry), index.terms(entry)));
    }

    private void expire(int entry)
    {
        remove(entry);
        expirations++;
    }

    /**
     * Removes expired blocks among the next entries of the cyclic scan. Callers must not hold the lock.
     */
    void removeExpired()
    {
        for (int i = 0; i < LOOKS_IN_A_ROUND; i++) {
            lock.lock();
            try {
                if (journal.hasRoom()) {
                    expirySweep.sweep(SWEPT_AT_ONCE);
                }
                if (index.limit() <= (i + 1) * SWEPT_AT_ONCE) {
                    return;
                }
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
    }

    /**
     * Records a request for a block.
     *
     * @return whether the block is here
     */
    boolean use(Digest128 digest)
    {
        int entry = contents.find(digest);
        if (entry == SsdIndex.NONE || expirySweep.isExpired(entry)) {
            return false;
        }
        policy.use(entry);
        return true;
    }

    /**
     * Records a request for a block that is not here. Call it exactly once per request.
     *
     * @return whether the block is worth writing: there is space without eviction, or it is likely to stay
     */
    boolean admits(Digest128 digest, StoredFile file, int length, BlockClass blockClass)
    {
        int units = Extent.units(length);
        boolean worthwhile = policy.request(digest.high(), digest.low(), sizeClasses.classFor(units), blockClass);
        StoredTable table = files.table(file.ordinal());
        boolean worthwhileInTable = policy.requestOfTable(table, digest.high(), digest.low(), blockClass);
        if (!table.hasSsdRoom(length)) {
            // a full quota requires evicting another block of the table
            return worthwhileInTable && length <= table.limitBytes();
        }
        return worthwhile || (mayGrow(DirectoryContents.withChunkHeaders(DirectoryContents.BLOCK_RECORD_BYTES + 1)) && allocator.hasFree(units));
    }

    /**
     * Returns whether the directory accepts writes.
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
    record Reservation(SsdSlab slab, int extent, int units, long sequence, StoredTable table, int length) {}

    /**
     * @return empty if the block cannot be written now
     */
    Optional<Reservation> reserve(StoredFile file, int length, BlockClass blockClass)
    {
        long fileRecordBytes = contents.fileRecordBytes(file.ordinal());
        if (!hasJournalRoom() || fileRecordBytes > MAX_FILE_RECORD_BYTES || files.lengthBytes(file) > JournalEntry.MAX_FILE_BYTES) {
            return Optional.empty();
        }
        long added = DirectoryContents.withChunkHeaders(DirectoryContents.BLOCK_RECORD_BYTES + 1 + (contents.contains(file) ? 0 : fileRecordBytes));
        StoredTable table = files.table(file.ordinal());
        if (!makeRoomInTable(table, length, blockClass)) {
            return Optional.empty();
        }
        int units = Extent.units(length);
        ExtentAllocator.Place place = allocator.allocate(units, mayGrow(added), blockClass);
        if (place == null) {
            return Optional.empty();
        }
        sequence++;
        Reservation reservation = new Reservation(place.slab(), place.extent(), units, sequence, table, length);
        table.addReservedSsdBytes(length);
        if (!mayGrow(added)) {
            // the record of its file is larger than the record of the evicted block
            cancel(reservation);
            return Optional.empty();
        }
        restorer.addCheckpointBytes(added);
        return Optional.of(reservation);
    }

    /**
     * Evicts blocks of a table with a full quota for a new one. Evicts none if this directory cannot free enough, and
     * only a few at once: {@link #evictOne} removes the rest after a quota was lowered.
     *
     * @return whether the block now fits into the quota
     */
    private boolean makeRoomInTable(StoredTable table, int length, BlockClass newcomer)
    {
        if (table.hasSsdRoom(length)) {
            return true;
        }
        if (length > table.limitBytes() || table.ssdExcess(length) > policy.bytesOfTable(table)) {
            return false;
        }
        long freed = 0;
        int beyond = 0;
        while (!table.hasSsdRoom(length)) {
            if (freed >= length) {
                beyond++;
            }
            // each eviction needs a journal record
            if (beyond > TableQueues.MAX_EXCESS_AT_ONCE || !journal.hasRoom()) {
                return false;
            }
            int entry = policy.pollVictim(table, newcomer);
            if (entry == TableQueues.NO_ENTRY) {
                return false;
            }
            freed += index.length(entry);
            evict(entry);
        }
        return true;
    }

    private void evict(int entry)
    {
        evictions++;
        remove(entry);
    }

    /**
     * Evicts a block of a table that exceeds its quota, unless the journal is full.
     *
     * @param last the highest class to evict
     * @return whether a block was evicted
     */
    boolean evictOne(StoredTable table, BlockClass last)
    {
        if (!journal.hasRoom()) {
            return false;
        }
        int entry = last == BlockClass.PINNED ? policy.pollAny(table) : policy.pollVictim(table, last);
        if (entry == TableQueues.NO_ENTRY) {
            return false;
        }
        evict(entry);
        return true;
    }

    /**
     * Adds entries that are older than their table's quota to the table's queues.
     *
     * @return whether there are entries after the range
     */
    boolean order(int firstEntry, int endEntry)
    {
        int limit = index.limit();
        for (int entry = firstEntry; entry < Math.min(endEntry, limit); entry++) {
            if (index.isUsed(entry)) {
                policy.order(entry);
            }
        }
        return endEntry < limit;
    }

    /**
     * Returns whether the journal accepts records of new blocks; otherwise they wait for the next checkpoint.
     */
    boolean hasJournalRoom()
    {
        return journal.hasRoom();
    }

    /**
     * Returns whether a checkpoint has capacity for more bytes.
     */
    private boolean mayGrow(long addedBytes)
    {
        long bytes = restorer.isRestored() ? contents.checkpointBytes() : restorer.checkpointBytes();
        return bytes + addedBytes <= geometry.checkpointBytes();
    }

    /**
     * Frees the extent of a reservation.
     */
    void cancel(Reservation reservation)
    {
        reservation.table.addReservedSsdBytes(-reservation.length);
        reservation.slab.written(reservation.extent, SsdSlab.FREE);
    }

    /**
     * Allocates the memory to write extents. May be called without the lock.
     */
    ExtentBuffers allocateBuffers()
    {
        return ExtentBuffers.allocate(geometry.blockSizeBytes(), opened.cipher().isPresent());
    }

    /**
     * Writes an extent. Callers must not hold the lock.
     *
     * @param payload the block, in a frame that does not change
     * @param checksum CRC32C of the block
     * @param buffers memory for the extent
     */
    void write(Reservation reservation, Digest128 digest, long etagDigest, MemorySegment payload, int checksum, ExtentBuffers buffers)
            throws IOException
    {
        int slab = reservation.slab.number;
        Optional<DataCipher> cipher = opened.cipher();
        List<ByteBuffer> extent;
        if (cipher.isPresent()) {
            // the tag vouches for the bytes as they are now, so they have to be those that were filled
            if (MemoryChecksums.compute(payload).whole() != checksum) {
                throw new IOException("the block changed in memory");
            }
            EncryptedExtent.write(buffers, cipher.get(), payload, digest, reservation.sequence, etagDigest, storeId);
            extent = List.of(buffers.bytes());
        }
        else {
            ByteBuffer tail = buffers.bytes();
            Extent.writeTail(tail, payload, digest, reservation.sequence, etagDigest, checksum, storeId);
            int wholeUnitsBytes = Extent.wholeUnitsBytes(reservation.length);
            extent = wholeUnitsBytes == 0 ? List.of(tail) : List.of(payload.asSlice(0, wholeUnitsBytes).asByteBuffer(), tail);
        }
        // the slab keeps its size class while one of its extents is being written
        disk.write(slab, contents.position(slab, reservation.extent), extent);
        checkpoints.setUnsynced(slab);
    }

    /**
     * May be called without the lock.
     */
    Digest128 storeId()
    {
        return storeId;
    }

    /**
     * Adds a written block, and replaces an earlier one with the same digest.
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
        reservation.table.addReservedSsdBytes(-reservation.length);
        contents.add(slab, reservation.extent, digest, reservation.sequence, length, file, terms);
        journal.append(new BlockAdded(
                digest,
                file.id(),
                slab.number,
                slab.sizeClass,
                reservation.extent,
                reservation.sequence,
                length,
                terms).encode());
    }

    /**
     * Changes the class of a block, if it is here. Does nothing while the journal is full; a later request tries again.
     */
    void setClass(Digest128 digest, BlockClass blockClass)
    {
        int entry = contents.find(digest);
        if (entry == SsdIndex.NONE || index.blockClass(entry) == blockClass || files.isDropped(index.file(entry)) || !journal.hasRoom()) {
            return;
        }
        BlockTerms terms = new BlockTerms(blockClass, index.expirySeconds(entry));
        contents.setTerms(entry, terms);
        SsdSlab slab = policy.slab(entry);
        // replaying the record of an existing block updates its terms
        journal.append(new BlockAdded(
                digest,
                files.byOrdinal(index.file(entry)).id(),
                slab.number,
                slab.sizeClass,
                index.extent(entry),
                index.sequence(entry),
                index.length(entry),
                terms).encode());
    }

    private void remove(int entry)
    {
        Digest128 digest = new Digest128(index.digestHigh(entry), index.digestLow(entry));
        long removed = index.sequence(entry);
        // the record of a dropped file covers its blocks
        boolean recorded = files.isDropped(index.file(entry));
        contents.remove(entry);
        restorer.forget(removed);
        if (!recorded) {
            journal.append(new BlockRemoved(digest, removed).encode());
        }
    }

    /**
     * Reads a block directly into its destination and verifies it there. Callers must not hold the lock.
     *
     * @param target as long as the block, aligned for O_DIRECT
     * @param buffers memory for the extent
     * @return the checksums of the block's bytes; empty if verification failed
     */
    Optional<PieceChecksums> read(SsdBlock block, MemorySegment target, ExtentBuffers buffers)
            throws IOException
    {
        long position;
        lock.lock();
        try {
            if (!isStillThere(block)) {
                return Optional.empty();
            }
            position = contents.position(block.slab(), block.extent());
        }
        finally {
            lock.unlock();
        }
        Optional<DataCipher> cipher = opened.cipher();
        if (cipher.isPresent()) {
            ByteBuffer bytes = buffers.bytes();
            disk.read(block.slab(), position, List.of(bytes.clear().limit(Extent.units(block.length()) * Geometry.UNIT_BYTES)));
            bytes.flip();
            if (!EncryptedExtent.read(buffers, cipher.get(), block.digest(), block.sequence(), block.file().etagDigest(), block.length(), storeId)) {
                return Optional.empty();
            }
            target.copyFrom(MemorySegment.ofArray(buffers.plain()).asSlice(0, block.length()));
            return Optional.of(MemoryChecksums.compute(target));
        }
        ByteBuffer tail = buffers.bytes();
        int wholeUnitsBytes = Extent.wholeUnitsBytes(block.length());
        tail.clear().limit(Extent.tailBytes(block.length()));
        List<ByteBuffer> targets = wholeUnitsBytes == 0 ? List.of(tail) : List.of(target.asSlice(0, wholeUnitsBytes).asByteBuffer(), tail);
        disk.read(block.slab(), position, targets);
        tail.flip();
        OptionalInt expected = Extent.verifyTail(tail, block.digest(), block.sequence(), block.file().etagDigest(), block.length(), storeId);
        if (expected.isEmpty()) {
            return Optional.empty();
        }
        target.asSlice(wholeUnitsBytes).copyFrom(MemorySegment.ofBuffer(tail.slice(0, block.length() - wholeUnitsBytes)));
        PieceChecksums checksums = MemoryChecksums.compute(target);
        return checksums.whole() == expected.getAsInt() ? Optional.of(checksums) : Optional.empty();
    }

    /**
     * Returns whether the index still has this write of the block.
     */
    boolean isStillThere(SsdBlock block)
    {
        int entry = contents.find(block.digest());
        return entry != SsdIndex.NONE && index.sequence(entry) == block.sequence() && !block.file().isDropped();
    }

    /**
     * Drops a block that failed verification, unless the index no longer has it, which explains the failure.
     */
    void dropCorrupt(SsdBlock block)
    {
        if (isStillThere(block)) {
            corruptBlocks++;
            log.warn("Block %s of %s in %s does not verify: dropped", block.digest(), block.file().version().location(), path);
            remove(contents.find(block.digest()));
        }
    }

    void dropUnreadable(SsdBlock block, IOException failure)
    {
        if (isStillThere(block)) {
            log.warn("Block %s of %s in %s cannot be read, dropped: %s", block.digest(), block.file().version().location(), path, failure.getMessage());
            remove(contents.find(block.digest()));
        }
    }

    /**
     * Probes a disk with failed reads if it is time to. Callers must not hold the lock.
     */
    void probe()
    {
        disk.probe();
    }

    void confirm(StoredFile file)
    {
        if (contents.contains(file) || restorer.isHeld(file)) {
            journal.append(new FileConfirmed(file.id()).encode());
            contents.setChanged();
        }
    }

    /**
     * Records the drop of a file. {@link #removeDropped} then removes its blocks, and {@link #flushAndSeal} makes the
     * drop durable.
     */
    void drop(StoredFile file)
    {
        if (contents.contains(file) || restorer.isHeld(file)) {
            journal.append(new FileDropped(file.id()).encode());
            contents.setChanged();
        }
    }

    /**
     * Removes the blocks of a dropped file. Callers must not hold the lock.
     */
    void removeDropped(StoredFile file)
    {
        drops.remove(file);
    }

    /**
     * Writes a checkpoint if the journal is full, so that it accepts the records of further drops. Callers must not
     * hold the lock.
     */
    void makeJournalRoom()
    {
        drops.makeJournalRoom();
    }

    /**
     * Makes all appended records durable. Callers must not hold the lock.
     *
     * @return false on failure
     */
    boolean flush()
    {
        return disk.flush(false);
    }

    /**
     * Makes all appended records durable, and protects them against damage to a single place of the journal. Callers
     * must not hold the lock.
     */
    boolean flushAndSeal()
    {
        return disk.flush(true);
    }

    /**
     * May be called without the lock.
     */
    long capacityBytes()
    {
        return capacityBytes;
    }

    long visits()
    {
        return index.visits();
    }

    long pinnedBytes()
    {
        return policy.pinnedBytes();
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
     * Counts the bytes of each table from its blocks. For tests.
     */
    void addTableBytes(Map<StoredTable, Long> tables)
    {
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry)) {
                tables.merge(files.table(index.file(entry)), (long) index.length(entry), Long::sum);
            }
        }
    }

    /**
     * Closes the files without writing. Callers must not hold the lock.
     */
    @Override
    public void close()
            throws IOException
    {
        opened.close();
    }
}
