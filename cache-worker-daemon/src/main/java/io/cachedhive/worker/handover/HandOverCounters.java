package io.cachedhive.worker.handover;

import java.util.concurrent.atomic.LongAdder;

/**
 * What was handed over between this worker and others since its start.
 */
public final class HandOverCounters
{
    private final LongAdder takenBlocks = new LongAdder();
    private final LongAdder takenBytes = new LongAdder();
    private final LongAdder failedReads = new LongAdder();
    private final LongAdder givenBlocks = new LongAdder();

    /**
     * This worker took a block from another.
     */
    void addTaken(int bytes)
    {
        takenBlocks.increment();
        takenBytes.add(bytes);
    }

    /**
     * Another worker did not answer, or not as it should.
     */
    void addFailedRead()
    {
        failedReads.increment();
    }

    /**
     * Others have blocks that this worker named when it was drained.
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
