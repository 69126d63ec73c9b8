package io.cachedhive.protocol.memory;

/**
 * Lets twins of {@link SharedMemoryReader} fill in what they found.
 */
public final class TestingBlockInfo
{
    private TestingBlockInfo() {}

    public static void set(BlockInfo info, long etagDigest, int payloadLength, boolean fetchedAhead)
    {
        info.set(etagDigest, payloadLength, fetchedAhead);
    }
}
