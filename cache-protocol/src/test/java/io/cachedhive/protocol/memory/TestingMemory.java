package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * A shared-memory file with a writer, and blocks whose bytes carry their identity.
 */
final class TestingMemory
        implements AutoCloseable
{
    static final Digest128 INSTANCE = new Digest128(0x1122334455667788L, 0x99AABBCCDDEEFF00L);
    static final CacheWorkerId WORKER = new CacheWorkerId("worker-1");

    private final Path file;
    private final Arena arena;
    private final MemorySegment memory;
    private final SharedMemoryWriter writer;
    private long lastGeneration;

    private TestingMemory(Path file, Arena arena, MemorySegment memory, SharedMemoryWriter writer)
    {
        this.file = file;
        this.arena = arena;
        this.memory = memory;
        this.writer = writer;
    }

    static TestingMemory create(Path file, int blockSizeBytes)
            throws IOException
    {
        return create(file, MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(blockSizeBytes), blockSizeBytes));
    }

    static TestingMemory create(Path file, MemoryLayout layout)
            throws IOException
    {
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, CREATE, READ, WRITE)) {
            channel.truncate(0);
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, layout.fileSizeBytes(), arena);
            SharedMemoryWriter writer = SharedMemoryWriter.format(memory, layout, INSTANCE, WORKER);
            writer.setState(MemoryState.LIVE);
            return new TestingMemory(file, arena, memory, writer);
        }
    }

    Path file()
    {
        return file;
    }

    MemorySegment memory()
    {
        return memory;
    }

    MemoryLayout layout()
    {
        return writer.layout();
    }

    SharedMemoryWriter writer()
    {
        return writer;
    }

    /**
     * Fills the frame with the block and shows it.
     *
     * @return its generation
     */
    long put(int frame, long digestHigh, long digestLow, int length, long etagDigest)
    {
        byte[] bytes = new byte[length];
        fill(bytes, digestHigh, digestLow);
        return put(frame, digestHigh, digestLow, bytes, etagDigest);
    }

    long put(int frame, long digestHigh, long digestLow, byte[] bytes, long etagDigest)
    {
        lastGeneration += 2;
        long generation = lastGeneration;
        writer.beginFrame(frame, generation);
        MemorySegment.copy(bytes, 0, writer.payload(frame, bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
        writer.publishFrame(frame, generation, digestHigh, digestLow, etagDigest, MemoryChecksums.compute(MemorySegment.ofArray(bytes)));
        writer.putEntry(digestHigh, digestLow, frame, generation);
        return generation;
    }

    /**
     * Bytes that no other block has at any place.
     */
    static void fill(byte[] bytes, long digestHigh, long digestLow)
    {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes.length; i += 8) {
            long value = expected(digestHigh, digestLow, i);
            if (bytes.length - i >= 8) {
                buffer.putLong(i, value);
            }
            else {
                for (int j = i; j < bytes.length; j++) {
                    bytes[j] = (byte) (value >>> (8 * (j - i)));
                }
            }
        }
    }

    private static long expected(long digestHigh, long digestLow, int position)
    {
        return (digestHigh * 0x9E3779B97F4A7C15L + digestLow) * 0xD1B54A32D192ED03L + position;
    }

    /**
     * The place of the first byte that is not the block's; -1 if there is none.
     */
    static int firstWrongByte(byte[] target, int targetOffset, int length, long digestHigh, long digestLow, int offsetInBlock)
    {
        for (int i = 0; i < length; i++) {
            int position = offsetInBlock + i;
            byte wanted = (byte) (expected(digestHigh, digestLow, position & -8) >>> (8 * (position & 7)));
            if (target[targetOffset + i] != wanted) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public void close()
    {
        arena.close();
    }
}
