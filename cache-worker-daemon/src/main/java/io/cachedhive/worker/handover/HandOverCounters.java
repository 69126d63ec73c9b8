package io.cachedhive.worker.handover;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of blocks transferred between this worker and others since its start.
 */
public final class HandOverCounters
{
    private final LongAdder takenBlocks = new LongAdder();
    private final LongAdder takenBytes = new LongAdder();
    private final LongAdder failedReads = new LongAdder();
    private final LongAdder givenBlocks = new LongAdder();

    void addTaken(int bytes)
    {
        takenBlocks.increment();
        takenBytes.add(bytes);
    }

    /**
     * Counts a request that another worker did not answer, or answered incorrectly.
     */
    void addFailedRead()
    {
        failedReads.increment();
    }

    /**
     * Counts blocks that other workers received while this worker was draining.
     */
    void addGiven(int blocks)
    {
        givenBlocks.add(blocks);
    }

    public long takenBlocks()
    {
        return takenBlocks.sum();
    }

    public long takenBytes()
    {
        return takenBytes.sum();
    }

    public long failedReads()
    {
        return failedReads.sum();
    }

    public long givenBlocks()
    {
        return givenBlocks.sum();
    }
}
