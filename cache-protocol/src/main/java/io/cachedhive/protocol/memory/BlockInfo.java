package io.cachedhive.protocol.memory;

/**
 * The metadata of a block that a read returns besides its bytes. {@link SharedMemoryReader#read} fills it in and
 * callers reuse it, so that a hit allocates nothing. Use one per reading thread or open file. A miss leaves it
 * unchanged.
 */
public final class BlockInfo
{
    private long etagDigest;
    private int payloadLength;
    private boolean fetchedAhead;

    /**
     * Returns the {@link io.cachedhive.protocol.file.ETags#digest} of the file's ETag when the block was filled.
     */
    public long etagDigest()
    {
        return etagDigest;
    }

    /**
     * Returns the length of the whole block in bytes.
     */
    public int payloadLength()
    {
        return payloadLength;
    }

    /**
     * Returns whether the block was fetched ahead of this read, and no other read of it has been recorded since.
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
