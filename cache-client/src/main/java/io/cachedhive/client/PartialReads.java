package io.cachedhive.client;

import io.cachedhive.protocol.file.Digest128;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the reads of blocks of which only a part was requested. Remembers some thousand blocks: of two blocks with the
 * same slot, it remembers the later one.
 *
 * <p>Safe for use by any number of threads.
 */
final class PartialReads
{
    private static final int SLOTS = 1 << 14;
    private static final long COUNT_MASK = 0xFF;

    // the upper bits of a block's digest, and the count in the lowest byte
    private final AtomicLongArray slots = new AtomicLongArray(SLOTS);

    /**
     * Returns the number of reads of the block, including this one.
     */
    int add(Digest128 block)
    {
        int slot = (int) block.low() & (SLOTS - 1);
        long tag = block.high() & ~COUNT_MASK;
        long counted = slots.updateAndGet(slot, old -> {
            if ((old & ~COUNT_MASK) != tag) {
                return tag | 1;
            }
            return (old & COUNT_MASK) == COUNT_MASK ? old : old + 1;
        });
        return (int) (counted & COUNT_MASK);
    }
}
