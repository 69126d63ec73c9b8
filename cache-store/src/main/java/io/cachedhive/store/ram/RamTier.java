package io.cachedhive.store.ram;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.HotBlocks;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.ram.Frame.State;
import io.cachedhive.store.slab.SizeClasses;

import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * The RAM tier: blocks in shared memory. Guarded by the store's lock, except {@link #payload} and {@link #checksums},
 * which the thread that pins or fills the frame may call without it, and the methods that specify it.
 *
 * <p>The memory is divided into slabs, each cut into frames of one size class. Only allocated slabs exist here; {@link
 * #grow} adds the next ones. States of a frame:
 * <pre>
 *            allocate          publish          evict                     after 100 ms, when needed
 *     FREE -----------> FILLING ------> LIVE ----------> RESTING ------------------------------------> FREE
 *                          |             ^  |               |  |
 *                          | release     |  | drop, pinned  |  | drop
 *                          v             +--|---------------+  v
 *                        FREE      requested v            FREE or DETACHED, which is free when unpinned
 *                                       DETACHED
 * </pre>
 *
 * <p>The rest of 100 ms keeps a frame readable for clients that just received its address. Some frames of every class
 * rest in advance, so that allocations do not wait. This costs little, because a resting block still serves requests.
 *
 * <p>Invariants: a digest has at most one LIVE or RESTING frame, which is in {@code frames}; the shared index has LIVE
 * frames only; a frame is written only while FILLING; a pinned frame keeps its bytes; LIVE frames of a table are within
 * its quota, or are evicted soon.
 */
public final class RamTier
{
    /**
     * Time for which an evicted frame stays readable.
     */
    public static final long REST_NANOS = RamFrames.REST_NANOS;

    // frames that rest in advance, in addition to the current rate of fills
    // a search through all entries takes longer than so many lookups
    private static final int MAX_BLOCKS_FOUND_BY_NUMBER = 1 << 20;
    private static final int RESERVE_SHARE = 64;
    private static final int MAX_RESERVE = 64;
    // fraction of the frames that blocks of class high cannot occupy above an SSD tier
    private static final int SHARE_OF_OTHERS = 4;
    // a class with frames of its own only uses slightly larger frames
    private static final int NEAR_CLASSES = 2;

    private final MemoryFile file;
    private final SharedMemoryWriter writer;
    private final MemoryLayout layout;
    private final FileTable files;
    private final StoreClock clock;
    private final boolean aboveSsd;
    private final SizeClasses sizeClasses;
    private final RamFrames frames;
    private final RamSlabs slabs;
    private final TableLimit tableLimit;
    private final GuestLimit guestLimit;

    private long lastGeneration;
    private long expirations;
    private long damagedBlocks;

    /**
     * @param guestMaxShare limit on guests, as a fraction of the frames
     * @param aboveSsd whether an SSD tier keeps pinned blocks
     */
    public RamTier(MemoryFile file, FileTable files, StoreClock clock, double guestMaxShare, boolean aboveSsd)
    {
        this.file = requireNonNull(file, "file is null");
        this.writer = file.writer();
        this.layout = writer.layout();
        this.files = requireNonNull(files, "files is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.aboveSsd = aboveSsd;
        this.frames = new RamFrames(writer, files, aboveSsd);
        this.sizeClasses = frames.sizeClasses();
        this.slabs = new RamSlabs(frames, layout);
        this.tableLimit = new TableLimit(frames);
        this.guestLimit = new GuestLimit(frames, slabs, guestMaxShare);
        grow();
    }

    /**
     * Adds the slabs that the file has allocated meanwhile.
     */
    public void grow()
    {
        slabs.grow(file.allocatedSlabs());
    }

    /**
     * Allocates a frame for a fill. The caller then calls {@link #publish} or {@link #release}.
     *
     * @param terms of the new block
     * @param storedFile file of the new block
     * @return empty if no frame is available
     */
    public Optional<Frame> allocate(int length, BlockTerms terms, StoredFile storedFile)
    {
        int wanted = sizeClasses.classFor(Math.max(1, Math.ceilDiv(length, MemoryLayout.UNIT_BYTES)));
        long now = clock.nanoTime();
        slabs.finishDraining(now);
        tableLimit.freeLeft(now);
        if (terms.blockClass() != BlockClass.GUEST) {
            // early, so that a table at its quota supplies the resting frames itself
            tableLimit.makeRoom(files.table(storedFile.ordinal()), terms, length, now);
        }
        RamClass ramClass = frames.classes().get(wanted);
        count(ramClass, now);
        slabs.request(ramClass);
        Frame frame = frames.pollReady(ramClass, now);
        keepReserve(ramClass, terms.blockClass(), now);
        if (slabs.freeCount() == 0) {
            slabs.moveSlab(ramClass, now);
        }
        // a larger frame is better than none
        int limit = ramClass.frameCount == 0 ? frames.classes().size() : Math.min(frames.classes().size(), wanted + 1 + NEAR_CLASSES);
        for (int i = wanted + 1; frame == null && i < limit; i++) {
            frame = frames.pollReady(frames.classes().get(i), now);
            keepReserve(frames.classes().get(i), terms.blockClass(), now);
        }
        if (frame == null) {
            return Optional.empty();
        }
        if (terms.blockClass() == BlockClass.GUEST && !guestLimit.makeRoom(frame, now)) {
            frames.free(frame);
            return Optional.empty();
        }
        lastGeneration += 2;
        frame.state = State.FILLING;
        frame.terms = terms;
        frames.addGuestBytes(frame, 1);
        frame.generation = lastGeneration;
        writer.beginFrame(frame.number(), frame.generation);
        return Optional.of(frame);
    }

    /**
     * Frees frames whose blocks were evicted by a table quota, after their rest. Other resting blocks serve requests
     * until their frames are needed.
     *
     * @return whether there may be more
     */
    public boolean freeLeft()
    {
        return tableLimit.freeLeft(clock.nanoTime());
    }

    /**
     * Evicts blocks of a table that exceeds its quota.
     *
     * @return whether more blocks have to be evicted
     */
    public boolean shrink(StoredTable table, int maxCount)
    {
        return tableLimit.shrink(table, maxCount, clock.nanoTime());
    }

    /**
     * Adds entries that are older than their table's quota to the table's queues.
     *
     * @return whether there are entries after the range
     */
    public boolean order(int firstEntry, int endEntry)
    {
        return tableLimit.order(firstEntry, endEntry);
    }

    private void count(RamClass ramClass, long now)
    {
        if (now - ramClass.windowStartNanos >= REST_NANOS) {
            ramClass.lastAllocations = now - ramClass.windowStartNanos < 2 * REST_NANOS ? ramClass.allocations : 0;
            ramClass.allocations = 0;
            ramClass.windowStartNanos = now;
        }
        ramClass.allocations++;
    }

    /**
     * Evicts in advance the frames that will probably be allocated within the time of rest.
     */
    private void keepReserve(RamClass ramClass, BlockClass newcomer, long now)
    {
        // free slabs count too: some frames have rested by the time the last free slab is used up
        long cuttable = (long) slabs.freeCount() * sizeClasses.piecesPerSlab(ramClass.index);
        int rate = Math.max(ramClass.allocations, ramClass.lastAllocations);
        int target = Math.clamp(ramClass.frameCount / RESERVE_SHARE, 2, MAX_RESERVE) + rate + rate / 4;
        target = Math.min(target, Math.max(1, ramClass.frameCount / 4));
        while (ramClass.frameCount > 0 && cuttable + ramClass.free.size() + ramClass.resting.size() < target) {
            int entry = ramClass.policy.pollVictim(newcomer);
            if (entry == EvictionPolicy.NO_ENTRY && mayDisplaceHigh(ramClass, newcomer)) {
                entry = ramClass.policy.pollVictim(BlockClass.HIGH);
            }
            if (entry == EvictionPolicy.NO_ENTRY) {
                break;
            }
            Frame victim = frames.of(entry);
            frames.rest(victim, now);
            ramClass.resting.addLast(victim);
        }
    }

    /**
     * Returns whether blocks of class high occupy too many frames. Above an SSD tier, blocks of other classes need some
     * frames too, because reads from SSD go through them.
     */
    private boolean mayDisplaceHigh(RamClass ramClass, BlockClass newcomer)
    {
        return aboveSsd && newcomer != BlockClass.GUEST && ramClass.policy.count(BlockClass.HIGH) > ramClass.frameCount - Math.max(1, ramClass.frameCount / SHARE_OF_OTHERS);
    }

    /**
     * Publishes a filled frame and pins it. The block must not be in RAM already.
     */
    public void publish(Frame frame, StoredFile storedFile, Digest128 digest, PieceChecksums checksums)
    {
        verify(frame.state == State.FILLING, "frame %s is not being filled", frame.number());
        frames.add(frame, storedFile, digest, checksums);
        if (frame.slab().draining) {
            frames.addGuestBytes(frame, -1);
            frame.state = State.RESTING;
            frame.restsSinceNanos = clock.nanoTime();
        }
        else if (tableLimit.makeRoom(frame.table, frame.terms, checksums.length(), clock.nanoTime())) {
            frames.classOf(frame).policy.add(frame.entry, frames.policyClass(frame.terms));
            frames.tableQueues().request(frame.table, digest.high(), digest.low(), frames.policyClass(frame.terms));
            frames.tableQueues().enter(frame.table, frame.entry, frames.policyClass(frame.terms));
            frames.enliven(frame);
        }
        else {
            // serves the readers that wait for the block; a later request may bring it back
            frames.classOf(frame).policy.request(digest.high(), digest.low(), frames.policyClass(frame.terms));
            frames.addGuestBytes(frame, -1);
            frame.state = State.RESTING;
            long now = clock.nanoTime();
            frame.restsSinceNanos = now;
            tableLimit.restToLeave(frame, now);
        }
    }

    /**
     * Sets the prefetched mark that readers see, on a frame being filled or with a block.
     */
    public void setFetchedAhead(Frame frame, boolean ahead)
    {
        verify(frame.state == State.FILLING || frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        writer.setFetchedAhead(frame.number(), ahead);
    }

    /**
     * Frees a frame that was not published.
     */
    public void release(Frame frame)
    {
        verify(frame.state == State.FILLING, "frame %s is not being filled", frame.number());
        writer.withdrawFrame(frame.number());
        frames.addGuestBytes(frame, -1);
        frames.free(frame);
    }

    /**
     * Returns the frame of the block, possibly a resting one.
     */
    public Optional<Frame> find(Digest128 digest)
    {
        Frame frame = frames.find(digest);
        if (frame != null && frame.file.isDropped()) {
            // removeDropped has not come to it yet
            drop(frame);
            return Optional.empty();
        }
        if (frame != null && frame.terms.isExpired(clock.currentTimeMillis())) {
            expire(frame);
            return Optional.empty();
        }
        return Optional.ofNullable(frame);
    }

    /**
     * Collects the hottest blocks among a range of entries, except guests.
     *
     * @return whether there are entries after the range
     */
    public boolean collect(int firstEntry, int endEntry, HotBlocks hottest)
    {
        long now = clock.currentTimeMillis();
        for (int entry = firstEntry; entry < Math.min(endEntry, frames.entryLimit()); entry++) {
            Frame frame = frames.of(entry);
            if (frame != null && frame.holdsBlock() && !frame.file.isDropped() && frame.terms.blockClass() != BlockClass.GUEST && !frame.terms.isExpired(now)) {
                boolean shielded = frame.state == State.LIVE && frames.classOf(frame).policy.isShielded(entry);
                hottest.add(frame.file, frame.digest, shielded, frames.sketch().frequency(frame.digest.high(), frame.digest.low()));
            }
        }
        return endEntry < frames.entryLimit();
    }

    /**
     * Pins the frame and records a hit.
     */
    public void pin(Frame frame)
    {
        use(frame);
        hold(frame);
    }

    /**
     * Pins the frame without recording a hit.
     */
    public void hold(Frame frame)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        if (frame.pins == 0 && frame.state == State.RESTING && !frame.slab().draining) {
            frames.classOf(frame).resting.remove(frame);
            frames.classOf(frame).held.addLast(frame);
        }
        frame.pins++;
    }

    public void unpin(Frame frame)
    {
        verify(frame.pins > 0, "frame %s is not pinned", frame.number());
        frame.pins--;
        if (frame.pins > 0) {
            return;
        }
        switch (frame.state) {
            case DETACHED -> frames.free(frame);
            case RESTING -> {
                // a client may have received its address just now
                frame.restsSinceNanos = clock.nanoTime();
                if (!frame.slab().draining) {
                    frames.classOf(frame).held.remove(frame);
                    frames.classOf(frame).resting.addLast(frame);
                }
            }
            case LIVE -> {}
            case FREE, FILLING -> throw new IllegalStateException("frame %s was pinned, but is %s".formatted(frame.number(), frame.state));
        }
    }

    public void setClass(Frame frame, BlockClass blockClass)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        verify(frame.terms.blockClass() != BlockClass.GUEST && blockClass != BlockClass.GUEST, "a guest has no other class, and nothing else becomes one");
        frames.setClass(frame, blockClass);
    }

    /**
     * Records a hit.
     */
    public void use(Frame frame)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        if (!frame.slab().draining) {
            slabs.countUse(frame);
        }
        if (frame.state == State.LIVE) {
            frames.classOf(frame).policy.use(frame.entry);
            frames.tableQueues().use(frame.table, frame.entry);
        }
        else if (!frame.slab().draining && mayLiveAgain(frame, clock.nanoTime())) {
            frame.list.remove(frame);
            frames.classOf(frame).policy.restore(frame.entry, frames.policyClass(frame.terms));
            frames.tableQueues().restore(frame.table, frame.entry, frames.policyClass(frame.terms));
            frames.addGuestBytes(frame, 1);
            frames.enliven(frame);
        }
    }

    private boolean mayLiveAgain(Frame frame, long now)
    {
        return (frame.terms.blockClass() != BlockClass.GUEST || guestLimit.makeRoom(frame, now)) && tableLimit.makeRoom(frame.table, frame.terms, frame.length, now);
    }

    /**
     * Removes blocks of a dropped file in one of several steps. Frames being filled for it are released by their
     * owners. Until the last step, {@link #find} hides the file's blocks.
     *
     * @param first start of the step: a number of a block, or of an entry if the file has many more blocks than the
     *         tier may have
     * @return whether there are further steps
     */
    public boolean removeDropped(StoredFile dropped, int first, int end)
    {
        if (dropped.ramBlocks() == 0) {
            return false;
        }
        FileVersionId id = dropped.id();
        int blockCount = dropped.version().blockCount(layout.blockSizeBytes());
        boolean byBlock = blockCount <= MAX_BLOCKS_FOUND_BY_NUMBER;
        int limit = byBlock ? blockCount : frames.entryLimit();
        for (int i = first; i < Math.min(end, limit) && dropped.ramBlocks() > 0; i++) {
            Frame frame = byBlock ? frames.find(new BlockKey(id, i).digest()) : frames.of(i);
            if (frame != null && frame.holdsBlock() && dropped.equals(frame.file)) {
                drop(frame);
            }
        }
        return end < limit;
    }

    /**
     * Removes a block at once; readers reject it from now on.
     */
    public void drop(Frame frame)
    {
        if (frame.state == State.LIVE) {
            writer.removeEntry(frame.digest.high(), frame.digest.low(), frame.number());
            frames.classOf(frame).policy.remove(frame.entry);
            frames.addGuestBytes(frame, -1);
            frames.leaveTable(frame);
        }
        else if (!frame.slab().draining) {
            frame.list.remove(frame);
        }
        writer.withdrawFrame(frame.number());
        frames.remove(frame);
        if (frame.pins > 0) {
            frame.state = State.DETACHED;
        }
        else {
            frames.free(frame);
        }
    }

    /**
     * Removes a block that does not match its checksums.
     */
    public void dropDamaged(Frame frame)
    {
        drop(frame);
        damagedBlocks++;
    }

    /**
     * Removes expired blocks.
     *
     * @return whether there are more
     */
    public boolean removeExpired(int maxCount)
    {
        long now = clock.currentTimeMillis();
        int entry = frames.peekExpired(now);
        for (int i = 0; i < maxCount && entry != EvictionPolicy.NO_ENTRY; i++) {
            expire(frames.of(entry));
            entry = frames.peekExpired(now);
        }
        return entry != EvictionPolicy.NO_ENTRY;
    }

    private void expire(Frame frame)
    {
        drop(frame);
        expirations++;
    }

    /**
     * Returns the bytes of a frame that the caller fills or has pinned.
     */
    public MemorySegment payload(Frame frame, int length)
    {
        return writer.payload(frame.number(), length);
    }

    public long frameOffset(Frame frame)
    {
        return layout.frameOffset(frame.number());
    }

    /**
     * Computes the checksums of a block in a frame that the caller fills.
     */
    public PieceChecksums checksums(Frame frame, int length)
    {
        return MemoryChecksums.compute(payload(frame, length));
    }

    /**
     * Returns the checksums of a range of the block in a frame that the caller has pinned. Verifies the pieces of which
     * the range has only a part.
     *
     * @param blockLength the length of the block
     * @return empty if a piece does not match its checksum
     */
    public Optional<PieceChecksums> checksums(Frame frame, int blockLength, int offset, int length)
    {
        return MemoryChecksums.ofPart(payload(frame, blockLength), piece -> writer.pieceChecksum(frame.number(), piece), offset, length);
    }

    /**
     * Returns the total size of all allocated frames. Needs no lock.
     */
    public long frameBytes()
    {
        return slabs.bytes();
    }

    /**
     * Returns the size of the allocated part of the file.
     */
    public long allocatedBytes()
    {
        return file.allocatedBytes();
    }

    /**
     * Returns the configured size of the file.
     */
    public long capacityBytes()
    {
        return layout.fileSizeBytes();
    }

    public long usedBytes()
    {
        return frames.usedBytes();
    }

    public long pinnedBytes()
    {
        return frames.pinnedBytes();
    }

    /**
     * Returns the limit on {@link #guestBytes}. Needs no lock.
     */
    public long maxGuestBytes()
    {
        return guestLimit.maxBytes();
    }

    /**
     * Returns the total size of frames with guests, except resting ones.
     */
    public long guestBytes()
    {
        return frames.guestBytes();
    }

    public long blocks()
    {
        return frames.byDigest().size();
    }

    public long evictions()
    {
        return frames.evictions();
    }

    /**
     * Returns the number of expired blocks removed.
     */
    public long damagedBlocks()
    {
        return damagedBlocks;
    }

    public long expirations()
    {
        return expirations;
    }

    /**
     * Sets the lower bound of generations, so that they differ from those of the last run's file.
     */
    public void setFirstGeneration(long generation)
    {
        verify(frames.byDigest().isEmpty() && generation >= 0 && (generation & 1) == 0, "first generation cannot be %s", generation);
        lastGeneration = generation;
    }

    public MemoryFile memoryFile()
    {
        return file;
    }

    /**
     * Returns the number of frames that were looked up or visited. Tests use it to bound the work under the lock.
     */
    public long visits()
    {
        return frames.visits();
    }

    /**
     * For tests.
     */
    public void checkInvariants()
    {
        verify(guestBytes() >= 0 && guestBytes() <= maxGuestBytes(), "guests have %s bytes of at most %s", guestBytes(), maxGuestBytes());
        long guests = 0;
        int listed = 0;
        long bytes = 0;
        long pinned = 0;
        for (RamClass ramClass : frames.classes()) {
            int frameTotal = 0;
            int live = 0;
            for (RamSlab slab : ramClass.slabs) {
                verify(!slab.draining && slab.sizeClass == ramClass.index, "slab %s is in the wrong class", slab.number);
                frameTotal += slab.frames.length;
                for (Frame frame : slab.frames) {
                    if ((frame.state == State.LIVE || frame.state == State.FILLING) && frame.terms.blockClass() == BlockClass.GUEST) {
                        guests += frames.frameBytes(frame);
                    }
                    boolean inList = frame.list != null;
                    boolean belongsInList = frame.state == State.FREE || frame.state == State.RESTING;
                    verify(inList == belongsInList, "frame %s is %s and in a list: %s", frame.number(), frame.state, inList);
                    boolean inPolicy = ramClass.policy.contains(frame.entry);
                    verify(inPolicy == (frame.state == State.LIVE), "frame %s is %s and in the policy: %s", frame.number(), frame.state, inPolicy);
                    live += inPolicy ? 1 : 0;
                    verify(frame.state != State.FREE || (frame.pins == 0 && frame.list == ramClass.free), "free frame %s", frame.number());
                    verify(frame.state != State.RESTING || frame.list == (frame.pins > 0 ? ramClass.held : ramClass.resting), "resting frame %s", frame.number());
                    listed++;
                }
            }
            verify(live == ramClass.policy.size(), "class %s has %s live frames, and %s in its policy", ramClass.index, live, ramClass.policy.size());
            verify(frameTotal == ramClass.frameCount, "class %s has %s frames, not %s", ramClass.index, frameTotal, ramClass.frameCount);
        }
        verify(guests == guestBytes() || slabs.isDraining(), "guests have %s bytes, and %s are counted", guests, guestBytes());
        tableLimit.checkInvariants();
        verify(listed == slabs.frameCount(), "there are %s frames, not %s", listed, slabs.frameCount());
        Map<StoredTable, Long> tables = new IdentityHashMap<>();
        for (Map.Entry<Digest128, Frame> entry : frames.byDigest().entrySet()) {
            Frame frame = entry.getValue();
            tables.merge(frame.table, frame.state == State.LIVE ? (long) frame.length : 0L, Long::sum);
            verify(frame.state == State.LIVE || !frames.tableQueues().contains(frame.table, frame.entry), "frame %s is %s and in its table's order", frame.number(), frame.state);
            verify(frame.holdsBlock() && frame.digest.equals(entry.getKey()) && !frame.file.isDropped(), "frame %s of block %s", frame.number(), entry.getKey());
            bytes += frame.length;
            pinned += frame.terms.blockClass() == BlockClass.PINNED ? frame.length : 0;
        }
        tables.forEach((table, tableBytes) -> verify(table.ramBytes() == tableBytes, "a table has %s bytes, and %s are counted", tableBytes, table.ramBytes()));
        verify(pinned == pinnedBytes(), "pinned blocks have %s bytes, and %s are counted", pinned, pinnedBytes());
        verify(bytes == usedBytes(), "blocks have %s bytes, and %s are counted", bytes, usedBytes());
    }
}
