package io.cachedhive.worker.fetch;

import io.cachedhive.worker.origin.OriginObserver.Operation;

import java.util.concurrent.atomic.LongAdder;

/**
 * What the worker itself counted since its start.
 */
public final class WorkerCounters
{
    private final LongAdder originGets = new LongAdder();
    private final LongAdder originHeads = new LongAdder();
    private final LongAdder originBytes = new LongAdder();
    private final LongAdder originErrors = new LongAdder();
    private final LongAdder extraBytes = new LongAdder();
    private final LongAdder versionChanges = new LongAdder();

    public void addOriginRequest(Operation operation)
    {
        switch (operation) {
            case GET -> originGets.increment();
            case HEAD -> originHeads.increment();
        }
    }

    public void addOriginBytes(long bytes)
    {
        originBytes.add(bytes);
    }

    public void addOriginError()
    {
        originErrors.increment();
    }

    /**
     * Fetched although no reader asked, or waits any more.
     */
    public void addExtraBytes(long bytes)
    {
        extraBytes.add(bytes);
    }

    /**
     * A file version was dropped because the object at the origin is another one.
     */
    public void addVersionChange()
    {
        versionChanges.increment();
    }

    public long originGets()
    {
        return originGets.sum();
    }

    public long originHeads()
    {
        return originHeads.sum();
    }

    public long originBytes()
    {
        return originBytes.sum();
    }

    public long originErrors()
    {
        return originErrors.sum();
    }

    public long extraBytes()
    {
        return extraBytes.sum();
    }

    public long versionChanges()
    {
        return versionChanges.sum();
    }
}
