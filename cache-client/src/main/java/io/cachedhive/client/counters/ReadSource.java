package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;

/**
 * The source of a requested byte. Every byte of a finished read has exactly one. The fastest source is first.
 */
public enum ReadSource
{
    /**
     * The RAM tier of this host: from shared memory without asking, or the own worker answered that it was in RAM.
     */
    RAM_HIT(CounterNames.RAM_HIT_BYTES, CounterNames.RAM_HIT_REQUESTS, "ram_hit_wait_nanos"),
    /**
     * The SSD tier of this host's worker.
     */
    SSD_HIT(CounterNames.SSD_HIT_BYTES, CounterNames.SSD_HIT_REQUESTS, "ssd_hit_wait_nanos"),
    /**
     * RAM or SSD of another host's worker; also where the block's owner took it from its former owner for this read.
     */
    NON_LOCAL_HIT(CounterNames.NON_LOCAL_HIT_BYTES, CounterNames.NON_LOCAL_HIT_REQUESTS, "non_local_hit_wait_nanos"),
    /**
     * The origin, to fill: fetched by a worker, waited for somebody else's fetch, or read by this client and offered to the worker.
     */
    REMOTE_READ(CounterNames.REMOTE_READ_BYTES, CounterNames.REMOTE_READ_REQUESTS, "remote_read_wait_nanos"),
    /**
     * The origin, without the cache.
     */
    BYPASS(CounterNames.BYPASS_BYTES, CounterNames.BYPASS_REQUESTS, "bypass_wait_nanos");

    // values() copies
    private static final ReadSource[] ALL = values();

    private final String bytesCounter;
    private final String requestsCounter;
    private final String waitMetric;

    ReadSource(String bytesCounter, String requestsCounter, String waitMetric)
    {
        this.bytesCounter = bytesCounter;
        this.requestsCounter = requestsCounter;
        this.waitMetric = waitMetric;
    }

    /**
     * Returns the source with the largest ordinal that has bytes. A read waits for its slowest source.
     *
     * @param bytesBySource by the source's ordinal
     */
    static ReadSource slowest(long[] bytesBySource)
    {
        for (int i = ALL.length - 1; i > 0; i--) {
            if (bytesBySource[i] > 0) {
                return ALL[i];
            }
        }
        return RAM_HIT;
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

    /**
     * Returns the name of the metric of a scan for the time that its reads waited for this source.
     */
    public String waitMetric()
    {
        return waitMetric;
    }
}
