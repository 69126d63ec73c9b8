package io.cachedhive.store.ram;

import io.cachedhive.store.policy.EvictionPolicy;

import java.util.ArrayList;
import java.util.List;

/**
 * The frames of one size class. Guarded by the store's lock.
 */
final class RamClass
{
    final int index;
    final EvictionPolicy policy;
    final List<RamSlab> slabs = new ArrayList<>();
    final FrameList free = new FrameList();
    // ordered by start of the rest
    final FrameList resting = new FrameList();
    // RESTING but pinned, so that they cannot be reused
    final FrameList held = new FrameList();
    int frameCount;
    long windowStartNanos;
    int allocations;
    int lastAllocations;

    RamClass(int index, EvictionPolicy policy)
    {
        this.index = index;
        this.policy = policy;
    }
}
