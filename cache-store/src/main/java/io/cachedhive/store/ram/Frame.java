package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;

import static java.util.Objects.requireNonNull;

/**
 * A frame of shared memory and the block in it. Guarded by the store's lock.
 */
public final class Frame
{
    enum State
    {
        /**
         * Has no block; readers reject it.
         */
        FREE,
        /**
         * Being written by a fill or a load; readers reject it.
         */
        FILLING,
        /**
         * Has a block that readers find in the index.
         */
        LIVE,
        /**
         * Evicted, but still readable for a while by clients that know it. A request makes it live again.
         */
        RESTING,
        /**
         * Its file was dropped while it was pinned; readers reject it. Unpinning frees it.
         */
        DETACHED,
    }

    private final int number;
    private final RamSlab slab;
    // its number in the policies
    final int entry;

    State state = State.FREE;
    int pins;
    long restsSinceNanos;

    // set with the generation; valid unless FREE
    long generation;
    Digest128 digest;
    StoredFile file;
    StoredTable table;
    int length;
    int checksum;
    BlockTerms terms;

    // whether its last rest began because its table has no capacity for it
    boolean leaves;
    // whether it is queued to be freed after its rest
    boolean inLeaving;

    // links of the single list that has it
    FrameList list;
    Frame previous;
    Frame next;

    Frame(int number, RamSlab slab, int entry)
    {
        this.number = number;
        this.slab = requireNonNull(slab, "slab is null");
        this.entry = entry;
    }

    public int number()
    {
        return number;
    }

    RamSlab slab()
    {
        return slab;
    }

    public long generation()
    {
        return generation;
    }

    public Digest128 digest()
    {
        return digest;
    }

    public StoredFile file()
    {
        return file;
    }

    public int length()
    {
        return length;
    }

    /**
     * Returns the CRC32C of the payload.
     */
    public int checksum()
    {
        return checksum;
    }

    /**
     * Returns the class and expiry of its block.
     */
    public BlockTerms terms()
    {
        return terms;
    }

    /**
     * Returns whether the block is another worker's.
     */
    public boolean isGuest()
    {
        return terms.blockClass() == BlockClass.GUEST;
    }

    /**
     * Returns whether it has a readable block.
     */
    public boolean holdsBlock()
    {
        return state == State.LIVE || state == State.RESTING;
    }
}
