package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;

import static java.util.Objects.requireNonNull;

/**
 * A place for a block in shared memory, and the block in it. Guarded by the store's lock.
 */
public final class Frame
{
    enum State
    {
        /**
         * Holds nothing, and no reader accepts it.
         */
        FREE,
        /**
         * Being written by a fill or a load; no reader accepts it.
         */
        FILLING,
        /**
         * Holds a block that readers find in the index.
         */
        LIVE,
        /**
         * Evicted: readers that were told of it may still read it for a while, and it comes back to life when it is asked for.
         */
        RESTING,
        /**
         * Its file was dropped while it was pinned: no reader accepts it, and it is free when it is unpinned.
         */
        DETACHED,
    }

    private final int number;
    private final RamSlab slab;
    // its number among those that the policies order
    final int entry;

    State state = State.FREE;
    int pins;
    long restsSinceNanos;

    // set with the generation, meaningful while not FREE
    long generation;
    Digest128 digest;
    StoredFile file;
    StoredTable table;
    int length;
    int checksum;
    BlockTerms terms;

    // whether its last rest began since its table has no room for it
    boolean leaves;
    // whether it is among those that are to be freed when they have rested
    boolean inLeaving;

    // of the one list that it is in
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
     * CRC32C of the payload.
     */
    public int checksum()
    {
        return checksum;
    }

    /**
     * On which its block is kept.
     */
    public BlockTerms terms()
    {
        return terms;
    }

    /**
     * Whether the block is another worker's.
     */
    public boolean isGuest()
    {
        return terms.blockClass() == BlockClass.GUEST;
    }

    /**
     * Whether it holds a block that may be given out.
     */
    public boolean holdsBlock()
    {
        return state == State.LIVE || state == State.RESTING;
    }
}
