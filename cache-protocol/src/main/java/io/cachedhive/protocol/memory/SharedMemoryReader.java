package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.protocol.wire.WireReader;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.memory.MemoryLayout.BUCKET_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_BYTES;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_DIGEST_HIGH_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_DIGEST_LOW_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_FRAME_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.ENTRY_GENERATION_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_AHEAD_OFFSET;
import static io.cachedhive.protocol.memory.MemoryLayout.FRAME_CHECKSUM_OFFSET;
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
import static io.cachedhive.protocol.memory.MemoryLayout.UNIT_BYTES;
import static java.nio.file.StandardOpenOption.READ;
import static java.util.Comparator.comparing;
import static java.util.Comparator.reverseOrder;
import static java.util.Objects.checkFromIndexSize;

/**
 * Reads the RAM tier of the cache worker on this host, without a system call and without writing to it. Safe for any number of threads.
 *
 * <p>A read gives exactly the bytes of the named block or says that it has them not; it never waits. What keeps it right:
 * <ol>
 * <li>The generation of the frame, read before (with acquire) and after copying (behind a fence), is the same even number: the frame held one block
 *     all the while. On x86-64 loads are not reordered with loads, which the fence only has to tell the compiler. On other processors
 *     that proof was not made, and every hit is verified against the block's checksum.
 * <li>The frame's own header, read between the two, names the block that was asked for: an outdated entry of the index is a miss.
 * <li>Every number that comes out of the memory is checked against the file's size before it is used as an offset.
 * <li>Checksums are computed on heap copies: a fault in a mapping inside the JDK's intrinsic would end the JVM, in a copy it is an
 *     {@link InternalError}, which is a miss.
 * </ol>
 */
public final class SharedMemoryReader
        implements AutoCloseable
{
    // a thread that copies cannot be stopped for a garbage collection: not longer than 10 µs at a time
    private static final int PIECE_BYTES = 128 << 10;
    // a worker publishes in microseconds, unless it lost its processor, or its life, in the middle
    private static final int RINGS_SPINS = 100;
    private static final int RINGS_ATTEMPTS = 3000;
    private static final long RINGS_PAUSE_NANOS = 50_000;
    // of a power of two of hits, one is verified: with 1 MiB blocks that costs some 20 ns a hit
    private static final int VERIFY_SAMPLE_MASK = (1 << 13) - 1;
    private static final boolean ORDERED_LOADS = isX86(System.getProperty("os.arch"));

    private static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[PIECE_BYTES]);

    private final Arena arena;
    private final MemorySegment memory;
    private final boolean verifyAll;
    private final Digest128 instance;
    private final CacheWorkerId workerId;
    private final int blockSizeBytes;
    private final long indexOffset;
    private final long bucketCount;
    private final long headersOffset;
    private final long framesOffset;
    private final long unitCount;
    private final LongAdder checksumFailures = new LongAdder();

    private SharedMemoryReader(Arena arena, MemorySegment memory, MemoryLayout layout, Path file, boolean verifyAll)
            throws MemoryFormatException
    {
        this.arena = arena;
        this.memory = memory;
        this.verifyAll = verifyAll;
        this.instance = MemoryLayout.instance(memory);
        this.workerId = MemoryLayout.workerId(memory, file);
        this.blockSizeBytes = layout.blockSizeBytes();
        this.indexOffset = layout.indexOffset();
        this.bucketCount = layout.bucketCount();
        this.headersOffset = layout.headersOffset();
        this.framesOffset = layout.framesOffset();
        this.unitCount = layout.unitCount();
    }

    /**
     * Maps the file that the worker named in its welcome.
     *
     * @throws MemoryFormatException if the file is of another layout
     * @throws IOException if it cannot be opened or mapped
     */
    public static SharedMemoryReader open(Path file)
            throws IOException
    {
        return open(file, !ORDERED_LOADS);
    }

    @SuppressWarnings("MustBeClosedChecker") // the reader closes it
    static SharedMemoryReader open(Path file, boolean verifyAll)
            throws IOException
    {
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, READ)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            MemoryLayout layout = MemoryLayout.validate(memory, file);
            return new SharedMemoryReader(arena, memory, layout, file, verifyAll);
        }
        catch (InternalError e) {
            arena.close();
            throw new MemoryFormatException("shared-memory file %s became shorter while it was opened".formatted(file));
        }
        catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static boolean isX86(String architecture)
    {
        return architecture.equals("amd64") || architecture.equals("x86_64");
    }

    /**
     * {@link MemoryState#DEAD} also after {@link #close}. Not a hot call: ask about once a second.
     */
    public MemoryState state()
    {
        try {
            return MemoryState.fromCode((int) INT_HANDLE.getAcquire(memory, (long) STATE_OFFSET));
        }
        catch (IllegalStateException | InternalError e) {
            return MemoryState.DEAD;
        }
    }

    /**
     * When the worker last said that it lives: milliseconds since the epoch by this host's clock, renewed about every 200 ms; 0 after {@link #close}.
     */
    public long heartbeatMillis()
    {
        try {
            return (long) LONG_HANDLE.getAcquire(memory, (long) HEARTBEAT_OFFSET);
        }
        catch (IllegalStateException | InternalError e) {
            return 0;
        }
    }

    /**
     * Names the run of the worker that made the file, as in its welcome.
     */
    public Digest128 instance()
    {
        return instance;
    }

    public CacheWorkerId workerId()
    {
        return workerId;
    }

    public int blockSizeBytes()
    {
        return blockSizeBytes;
    }

    /**
     * Changes whenever {@link #rings} does: compare before decoding them again.
     */
    public long ringsSequence()
    {
        try {
            return (long) LONG_HANDLE.getAcquire(memory, (long) RINGS_SEQUENCE_OFFSET);
        }
        catch (IllegalStateException | InternalError e) {
            return 0;
        }
    }

    /**
     * The rings that the worker keeps, the newest first, at most 16. Those that do not decode are left out. Empty also when the file was given up.
     */
    public List<PublishedRing> rings()
    {
        try {
            for (int attempt = 0; attempt < RINGS_ATTEMPTS; attempt++) {
                long before = ringsSequence();
                if ((before & 1) == 0) {
                    List<byte[]> bodies = ringBodies();
                    VarHandle.acquireFence();
                    if (before == ringsSequence()) {
                        return decode(bodies);
                    }
                }
                if (attempt < RINGS_SPINS) {
                    Thread.onSpinWait();
                }
                else {
                    LockSupport.parkNanos(RINGS_PAUSE_NANOS);
                }
            }
            // left in the middle of a publication: every body that has its checksum is a ring that was published, but the slots are of two lists
            return decode(ringBodies()).stream()
                    .distinct()
                    .sorted(comparing(PublishedRing::publishedMillis, reverseOrder()))
                    .toList();
        }
        catch (IllegalStateException | InternalError e) {
            return List.of();
        }
    }

    private static List<PublishedRing> decode(List<byte[]> bodies)
    {
        List<PublishedRing> rings = new ArrayList<>(bodies.size());
        for (byte[] body : bodies) {
            try {
                WireReader reader = new WireReader(ByteBuffer.wrap(body));
                PublishedRing ring = WireForms.readRing(reader);
                reader.expectEnd();
                rings.add(ring);
            }
            catch (WireException | IllegalArgumentException e) {
                // written by a newer worker: this reader does without it
            }
        }
        return List.copyOf(rings);
    }

    private List<byte[]> ringBodies()
    {
        List<byte[]> bodies = new ArrayList<>(RING_SLOT_COUNT);
        CRC32C checksum = new CRC32C();
        for (int slot = 0; slot < RING_SLOT_COUNT; slot++) {
            long offset = RING_SLOTS_OFFSET + (long) slot * RING_SLOT_BYTES;
            int length = memory.get(INT, offset + RING_LENGTH_OFFSET);
            if (length <= 0 || length > MAX_RING_BODY_BYTES) {
                continue;
            }
            byte[] body = new byte[length];
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset + RING_BODY_OFFSET, body, 0, length);
            checksum.reset();
            checksum.update(body);
            if ((int) checksum.getValue() == memory.get(INT, offset + RING_CHECKSUM_OFFSET)) {
                bodies.add(body);
            }
        }
        return bodies;
    }

    /**
     * Copies a range of a block.
     *
     * @param digestHigh upper half of the block's digest ({@link io.cachedhive.protocol.file.BlockKey#digestHigh})
     * @param digestLow lower half
     * @param offsetInBlock bytes from the start of the block
     * @param length bytes wanted
     * @param info filled in on a hit
     * @return {@code length}, or -1 if the block is not in shared memory, or the range reaches beyond it. Then the target's range
     *         holds nothing of meaning
     * @throws IndexOutOfBoundsException if the range does not fit into the target
     */
    public int read(long digestHigh, long digestLow, int offsetInBlock, byte[] target, int targetOffset, int length, BlockInfo info)
    {
        checkFromIndexSize(targetOffset, length, target.length);
        try {
            long entry = MemoryLayout.bucketOffset(indexOffset, bucketCount, digestLow);
            long end = entry + BUCKET_BYTES;
            for (; entry < end; entry += ENTRY_BYTES) {
                if (memory.get(LONG, entry + ENTRY_DIGEST_LOW_OFFSET) == digestLow && memory.get(LONG, entry + ENTRY_DIGEST_HIGH_OFFSET) == digestHigh) {
                    // an entry that is being rewritten may give a frame and a generation that never belonged together: the frame's header tells
                    long generation = (long) LONG_HANDLE.getAcquire(memory, entry + ENTRY_GENERATION_OFFSET);
                    long frame = memory.get(LONG, entry + ENTRY_FRAME_OFFSET);
                    if (copy(frame, generation, digestHigh, digestLow, offsetInBlock, target, targetOffset, length, info)) {
                        return length;
                    }
                    // a block may have a second, newer entry: go on
                }
            }
            return -1;
        }
        catch (IllegalStateException | InternalError e) {
            // closed by another thread, or the file was cut short
            return -1;
        }
    }

    /**
     * Copies a range of a block from the frame that the worker named ({@link io.cachedhive.protocol.wire.ReadMessage.BlockFrame}).
     *
     * @return whether the bytes were copied; if not, the frame is not or no longer the block's, and the target's range holds nothing of meaning
     * @throws IndexOutOfBoundsException if the range does not fit into the target
     */
    public boolean readFrame(
            int frame,
            long frameOffset,
            long generation,
            long digestHigh,
            long digestLow,
            int offsetInBlock,
            byte[] target,
            int targetOffset,
            int length)
    {
        checkFromIndexSize(targetOffset, length, target.length);
        if (frameOffset != framesOffset + (long) frame * UNIT_BYTES) {
            return false;
        }
        try {
            return copy(frame, generation, digestHigh, digestLow, offsetInBlock, target, targetOffset, length, null);
        }
        catch (IllegalStateException | InternalError e) {
            return false;
        }
    }

    private boolean copy(
            long frame,
            long generation,
            long digestHigh,
            long digestLow,
            int offsetInBlock,
            byte[] target,
            int targetOffset,
            int length,
            BlockInfo info)
    {
        if (generation == 0 || (generation & 1) != 0 || frame < 0 || frame >= unitCount) {
            return false;
        }
        long header = headersOffset + frame * FRAME_HEADER_BYTES;
        if ((long) LONG_HANDLE.getAcquire(memory, header + FRAME_GENERATION_OFFSET) != generation) {
            return false;
        }
        int payloadLength = memory.get(INT, header + FRAME_LENGTH_OFFSET);
        long etagDigest = memory.get(LONG, header + FRAME_ETAG_OFFSET);
        boolean fetchedAhead = memory.get(INT, header + FRAME_AHEAD_OFFSET) != 0;
        if (memory.get(LONG, header + FRAME_DIGEST_HIGH_OFFSET) != digestHigh || memory.get(LONG, header + FRAME_DIGEST_LOW_OFFSET) != digestLow) {
            return false;
        }
        if (payloadLength < 0 || payloadLength > blockSizeBytes || payloadLength > (unitCount - frame) * UNIT_BYTES) {
            return false;
        }
        if (offsetInBlock < 0 || length > payloadLength - offsetInBlock) {
            return false;
        }
        long payload = framesOffset + frame * UNIT_BYTES;
        if (verifyAll) {
            if (!copyVerified(header, payload, generation, payloadLength, offsetInBlock, target, targetOffset, length)) {
                return false;
            }
        }
        else {
            long source = payload + offsetInBlock;
            int copied = 0;
            do {
                int piece = Math.min(PIECE_BYTES, length - copied);
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, source + copied, target, targetOffset + copied, piece);
                if (!isUnchanged(header, generation)) {
                    return false;
                }
                copied += piece;
            }
            while (copied < length);
            if ((ThreadLocalRandom.current().nextInt() & VERIFY_SAMPLE_MASK) == 0 && !verify(header, payload, generation, payloadLength)) {
                return false;
            }
        }
        if (info != null) {
            info.set(etagDigest, payloadLength, fetchedAhead);
        }
        return true;
    }

    private boolean isUnchanged(long header, long generation)
    {
        VarHandle.acquireFence();
        return (long) LONG_HANDLE.getOpaque(memory, header + FRAME_GENERATION_OFFSET) == generation;
    }

    /**
     * Whether the bytes in the frame have the checksum. A frame that is given up meanwhile proves nothing, and what was copied before stands.
     */
    private boolean verify(long header, long payload, long generation, int payloadLength)
    {
        int expected = memory.get(INT, header + FRAME_CHECKSUM_OFFSET);
        byte[] scratch = SCRATCH.get();
        CRC32C checksum = new CRC32C();
        for (int offset = 0; offset < payloadLength; offset += PIECE_BYTES) {
            int piece = Math.min(PIECE_BYTES, payloadLength - offset);
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, payload + offset, scratch, 0, piece);
            checksum.update(scratch, 0, piece);
        }
        if (!isUnchanged(header, generation) || (int) checksum.getValue() == expected) {
            return true;
        }
        checksumFailures.increment();
        return false;
    }

    /**
     * For processors on which the generation alone was not proven to be enough: what is given out is what was verified.
     */
    private boolean copyVerified(long header, long payload, long generation, int payloadLength, int offsetInBlock, byte[] target, int targetOffset, int length)
    {
        int expected = memory.get(INT, header + FRAME_CHECKSUM_OFFSET);
        byte[] scratch = SCRATCH.get();
        CRC32C checksum = new CRC32C();
        for (int offset = 0; offset < payloadLength; offset += PIECE_BYTES) {
            int piece = Math.min(PIECE_BYTES, payloadLength - offset);
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, payload + offset, scratch, 0, piece);
            checksum.update(scratch, 0, piece);
            int from = Math.max(offset, offsetInBlock);
            int to = Math.min(offset + piece, offsetInBlock + length);
            if (from < to) {
                System.arraycopy(scratch, from - offset, target, targetOffset + from - offsetInBlock, to - from);
            }
        }
        if (!isUnchanged(header, generation)) {
            return false;
        }
        if ((int) checksum.getValue() != expected) {
            checksumFailures.increment();
            return false;
        }
        return true;
    }

    /**
     * Hits whose bytes did not have the checksum of the block, found where hits are verified: by sampling, and on every hit on
     * processors other than x86-64. They were answered as misses.
     */
    public long checksumFailures()
    {
        return checksumFailures.sum();
    }

    /**
     * Unmaps the file. Reads under way and later ones by other threads are misses. Closing twice is harmless.
     */
    @Override
    public void close()
    {
        if (arena.scope().isAlive()) {
            try {
                arena.close();
            }
            catch (IllegalStateException e) {
                // another thread was first
            }
        }
    }
}
