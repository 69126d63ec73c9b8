package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.protocol.wire.WireWriter;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.memory.MemoryLayout.BUCKET_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_DIGEST_HIGH_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_DIGEST_LOW_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_FRAME_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_GENERATION_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_AHEAD_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_DIGEST_HIGH_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_DIGEST_LOW_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_ETAG_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_GENERATION_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_HEADER_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_LENGTH_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.HEARTBEAT_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.INT;
import static io.cachedhive.protocol.memory.MemoryLayout.INT_HANDLE;
import static io.cachedhive.protocol.memory.MemoryLayout.LONG;
import static io.cachedhive.protocol.memory.MemoryLayout.LONG_HANDLE;
import static io.cachedhive.protocol.memory.MemoryLayout.MAX_RING_BODY_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.RINGS_SEQUENCE_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_BODY_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_CHECKSUM_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_LENGTH_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_SLOTS_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_SLOT_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.RING_SLOT_COUNT;
import static io.cachedhive.protocol.memory.MemoryLayout.STATE_OFFSET;
import static java.util.Objects.requireNonNull;

/**
 * Writes the shared-memory file in the order of stores on which {@link SharedMemoryReader} relies.
 *
 * <p>A file has one writer. Calls for one frame, calls for the index, and calls for the rings must each be serialized
 * by the caller's lock.
 */
public final class SharedMemoryWriter
{
    private final MemorySegment memory;
    private final MemoryLayout layout;

    private SharedMemoryWriter(MemorySegment memory, MemoryLayout layout)
    {
        this.memory = requireNonNull(memory, "memory is null");
        this.layout = requireNonNull(layout, "layout is null");
    }

    /**
     * Writes the header of a new file in state {@link MemoryState#STARTING}. All bytes of the file must be zero.
     */
    public static SharedMemoryWriter format(MemorySegment memory, MemoryLayout layout, Digest128 instance, CacheWorkerId workerId)
    {
        if (memory.byteSize() != layout.fileSizeBytes()) {
            throw new IllegalArgumentException("memory is not as large as its layout: %s, %s".formatted(memory.byteSize(), layout.fileSizeBytes()));
        }
        layout.format(memory, instance, workerId);
        return new SharedMemoryWriter(memory, layout);
    }

    /**
     * Opens the file of a worker that has terminated, in order to withdraw its content.
     */
    public static SharedMemoryWriter takeOver(MemorySegment memory, Path file)
            throws MemoryFormatException
    {
        return new SharedMemoryWriter(memory, MemoryLayout.validate(memory, file));
    }

    public MemoryLayout layout()
    {
        return layout;
    }

    public void setState(MemoryState state)
    {
        INT_HANDLE.setVolatile(memory, (long) STATE_OFFSET, state.code());
    }

    /**
     * Sets the time of the worker's last heartbeat.
     *
     * @param millis milliseconds since the Unix epoch
     */
    public void setHeartbeat(long millis)
    {
        LONG_HANDLE.setRelease(memory, (long) HEARTBEAT_OFFSET, millis);
    }

    /**
     * Publishes these rings in place of all earlier ones.
     *
     * @param newestFirst rings; those beyond the sixteenth, and those that do not fit into a slot, are omitted
     */
    public void publishRings(List<PublishedRing> newestFirst)
    {
        long sequence = (long) LONG_HANDLE.getOpaque(memory, (long) RINGS_SEQUENCE_OFFSET);
        LONG_HANDLE.setOpaque(memory, (long) RINGS_SEQUENCE_OFFSET, sequence | 1);
        VarHandle.storeStoreFence();
        int slot = 0;
        CRC32C checksum = new CRC32C();
        for (PublishedRing ring : newestFirst) {
            if (slot == RING_SLOT_COUNT) {
                break;
            }
            WireWriter writer = new WireWriter(256);
            WireForms.writeRing(writer, ring);
            ByteBuffer body = writer.finish();
            if (body.remaining() > MAX_RING_BODY_BYTES) {
                continue;
            }
            long offset = RING_SLOTS_OFFSET + (long) slot * RING_SLOT_BYTES;
            memory.set(INT, offset + RING_LENGTH_OFFSET, body.remaining());
            checksum.reset();
            checksum.update(body.duplicate());
            memory.set(INT, offset + RING_CHECKSUM_OFFSET, (int) checksum.getValue());
            MemorySegment.copy(MemorySegment.ofBuffer(body), 0, memory, offset + RING_BODY_OFFSET, body.remaining());
            slot++;
        }
        for (; slot < RING_SLOT_COUNT; slot++) {
            memory.set(INT, RING_SLOTS_OFFSET + (long) slot * RING_SLOT_BYTES + RING_LENGTH_OFFSET, 0);
        }
        LONG_HANDLE.setRelease(memory, (long) RINGS_SEQUENCE_OFFSET, (sequence | 1) + 1);
    }

    public MemorySegment payload(int frame, long length)
    {
        return memory.asSlice(layout.frameOffset(frame), length);
    }

    /**
     * Marks a frame as being written, so that readers reject it. Call it before changing the bytes of the frame.
     *
     * @param generation the even number under which the frame will be published; readers see the odd number before it
     */
    public void beginFrame(int frame, long generation)
    {
        if (generation <= 0 || (generation & 1) != 0) {
            throw new IllegalArgumentException("generation is not a positive even number: " + generation);
        }
        LONG_HANDLE.setOpaque(memory, layout.headerOffset(frame), generation - 1);
        // no store to the frame may become visible before this one
        VarHandle.storeStoreFence();
        memory.set(INT, layout.headerOffset(frame) + FRAME_AHEAD_OFFSET, 0);
    }

    /**
     * Sets whether the frame's block was fetched ahead for a reader that has not requested it yet. Call it between
     * {@link #beginFrame} and {@link #publishFrame}, or later while the frame holds the block; readers may then see the
     * old or the new value. The initial value is false.
     */
    public void setFetchedAhead(int frame, boolean ahead)
    {
        INT_HANDLE.setOpaque(memory, layout.headerOffset(frame) + FRAME_AHEAD_OFFSET, ahead ? 1 : 0);
    }

    /**
     * Publishes the block that the frame holds.
     *
     * @param checksums the checksums of the whole payload
     */
    public void publishFrame(int frame, long generation, long digestHigh, long digestLow, long etagDigest, PieceChecksums checksums)
    {
        long header = layout.headerOffset(frame);
        long writing = (long) LONG_HANDLE.getOpaque(memory, header + FRAME_GENERATION_OFFSET);
        if (writing != generation - 1) {
            throw new IllegalStateException("frame %s was not begun with generation %s: %s".formatted(frame, generation, writing));
        }
        memory.set(LONG, header + FRAME_DIGEST_HIGH_OFFSET, digestHigh);
        memory.set(LONG, header + FRAME_DIGEST_LOW_OFFSET, digestLow);
        memory.set(LONG, header + FRAME_ETAG_OFFSET, etagDigest);
        memory.set(INT, header + FRAME_LENGTH_OFFSET, checksums.length());
        for (int piece = 0; piece < checksums.count(); piece++) {
            memory.set(INT, MemoryLayout.checksumOffset(header, piece), checksums.value(piece));
        }
        LONG_HANDLE.setRelease(memory, header + FRAME_GENERATION_OFFSET, generation);
    }

    /**
     * Marks a frame as empty.
     */
    public void withdrawFrame(int frame)
    {
        LONG_HANDLE.setVolatile(memory, layout.headerOffset(frame) + FRAME_GENERATION_OFFSET, 0L);
    }

    /**
     * Adds an index entry for a block, replacing an entry of the same block.
     *
     * @return false if the bucket is full; readers then find the block only through the worker
     */
    public boolean putEntry(long digestHigh, long digestLow, int frame, long generation)
    {
        long bucket = MemoryLayout.bucketOffset(layout.indexOffset(), layout.bucketCount(), digestLow);
        long free = -1;
        long same = -1;
        for (long entry = bucket; entry < bucket + BUCKET_BYTES; entry += ENTRY_BYTES) {
            if (memory.get(LONG, entry + ENTRY_GENERATION_OFFSET) == 0) {
                if (free < 0) {
                    free = entry;
                }
            }
            else if (memory.get(LONG, entry + ENTRY_DIGEST_LOW_OFFSET) == digestLow && memory.get(LONG, entry + ENTRY_DIGEST_HIGH_OFFSET) == digestHigh) {
                same = entry;
            }
        }
        long entry = same >= 0 ? same : free;
        if (entry < 0) {
            return false;
        }
        LONG_HANDLE.setOpaque(memory, entry + ENTRY_GENERATION_OFFSET, 0L);
        VarHandle.storeStoreFence();
        memory.set(LONG, entry + ENTRY_DIGEST_HIGH_OFFSET, digestHigh);
        memory.set(LONG, entry + ENTRY_DIGEST_LOW_OFFSET, digestLow);
        memory.set(LONG, entry + ENTRY_FRAME_OFFSET, frame);
        LONG_HANDLE.setRelease(memory, entry + ENTRY_GENERATION_OFFSET, generation);
        return true;
    }

    /**
     * Removes the index entry of a block in this frame, if there is one.
     */
    public void removeEntry(long digestHigh, long digestLow, int frame)
    {
        long bucket = MemoryLayout.bucketOffset(layout.indexOffset(), layout.bucketCount(), digestLow);
        for (long entry = bucket; entry < bucket + BUCKET_BYTES; entry += ENTRY_BYTES) {
            if (memory.get(LONG, entry + ENTRY_DIGEST_LOW_OFFSET) == digestLow
                    && memory.get(LONG, entry + ENTRY_DIGEST_HIGH_OFFSET) == digestHigh
                    && memory.get(LONG, entry + ENTRY_FRAME_OFFSET) == frame) {
                LONG_HANDLE.setVolatile(memory, entry + ENTRY_GENERATION_OFFSET, 0L);
            }
        }
    }

    /**
     * Marks all frames of the first slabs as empty.
     *
     * @param slabCount slabs with memory; a write to another slab would allocate it
     */
    public void withdrawFrames(int slabCount)
    {
        long end = (long) slabCount * layout.unitsPerSlab();
        for (long unit = 0; unit < end; unit++) {
            long generation = layout.headersOffset() + unit * FRAME_HEADER_BYTES + FRAME_GENERATION_OFFSET;
            if (memory.get(LONG, generation) != 0) {
                LONG_HANDLE.setOpaque(memory, generation, 0L);
            }
        }
        VarHandle.fullFence();
    }

    /**
     * Returns the checksum of a piece of the block that the frame holds.
     */
    public int pieceChecksum(int frame, int piece)
    {
        return memory.get(INT, MemoryLayout.checksumOffset(layout.headerOffset(frame), piece));
    }
}
