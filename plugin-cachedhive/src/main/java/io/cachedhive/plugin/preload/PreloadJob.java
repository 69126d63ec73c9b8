package io.cachedhive.plugin.preload;

import io.trino.spi.connector.SchemaTableName;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * One preload, from the CALL that began it. Counters grow while others look at them.
 */
final class PreloadJob
{
    private final String id;
    private final SchemaTableName table;
    private final Optional<String> partition;
    private final Optional<List<String>> columns;
    private final Instant called;
    private final CompletableFuture<Void> cancellation = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    // guarded by this
    private PreloadState state = PreloadState.QUEUED;
    private long leftBytes;
    private long doneBytes;
    private long failedBytes;
    private long fetchedBytes;
    private Optional<String> problem = Optional.empty();
    private Optional<Instant> ended = Optional.empty();

    /**
     * @param partition as in {@code ds=2024-01-01/region=eu}; empty for all of a table
     * @param columns empty for all of them
     * @param leftBytes of all that it could have to load
     */
    PreloadJob(String id, SchemaTableName table, Optional<String> partition, Optional<List<String>> columns, long leftBytes, Instant called)
    {
        this.id = requireNonNull(id, "id is null");
        this.table = requireNonNull(table, "table is null");
        this.partition = requireNonNull(partition, "partition is null");
        this.columns = columns.map(List::copyOf);
        this.leftBytes = leftBytes;
        this.called = requireNonNull(called, "called is null");
    }

    String id()
    {
        return id;
    }

    SchemaTableName table()
    {
        return table;
    }

    synchronized PreloadState state()
    {
        return state;
    }

    /**
     * @return false if it was cancelled before
     */
    synchronized boolean begin()
    {
        if (state != PreloadState.QUEUED) {
            return false;
        }
        state = PreloadState.RUNNING;
        return true;
    }

    /**
     * It turned out that less is to be loaded: some columns are only some of a file's bytes.
     */
    synchronized void removeLeft(long bytes)
    {
        leftBytes -= bytes;
    }

    synchronized void addDone(long bytes)
    {
        leftBytes -= bytes;
        doneBytes += bytes;
    }

    /**
     * @param bytes that cache workers did not have: whole blocks
     */
    synchronized void addFetched(long bytes)
    {
        fetchedBytes += bytes;
    }

    /**
     * @param problem what went wrong; the first one is kept
     */
    synchronized void addFailed(long bytes, String problem)
    {
        leftBytes -= bytes;
        failedBytes += bytes;
        addProblem(problem);
    }

    private void addProblem(String problem)
    {
        if (this.problem.isEmpty()) {
            this.problem = Optional.of(problem);
        }
    }

    /**
     * Done when it is to stop.
     */
    CompletableFuture<Void> cancellation()
    {
        return cancellation;
    }

    boolean isCancelled()
    {
        return cancellation.isDone();
    }

    /**
     * @param reason shown as the job's problem
     * @return whether it had not ended
     */
    boolean cancel(String reason, Instant now)
    {
        synchronized (this) {
            if (state.isEnd()) {
                return false;
            }
            addProblem(reason);
        }
        cancellation.complete(null);
        if (state() == PreloadState.QUEUED) {
            // nobody else will end it; if it begins just now, whoever begins it looks again
            end(PreloadState.CANCELED, now);
        }
        return true;
    }

    /**
     * Ends by what happened.
     */
    void end(Instant now)
    {
        PreloadState end;
        synchronized (this) {
            end = isCancelled() ? PreloadState.CANCELED : failedBytes > 0 || problem.isPresent() ? PreloadState.FAILED : PreloadState.FINISHED;
        }
        end(end, now);
    }

    /**
     * Nothing but a defect makes a job end like this.
     */
    void fail(String problem, Instant now)
    {
        synchronized (this) {
            addProblem(problem);
        }
        end(now);
    }

    private void end(PreloadState end, Instant now)
    {
        synchronized (this) {
            if (state.isEnd()) {
                return;
            }
            state = end;
            ended = Optional.of(now);
        }
        this.end.complete(null);
    }

    /**
     * Done when the job has ended, however.
     */
    CompletableFuture<Void> end()
    {
        return end;
    }

    synchronized Status status()
    {
        return new Status(id, table, partition, columns, state, doneBytes, leftBytes, failedBytes, fetchedBytes, called, ended, problem);
    }

    record Status(
            String id,
            SchemaTableName table,
            Optional<String> partition,
            Optional<List<String>> columns,
            PreloadState state,
            long doneBytes,
            long leftBytes,
            long failedBytes,
            long fetchedBytes,
            Instant called,
            Optional<Instant> ended,
            Optional<String> problem) {}
}
