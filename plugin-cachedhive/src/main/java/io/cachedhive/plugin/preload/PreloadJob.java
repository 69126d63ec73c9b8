package io.cachedhive.plugin.preload;

import io.trino.spi.connector.SchemaTableName;

import java.time.Instant;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * One preload, from the CALL that began it. Counters grow while others look at them.
 */
final class PreloadJob
{
    private final String id;
    private final SchemaTableName table;
    private final Optional<String> partition;
    private final long totalBytes;
    private final Instant started;

    // guarded by this
    private PreloadState state = PreloadState.RUNNING;
    private long doneBytes;
    private long failedBytes;
    private Optional<String> problem = Optional.empty();
    private Optional<Instant> ended = Optional.empty();

    /**
     * @param partition as in {@code ds=2024-01-01/region=eu}; empty for an unpartitioned table
     */
    PreloadJob(String id, SchemaTableName table, Optional<String> partition, long totalBytes, Instant started)
    {
        this.id = requireNonNull(id, "id is null");
        this.table = requireNonNull(table, "table is null");
        this.partition = requireNonNull(partition, "partition is null");
        this.totalBytes = totalBytes;
        this.started = requireNonNull(started, "started is null");
    }

    synchronized void addDone(long bytes)
    {
        doneBytes += bytes;
    }

    /**
     * @param problem what went wrong; the first one is kept
     */
    synchronized void addFailed(long bytes, String problem)
    {
        failedBytes += bytes;
        if (this.problem.isEmpty()) {
            this.problem = Optional.of(problem);
        }
    }

    synchronized void end(Instant ended)
    {
        state = failedBytes > 0 ? PreloadState.FAILED : PreloadState.FINISHED;
        this.ended = Optional.of(ended);
    }

    synchronized Status status()
    {
        return new Status(id, table, partition, state, doneBytes, totalBytes - doneBytes - failedBytes, failedBytes, started, ended, problem);
    }

    record Status(
            String id,
            SchemaTableName table,
            Optional<String> partition,
            PreloadState state,
            long doneBytes,
            long leftBytes,
            long failedBytes,
            Instant started,
            Optional<Instant> ended,
            Optional<String> problem) {}
}
