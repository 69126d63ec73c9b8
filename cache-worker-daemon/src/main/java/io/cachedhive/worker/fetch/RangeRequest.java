package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.BlockFetcher.Priority;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Adjacent blocks to fetch with one request.
 */
record RangeRequest(FileFetches file, List<WantedBlock> blocks, Priority priority)
{
    RangeRequest
    {
        requireNonNull(file, "file is null");
        blocks = List.copyOf(blocks);
        requireNonNull(priority, "priority is null");
    }
}
