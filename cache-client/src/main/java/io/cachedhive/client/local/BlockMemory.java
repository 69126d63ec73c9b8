package io.cachedhive.client.local;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.protocol.ring.PublishedRing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The RAM tier of this host's worker as a client sees it: {@link SharedMemoryReader}, whose contract it has, or a twin of it.
 */
public interface BlockMemory
        extends AutoCloseable
{
    interface Opener
    {
        BlockMemory open(Path file)
                throws IOException;
    }

    MemoryState state();

    Digest128 instance();

    int blockSizeBytes();

    long ringsSequence();

    List<PublishedRing> rings();

    int read(long digestHigh, long digestLow, int offsetInBlock, byte[] target, int targetOffset, int length, BlockInfo info);

    boolean readFrame(
            int frame,
            long frameOffset,
            long generation,
            long digestHigh,
            long digestLow,
            int offsetInBlock,
            byte[] target,
            int targetOffset,
            int length);

    @Override
    void close();
}
