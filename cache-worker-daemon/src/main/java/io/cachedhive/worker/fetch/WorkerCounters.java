package io.cachedhive.worker.fetch;

import io.cachedhive.store.ReleaseResult;
import io.cachedhive.worker.origin.OriginObserver.Operation;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of the worker itself since its start.
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
    private final LongAdder refusedLocations = new LongAdder();
    private final LongAdder extraBytes = new LongAdder();
    private final LongAdder versionChanges = new LongAdder();
    private final LongAdder sentBytes = new LongAdder();
    private final LongAdder quarantinedFiles = new LongAdder();
    private final LongAdder releasedFiles = new LongAdder();
    private final LongAdder releasedBlocks = new LongAdder();
    private final LongAdder releasedBytes = new LongAdder();
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
     * Counts a file version that was dropped because a reader found other bytes at the origin.
     */
    public void addQuarantinedFile()
    {
        quarantinedFiles.increment();
    }

    public long quarantinedFiles()
    {
        return quarantinedFiles.sum();
    }

    /**
     * Counts file versions that were dropped because a statement removed the files.
     */
    public void addReleased(ReleaseResult released)
    {
        releasedFiles.add(released.files());
        releasedBlocks.add(released.blocks());
        releasedBytes.add(released.bytes());
    }

    public long releasedFiles()
    {
        return releasedFiles.sum();
    }

    public long releasedBlocks()
    {
        return releasedBlocks.sum();
    }

    public long releasedBytes()
    {
        return releasedBytes.sum();
    }

    public void addOriginBytes(long bytes)
    {
        originBytes.add(bytes);
    }

    public void addOriginError()
    {
        originErrors.increment();
    }

    public void addOriginThrottled()
    {
        originThrottled.increment();
    }

    public void addOriginRetries(long count)
    {
        originRetries.add(count);
    }

    /**
     * Counts blocks whose read or preload was refused because their origin does not allow the location.
     */
    public void addRefusedLocation(long blocks)
    {
        refusedLocations.add(blocks);
    }

    public long refusedLocations()
    {
        return refusedLocations.sum();
    }

    public void addOverloaded(OverloadCause cause, long blocks)
    {
        overloaded.get(cause).add(blocks);
    }

    /**
     * Counts bytes that were fetched although no reader requested them or still waits for them.
     */
    public void addExtraBytes(long bytes)
    {
        extraBytes.add(bytes);
    }

    /**
     * Counts a file version that was dropped because the object at the origin has changed.
     */
    public void addVersionChange()
    {
        versionChanges.increment();
    }

    public void addSentBytes(long bytes)
    {
        sentBytes.add(bytes);
    }

    public long sentBytes()
    {
        return sentBytes.sum();
    }

    /**
     * Counts a guest block offered by a client.
     *
     * @param kept whether the block was stored
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
