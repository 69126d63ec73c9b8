package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.store.BlockClass;
import io.cachedhive.store.BlockTerms;
import io.cachedhive.store.HotBlocks;
import io.cachedhive.store.StoreClock;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.ExpiryQueue;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;
import io.cachedhive.store.quota.TableQueues;
import io.cachedhive.store.ram.Frame.State;
import io.cachedhive.store.slab.SizeClassUses;
import io.cachedhive.store.slab.SizeClasses;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * The blocks in shared memory. Guarded by the store's lock, but for {@link #payload} and {@link #checksum}, which are the business of
 * whoever holds the frame (has it pinned, or fills it).
 *
 * <p>The memory is divided into slabs, each cut into frames of one size class. A frame goes
 * <pre>
 *            allocate          publish          evict                     after 100 ms, when needed
 *     FREE -----------> FILLING ------> LIVE ----------> RESTING ------------------------------------> FREE
 *                          |             ^  |               |  |
 *                          | release     |  | drop, pinned  |  | drop
 *                          v             +--|---------------+  v
 *                        FREE      asked for v            FREE or DETACHED, which is free when unpinned
 *                                       DETACHED
 * </pre>
 * so that a frame that a client was told of stays readable for 100 ms, and nobody has to wait for a frame that was evicted in time: some
 * frames of every class rest in advance. They cost little, since a resting block still answers when it is asked for.
 *
 * <p>Invariants: a digest has at most one frame that is LIVE or RESTING, and that one is in {@code frames}; the shared index names
 * LIVE frames only; a frame is written only while FILLING; a frame with pins keeps its bytes; LIVE frames of a table with a quota are within it, or leave soon.
 */
public final class RamTier
{
    /**
     * How long an evicted frame stays readable.
     */
    public static final long REST_NANOS = 100_000_000;

    // frames that rest in advance, besides those that the present rate of fills needs
    private static final int RESERVE_SHARE = 64;
    private static final int MAX_RESERVE = 64;
    // frames that blocks of class high do not take for good above an SSD
    private static final int SHARE_OF_OTHERS = 4;
    private static final int DRAINING_SHARE = 32;
    private static final int MAX_FREED_AT_ONCE = 64;
    private static final int MAX_SLABS_COMPARED = 64;
    private static final long MUST_STAY = 1L << 40;
    // a class that has frames of its own takes larger ones only if they are not much larger
    private static final int NEAR_CLASSES = 2;

    private final MemoryFile file;
    private final SharedMemoryWriter writer;
    private final MemoryLayout layout;
    private final FileTable files;
    private final StoreClock clock;
    private final long maxGuestBytes;
    private final boolean aboveSsd;
    private final SizeClasses sizeClasses;
    private final List<RamClass> classes = new ArrayList<>();
    private final ArrayDeque<RamSlab> freeSlabs = new ArrayDeque<>();
    private final Map<Digest128, Frame> frames = new HashMap<>();
    // of the policies, which know frames by their entries
    private final FrequencySketch sketch = new FrequencySketch();
    private final EntryLinks links = new EntryLinks();
    private final List<Frame> framesByEntry = new ArrayList<>();
    private final ArrayDeque<Integer> freeEntries = new ArrayDeque<>();
    private final TableQueues tableQueues;
    // frames that rest since their table has no room for them, and hold nothing when they have rested; each at most once, also if it was asked for meanwhile
    private final ArrayDeque<LeavingFrame> leaving = new ArrayDeque<>();
    // of all frames that hold blocks
    private final ExpiryQueue expiries = new ExpiryQueue();
    private final List<RamSlab> draining = new ArrayList<>();
    private final SizeClassUses uses;

    private long lastGeneration;
    private long usedBytes;
    private long pinnedBytes;
    // of frames of guests that live or are being filled, whole
    private long guestBytes;
    private long blocks;
    private long evictions;
    private long expirations;

    private record LeavingFrame(Frame frame, long sinceNanos) {}

    private static final class RamClass
    {
        final int index;
        final EvictionPolicy policy;
        final List<RamSlab> slabs = new ArrayList<>();
        final FrameList free = new FrameList();
        // the one that rests longest first
        final FrameList resting = new FrameList();
        // likewise RESTING, and pinned: nobody can have them, however long they rest
        final FrameList held = new FrameList();
        int frameCount;
        long windowStartNanos;
        int allocations;
        int lastAllocations;

        RamClass(int index, EvictionPolicy policy)
        {
            this.index = index;
            this.policy = policy;
        }
    }

    /**
     * @param guestMaxShare of the frames that guests may take
     * @param aboveSsd whether there is an SSD tier that keeps pinned blocks
     */
    public RamTier(MemoryFile file, FileTable files, StoreClock clock, double guestMaxShare, boolean aboveSsd)
    {
        this.file = requireNonNull(file, "file is null");
        this.writer = file.writer();
        this.layout = writer.layout();
        this.files = requireNonNull(files, "files is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.maxGuestBytes = (long) (guestMaxShare * layout.slabCount() * layout.slabBytes());
        this.aboveSsd = aboveSsd;
        this.sizeClasses = SizeClasses.create(layout.unitsPerSlab(), layout.blockSizeBytes() / MemoryLayout.UNIT_BYTES);
        this.uses = new SizeClassUses(sizeClasses.count());
        PolicyEntries entries = new PolicyEntries()
        {
            @Override
            public long digestHigh(int entry)
            {
                return framesByEntry.get(entry).digest.high();
            }

            @Override
            public long digestLow(int entry)
            {
                return framesByEntry.get(entry).digest.low();
            }

            @Override
            public boolean isPinned(int entry)
            {
                return framesByEntry.get(entry).pins > 0;
            }
        };
        this.tableQueues = new TableQueues(entries, sketch, false, layout.blockSizeBytes(), entry -> framesByEntry.get(entry).length);
        for (int i = 0; i < sizeClasses.count(); i++) {
            classes.add(new RamClass(i, new EvictionPolicy(links, entries, sketch)));
        }
        for (int i = 0; i < layout.slabCount(); i++) {
            freeSlabs.add(new RamSlab(i));
        }
    }

    /**
     * A frame to be filled; published with {@link #publish} or given back with {@link #release}.
     *
     * @param terms of the block that comes into it
     * @param storedFile of that block
     * @return empty if none can be had now
     */
    public Optional<Frame> allocate(int length, BlockTerms terms, StoredFile storedFile)
    {
        int wanted = sizeClasses.classFor(Math.max(1, Math.ceilDiv(length, MemoryLayout.UNIT_BYTES)));
        long now = clock.nanoTime();
        finishDraining(now);
        freeLeft(now);
        if (terms.blockClass() != BlockClass.GUEST) {
            // now, so that its own blocks rest in advance for a table at its quota, and not those of others
            makeRoomInTable(files.table(storedFile.ordinal()), terms, length, now);
        }
        RamClass ramClass = classes.get(wanted);
        count(ramClass, now);
        uses.request();
        if (ramClass.free.isEmpty() && !freeSlabs.isEmpty()) {
            cut(freeSlabs.remove(), ramClass);
        }
        Frame frame = pollReady(ramClass, now);
        keepReserve(ramClass, terms.blockClass(), now);
        if (freeSlabs.isEmpty()) {
            moveSlab(ramClass, now);
        }
        // better a frame that is too large than none
        int limit = ramClass.frameCount == 0 ? classes.size() : Math.min(classes.size(), wanted + 1 + NEAR_CLASSES);
        for (int i = wanted + 1; frame == null && i < limit; i++) {
            frame = pollReady(classes.get(i), now);
            keepReserve(classes.get(i), terms.blockClass(), now);
        }
        if (frame == null) {
            return Optional.empty();
        }
        if (terms.blockClass() == BlockClass.GUEST && !makeRoomForGuest(frame, now)) {
            free(frame);
            return Optional.empty();
        }
        lastGeneration += 2;
        frame.state = State.FILLING;
        frame.terms = terms;
        addGuestBytes(frame, 1);
        frame.generation = lastGeneration;
        writer.beginFrame(frame.number(), frame.generation);
        return Optional.of(frame);
    }

    /**
     * Guests leave for guests: first those with frames of that size, then others.
     */
    private boolean makeRoomForGuest(Frame newcomer, long now)
    {
        long bytes = frameBytes(newcomer);
        if (bytes > maxGuestBytes) {
            return false;
        }
        RamClass own = classOf(newcomer);
        while (guestBytes + bytes > maxGuestBytes) {
            if (!evictGuest(own, now) && classes.stream().noneMatch(ramClass -> evictGuest(ramClass, now))) {
                return false;
            }
        }
        return true;
    }

    private boolean evictGuest(RamClass ramClass, long now)
    {
        int entry = ramClass.policy.pollGuest();
        if (entry == EvictionPolicy.NO_ENTRY) {
            return false;
        }
        Frame victim = framesByEntry.get(entry);
        rest(victim, now);
        ramClass.resting.addLast(victim);
        return true;
    }

    /**
     * Blocks of a table leave for one of the same table, where it would have more than it may; few at once: what else a table has beyond a quota that became
     * smaller leaves by {@link #shrink}.
     *
     * @return whether there is room for it now
     */
    private boolean makeRoomInTable(StoredTable table, BlockTerms terms, int length, long now)
    {
        if (table.hasRamRoom(length)) {
            return true;
        }
        if (length > table.limitBytes() || table.ramExcess(length) > tableQueues.bytes(table)) {
            return false;
        }
        long freed = 0;
        int beyond = 0;
        while (!table.hasRamRoom(length)) {
            if (freed >= length) {
                beyond++;
            }
            if (beyond > TableQueues.MAX_EXCESS_AT_ONCE) {
                return false;
            }
            int entry = tableQueues.pollVictim(table, policyClass(terms));
            if (entry == TableQueues.NO_ENTRY) {
                return false;
            }
            freed += framesByEntry.get(entry).length;
            leave(framesByEntry.get(entry), now);
        }
        return true;
    }

    /**
     * Evicts for its table's quota, and not for want of space.
     */
    private void leave(Frame frame, long now)
    {
        classOf(frame).policy.remove(frame.entry);
        rest(frame, now);
        restToLeave(frame, now);
    }

    private void restToLeave(Frame frame, long now)
    {
        (frame.pins > 0 ? classOf(frame).held : classOf(frame).resting).addLast(frame);
        frame.leaves = true;
        if (!frame.inLeaving) {
            addLeaving(frame, now);
        }
    }

    private void addLeaving(Frame frame, long now)
    {
        frame.inLeaving = true;
        leaving.add(new LeavingFrame(frame, now));
    }

    /**
     * Frees frames whose blocks left for their table's quota a while ago. Others that rest go on answering until their frames are needed.
     *
     * @return whether there may be more
     */
    public boolean freeLeft()
    {
        return freeLeft(clock.nanoTime());
    }

    private boolean freeLeft(long now)
    {
        for (int i = 0; i < MAX_FREED_AT_ONCE; i++) {
            if (leaving.isEmpty() || now - leaving.peek().sinceNanos < REST_NANOS) {
                return false;
            }
            Frame frame = leaving.remove().frame;
            frame.inLeaving = false;
            if (frame.state != State.RESTING || !frame.leaves || frame.slab().draining) {
                continue;
            }
            if (frame.pins > 0 || now - frame.restsSinceNanos < REST_NANOS) {
                // its rest began anew, or does when it is unpinned: those behind it need not wait for that
                addLeaving(frame, now);
            }
            else {
                frame.list.remove(frame);
                forget(frame);
                free(frame);
            }
        }
        return !leaving.isEmpty();
    }

    /**
     * Evicts what a table has beyond its quota, which became smaller.
     *
     * @return whether there is more to be evicted
     */
    public boolean shrink(StoredTable table, int maxCount)
    {
        long now = clock.nanoTime();
        for (int i = 0; i < maxCount && !table.hasRamRoom(0); i++) {
            int entry = tableQueues.pollAny(table);
            if (entry == TableQueues.NO_ENTRY) {
                return false;
            }
            leave(framesByEntry.get(entry), now);
        }
        return !table.hasRamRoom(0);
    }

    /**
     * Puts blocks with such entries in order that came before their tables had quotas.
     *
     * @return whether there are entries beyond
     */
    public boolean order(int firstEntry, int endEntry)
    {
        for (int entry = firstEntry; entry < Math.min(endEntry, framesByEntry.size()); entry++) {
            Frame frame = framesByEntry.get(entry);
            if (frame != null && frame.state == State.LIVE) {
                tableQueues.addColdest(frame.table, entry, policyClass(frame.terms), classOf(frame).policy.part(entry));
            }
        }
        return endEntry < framesByEntry.size();
    }

    private long frameBytes(Frame frame)
    {
        return (long) sizeClasses.units(frame.slab().sizeClass) * MemoryLayout.UNIT_BYTES;
    }

    private void addGuestBytes(Frame frame, int sign)
    {
        if (frame.terms.blockClass() == BlockClass.GUEST) {
            guestBytes += sign * frameBytes(frame);
        }
    }

    private Frame pollReady(RamClass ramClass, long now)
    {
        Frame frame = ramClass.free.pollFirst();
        if (frame != null) {
            return frame;
        }
        frame = ramClass.resting.first();
        if (frame == null || now - frame.restsSinceNanos < REST_NANOS) {
            return null;
        }
        ramClass.resting.remove(frame);
        forget(frame);
        return frame;
    }

    /**
     * Ends the life of a resting frame's block.
     */
    private void forget(Frame frame)
    {
        verify(frame.state == State.RESTING && frame.pins == 0, "frame %s is %s with %s pins", frame.number(), frame.state, frame.pins);
        writer.withdrawFrame(frame.number());
        remove(frame);
        frame.state = State.FREE;
        evictions++;
    }

    private void remove(Frame frame)
    {
        verify(frames.remove(frame.digest, frame), "frame %s is not the one of its block", frame.number());
        expiries.remove(frame.entry, frame.terms.expirySeconds());
        files.addRamBlocks(frame.file, -1);
        usedBytes -= frame.length;
        blocks--;
        countPinned(frame, -1);
        frame.file = null;
        frame.table = null;
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
     * Evicts in advance what is likely to be needed within the time of rest.
     */
    private void keepReserve(RamClass ramClass, BlockClass newcomer, long now)
    {
        // slabs that are still free count as well: when the last of them goes, some frames have rested already
        long cuttable = (long) freeSlabs.size() * sizeClasses.piecesPerSlab(ramClass.index);
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
            Frame victim = framesByEntry.get(entry);
            rest(victim, now);
            ramClass.resting.addLast(victim);
        }
    }

    /**
     * Above an SSD frames are also the way by which blocks are read from there: those of class high leave some to the others.
     */
    private boolean mayDisplaceHigh(RamClass ramClass, BlockClass newcomer)
    {
        return aboveSsd && newcomer != BlockClass.GUEST && ramClass.policy.count(BlockClass.HIGH) > ramClass.frameCount - Math.max(1, ramClass.frameCount / SHARE_OF_OTHERS);
    }

    private void rest(Frame frame, long now)
    {
        writer.removeEntry(frame.digest.high(), frame.digest.low(), frame.number());
        addGuestBytes(frame, -1);
        leaveTable(frame);
        frame.state = State.RESTING;
        frame.restsSinceNanos = now;
        frame.leaves = false;
    }

    private void leaveTable(Frame frame)
    {
        frame.table.addRamBytes(-frame.length);
        tableQueues.remove(frame.table, frame.entry);
    }

    private void cut(RamSlab slab, RamClass ramClass)
    {
        verify(slab.sizeClass == -1, "slab %s is in use", slab.number);
        int units = sizeClasses.units(ramClass.index);
        int firstUnit = slab.number * layout.unitsPerSlab();
        slab.sizeClass = ramClass.index;
        slab.frames = new Frame[sizeClasses.piecesPerSlab(ramClass.index)];
        for (int i = 0; i < slab.frames.length; i++) {
            slab.frames[i] = new Frame(firstUnit + i * units, slab, nextEntry());
            framesByEntry.set(slab.frames[i].entry, slab.frames[i]);
            ramClass.free.addLast(slab.frames[i]);
        }
        ramClass.slabs.add(slab);
        uses.addPlaces(ramClass.index, slab.frames.length);
        ramClass.frameCount += slab.frames.length;
        ramClass.policy.setCapacity(ramClass.frameCount);
        sketch.setEntryCount(uses.placeCount());
    }

    private int nextEntry()
    {
        if (!freeEntries.isEmpty()) {
            return freeEntries.removeLast();
        }
        framesByEntry.add(null);
        return framesByEntry.size() - 1;
    }

    /**
     * Takes a slab from the class whose frames are used least, if they are used much less than those of this class.
     */
    private void moveSlab(RamClass taker, long now)
    {
        if (draining.size() >= Math.max(1, layout.slabCount() / DRAINING_SHARE)) {
            return;
        }
        int found = uses.giverFor(taker.index);
        if (found == SizeClassUses.NONE) {
            return;
        }
        RamClass giver = classes.get(found);
        RamSlab slab = coldest(giver);
        if (slab == null) {
            return;
        }
        giver.slabs.remove(slab);
        uses.removePlaces(giver.index, slab.frames.length);
        giver.frameCount -= slab.frames.length;
        giver.policy.setCapacity(giver.frameCount);
        slab.draining = true;
        slab.nextSizeClass = taker.index;
        draining.add(slab);
        for (Frame frame : slab.frames) {
            switch (frame.state) {
                case LIVE -> {
                    giver.policy.remove(frame.entry);
                    rest(frame, now);
                }
                case RESTING -> frame.list.remove(frame);
                case FREE -> giver.free.remove(frame);
                // they come to rest when they are published, released or unpinned
                case FILLING, DETACHED -> {}
            }
        }
    }

    private void countUse(Frame frame)
    {
        RamClass ramClass = classOf(frame);
        // a small block in a large frame is worth little
        uses.use(ramClass.index, (double) frame.length / ((long) sizeClasses.units(ramClass.index) * MemoryLayout.UNIT_BYTES));
    }

    /**
     * @return null if there is none that may be emptied
     */
    private RamSlab coldest(RamClass ramClass)
    {
        RamSlab coldest = null;
        long lowest = Long.MAX_VALUE;
        int step = Math.max(1, ramClass.slabs.size() / MAX_SLABS_COMPARED);
        for (int i = 0; i < ramClass.slabs.size(); i += step) {
            RamSlab slab = ramClass.slabs.get(i);
            long heat = 0;
            for (Frame frame : slab.frames) {
                heat += heat(ramClass, frame);
            }
            if (heat < lowest) {
                coldest = slab;
                lowest = heat;
            }
        }
        return lowest < MUST_STAY ? coldest : null;
    }

    private long heat(RamClass ramClass, Frame frame)
    {
        if ((frame.state == State.LIVE || frame.state == State.FILLING) && policyClass(frame.terms) == BlockClass.PINNED) {
            return MUST_STAY;
        }
        if (frame.pins > 0 || frame.state == State.FILLING) {
            // it would hold up the whole slab
            return 1000;
        }
        if (frame.state == State.LIVE) {
            return ramClass.policy.isShielded(frame.entry) || policyClass(frame.terms) == BlockClass.HIGH ? 4 : 1;
        }
        return 0;
    }

    private void finishDraining(long now)
    {
        draining.removeIf(slab -> finishDraining(slab, now));
    }

    private boolean finishDraining(RamSlab slab, long now)
    {
        for (Frame frame : slab.frames) {
            boolean done = frame.state == State.FREE || (frame.state == State.RESTING && frame.pins == 0 && now - frame.restsSinceNanos >= REST_NANOS);
            if (!done) {
                return false;
            }
        }
        for (Frame frame : slab.frames) {
            if (frame.state == State.RESTING) {
                forget(frame);
            }
            framesByEntry.set(frame.entry, null);
            freeEntries.add(frame.entry);
        }
        slab.draining = false;
        slab.sizeClass = -1;
        slab.frames = new Frame[0];
        cut(slab, classes.get(slab.nextSizeClass));
        return true;
    }

    /**
     * Shows a frame that was filled, and pins it. The block must not be in RAM already.
     */
    public void publish(Frame frame, StoredFile storedFile, Digest128 digest, int length, int checksum)
    {
        verify(frame.state == State.FILLING, "frame %s is not being filled", frame.number());
        verify(frames.putIfAbsent(digest, frame) == null, "block %s is in RAM already", digest);
        frame.digest = digest;
        frame.file = storedFile;
        frame.table = files.table(storedFile.ordinal());
        frame.length = length;
        frame.checksum = checksum;
        frame.pins = 1;
        expiries.add(frame.entry, frame.terms.expirySeconds());
        files.addRamBlocks(storedFile, 1);
        usedBytes += length;
        blocks++;
        countPinned(frame, 1);
        writer.publishFrame(frame.number(), frame.generation, digest.high(), digest.low(), storedFile.etagDigest(), length, checksum);
        if (frame.slab().draining) {
            addGuestBytes(frame, -1);
            frame.state = State.RESTING;
            frame.restsSinceNanos = clock.nanoTime();
        }
        else if (makeRoomInTable(frame.table, frame.terms, length, clock.nanoTime())) {
            classOf(frame).policy.add(frame.entry, policyClass(frame.terms));
            tableQueues.request(frame.table, digest.high(), digest.low(), policyClass(frame.terms));
            tableQueues.enter(frame.table, frame.entry, policyClass(frame.terms));
            enliven(frame);
        }
        else {
            // whoever waits for it is served, and it is asked for again or not
            classOf(frame).policy.request(digest.high(), digest.low(), policyClass(frame.terms));
            addGuestBytes(frame, -1);
            frame.state = State.RESTING;
            long now = clock.nanoTime();
            frame.restsSinceNanos = now;
            restToLeave(frame, now);
        }
    }

    /**
     * Tells readers whether the block was fetched for somebody who has not asked for it yet. Of a frame that is being filled, or holds a block.
     */
    public void setFetchedAhead(Frame frame, boolean ahead)
    {
        verify(frame.state == State.FILLING || frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        writer.setFetchedAhead(frame.number(), ahead);
    }

    private void enliven(Frame frame)
    {
        frame.state = State.LIVE;
        frame.table.addRamBytes(frame.length);
        writer.putEntry(frame.digest.high(), frame.digest.low(), frame.number(), frame.generation);
    }

    private RamClass classOf(Frame frame)
    {
        return classes.get(frame.slab().sizeClass);
    }

    /**
     * Gives back a frame that was not published.
     */
    public void release(Frame frame)
    {
        verify(frame.state == State.FILLING, "frame %s is not being filled", frame.number());
        writer.withdrawFrame(frame.number());
        addGuestBytes(frame, -1);
        free(frame);
    }

    private void free(Frame frame)
    {
        frame.state = State.FREE;
        if (!frame.slab().draining) {
            classOf(frame).free.addLast(frame);
        }
    }

    /**
     * The frame of the block, which may be pinned.
     */
    public Optional<Frame> find(Digest128 digest)
    {
        Frame frame = frames.get(digest);
        if (frame != null && frame.terms.isExpired(clock.currentTimeMillis())) {
            expire(frame);
            return Optional.empty();
        }
        return Optional.ofNullable(frame);
    }

    /**
     * Adds the blocks with such entries, but for those of others.
     *
     * @return whether there are entries beyond
     */
    public boolean collect(int firstEntry, int endEntry, HotBlocks hottest)
    {
        long now = clock.currentTimeMillis();
        for (int entry = firstEntry; entry < Math.min(endEntry, framesByEntry.size()); entry++) {
            Frame frame = framesByEntry.get(entry);
            if (frame != null && frame.holdsBlock() && frame.terms.blockClass() != BlockClass.GUEST && !frame.terms.isExpired(now)) {
                boolean shielded = frame.state == State.LIVE && classOf(frame).policy.isShielded(entry);
                hottest.add(frame.file, frame.digest, shielded, sketch.frequency(frame.digest.high(), frame.digest.low()));
            }
        }
        return endEntry < framesByEntry.size();
    }

    /**
     * Keeps the block in the frame, and counts as a use of it.
     */
    public void pin(Frame frame)
    {
        use(frame);
        hold(frame);
    }

    /**
     * Keeps the block in the frame, without being a use of it.
     */
    public void hold(Frame frame)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        if (frame.pins == 0 && frame.state == State.RESTING && !frame.slab().draining) {
            classOf(frame).resting.remove(frame);
            classOf(frame).held.addLast(frame);
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
            case DETACHED -> free(frame);
            case RESTING -> {
                // whoever had it pinned may have told a client of it just now
                frame.restsSinceNanos = clock.nanoTime();
                if (!frame.slab().draining) {
                    classOf(frame).held.remove(frame);
                    classOf(frame).resting.addLast(frame);
                }
            }
            case LIVE -> {}
            case FREE, FILLING -> throw new IllegalStateException("frame %s was pinned, but is %s".formatted(frame.number(), frame.state));
        }
    }

    /**
     * The class that the block has from now on.
     */
    public void setClass(Frame frame, BlockClass blockClass)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        verify(frame.terms.blockClass() != BlockClass.GUEST && blockClass != BlockClass.GUEST, "a guest has no other class, and nothing else becomes one");
        countPinned(frame, -1);
        frame.terms = new BlockTerms(blockClass, frame.terms.expirySeconds());
        countPinned(frame, 1);
        if (frame.state == State.LIVE) {
            classOf(frame).policy.setClass(frame.entry, policyClass(frame.terms));
            tableQueues.setClass(frame.table, frame.entry, policyClass(frame.terms));
        }
    }

    private void countPinned(Frame frame, int change)
    {
        if (frame.terms.blockClass() == BlockClass.PINNED) {
            pinnedBytes += (long) change * frame.length;
        }
    }

    /**
     * Above an SSD a pinned block may leave: it is kept there.
     */
    private BlockClass policyClass(BlockTerms terms)
    {
        return aboveSsd && terms.blockClass() == BlockClass.PINNED ? BlockClass.HIGH : terms.blockClass();
    }

    /**
     * The block was asked for.
     */
    public void use(Frame frame)
    {
        verify(frame.holdsBlock(), "frame %s is %s", frame.number(), frame.state);
        if (!frame.slab().draining) {
            countUse(frame);
        }
        if (frame.state == State.LIVE) {
            classOf(frame).policy.use(frame.entry);
            tableQueues.use(frame.table, frame.entry);
        }
        else if (!frame.slab().draining && mayLiveAgain(frame, clock.nanoTime())) {
            frame.list.remove(frame);
            classOf(frame).policy.restore(frame.entry, policyClass(frame.terms));
            tableQueues.restore(frame.table, frame.entry, policyClass(frame.terms));
            addGuestBytes(frame, 1);
            enliven(frame);
        }
    }

    private boolean mayLiveAgain(Frame frame, long now)
    {
        return (frame.terms.blockClass() != BlockClass.GUEST || makeRoomForGuest(frame, now)) && makeRoomInTable(frame.table, frame.terms, frame.length, now);
    }

    /**
     * Removes what the tier has of a dropped file. Frames that are being filled for it are their owner's to release.
     */
    public void drop(StoredFile storedFile)
    {
        framesOf(storedFile).forEach(this::drop);
    }

    /**
     * Likewise; the frames are the caller's, to be overwritten and given back by {@link #giveBackTaken}, once {@link #isTakenAlone}.
     */
    public void take(StoredFile storedFile, List<Frame> taken)
    {
        for (Frame frame : framesOf(storedFile)) {
            hold(frame);
            drop(frame);
            taken.add(frame);
        }
    }

    private List<Frame> framesOf(StoredFile storedFile)
    {
        List<Frame> found = new ArrayList<>();
        if (storedFile.ramBlocks() == 0) {
            return found;
        }
        int fileBlocks = storedFile.version().blockCount(layout.blockSizeBytes());
        if (fileBlocks <= frames.size()) {
            FileVersionId id = storedFile.id();
            for (int i = 0; i < fileBlocks && found.size() < storedFile.ramBlocks(); i++) {
                Frame frame = frames.get(new BlockKey(id, i).digest());
                if (frame != null && storedFile.equals(frame.file)) {
                    found.add(frame);
                }
            }
        }
        else {
            for (Frame frame : frames.values()) {
                if (storedFile.equals(frame.file)) {
                    found.add(frame);
                }
            }
        }
        return found;
    }

    /**
     * Takes frames with such entries that hold no block, but may hold what a block left there; as {@link #take}.
     *
     * @return whether there are entries beyond
     */
    public boolean takeFree(int firstEntry, int endEntry, List<Frame> taken)
    {
        for (int entry = firstEntry; entry < Math.min(endEntry, framesByEntry.size()); entry++) {
            Frame frame = framesByEntry.get(entry);
            if (frame != null && frame.state == State.FREE && !frame.slab().draining) {
                frame.list.remove(frame);
                frame.state = State.DETACHED;
                frame.pins = 1;
                taken.add(frame);
            }
        }
        return endEntry < framesByEntry.size();
    }

    /**
     * Whether nobody beside the taker reads the frame any more.
     */
    public boolean isTakenAlone(Frame frame)
    {
        verify(frame.state == State.DETACHED, "frame %s is %s", frame.number(), frame.state);
        return frame.pins == 1;
    }

    public void giveBackTaken(Frame frame)
    {
        verify(frame.state == State.DETACHED, "frame %s is %s", frame.number(), frame.state);
        unpin(frame);
    }

    /**
     * Overwrites all of a frame that the caller has taken, alone. Without the lock.
     */
    public void wipe(Frame frame)
    {
        writer.payload(frame.number(), frameBytes(frame)).fill((byte) 0);
    }

    /**
     * Overwrites what an earlier block may have left in a frame that the caller fills, behind the bytes of the new one: what is flushed is looked for in free frames only. Without
     * the lock.
     */
    public void wipeBehind(Frame frame, int length)
    {
        long bytes = frameBytes(frame);
        if (length < bytes) {
            writer.payload(frame.number(), (int) bytes).asSlice(length).fill((byte) 0);
        }
    }

    /**
     * Removes a block at once: no reader accepts it from now on.
     */
    public void drop(Frame frame)
    {
        if (frame.state == State.LIVE) {
            writer.removeEntry(frame.digest.high(), frame.digest.low(), frame.number());
            classOf(frame).policy.remove(frame.entry);
            addGuestBytes(frame, -1);
            leaveTable(frame);
        }
        else if (!frame.slab().draining) {
            frame.list.remove(frame);
        }
        writer.withdrawFrame(frame.number());
        remove(frame);
        if (frame.pins > 0) {
            frame.state = State.DETACHED;
        }
        else {
            free(frame);
        }
    }

    /**
     * Removes blocks that are expired.
     *
     * @return whether there are more
     */
    public boolean removeExpired(int maxCount)
    {
        long now = clock.currentTimeMillis();
        int entry = expiries.peekExpired(now);
        for (int i = 0; i < maxCount && entry != EvictionPolicy.NO_ENTRY; i++) {
            expire(framesByEntry.get(entry));
            entry = expiries.peekExpired(now);
        }
        return entry != EvictionPolicy.NO_ENTRY;
    }

    private void expire(Frame frame)
    {
        drop(frame);
        expirations++;
    }

    /**
     * The bytes of a frame that the caller fills, or has pinned.
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
     * CRC32C of the bytes of a frame that the caller fills, or has pinned.
     */
    public int checksum(Frame frame, int length, byte[] scratch)
    {
        return writer.checksum(frame.number(), length, scratch);
    }

    /**
     * Frames in the largest class that the memory could hold: what may be in flight is a part of it.
     */
    public long frameBytes()
    {
        return (long) layout.slabCount() * layout.slabBytes();
    }

    public long capacityBytes()
    {
        return layout.fileSizeBytes();
    }

    public long usedBytes()
    {
        return usedBytes;
    }

    /**
     * Bytes of the blocks of class pinned.
     */
    public long pinnedBytes()
    {
        return pinnedBytes;
    }

    /**
     * What guests may take at most.
     */
    public long maxGuestBytes()
    {
        return maxGuestBytes;
    }

    /**
     * Frames of guests, whole; not those that rest.
     */
    public long guestBytes()
    {
        return guestBytes;
    }

    public long blocks()
    {
        return blocks;
    }

    public long evictions()
    {
        return evictions;
    }

    /**
     * Blocks that were removed since they were expired.
     */
    public long expirations()
    {
        return expirations;
    }

    /**
     * Generations of this file begin above it, so that they are not those of the last run's file.
     */
    public void setFirstGeneration(long generation)
    {
        verify(frames.isEmpty() && generation >= 0 && (generation & 1) == 0, "first generation cannot be %s", generation);
        lastGeneration = generation;
    }

    public MemoryFile memoryFile()
    {
        return file;
    }

    /**
     * For tests.
     */
    public void checkInvariants()
    {
        verify(guestBytes >= 0 && guestBytes <= maxGuestBytes, "guests have %s bytes of at most %s", guestBytes, maxGuestBytes);
        long guests = 0;
        int listed = 0;
        long counted = 0;
        long bytes = 0;
        long pinned = 0;
        for (RamClass ramClass : classes) {
            int frameTotal = 0;
            int live = 0;
            for (RamSlab slab : ramClass.slabs) {
                verify(!slab.draining && slab.sizeClass == ramClass.index, "slab %s is in the wrong class", slab.number);
                frameTotal += slab.frames.length;
                for (Frame frame : slab.frames) {
                    if ((frame.state == State.LIVE || frame.state == State.FILLING) && frame.terms.blockClass() == BlockClass.GUEST) {
                        guests += frameBytes(frame);
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
        verify(guests == guestBytes || !draining.isEmpty(), "guests have %s bytes, and %s are counted", guests, guestBytes);
        Set<Frame> left = Collections.newSetFromMap(new IdentityHashMap<>());
        leaving.forEach(entry -> verify(entry.frame.inLeaving && left.add(entry.frame), "frame %s is twice among those that leave", entry.frame.number()));
        verify(listed == uses.placeCount(), "there are %s frames, not %s", listed, uses.placeCount());
        Map<StoredTable, Long> tables = new IdentityHashMap<>();
        for (Map.Entry<Digest128, Frame> entry : frames.entrySet()) {
            Frame frame = entry.getValue();
            tables.merge(frame.table, frame.state == State.LIVE ? (long) frame.length : 0L, Long::sum);
            verify(frame.state == State.LIVE || !tableQueues.contains(frame.table, frame.entry), "frame %s is %s and in its table's order", frame.number(), frame.state);
            verify(frame.holdsBlock() && frame.digest.equals(entry.getKey()) && !frame.file.isDropped(), "frame %s of block %s", frame.number(), entry.getKey());
            counted++;
            bytes += frame.length;
            pinned += frame.terms.blockClass() == BlockClass.PINNED ? frame.length : 0;
        }
        tables.forEach((table, tableBytes) -> verify(table.ramBytes() == tableBytes, "a table has %s bytes, and %s are counted", tableBytes, table.ramBytes()));
        verify(pinned == pinnedBytes, "pinned blocks have %s bytes, and %s are counted", pinned, pinnedBytes);
        verify(counted == blocks && bytes == usedBytes, "%s blocks of %s bytes are counted as %s of %s", counted, bytes, blocks, usedBytes);
    }
}
