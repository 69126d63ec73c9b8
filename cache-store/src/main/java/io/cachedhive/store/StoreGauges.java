package io.cachedhive.store;

import java.util.Map;

/**
 * A store's state and what it counted since it was opened.
 *
 * @param ramCapacityBytes size of the shared-memory file
 * @param ramUsedBytes bytes of the blocks in RAM
 * @param ssdCapacityBytes what the SSD directories may hold; the weight of the worker, or the RAM's if it is 0
 * @param ssdUsedBytes bytes of the blocks on SSD
 * @param files file versions with metadata
 * @param restoredBlocks blocks on SSD found again when the store was opened
 * @param ramEvictions blocks that left RAM for space
 * @param ssdEvictions blocks that left SSD for space
 * @param expiredBlocks blocks that left RAM or SSD since they had expired
 * @param corruptBlocks blocks on SSD that did not verify; they were dropped
 * @param refusedFills fills and loads for which no frame could be had
 * @param refusedSsdWrites blocks that were not written to SSD because the queue was full or the directory out of service
 * @param ssdErrors calls to the disks that failed or took too long, by cause
 */
public record StoreGauges(
        long ramCapacityBytes,
        long ramUsedBytes,
        long ramBlocks,
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
        long refusedSsdWrites,
        Map<SsdErrorCause, Long> ssdErrors)
{
    public StoreGauges
    {
        ssdErrors = Map.copyOf(ssdErrors);
    }
}
