package io.cachedhive.protocol.wire;

/**
 * Where the answering worker had a block from. The client turns that into one of the five sources: what a worker of another host
 * has in RAM or on SSD is a non-local hit, and so is what any worker took from the block's former owner; what any worker had to fetch is a remote read.
 */
public enum Source
{
    RAM,
    SSD,
    /**
     * The origin: fetched for this read, or this read waited for somebody else's fetch.
     */
    REMOTE,
    /**
     * The worker that owned the block before: read from there for this read. Said to clients that told their chunk size.
     */
    PEER;

    private static final Source[] VALUES = values();

    static Source read(WireReader reader)
            throws WireException
    {
        byte code = reader.getByte();
        if (code < 0 || code >= VALUES.length) {
            throw new WireException("unknown source: " + code);
        }
        return VALUES[code];
    }
}
