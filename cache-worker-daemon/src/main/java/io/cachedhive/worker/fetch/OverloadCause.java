package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.CounterNames;

/**
 * What was full when a block was refused to a reader, which then asks the origin itself.
 */
public enum OverloadCause
{
    /**
     * The queue of blocks that wait for a request to their bucket.
     */
    FETCH_QUEUE(CounterNames.OVERLOADED_FETCH_QUEUE),
    /**
     * The queue of blocks to be read from SSD.
     */
    LOAD_QUEUE(CounterNames.OVERLOADED_LOAD_QUEUE),
    /**
     * The RAM tier: no frame could be had, or the block left it before its answer was written.
     */
    FRAMES(CounterNames.OVERLOADED_FRAMES),
    /**
     * The heap for blocks that have no frame.
     */
    HEAP(CounterNames.OVERLOADED_HEAP),
    /**
     * The requests that one connection may have without an answer.
     */
    REQUESTS(CounterNames.OVERLOADED_REQUESTS);

    private final String counter;

    OverloadCause(String counter)
    {
        this.counter = counter;
    }

    /**
     * The name of the counter of the blocks refused.
     */
    public String counter()
    {
        return counter;
    }
}
