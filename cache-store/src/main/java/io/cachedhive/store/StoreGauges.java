package io.cachedhive.store;

import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;

import java.util.Map;

/**
 * A store's state and what it counted since it was opened.
 *
 * @param ramCapacityBytes size of the shared-memory file
 * @param ramUsedBytes bytes of the blocks in RAM
 * @param guestBytes of RAM that blocks of other workers take
 * @param pinnedBytes bytes of the blocks of class pinned, on SSD, without an SSD tier in RAM
 * @param pinnedMaxBytes how many there may be
 * @param rejectedPins blocks that were to be pinned, and are of class high for want of room among the pinned ones
 * @param ssdCapacityBytes what the SSD directories may hold; the weight of the worker, or the RAM's if it is 0
 * @param ssdUsedBytes bytes of the blocks on SSD
 * @param files file versions with metadata
 * @param restoredBlocks blocks on SSD found again when the store was opened
 * @param ramEvictions blocks that left RAM for space
 * @param ssdEvictions blocks that left SSD for space
 * @param expiredBlocks blocks that left RAM or SSD since they had expired
 * @param corruptBlocks blocks on SSD that did not verify; they were dropped
 * @param refusedFills fills and loads for which no frame could be had
 * @param refusedSsdWrites blocks that were not written to SSD, by cause
 * @param ssdDirectoriesOffline SSD directories that do not do all that they should
 * @param ssdErrors calls to the disks that failed or took too long, by cause
 */
public record StoreGauges(
        long ramCapacityBytes,
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
