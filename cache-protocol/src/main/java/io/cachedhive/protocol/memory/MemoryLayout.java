package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

/**
 * The layout of the shared-memory file of a cache worker. All numbers are little-endian.
 *
 * <pre>
 *   0            +--------------------------------------------------------------+
 *                | header page                                                  |
 *   4096         +--------------------------------------------------------------+
 *                | 16 ring slots of 128 KiB                                     |
 *   indexOffset  +--------------------------------------------------------------+
 *                | index: bucketCount buckets of 8 entries of 32 bytes          |
 *   headers      +--------------------------------------------------------------+
 *   Offset       | frame headers: 64 bytes for every 4 KiB of the frames        |
 *   framesOffset +--------------------------------------------------------------+
 *                | slabs, each cut into frames of one size class                |
 *   fileSize     +--------------------------------------------------------------+
 *
 *   header page        0 magic                8 layout version   12 state
 *                     16 instance high       24 instance low     32 heartbeat (ms since the epoch)
 *                     40 rings sequence      48 file size        56 block size       60 frame unit (4096)
 *                     64 index offset        72 bucket count     80 headers offset   88 unit count
 *                     96 frames offset      104 slab size       112 worker id length, then its ASCII
 *                    184 CRC32C of the above without state, heartbeat, rings sequence
 *
 *   ring slot          0 length (0: none)     4 CRC32C of the body                    8 body: WireForms.writeRing
 *
 *   index entry        0 generation (0: none) 8 digest high      16 digest low       24 frame
 *
 *   frame header       0 generation           8 digest high      16 digest low       24 ETag digest
 *                     32 payload length      36 CRC32C of the piece of 64 KiB that begins in this unit
 *                     40 fetched ahead (0 or 1)
 * </pre>
 *
 * <p>A frame's number is the number of its first unit of 4 KiB, which determines its offset and its header. A slab can
 * therefore be divided into frames of another size without moving headers. 64 bytes of header and 64 bytes of index for
 * every unit cost 3.1 % of the file, and suffice for blocks of the smallest size.
 *
 * <p>A block of several units uses the header of its first unit, and of the headers of its other units only the
 * checksums: each piece of 64 KiB has its checksum in the header of the unit in which it begins. The generation in the
 * first header protects them all.
 *
 * <p>An index entry never moves: a block belongs to exactly one bucket. If entries moved, a reader that is slower than
 * the worker could miss a block that was present all the time. When a bucket is full, readers find further blocks only
 * through the worker's socket. With blocks of at least 16 KiB, fewer than 8 of a million buckets are full.
 *
 * <p><b>Generations.</b> The generation of a frame is 0 while it is empty, odd while it is being written, and even
 * while it holds a block. No value is used twice in a file, so frame and generation identify one stay of one block. A
 * reader that finds the same even value before and after copying has copied that block and nothing else (a seqlock;
 * Boehm, "Can seqlocks get along with programming language memory models?", 2012).
 */
public final class MemoryLayout
{
    static final long MAGIC = 0x4D_45_4D_56_49_48_43_1AL; // bytes 1A "CHIVMEM"
    /**
     * The layout version. A reader for another version ignores the file and requests bytes over the socket.
     */
    public static final int LAYOUT_VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + 8;
    static final int STATE_OFFSET = VERSION_OFFSET + 4;
    static final int INSTANCE_HIGH_OFFSET = STATE_OFFSET + 4;
    static final int INSTANCE_LOW_OFFSET = INSTANCE_HIGH_OFFSET + 8;
    static final int HEARTBEAT_OFFSET = INSTANCE_LOW_OFFSET + 8;
    static final int RINGS_SEQUENCE_OFFSET = HEARTBEAT_OFFSET + 8;
    static final int FILE_SIZE_OFFSET = RINGS_SEQUENCE_OFFSET + 8;
    static final int BLOCK_SIZE_OFFSET = FILE_SIZE_OFFSET + 8;
    static final int UNIT_SIZE_OFFSET = BLOCK_SIZE_OFFSET + 4;
    static final int INDEX_OFFSET_OFFSET = UNIT_SIZE_OFFSET + 4;
    static final int BUCKET_COUNT_OFFSET = INDEX_OFFSET_OFFSET + 8;
    static final int HEADERS_OFFSET_OFFSET = BUCKET_COUNT_OFFSET + 8;
    static final int UNIT_COUNT_OFFSET = HEADERS_OFFSET_OFFSET + 8;
    static final int FRAMES_OFFSET_OFFSET = UNIT_COUNT_OFFSET + 8;
    static final int SLAB_SIZE_OFFSET = FRAMES_OFFSET_OFFSET + 8;
    static final int WORKER_ID_LENGTH_OFFSET = SLAB_SIZE_OFFSET + 8;
    static final int WORKER_ID_OFFSET = WORKER_ID_LENGTH_OFFSET + 4;
    static final int MAX_WORKER_ID_BYTES = 64;
    static final int CHECKSUM_OFFSET = WORKER_ID_OFFSET + MAX_WORKER_ID_BYTES + 4;
    private static final int HEADER_END = CHECKSUM_OFFSET + 4;

    /**
     * The alignment and granularity of frames: the page size of the processor and of O_DIRECT.
     */
    public static final int UNIT_BYTES = 4096;

    static final int HEADER_PAGE_BYTES = UNIT_BYTES;

    static final long RING_SLOTS_OFFSET = HEADER_PAGE_BYTES;
    /**
     * The maximum number of rings in a file.
     */
    public static final int RING_SLOT_COUNT = 16;
    static final int RING_SLOT_BYTES = 128 << 10;
    static final int RING_LENGTH_OFFSET = 0;
    static final int RING_CHECKSUM_OFFSET = RING_LENGTH_OFFSET + 4;
    static final int RING_BODY_OFFSET = RING_CHECKSUM_OFFSET + 4;
    static final int MAX_RING_BODY_BYTES = RING_SLOT_BYTES - RING_BODY_OFFSET;

    static final int ENTRIES_PER_BUCKET = 8;
    static final int ENTRY_GENERATION_OFFSET = 0;
    static final int ENTRY_DIGEST_HIGH_OFFSET = ENTRY_GENERATION_OFFSET + 8;
    static final int ENTRY_DIGEST_LOW_OFFSET = ENTRY_DIGEST_HIGH_OFFSET + 8;
    static final int ENTRY_FRAME_OFFSET = ENTRY_DIGEST_LOW_OFFSET + 8;
    static final int ENTRY_BYTES = ENTRY_FRAME_OFFSET + 8;
    static final int BUCKET_BYTES = ENTRIES_PER_BUCKET * ENTRY_BYTES;
    static final int UNITS_PER_BUCKET = 4;

    static final int FRAME_GENERATION_OFFSET = 0;
    static final int FRAME_DIGEST_HIGH_OFFSET = FRAME_GENERATION_OFFSET + 8;
    static final int FRAME_DIGEST_LOW_OFFSET = FRAME_DIGEST_HIGH_OFFSET + 8;
    static final int FRAME_ETAG_OFFSET = FRAME_DIGEST_LOW_OFFSET + 8;
    static final int FRAME_LENGTH_OFFSET = FRAME_ETAG_OFFSET + 8;
    static final int FRAME_CHECKSUM_OFFSET = FRAME_LENGTH_OFFSET + 4;
    static final int FRAME_AHEAD_OFFSET = FRAME_CHECKSUM_OFFSET + 4;
    /**
     * One cache line, so that two frames never share one.
     */
    static final int FRAME_HEADER_BYTES = 64;
    private static final int HEADER_BYTES_PER_PIECE = PieceChecksums.PIECE_BYTES / UNIT_BYTES * FRAME_HEADER_BYTES;

    public static final int MIN_BLOCK_BYTES = 64 << 10;
    public static final int MAX_BLOCK_BYTES = 8 << 20;
    private static final int BLOCKS_PER_SLAB = 4;
    private static final int MIN_SLABS = 2;

    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final VarHandle LONG_HANDLE = LONG.varHandle().withInvokeExactBehavior();
    static final VarHandle INT_HANDLE = INT.varHandle().withInvokeExactBehavior();

    private final int blockSizeBytes;
    private final long slabBytes;
    private final long unitCount;
    private final long bucketCount;
    private final long indexOffset;
    private final long headersOffset;
    private final long framesOffset;
    private final long fileSizeBytes;

    private MemoryLayout(int blockSizeBytes, long slabCount)
    {
        this.blockSizeBytes = blockSizeBytes;
        this.slabBytes = slabBytes(blockSizeBytes);
        this.unitCount = slabCount * slabBytes / UNIT_BYTES;
        this.bucketCount = unitCount / UNITS_PER_BUCKET;
        this.indexOffset = RING_SLOTS_OFFSET + (long) RING_SLOT_COUNT * RING_SLOT_BYTES;
        this.headersOffset = indexOffset + bucketCount * BUCKET_BYTES;
        this.framesOffset = alignUp(headersOffset + unitCount * FRAME_HEADER_BYTES);
        this.fileSizeBytes = framesOffset + unitCount * UNIT_BYTES;
    }

    /**
     * Returns the largest layout that fits into a file size.
     *
     * @throws IllegalArgumentException if the block size is not a power of two from 64 KiB to 8 MiB, or the size is
     * below {@link #minFileSizeBytes}
     */
    public static MemoryLayout forFileSize(long maxFileSizeBytes, int blockSizeBytes)
    {
        checkBlockSize(blockSizeBytes);
        long slabBytes = slabBytes(blockSizeBytes);
        long slabCount = (maxFileSizeBytes - new MemoryLayout(blockSizeBytes, 0).fileSizeBytes) / slabBytes;
        // subtract the headers and the index, which take at most one slab in 32, so this ends soon
        while (slabCount >= MIN_SLABS) {
            MemoryLayout layout = new MemoryLayout(blockSizeBytes, slabCount);
            if (layout.fileSizeBytes <= maxFileSizeBytes) {
                checkFrameNumbers(layout.unitCount);
                return layout;
            }
            slabCount -= Math.max(1, (layout.fileSizeBytes - maxFileSizeBytes) / (slabBytes + slabBytes / 32));
        }
        throw new IllegalArgumentException("%s bytes are too few for blocks of %s bytes: at least %s are needed".formatted(
                maxFileSizeBytes,
                blockSizeBytes,
                minFileSizeBytes(blockSizeBytes)));
    }

    public static long minFileSizeBytes(int blockSizeBytes)
    {
        checkBlockSize(blockSizeBytes);
        return new MemoryLayout(blockSizeBytes, MIN_SLABS).fileSizeBytes;
    }

    private static void checkBlockSize(int blockSizeBytes)
    {
        if (blockSizeBytes < MIN_BLOCK_BYTES || blockSizeBytes > MAX_BLOCK_BYTES || Integer.bitCount(blockSizeBytes) != 1) {
            throw new IllegalArgumentException("block size is not a power of two from %s to %s: %s".formatted(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES, blockSizeBytes));
        }
    }

    private static void checkFrameNumbers(long unitCount)
    {
        if (unitCount > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a shared-memory file has at most %s units of %s bytes: %s".formatted(Integer.MAX_VALUE, UNIT_BYTES, unitCount));
        }
    }

    /**
     * Returns the size of a slab. A slab holds several blocks, so that consecutive size classes differ by at most a
     * quarter: 4, 5, 6, 7, 8, 10, ... frames in a slab.
     */
    private static long slabBytes(int blockSizeBytes)
    {
        return (long) BLOCKS_PER_SLAB * blockSizeBytes;
    }

    private static long alignUp(long value)
    {
        return (value + UNIT_BYTES - 1) & -UNIT_BYTES;
    }

    /**
     * Reads and checks the header of a mapped file.
     *
     * @param file the path for error messages
     */
    static MemoryLayout validate(MemorySegment memory, Path file)
            throws MemoryFormatException
    {
        requireNonNull(file, "file is null");
        if (memory.byteSize() < HEADER_PAGE_BYTES) {
            throw new MemoryFormatException("shared-memory file %s is shorter than its header of %s bytes: %s".formatted(file, HEADER_PAGE_BYTES, memory.byteSize()));
        }
        check(file, "magic number", MAGIC, memory.get(LONG, MAGIC_OFFSET));
        check(file, "layout version", LAYOUT_VERSION, memory.get(INT, VERSION_OFFSET));
        int checksum = memory.get(INT, CHECKSUM_OFFSET);
        check(file, "checksum of the header", headerChecksum(memory), checksum);
        check(file, "frame unit", UNIT_BYTES, memory.get(INT, UNIT_SIZE_OFFSET));

        int blockSizeBytes = memory.get(INT, BLOCK_SIZE_OFFSET);
        try {
            checkBlockSize(blockSizeBytes);
        }
        catch (IllegalArgumentException e) {
            throw new MemoryFormatException("shared-memory file %s: %s".formatted(file, e.getMessage()));
        }
        long unitCount = memory.get(LONG, UNIT_COUNT_OFFSET);
        long unitsPerSlab = slabBytes(blockSizeBytes) / UNIT_BYTES;
        if (unitCount <= 0 || unitCount > Integer.MAX_VALUE || unitCount % unitsPerSlab != 0) {
            throw new MemoryFormatException("shared-memory file %s: unit count is not a positive multiple of %s: %s".formatted(file, unitsPerSlab, unitCount));
        }
        MemoryLayout layout = new MemoryLayout(blockSizeBytes, unitCount / unitsPerSlab);
        check(file, "slab size", layout.slabBytes, memory.get(LONG, SLAB_SIZE_OFFSET));
        check(file, "bucket count", layout.bucketCount, memory.get(LONG, BUCKET_COUNT_OFFSET));
        check(file, "index offset", layout.indexOffset, memory.get(LONG, INDEX_OFFSET_OFFSET));
        check(file, "offset of the frame headers", layout.headersOffset, memory.get(LONG, HEADERS_OFFSET_OFFSET));
        check(file, "offset of the frames", layout.framesOffset, memory.get(LONG, FRAMES_OFFSET_OFFSET));
        check(file, "file size", layout.fileSizeBytes, memory.get(LONG, FILE_SIZE_OFFSET));
        check(file, "size of the mapped file", layout.fileSizeBytes, memory.byteSize());
        workerId(memory, file);
        return layout;
    }

    private static void check(Path file, String what, long expected, long actual)
            throws MemoryFormatException
    {
        if (expected != actual) {
            throw new MemoryFormatException("shared-memory file %s: %s is not %s: %s".formatted(file, what, expected, actual));
        }
    }

    static CacheWorkerId workerId(MemorySegment memory, Path file)
            throws MemoryFormatException
    {
        int length = memory.get(INT, WORKER_ID_LENGTH_OFFSET);
        if (length < 1 || length > MAX_WORKER_ID_BYTES) {
            throw new MemoryFormatException("shared-memory file %s: length of the cache worker id is not between 1 and %s: %s".formatted(file, MAX_WORKER_ID_BYTES, length));
        }
        byte[] bytes = new byte[length];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, WORKER_ID_OFFSET, bytes, 0, length);
        try {
            return new CacheWorkerId(new String(bytes, US_ASCII));
        }
        catch (IllegalArgumentException e) {
            throw new MemoryFormatException("shared-memory file %s: %s".formatted(file, e.getMessage()));
        }
    }

    static Digest128 instance(MemorySegment memory)
    {
        return new Digest128(memory.get(LONG, INSTANCE_HIGH_OFFSET), memory.get(LONG, INSTANCE_LOW_OFFSET));
    }

    /**
     * Writes the header of a new file in state STARTING, except for the fields that change.
     */
    void format(MemorySegment memory, Digest128 instance, CacheWorkerId workerId)
    {
        memory.asSlice(0, HEADER_PAGE_BYTES).fill((byte) 0);
        memory.set(LONG, MAGIC_OFFSET, MAGIC);
        memory.set(INT, VERSION_OFFSET, LAYOUT_VERSION);
        memory.set(INT, STATE_OFFSET, MemoryState.STARTING.code());
        memory.set(LONG, INSTANCE_HIGH_OFFSET, instance.high());
        memory.set(LONG, INSTANCE_LOW_OFFSET, instance.low());
        memory.set(LONG, FILE_SIZE_OFFSET, fileSizeBytes);
        memory.set(INT, BLOCK_SIZE_OFFSET, blockSizeBytes);
        memory.set(INT, UNIT_SIZE_OFFSET, UNIT_BYTES);
        memory.set(LONG, INDEX_OFFSET_OFFSET, indexOffset);
        memory.set(LONG, BUCKET_COUNT_OFFSET, bucketCount);
        memory.set(LONG, HEADERS_OFFSET_OFFSET, headersOffset);
        memory.set(LONG, UNIT_COUNT_OFFSET, unitCount);
        memory.set(LONG, FRAMES_OFFSET_OFFSET, framesOffset);
        memory.set(LONG, SLAB_SIZE_OFFSET, slabBytes);
        byte[] id = workerId.value().getBytes(US_ASCII);
        memory.set(INT, WORKER_ID_LENGTH_OFFSET, id.length);
        MemorySegment.copy(id, 0, memory, ValueLayout.JAVA_BYTE, WORKER_ID_OFFSET, id.length);
        memory.set(INT, CHECKSUM_OFFSET, headerChecksum(memory));
    }

    private static int headerChecksum(MemorySegment memory)
    {
        // always on a heap copy: a fault in the intrinsic over a mapping would crash the JVM
        byte[] header = new byte[HEADER_END];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, header, 0, header.length);
        CRC32C checksum = new CRC32C();
        checksum.update(header, 0, STATE_OFFSET);
        checksum.update(header, INSTANCE_HIGH_OFFSET, HEARTBEAT_OFFSET - INSTANCE_HIGH_OFFSET);
        checksum.update(header, FILE_SIZE_OFFSET, CHECKSUM_OFFSET - FILE_SIZE_OFFSET);
        return (int) checksum.getValue();
    }

    public int blockSizeBytes()
    {
        return blockSizeBytes;
    }

    public long fileSizeBytes()
    {
        return fileSizeBytes;
    }

    public long slabBytes()
    {
        return slabBytes;
    }

    public int slabCount()
    {
        return Math.toIntExact(unitCount * UNIT_BYTES / slabBytes);
    }

    public int unitsPerSlab()
    {
        return Math.toIntExact(slabBytes / UNIT_BYTES);
    }

    public long unitCount()
    {
        return unitCount;
    }

    /**
     * Returns the length of the header, which remains readable after the worker abandons the rest of the file.
     */
    public static long headerBytes()
    {
        return HEADER_PAGE_BYTES;
    }

    public long indexOffset()
    {
        return indexOffset;
    }

    long bucketCount()
    {
        return bucketCount;
    }

    public long headersOffset()
    {
        return headersOffset;
    }

    public long framesOffset()
    {
        return framesOffset;
    }

    /**
     * Returns the offset of a frame in bytes from the start of the file.
     */
    public long frameOffset(int frame)
    {
        return framesOffset + (long) frame * UNIT_BYTES;
    }

    /**
     * Returns the offset of the frame headers of a slab. They fill whole units.
     */
    public long slabHeadersOffset(int slab)
    {
        return headersOffset + slab * slabHeadersBytes();
    }

    /**
     * Returns the size of the frame headers of a slab.
     */
    public long slabHeadersBytes()
    {
        return (long) unitsPerSlab() * FRAME_HEADER_BYTES;
    }

    /**
     * Returns the offset of the frames of a slab.
     */
    public long slabOffset(int slab)
    {
        return framesOffset + slab * slabBytes;
    }

    long headerOffset(int frame)
    {
        return headersOffset + (long) frame * FRAME_HEADER_BYTES;
    }

    /**
     * Returns the offset of the checksum of a piece.
     *
     * @param header the offset of the frame's header
     */
    static long checksumOffset(long header, int piece)
    {
        return header + (long) piece * HEADER_BYTES_PER_PIECE + FRAME_CHECKSUM_OFFSET;
    }

    static long bucketOffset(long indexOffset, long bucketCount, long digestLow)
    {
        // the digest is uniform, and so is its product with the count divided by 2^64 (Lemire, "Fast random integer
        // generation in an interval", 2019)
        return indexOffset + Math.unsignedMultiplyHigh(digestLow, bucketCount) * BUCKET_BYTES;
    }
}
