package io.cachedhive.protocol.wire;

/**
 * The source from which the answering worker read a block. The client maps it to one of the five sources of its
 * counters. RAM or SSD of a worker on another host is a non-local hit, and so is a block that any worker received from
 * its former owner. A block that any worker had to fetch is a remote read.
 */
public enum Source
{
    RAM,
    SSD,
    /**
     * The origin, including reads that waited for a fetch that another read started.
     */
    REMOTE,
    /**
     * The former owner of the block, which sent it for this read. Only for clients that sent their chunk size.
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
