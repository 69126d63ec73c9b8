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
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.checksum.PieceChecksums.PIECE_BYTES;
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
import static io.cachedhive.protocol.memory.MemoryLayout.UNIT_BYTES;
import static java.util.Comparator.comparing;
import static java.util.Comparator.reverseOrder;
import static java.util.Objects.checkFromIndexSize;
import static java.util.Objects.requireNonNull;

/**
 * Reads the RAM tier of the local cache worker without system calls and without writing to it. Safe for any number of
 * threads.
 *
 * <p>A read returns exactly the bytes of the requested block or reports a miss. It never waits. These rules make it
 * correct:
 * <ol>
 * <li>The generation of the frame is the same even number before copying (read with acquire) and after copying (read
 * behind a fence). The frame therefore held one block throughout.
 * <li>The frame's own header, read between the two, names the requested block. A stale index entry is therefore a miss.
 * <li>Every number read from the memory is checked against the size of the file before it is used as an offset.
 * <li>Checksums are computed on heap copies. A fault in a mapping inside the JDK's intrinsic would crash the JVM; in a
 * copy it is an {@link InternalError}, which is a miss.
 * </ol>
 *
 * <p><b>Weak memory.</b> Rule 1 does not rely on the order of x86-64. It is the seqlock of Boehm ("Can seqlocks get
 * along with programming language memory models?", 2012), with plain accesses to the data:
 * <pre>
 *   writer                                     reader
 *   W1  generation = odd        (opaque)       R1  generation           (acquire): must be even
 *       storeStoreFence                        R2  header and payload   (plain)
 *   W2  payload and header      (plain)            acquireFence
 *   W3  generation = even       (release)      R3  generation           (opaque): must be the same
 * </pre>
 * <ul>
 * <li>Nothing older: R1 reads the value of W3. Release and acquire order W2 before R2, so R2 sees all bytes of the
 * block.
 * <li>Nothing newer: assume that a load of R2 sees a store of a later W2'. The fence orders W1' before W2', and the
 * other fence orders R2 before R3. So R3 sees W1' or a later generation. No generation is used twice, so R3 differs from
 * R1, and the copy is rejected.
 * </ul>
 * W1' also orders the payload if another thread or the kernel writes it: the thread that runs W1 passes the frame on by
 * a lock, a queue or a system call after the fence, and W3 follows the end of that write. On aarch64, the accesses and
 * fences compile to {@code ldar}, {@code stlr}, {@code dmb ishld} and {@code dmb ishst}, and the processor is
 * multi-copy atomic. On x86-64, they only constrain the compiler. The model of the language covers one process. The
 * argument for two processes is that their pages are the same memory, and that the code is the same.
 *
 * <p>An argument is no test. The tests of the orders (jcstress) have run on x86-64 only. On other processors, the
 * default is therefore {@link HitVerification#FULL}: a wrong copy has a wrong checksum and is a miss.
 */
public final class SharedMemoryReader
        implements AutoCloseable
{
    // limits a copy to about 10 µs, because a copying thread cannot stop for a garbage collection
    private static final int COPY_BYTES = 128 << 10;
    // a worker publishes in microseconds, unless it is descheduled or killed while it does
    private static final int RINGS_SPINS = 100;
    private static final int RINGS_ATTEMPTS = 3000;
    private static final long RINGS_PAUSE_NANOS = 50_000;
    // one hit in 2^13 is verified, in the pieces that it touches
    private static final int VERIFY_SAMPLE_MASK = (1 << 13) - 1;

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

    private SharedMemoryReader(Arena arena, MemorySegment memory, MemoryLayout layout, Path file, HitVerification verification)
            throws MemoryFormatException
    {
        this.arena = arena;
        this.memory = memory;
        this.verifyAll = verification == HitVerification.FULL;
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
     * Maps a file of this process's own user.
     *
     * @throws UnsafeFileException if another user may have made or may change the file
     * @throws MemoryFormatException if the file has another layout
     * @throws IOException if the file cannot be opened or mapped
     */
    public static SharedMemoryReader open(Path file)
            throws IOException
    {
        return open(file, HitVerification.ofThisMachine());
    }

    /**
     * Maps a file of this process's own user.
     *
     * @throws UnsafeFileException if another user may have made or may change the file
     * @throws MemoryFormatException if the file has another layout
     * @throws IOException if the file cannot be opened or mapped
     */
    public static SharedMemoryReader open(Path file, HitVerification verification)
            throws IOException
    {
        return open(file, verification, FileStatus.ofTarget(Path.of("/proc/self")).userId());
    }

    /**
     * Maps the file that the worker named in its welcome.
     *
     * <p>The directory of the file may be open to all users. The path is therefore not followed if it is a link, and
     * the open file must be a regular one with one name that belongs to the worker's user or to root, and that no other
     * user can write to.
     *
     * @param ownerId numeric id of the worker's user
     * @throws UnsafeFileException if another user may have made or may change the file
     * @throws MemoryFormatException if the file has another layout
     * @throws IOException if the file cannot be opened or mapped
     */
    @SuppressWarnings("MustBeClosedChecker") // SharedMemoryReader.close closes it
    public static SharedMemoryReader open(Path file, HitVerification verification, int ownerId)
            throws IOException
    {
        Arena arena = Arena.ofShared();
        try (CheckedFile checked = CheckedFile.open(file)) {
            check(checked.status(), ownerId);
            try (FileChannel channel = checked.channel()) {
                MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
                MemoryLayout layout = MemoryLayout.validate(memory, file);
                return new SharedMemoryReader(arena, memory, layout, file, requireNonNull(verification, "verification is null"));
            }
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

    private static void check(FileStatus status, int ownerId)
            throws UnsafeFileException
    {
        // root can change every file anyway
        int expectedId = status.userId() == FileStatus.ROOT_ID ? FileStatus.ROOT_ID : ownerId;
        Optional<String> problem = status.problemForOwner(expectedId);
        if (problem.isPresent()) {
            throw new UnsafeFileException(problem.get());
        }
        if (status.isWritableByOthers()) {
            throw new UnsafeFileException("users other than its owner can write to it (mode %s)".formatted(status.permissions()));
        }
    }

    /**
     * Returns the state of the file, or {@link MemoryState#DEAD} after {@link #close}. Callers should poll about once a
     * second, not on every read.
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
     * Returns the worker's last heartbeat in milliseconds since the Unix epoch, by this host's clock. The worker
     * updates it about every 200 ms. Returns 0 after {@link #close}.
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
     * Returns the id of the worker run that created the file, as in its welcome.
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
     * Returns a number that changes whenever {@link #rings} changes. Compare it before decoding the rings again.
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
     * Returns the worker's rings, the newest first, at most 16. Rings that cannot be decoded are omitted. The list is
     * empty if the file is no longer readable.
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
            // The worker stopped while publishing. Every body with a valid checksum is a published ring, but the slots
            // belong to two lists.
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
                // written by a newer worker: skip it
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
     * @param digestLow lower half of the block's digest
     * @param offsetInBlock bytes from the start of the block
     * @param length the number of bytes to read
     * @param info filled in on a hit
     * @return {@code length}, or -1 if the block is not in shared memory or the range extends beyond it; the content of
     * the target range is undefined then
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
                    // frame and generation of an entry in rewriting may not match; the frame header detects that
                    long generation = (long) LONG_HANDLE.getAcquire(memory, entry + ENTRY_GENERATION_OFFSET);
                    long frame = memory.get(LONG, entry + ENTRY_FRAME_OFFSET);
                    if (copy(frame, generation, digestHigh, digestLow, offsetInBlock, target, targetOffset, length, info)) {
                        return length;
                    }
                    // continue, because a newer entry of the block may follow
                }
            }
            return -1;
        }
        catch (IllegalStateException | InternalError e) {
            // closed by another thread, or the file was truncated
            return -1;
        }
    }

    /**
     * Copies a range of a block from the frame that the worker named
     * ({@link io.cachedhive.protocol.wire.ReadMessage.BlockFrame}).
     *
     * @return whether the bytes were copied; if not, the frame does not hold the block any more, and the content of the
     * target range is undefined
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
                int count = Math.min(COPY_BYTES, length - copied);
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, source + copied, target, targetOffset + copied, count);
                if (!isUnchanged(header, generation)) {
                    return false;
                }
                copied += count;
            }
            while (copied < length);
            if ((ThreadLocalRandom.current().nextInt() & VERIFY_SAMPLE_MASK) == 0 && !verify(header, payload, generation, payloadLength, offsetInBlock, length)) {
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
     * Returns whether the bytes of the frame around a range match their checksums. A frame that was reused meanwhile
     * counts as valid, because the bytes copied before have been validated by the generation.
     */
    private boolean verify(long header, long payload, long generation, int payloadLength, int offsetInBlock, int length)
    {
        byte[] scratch = SCRATCH.get();
        for (int piece = offsetInBlock / PIECE_BYTES; piece * PIECE_BYTES < offsetInBlock + length; piece++) {
            boolean matches = copyPiece(header, payload, payloadLength, piece, scratch);
            if (!isUnchanged(header, generation)) {
                return true;
            }
            if (!matches) {
                checksumFailures.increment();
                return false;
            }
        }
        return true;
    }

    /**
     * Copies a range out of verified pieces.
     */
    private boolean copyVerified(long header, long payload, long generation, int payloadLength, int offsetInBlock, byte[] target, int targetOffset, int length)
    {
        byte[] scratch = SCRATCH.get();
        for (int piece = offsetInBlock / PIECE_BYTES; piece * PIECE_BYTES < offsetInBlock + length; piece++) {
            boolean matches = copyPiece(header, payload, payloadLength, piece, scratch);
            if (!isUnchanged(header, generation)) {
                return false;
            }
            if (!matches) {
                checksumFailures.increment();
                return false;
            }
            int start = piece * PIECE_BYTES;
            int from = Math.max(start, offsetInBlock);
            int to = Math.min(start + PIECE_BYTES, offsetInBlock + length);
            System.arraycopy(scratch, from - start, target, targetOffset + from - offsetInBlock, to - from);
        }
        return true;
    }

    /**
     * Copies a piece of a block to the heap, and returns whether the copy matches the checksum of the piece.
     */
    private boolean copyPiece(long header, long payload, int payloadLength, int piece, byte[] scratch)
    {
        int expected = memory.get(INT, MemoryLayout.checksumOffset(header, piece));
        int start = piece * PIECE_BYTES;
        int count = Math.min(PIECE_BYTES, payloadLength - start);
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, payload + start, scratch, 0, count);
        CRC32C checksum = new CRC32C();
        checksum.update(scratch, 0, count);
        return (int) checksum.getValue() == expected;
    }

    /**
     * Returns the number of hits whose bytes did not match their checksums; they were reported as misses.
     */
    public long checksumFailures()
    {
        return checksumFailures.sum();
    }

    /**
     * Unmaps the file. Concurrent and later reads by other threads are misses. Closing twice has no effect.
     */
    @Override
    public void close()
    {
        if (arena.scope().isAlive()) {
            try {
                arena.close();
            }
            catch (IllegalStateException e) {
                // another thread closed it first
            }
        }
    }
}
