package io.cachedhive.worker.fetch;

import io.cachedhive.worker.origin.OriginObserver.Operation;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the worker itself counted since its start.
 */
public final class WorkerCounters
{
    private final LongAdder keptGuests = new LongAdder();
    private final LongAdder refusedGuests = new LongAdder();
    private final LongAdder originGets = new LongAdder();
    private final LongAdder originHeads = new LongAdder();
    private final LongAdder originBytes = new LongAdder();
    private final LongAdder originErrors = new LongAdder();
    private final LongAdder originThrottled = new LongAdder();
    private final LongAdder originRetries = new LongAdder();
    private final LongAdder extraBytes = new LongAdder();
    private final LongAdder versionChanges = new LongAdder();
    private final LongAdder sentBytes = new LongAdder();
    private final LongAdder quarantinedFiles = new LongAdder();
    private final Map<OverloadCause, LongAdder> overloaded = new EnumMap<>(OverloadCause.class);

    public WorkerCounters()
    {
        for (OverloadCause cause : OverloadCause.values()) {
            overloaded.put(cause, new LongAdder());
        }
    }

    public void addOriginRequest(Operation operation)
    {
        switch (operation) {
            case GET -> originGets.increment();
            case HEAD -> originHeads.increment();
        }
    }

    /**
     * A file version was dropped because a reader found other bytes at the origin.
     */
    public void addQuarantinedFile()
    {
        quarantinedFiles.increment();
    }

    public long quarantinedFiles()
    {
        return quarantinedFiles.sum();
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
     * An origin refused a request as one too many.
     */
    public void addOriginThrottled()
    {
        originThrottled.increment();
    }

    /**
     * Requests that were made before, and failed.
     */
    public void addOriginRetries(long count)
    {
        originRetries.add(count);
    }

    /**
     * Blocks were refused to a reader.
     */
    public void addOverloaded(OverloadCause cause, long blocks)
    {
        overloaded.get(cause).add(blocks);
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

    /**
     * Bytes of a block are sent over a connection.
     */
    public void addSentBytes(long bytes)
    {
        sentBytes.add(bytes);
    }

    public long sentBytes()
    {
        return sentBytes.sum();
    }

    /**
     * A client offered a block of another worker's.
     *
     * @param kept whether it is in RAM now
     */
    public void addGuest(boolean kept)
    {
        (kept ? keptGuests : refusedGuests).increment();
    }

    public long keptGuests()
    {
        return keptGuests.sum();
    }

    public long refusedGuests()
    {
        return refusedGuests.sum();
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

    public long originThrottled()
    {
        return originThrottled.sum();
    }

    public long originRetries()
    {
        return originRetries.sum();
    }

    public long overloaded(OverloadCause cause)
    {
        return overloaded.get(cause).sum();
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
