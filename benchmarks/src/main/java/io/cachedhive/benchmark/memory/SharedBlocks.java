package io.cachedhive.benchmark.memory;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * A shared-memory file as a cache worker writes it, full of blocks of one file, mapped as a reader maps it: with {@link SharedMemoryReader}, and bare.
 */
final class SharedBlocks
        implements AutoCloseable
{
    private final Arena arena;
    private final SharedMemoryReader reader;
    private final MemorySegment plain;
    private final MemoryLayout layout;
    private final FileVersionId file;
    private final int blockCount;

    private SharedBlocks(Arena arena, SharedMemoryReader reader, MemorySegment plain, MemoryLayout layout, FileVersionId file, int blockCount)
    {
        this.arena = arena;
        this.reader = reader;
        this.plain = plain;
        this.layout = layout;
        this.file = file;
        this.blockCount = blockCount;
    }

    /**
     * @param totalBytes of the blocks
     */
    @SuppressWarnings("MustBeClosedChecker") // closed with the blocks
    static SharedBlocks create(int blockSizeBytes, long totalBytes, long seed)
            throws IOException
    {
        SplittableRandom random = new SplittableRandom(seed);
        FileVersionId file = new FileVersionId(new Digest128(random.nextLong(), random.nextLong()));
        // the header and the index come on top
        MemoryLayout layout = MemoryLayout.forFileSize(totalBytes + totalBytes / 16 + (4 << 20), blockSizeBytes);
        int blockCount = Math.toIntExact(totalBytes / blockSizeBytes);

        Path path = Files.createTempFile(MemoryDirectory.parent(), "cachedhive-benchmark", ".memory");
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(path, READ, WRITE)) {
            try (Arena writing = Arena.ofConfined()) {
                MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, layout.fileSizeBytes(), writing);
                fill(SharedMemoryWriter.format(memory, layout, new Digest128(1, 2), new CacheWorkerId("benchmark")), file, blockCount, random);
            }
            SharedMemoryReader reader = SharedMemoryReader.open(path);
            MemorySegment plain = channel.map(FileChannel.MapMode.READ_ONLY, 0, layout.fileSizeBytes(), arena);
            return new SharedBlocks(arena, reader, plain, layout, file, blockCount);
        }
        finally {
            // the mappings keep it
            Files.delete(path);
        }
    }

    private static void fill(SharedMemoryWriter writer, FileVersionId file, int blockCount, SplittableRandom random)
    {
        byte[] bytes = new byte[writer.layout().blockSizeBytes()];
        int unitsPerBlock = bytes.length / MemoryLayout.UNIT_BYTES;
        for (int index = 0; index < blockCount; index++) {
            random.nextBytes(bytes);
            int frame = index * unitsPerBlock;
            long generation = 2L * (index + 1);
            BlockKey block = file.block(index);
            writer.beginFrame(frame, generation);
            MemorySegment.copy(bytes, 0, writer.payload(frame, bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
            writer.publishFrame(frame, generation, block.high(), block.low(), 7, MemoryChecksums.compute(writer.payload(frame, bytes.length)));
            if (!writer.putEntry(block.high(), block.low(), frame, generation)) {
                throw new IllegalStateException("no room in the index for block %s of %s".formatted(index, blockCount));
            }
        }
        writer.setState(MemoryState.LIVE);
    }

    SharedMemoryReader reader()
    {
        return reader;
    }

    FileVersionId file()
    {
        return file;
    }

    int blockCount()
    {
        return blockCount;
    }

    /**
     * The same bytes by their bare address.
     */
    MemorySegment plain()
    {
        return plain;
    }

    long plainOffset(int block)
    {
        return layout.frameOffset(block * (layout.blockSizeBytes() / MemoryLayout.UNIT_BYTES));
    }

    @Override
    public void close()
    {
        reader.close();
        arena.close();
    }
}
