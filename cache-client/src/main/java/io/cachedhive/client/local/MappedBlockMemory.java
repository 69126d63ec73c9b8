package io.cachedhive.client.local;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.protocol.memory.HitVerification;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.protocol.ring.PublishedRing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * The worker's shared-memory file.
 */
public final class MappedBlockMemory
        implements BlockMemory
{
    private final SharedMemoryReader reader;

    private MappedBlockMemory(SharedMemoryReader reader)
    {
        this.reader = requireNonNull(reader, "reader is null");
    }

    /**
     * Maps the file, which must belong to the user who owns the worker's socket, or to root.
     *
     * @throws io.cachedhive.protocol.memory.UnsafeFileException if another user may have made or may change the file
     */
    public static MappedBlockMemory open(Path file, HitVerification verification, Path socket)
            throws IOException
    {
        return new MappedBlockMemory(SharedMemoryReader.open(file, verification, FileStatus.ofTarget(socket).userId()));
    }

    @Override
    public MemoryState state()
    {
        return reader.state();
    }

    @Override
    public Digest128 instance()
    {
        return reader.instance();
    }

    @Override
    public int blockSizeBytes()
    {
        return reader.blockSizeBytes();
    }

    @Override
    public long ringsSequence()
    {
        return reader.ringsSequence();
    }

    @Override
    public List<PublishedRing> rings()
    {
        return reader.rings();
    }

    @Override
    public int read(long digestHigh, long digestLow, int offsetInBlock, byte[] target, int targetOffset, int length, BlockInfo info)
    {
        return reader.read(digestHigh, digestLow, offsetInBlock, target, targetOffset, length, info);
    }

    @Override
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
        return reader.readFrame(frame, frameOffset, generation, digestHigh, digestLow, offsetInBlock, target, targetOffset, length);
    }

    @Override
    public void close()
    {
        reader.close();
    }
}
