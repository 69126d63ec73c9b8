package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;

/**
 * Where a requested byte came from. Every byte of a finished read is exactly one of these.
 */
public enum ReadSource
{
    /**
     * The RAM tier of this host: from shared memory without asking, or the own worker answered that it was in RAM.
     */
    RAM_HIT(CounterNames.RAM_HIT_BYTES, CounterNames.RAM_HIT_REQUESTS),
    /**
     * The SSD tier of this host's worker.
     */
    SSD_HIT(CounterNames.SSD_HIT_BYTES, CounterNames.SSD_HIT_REQUESTS),
    /**
     * RAM or SSD of another host's worker; also where the block's owner took it from its former owner for this read.
     */
    NON_LOCAL_HIT(CounterNames.NON_LOCAL_HIT_BYTES, CounterNames.NON_LOCAL_HIT_REQUESTS),
    /**
     * The origin, to fill: fetched by a worker, waited for somebody else's fetch, or read by this client and offered to the worker.
     */
    REMOTE_READ(CounterNames.REMOTE_READ_BYTES, CounterNames.REMOTE_READ_REQUESTS),
    /**
     * The origin, without the cache.
     */
    BYPASS(CounterNames.BYPASS_BYTES, CounterNames.BYPASS_REQUESTS);

    private final String bytesCounter;
    private final String requestsCounter;

    ReadSource(String bytesCounter, String requestsCounter)
    {
        this.bytesCounter = bytesCounter;
        this.requestsCounter = requestsCounter;
    }

    /**
     * A name of {@link CounterNames}.
     */
    public String bytesCounter()
    {
        return bytesCounter;
    }

    /**
     * A name of {@link CounterNames}.
     */
    public String requestsCounter()
    {
        return requestsCounter;
    }
}
