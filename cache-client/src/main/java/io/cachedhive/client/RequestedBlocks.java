package io.cachedhive.client;

import io.cachedhive.client.counters.HitLog;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;

import java.util.OptionalInt;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Notes which blocks of a file are asked for, wherever their bytes come from. The worker of this host hears of them as of hits: so it can tell what a cache would
 * have done with them, and stores nothing. Without a worker they are forgotten.
 *
 * <p>The worker hears no lengths, and takes each block for a whole one. So a file's last block, which is shorter, is one of a sample, by its digest, of so great a share as its
 * length is of a whole block's: of many files there are as many bytes as there were, and a block is either noted whenever it is asked for, or never.
 *
 * <p>Safe for use by any number of threads.
 */
public final class RequestedBlocks
{
    private final Digest128 file;
    private final long fileLength;
    private final HitLog hits;
    private final Supplier<OptionalInt> blockSizeBytes;
    // the one that was noted last: small reads of one block are one use of it
    private volatile long lastBlock = -1;

    RequestedBlocks(FileVersion file, HitLog hits, Supplier<OptionalInt> blockSizeBytes)
    {
        this.file = file.id().digest();
        this.fileLength = file.length();
        this.hits = requireNonNull(hits, "hits is null");
        this.blockSizeBytes = requireNonNull(blockSizeBytes, "blockSizeBytes is null");
    }

    /**
     * @param position bytes from the start of the file
     * @param length bytes; nothing is noted for 0
     */
    public void add(long position, long length)
    {
        OptionalInt blockSize = blockSizeBytes.get();
        if (length <= 0 || blockSize.isEmpty()) {
            return;
        }
        long end = Math.ceilDiv(position + length, (long) blockSize.getAsInt());
        for (long block = position / blockSize.getAsInt(); block < end; block++) {
            if (block != lastBlock) {
                lastBlock = block;
                long high = BlockKey.digestHigh(file.high(), (int) block);
                long low = BlockKey.digestLow(file.low(), (int) block);
                if (isSampled(high ^ low, fileLength - block * blockSize.getAsInt(), blockSize.getAsInt())) {
                    hits.add(high, low);
                }
            }
        }
    }

    private static boolean isSampled(long digest, long lengthFromBlock, int blockSize)
    {
        if (lengthFromBlock >= blockSize) {
            return true;
        }
        // the worker's own sample is by bits of the digest: these are others (the finalizer of SplitMix64, Steele et al., 2014)
        long bits = (digest ^ (digest >>> 30)) * 0xbf58476d1ce4e5b9L;
        bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
        bits ^= bits >>> 31;
        return (bits >>> 11) * 0x1.0p-53 * blockSize < lengthFromBlock;
    }
}
