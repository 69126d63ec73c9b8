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
 * <p>Safe for use by any number of threads.
 */
public final class AskedBlocks
{
    private final Digest128 file;
    private final HitLog hits;
    private final Supplier<OptionalInt> blockSizeBytes;
    // the one that was noted last: small reads of one block are one use of it
    private volatile long lastBlock = -1;

    AskedBlocks(FileVersion file, HitLog hits, Supplier<OptionalInt> blockSizeBytes)
    {
        this.file = file.id().digest();
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
                hits.add(BlockKey.digestHigh(file.high(), (int) block), BlockKey.digestLow(file.low(), (int) block));
            }
        }
    }
}
