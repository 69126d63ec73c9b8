package io.cachedhive.store.ram;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.ExpiryQueue;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;
import io.cachedhive.store.quota.TableQueues;
import io.cachedhive.store.ram.Frame.State;
import io.cachedhive.store.slab.SizeClasses;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * The frames, their blocks, and the state transitions of both ({@link RamTier}). Guarded by the store's lock.
 */
final class RamFrames
{
    /**
     * Time for which an evicted frame stays readable.
     */
    static final long REST_NANOS = 100_000_000;

    private final SharedMemoryWriter writer;
    private final FileTable files;
    private final boolean aboveSsd;
    private final SizeClasses sizeClasses;
    private final List<RamClass> classes = new ArrayList<>();
    // frames with blocks, by digest
    private final Map<Digest128, Frame> frames = new HashMap<>();
    // for the policies, which identify frames by their entries
    private final FrequencySketch sketch = new FrequencySketch();
    private final List<Frame> framesByEntry = new ArrayList<>();
    private final ArrayDeque<Integer> freeEntries = new ArrayDeque<>();
    private final TableQueues tableQueues;
    // expiries of all frames with blocks
    private final ExpiryQueue expiries = new ExpiryQueue();

    private long usedBytes;
    private long pinnedBytes;
    // full size of guest frames that are live or being filled
    private long guestBytes;
    private long evictions;
    private long visits;

    RamFrames(SharedMemoryWriter writer, FileTable files, boolean aboveSsd)
    {
        this.writer = requireNonNull(writer, "writer is null");
        this.files = requireNonNull(files, "files is null");
        this.aboveSsd = aboveSsd;
        MemoryLayout layout = writer.layout();
        this.sizeClasses = SizeClasses.create(layout.unitsPerSlab(), layout.blockSizeBytes() / MemoryLayout.UNIT_BYTES);
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
        EntryLinks links = new EntryLinks();
        for (int i = 0; i < sizeClasses.count(); i++) {
            classes.add(new RamClass(i, new EvictionPolicy(links, entries, sketch)));
        }
    }

    SizeClasses sizeClasses()
    {
        return sizeClasses;
    }

    List<RamClass> classes()
    {
        return classes;
    }

    TableQueues tableQueues()
    {
        return tableQueues;
    }

    FrequencySketch sketch()
    {
        return sketch;
    }

    /**
     * Returns the frame of a block, or null.
     */
    Frame find(Digest128 digest)
    {
        visits++;
        return frames.get(digest);
    }

    /**
     * Returns the number of frames that were looked up or visited.
     */
    long visits()
    {
        return visits;
    }

    /**
     * Returns the frames with blocks.
     */
    Map<Digest128, Frame> byDigest()
    {
        return frames;
    }

    /**
     * Returns a new entry number, which identifies a frame in the policies.
     */
    int nextEntry()
    {
        if (!freeEntries.isEmpty()) {
            return freeEntries.removeLast();
        }
        framesByEntry.add(null);
        return framesByEntry.size() - 1;
    }

    void put(Frame frame)
    {
        framesByEntry.set(frame.entry, frame);
    }

    void freeEntry(Frame frame)
    {
        framesByEntry.set(frame.entry, null);
        freeEntries.add(frame.entry);
    }

    /**
     * @return null if the entry is free
     */
    Frame of(int entry)
    {
        visits++;
        return framesByEntry.get(entry);
    }

    /**
     * Returns the exclusive upper bound of entries.
     */
    int entryLimit()
    {
        return framesByEntry.size();
    }

    RamClass classOf(Frame frame)
    {
        return classes.get(frame.slab().sizeClass);
    }

    /**
     * Returns the size of the frame, which may be larger than its block.
     */
    long frameBytes(Frame frame)
    {
        return (long) sizeClasses.units(frame.slab().sizeClass) * MemoryLayout.UNIT_BYTES;
    }

    /**
     * Returns the class for the policies. Above an SSD tier, pinned blocks may be evicted from RAM, because SSD keeps
     * them.
     */
    BlockClass policyClass(BlockTerms terms)
    {
        return aboveSsd && terms.blockClass() == BlockClass.PINNED ? BlockClass.HIGH : terms.blockClass();
    }

    /**
     * Returns a frame that can be filled now.
     *
     * @return null if there is none
     */
    Frame pollReady(RamClass ramClass, long now)
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
     * Puts a block into a filled frame.
     */
    void add(Frame frame, StoredFile storedFile, Digest128 digest, PieceChecksums checksums)
    {
        verify(frames.putIfAbsent(digest, frame) == null, "block %s is in RAM already", digest);
        frame.digest = digest;
        frame.file = storedFile;
        frame.table = files.table(storedFile.ordinal());
        frame.length = checksums.length();
        frame.checksum = checksums.whole();
        frame.pins = 1;
        expiries.add(frame.entry, frame.terms.expirySeconds());
        files.addRamBlocks(storedFile, 1);
        usedBytes += frame.length;
        countPinned(frame, 1);
        writer.publishFrame(frame.number(), frame.generation, digest.high(), digest.low(), storedFile.etagDigest(), checksums);
    }

    void remove(Frame frame)
    {
        verify(frames.remove(frame.digest, frame), "frame %s is not the one of its block", frame.number());
        expiries.remove(frame.entry, frame.terms.expirySeconds());
        files.addRamBlocks(frame.file, -1);
        usedBytes -= frame.length;
        countPinned(frame, -1);
        frame.file = null;
        frame.table = null;
    }

    /**
     * Makes the block visible to readers.
     */
    void enliven(Frame frame)
    {
        frame.state = State.LIVE;
        frame.table.addRamBytes(frame.length);
        writer.putEntry(frame.digest.high(), frame.digest.low(), frame.number(), frame.generation);
    }

    /**
     * Hides the block from new readers.
     */
    void rest(Frame frame, long now)
    {
        writer.removeEntry(frame.digest.high(), frame.digest.low(), frame.number());
        addGuestBytes(frame, -1);
        leaveTable(frame);
        frame.state = State.RESTING;
        frame.restsSinceNanos = now;
        frame.leaves = false;
    }

    void leaveTable(Frame frame)
    {
        frame.table.addRamBytes(-frame.length);
        tableQueues.remove(frame.table, frame.entry);
    }

    /**
     * Removes the block of a frame whose rest is over.
     */
    void forget(Frame frame)
    {
        verify(frame.state == State.RESTING && frame.pins == 0, "frame %s is %s with %s pins", frame.number(), frame.state, frame.pins);
        writer.withdrawFrame(frame.number());
        remove(frame);
        frame.state = State.FREE;
        evictions++;
    }

    void free(Frame frame)
    {
        frame.state = State.FREE;
        if (!frame.slab().draining) {
            classOf(frame).free.addLast(frame);
        }
    }

    void setClass(Frame frame, BlockClass blockClass)
    {
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
     * Counts the size of a frame with a guest, when it starts or stops being live or filled.
     */
    void addGuestBytes(Frame frame, int sign)
    {
        if (frame.terms.blockClass() == BlockClass.GUEST) {
            guestBytes += sign * frameBytes(frame);
        }
    }

    /**
     * Returns the entry of an expired block, or {@link EvictionPolicy#NO_ENTRY}.
     */
    int peekExpired(long nowMillis)
    {
        return expiries.peekExpired(nowMillis);
    }

    long usedBytes()
    {
        return usedBytes;
    }

    long pinnedBytes()
    {
        return pinnedBytes;
    }

    long guestBytes()
    {
        return guestBytes;
    }

    long evictions()
    {
        return evictions;
    }
}
