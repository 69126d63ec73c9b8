package io.cachedhive.worker.request;

import io.cachedhive.store.BlockStore;
import io.cachedhive.worker.fetch.ByteBudget;
import io.cachedhive.worker.fetch.WorkerCounters;

import java.util.concurrent.atomic.AtomicInteger;

import static java.util.Objects.requireNonNull;

/**
 * The resources of answers that have not been written yet, and the number of blocks that they keep from eviction.
 */
public final class InFlight
{
    private final BlockStore store;
    private final ByteBudget budget;
    private final WorkerCounters counters;
    private final AtomicInteger referencedBlocks = new AtomicInteger();

    /**
     * @param budget limits the bytes of frames that answers keep from eviction until they are written
     */
    public InFlight(BlockStore store, ByteBudget budget, WorkerCounters counters)
    {
        this.store = requireNonNull(store, "store is null");
        this.budget = requireNonNull(budget, "budget is null");
        this.counters = requireNonNull(counters, "counters is null");
    }

    BlockStore store()
    {
        return store;
    }

    ByteBudget budget()
    {
        return budget;
    }

    WorkerCounters counters()
    {
        return counters;
    }

    void pinned()
    {
        referencedBlocks.incrementAndGet();
    }

    void unpinned()
    {
        referencedBlocks.decrementAndGet();
    }

    public int referencedBlocks()
    {
        return referencedBlocks.get();
    }
}
