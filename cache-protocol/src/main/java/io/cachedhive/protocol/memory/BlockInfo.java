package io.cachedhive.protocol.memory;

/**
 * What a read learns of a block besides its bytes. Filled in by {@link SharedMemoryReader#read} and used again for the next read, so
 * that a hit allocates nothing: one for each reading thread or open file. Holds the last hit; a miss leaves it as it was.
 */
public final class BlockInfo
{
    private long etagDigest;
    private int payloadLength;
    private boolean fetchedAhead;

    /**
     * {@link io.cachedhive.protocol.file.ETags#digest} of the file's ETag when the block was filled.
     */
    public long etagDigest()
    {
        return etagDigest;
    }

    /**
     * Bytes of the whole block.
     */
    public int payloadLength()
    {
        return payloadLength;
    }

    /**
     * Whether the block was fetched from its origin for this read, before the read: nobody else was seen to ask for it since.
     */
    public boolean fetchedAhead()
    {
        return fetchedAhead;
    }

    void set(long etagDigest, int payloadLength, boolean fetchedAhead)
    {
        this.etagDigest = etagDigest;
        this.payloadLength = payloadLength;
        this.fetchedAhead = fetchedAhead;
    }
}
