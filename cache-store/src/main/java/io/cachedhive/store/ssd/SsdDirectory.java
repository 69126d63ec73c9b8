package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryChecksum;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;
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
 * <li>{@link DirectoryOpening}: formats it, or begins to restore it
 * <li>{@link DirectoryFiles}: the files, by name, size and access
 * <li>{@link DirectoryContents}: index, extents and their counts, in memory
 * <li>{@link DirectoryPolicy}: what leaves for want of space, and what is worth being written; {@link ExtentAllocator}: places for it
 * <li>{@link DirectoryRecovery}: what checkpoint and journal tell; {@link DirectoryRestorer}: its second step, while blocks come and go
 * <li>{@link DirectoryCheckpoints}: when and how checkpoints are written, and the superblock that says which of them count
 * <li>{@link DirectoryDrops}: removes the blocks of dropped files, and overwrites them
 * <li>{@link DirectoryHealth}: whether the disk takes blocks at present; {@link WatchedDisk} tells it how each call went
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
    private static final int LOOKED_AT_ONCE = 1024;
    // once a second: a block that nobody asks for goes within minutes, also from among ten million
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
    private final List<RecoveryOutcome> outcomes;
    private final Digest128 storeId;

    private long sequence;
    private long evictions;
    private long expirations;
    private long corruptBlocks;

    /**
     * Restores or formats the directory. Its files are added to the table; of its blocks some are restored, and the rest by {@link #restorer}.
     *
     * @throws DirectoryOutException if its disk does not do what it should; the table is as it was before
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
        // never used before: neither by an earlier run nor, for lack of a synced journal, unknown to this one
        this.sequence = superblock.run() << 40;
        this.journal = new Journal(opened.journal(), storeId, geometry.journalBytes(), lock, result.nextLsn(), result.liveLsn());
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
                expirySweep.look(LOOKED_AT_ONCE);
            }
        });
        this.restorer = new DirectoryRestorer(context, opening, allocator, openedNanos, this::invalidate);
        this.checkpoints = new DirectoryCheckpoints(context, opening, restorer, journal);
        this.drops = new DirectoryDrops(context, journal, disk, checkpoints, this::remove);
        lock.lock();
        try {
            restorer.start();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * For the restorer, which is there before the checkpoints are. Without the lock.
     */
    private boolean invalidate()
    {
        return checkpoints.invalidate();
    }

    /**
     * Among the configured directories. Without the lock.
     */
    int number()
    {
        return number;
    }

    /**
     * All directories are opened. Without the lock.
     */
    void setUsed()
            throws IOException
    {
        checkpoints.setUsed();
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
     * Looks at some of the blocks, in turn, and removes those that are expired. Without the lock.
     */
    void removeExpired()
    {
        for (int i = 0; i < LOOKS_IN_A_ROUND; i++) {
            lock.lock();
            try {
                if (journal.hasRoom()) {
                    expirySweep.look(LOOKED_AT_ONCE);
                }
                if (index.limit() <= (i + 1) * LOOKED_AT_ONCE) {
                    return;
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * A block was asked for.
     *
     * @return whether it is here
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
     * A block was asked for that is not here. To be called once for each time, whatever the answer.
     *
     * @return whether it is worth being written: there is room that nobody has to leave for it, or it is likely to stay
     */
    boolean admits(Digest128 digest, StoredFile file, int length, BlockClass blockClass)
    {
        int units = Extent.units(length);
        boolean worthwhile = policy.request(digest.high(), digest.low(), sizeClasses.classFor(units), blockClass);
        StoredTable table = files.table(file.ordinal());
        boolean worthwhileInTable = policy.requestOfTable(table, digest.high(), digest.low(), blockClass);
        if (!table.hasSsdRoom(length)) {
            // the place is one of its own table
            return worthwhileInTable && length <= table.limitBytes();
        }
        return worthwhile || (mayGrow(DirectoryContents.withChunkHeaders(DirectoryContents.BLOCK_RECORD_BYTES + 1)) && allocator.hasFree(units));
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
            // its file's record was larger than what left
            cancel(reservation);
            return Optional.empty();
        }
        restorer.addCheckpointBytes(added);
        return Optional.of(reservation);
    }

    /**
     * Blocks of a table leave for one of the same table, where it would have more than it may. None leave if those of this directory cannot make the room, and
     * few at once: what else a table has beyond a quota that became smaller leaves by {@link #evictOne}.
     *
     * @return whether there is room for it now
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
            // each that leaves is a record
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
     * Evicts a block of a table that has more than it may. Not while the journal is full.
     *
     * @param last none of a higher class
     * @return whether there was one
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
     * Puts blocks with such entries in order that came before their tables had quotas.
     *
     * @return whether there are entries beyond
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
     * Whether the journal takes records of new blocks, or they have to wait for the next checkpoint.
     */
    boolean hasJournalRoom()
    {
        return journal.hasRoom();
    }

    /**
     * Whether a checkpoint has room for more.
     */
    private boolean mayGrow(long addedBytes)
    {
        long bytes = restorer.isRestored() ? contents.checkpointBytes() : restorer.checkpointBytes();
        return bytes + addedBytes <= geometry.checkpointBytes();
    }

    /**
     * The extent stays free.
     */
    void cancel(Reservation reservation)
    {
        reservation.table.addReservedSsdBytes(-reservation.length);
        reservation.slab.written(reservation.extent, SsdSlab.FREE);
    }

    /**
     * The extent has something that is to be overwritten, which failed: nobody else may have it before it is.
     */
    void cancelUnwiped(Reservation reservation)
    {
        reservation.table.addReservedSsdBytes(-reservation.length);
        drops.keepUnwiped(reservation.slab, reservation.extent);
    }

    /**
     * Writes an extent. Without the lock.
     */
    void write(Reservation reservation, ByteBuffer buffer)
            throws IOException
    {
        int slab = reservation.slab.number;
        // the slab keeps its class for as long as something in it is being written
        disk.write(slab, contents.position(slab, reservation.extent), buffer);
        checkpoints.setUnsynced(slab);
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
     * Changes the class of a block, if it is here. Not while the journal is full: whoever asks for the block next tries again.
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
        // the record of a block that is there already says its terms anew
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
        contents.remove(entry);
        restorer.forget(removed);
        journal.append(new BlockRemoved(digest, removed).encode());
    }

    /**
     * Reads a block to where it is wanted, and verifies it there. Without the lock.
     *
     * @param target as long as the block, aligned for O_DIRECT
     * @param tail of {@link Extent#MAX_TAIL_BYTES}
     * @return CRC32C of the block's bytes; empty if it did not verify
     */
    OptionalInt read(SsdBlock block, MemorySegment target, ByteBuffer tail, byte[] scratch)
            throws IOException
    {
        long position;
        lock.lock();
        try {
            if (!isStillThere(block)) {
                return OptionalInt.empty();
            }
            position = contents.position(block.slab(), block.extent());
        }
        finally {
            lock.unlock();
        }
        int wholeUnitsBytes = Extent.wholeUnitsBytes(block.length());
        tail.clear().limit(Extent.tailBytes(block.length()));
        List<ByteBuffer> targets = wholeUnitsBytes == 0 ? List.of(tail) : List.of(target.asSlice(0, wholeUnitsBytes).asByteBuffer(), tail);
        disk.read(block.slab(), position, targets);
        tail.flip();
        OptionalInt expected = Extent.verifyTail(tail, block.digest(), block.sequence(), block.file().etagDigest(), block.length(), storeId);
        if (expected.isEmpty()) {
            return expected;
        }
        target.asSlice(wholeUnitsBytes).copyFrom(MemorySegment.ofBuffer(tail.slice(0, block.length() - wholeUnitsBytes)));
        return MemoryChecksum.crc32c(target, scratch) == expected.getAsInt() ? expected : OptionalInt.empty();
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
        drops.remove(file);
    }

    /**
     * As {@link #removeDropped}, and overwrites where the blocks were before anybody else may have the place; what cannot be is {@link #unwiped}. Without the lock.
     *
     * @param zeros as long as the largest extent
     */
    void wipeDropped(StoredFile file, ByteBuffer zeros)
    {
        drops.wipe(file, zeros);
    }

    /**
     * Tries to overwrite what is {@link #unwiped}. Without the lock.
     */
    void wipeLeft()
    {
        drops.wipeLeft();
    }

    /**
     * As {@link #wipeLeft}, if the directory takes writes and it is time to try. Without the lock.
     */
    void wipeLeftIfDue()
    {
        drops.wipeLeftIfDue();
    }

    /**
     * That there are bytes here that were to be overwritten and could not be yet, and why.
     */
    Optional<String> unwiped()
    {
        return drops.problem()
                .map(reason -> "SSD directory %s still has flushed bytes, which are never served, because it cannot be written: %s".formatted(path, reason));
    }

    /**
     * Overwrites what was written for a block that is not wanted any more; to be followed by {@link #cancel}, or, if it fails, {@link #cancelUnwiped}. Without the lock.
     */
    void wipe(Reservation reservation, ByteBuffer zeros)
            throws IOException
    {
        drops.wipe(reservation.slab, reservation.extent, zeros);
    }

    /**
     * What the journal was told before is durable when this returns. Without the lock.
     *
     * @return false if it is not
     */
    boolean flush()
    {
        return disk.flush(false);
    }

    /**
     * As {@link #flush}, so that no damage to a single place of the journal makes it forget either. Without the lock.
     */
    boolean flushAndSeal()
    {
        return disk.flush(true);
    }

    /**
     * Without the lock.
     */
    long capacityBytes()
    {
        return capacityBytes;
    }

    /**
     * Bytes of blocks of class PINNED.
     */
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
     * For tests: counts blocks for their tables, one by one.
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
     * Closes the files, whatever they hold. Without the lock.
     */
    @Override
    public void close()
            throws IOException
    {
        opened.close();
    }
}
