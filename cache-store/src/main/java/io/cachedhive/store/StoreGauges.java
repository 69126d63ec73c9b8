package io.cachedhive.store;

import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;

import java.util.Map;

/**
 * Gauges of a store, and its counters since it was opened.
 *
 * @param ramCapacityBytes configured size of the shared-memory file
 * @param ramAllocatedBytes size of the allocated part of the shared-memory file
 * @param ramUsedBytes bytes of the blocks in RAM
 * @param guestBytes bytes of RAM used by guest blocks
 * @param pinnedBytes bytes of pinned blocks on SSD, or in RAM when there is no SSD
 * @param pinnedMaxBytes limit on pinned bytes
 * @param rejectedPins blocks with class high because pinned blocks reached their limit
 * @param ssdCapacityBytes capacity of the SSD directories; the weight of the worker on the ring, or the RAM's if it is
 *         0
 * @param ssdUsedBytes bytes of the blocks on SSD
 * @param files file versions with metadata
 * @param restoredBlocks blocks on SSD restored when the store was opened
 * @param ramEvictions blocks evicted from RAM
 * @param ssdEvictions blocks evicted from SSD
 * @param expiredBlocks expired blocks removed from RAM or SSD
 * @param corruptBlocks blocks in RAM and on SSD dropped because verification failed
 * @param refusedFills fills and loads without a free frame
 * @param refusedSsdWrites blocks not written to SSD, by cause
 * @param ssdDirectoriesOffline SSD directories with limited or no service
 * @param ssdErrors disk calls that failed or took too long, by cause
 */
public record StoreGauges(
        long ramCapacityBytes,
        long ramAllocatedBytes,
        long ramUsedBytes,
        long ramBlocks,
        long guestBytes,
        long pinnedBytes,
        long pinnedMaxBytes,
        long rejectedPins,
        long ssdCapacityBytes,
        long ssdUsedBytes,
        long ssdBlocks,
        long files,
        long restoredBlocks,
        long ramEvictions,
        long ssdEvictions,
        long expiredBlocks,
        long corruptBlocks,
        long refusedFills,
        Map<SsdRefusalCause, Long> refusedSsdWrites,
        long ssdDirectoriesOffline,
        Map<SsdErrorCause, Long> ssdErrors)
{
    public StoreGauges
    {
        refusedSsdWrites = Map.copyOf(refusedSsdWrites);
        ssdErrors = Map.copyOf(ssdErrors);
    }
}
