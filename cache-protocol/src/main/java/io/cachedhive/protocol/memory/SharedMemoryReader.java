package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the RAM tier of the cache worker on this host, without a system call and without writing to it. Safe for any number of threads.
 *
 * <p>A read gives exactly the bytes of the named block or says that it has them not; it never waits.
 */
public final class SharedMemoryReader
        implements AutoCloseable
{
    private SharedMemoryReader() {}

    /**
     * Maps the file that the worker named in its welcome.
     *
     * @throws MemoryFormatException if the file is of another layout
     * @throws IOException if it cannot be opened or mapped
     */
    public static SharedMemoryReader open(Path file)
            throws IOException
    {
        throw new UnsupportedOperationException("not built yet: " + file);
    }

    /**
     * {@link MemoryState#DEAD} also after {@link #close}. Not a hot call: ask about once a second.
     */
    public MemoryState state()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * When the worker last said that it lives: milliseconds since the epoch by this host's clock, renewed about every 200 ms.
     */
    public long heartbeatMillis()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Names the run of the worker that made the file, as in its welcome.
     */
    public Digest128 instance()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public CacheWorkerId workerId()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public int blockSizeBytes()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Changes whenever {@link #rings} does: compare before decoding them again.
     */
    public long ringsSequence()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * The rings that the worker keeps, the newest first, at most 16. Those that do not decode are left out.
     */
    public List<PublishedRing> rings()
    {
        throw new UnsupportedOperationException("not built yet");
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
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Copies a range of a block from the frame that the worker named ({@link io.cachedhive.protocol.wire.Message.BlockFrame}).
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
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Hits whose bytes did not have the checksum of the block, found where hits are verified: by sampling, and on every hit on
     * processors other than x86-64. They were answered as misses.
     */
    public long checksumFailures()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Unmaps the file. Reads under way and later ones by other threads are misses.
     */
    @Override
    public void close()
    {
        throw new UnsupportedOperationException("not built yet");
    }
}
