package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.BlockFetcher.Priority;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Neighbouring blocks to be asked for at once.
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
