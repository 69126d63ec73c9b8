package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.CounterNames;

/**
 * The resource that was exhausted when a block read was rejected. The reader then reads from the origin.
 */
public enum OverloadCause
{
    /**
     * The queue of blocks that wait for a request to their bucket.
     */
    FETCH_QUEUE(CounterNames.OVERLOADED_FETCH_QUEUE),
    /**
     * The reads of an SSD directory, which are too many or too slow.
     */
    LOAD_QUEUE(CounterNames.OVERLOADED_LOAD_QUEUE),
    /**
     * The RAM tier: there was no free frame, or the block was evicted before its answer was written.
     */
    FRAMES(CounterNames.OVERLOADED_FRAMES),
    /**
     * The heap for blocks without a frame.
     */
    HEAP(CounterNames.OVERLOADED_HEAP),
    /**
     * The number of unanswered requests of one connection.
     */
    REQUESTS(CounterNames.OVERLOADED_REQUESTS);

    private final String counter;

    OverloadCause(String counter)
    {
        this.counter = counter;
    }

    public String counter()
    {
        return counter;
    }
}
