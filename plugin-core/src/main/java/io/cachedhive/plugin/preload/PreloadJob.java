package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.table.TableName;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * One preload, from the CALL or the schedule that began it. Counters grow while others look at them.
 */
public final class PreloadJob
{
    private final String id;
    private final Optional<String> schedule;
    private final TableName table;
    private final Optional<String> partition;
    private final Optional<List<String>> columns;
    private final int files;
    private final Instant called;
    private final CompletableFuture<Void> cancellation = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    // guarded by this
    private PreloadState state = PreloadState.QUEUED;
    private long remainingBytes;
    private long doneBytes;
    private long failedBytes;
    private long fetchedBytes;
    private Optional<String> problem = Optional.empty();
    private long omittedFiles;
    private long omittedBytes;
    private Optional<Instant> ended = Optional.empty();
    private boolean cancelled;

    /**
     * @param schedule the name of the schedule that begins the job; empty for a CALL
     * @param partition as in {@code ds=2024-01-01/region=eu}; empty for all of a table
     * @param columns empty for all of them
     * @param files that it may have to load
     * @param remainingBytes of all that it could have to load
     */
    public PreloadJob(
            String id,
            Optional<String> schedule,
            TableName table,
            Optional<String> partition,
            Optional<List<String>> columns,
            int files,
            long remainingBytes,
            Instant called)
    {
        this.id = requireNonNull(id, "id is null");
        this.schedule = requireNonNull(schedule, "schedule is null");
        this.table = requireNonNull(table, "table is null");
        this.partition = requireNonNull(partition, "partition is null");
        this.columns = columns.map(List::copyOf);
        this.files = files;
        this.remainingBytes = remainingBytes;
        this.called = requireNonNull(called, "called is null");
    }

    public String id()
    {
        return id;
    }

    /**
     * Returns the name of the schedule that began the job, or empty if it was a CALL.
     */
    public Optional<String> schedule()
    {
        return schedule;
    }

    public TableName table()
    {
        return table;
    }

    public int files()
    {
        return files;
    }

    public synchronized PreloadState state()
    {
        return state;
    }

    /**
     * @return false if it was cancelled before
     */
    public synchronized boolean begin()
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
        remainingBytes -= bytes;
    }

    /**
     * A file is not loaded, because the budget of the job is used up.
     */
    synchronized void omit(long bytes)
    {
        remainingBytes -= bytes;
        omittedFiles++;
        omittedBytes += bytes;
    }

    synchronized void addDone(long bytes)
    {
        remainingBytes -= bytes;
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
        remainingBytes -= bytes;
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
    public CompletableFuture<Void> cancellation()
    {
        return cancellation;
    }

    boolean isCancelled()
    {
        return cancellation.isDone();
    }

    /**
     * @param reason shown as the job's problem
     * @return whether it had not ended: then it ends as cancelled, at once or soon
     */
    public boolean cancel(String reason, Instant now)
    {
        boolean ends;
        synchronized (this) {
            if (state.isEnd()) {
                return false;
            }
            cancelled = true;
            addProblem(reason);
            // one that has not begun has nobody else who would end it
            ends = state == PreloadState.QUEUED;
            if (ends) {
                setEnd(now);
            }
        }
        cancellation.complete(null);
        if (ends) {
            end.complete(null);
        }
        return true;
    }

    /**
     * Ends by what happened.
     */
    public void end(Instant now)
    {
        synchronized (this) {
            if (state.isEnd()) {
                return;
            }
            setEnd(now);
        }
        end.complete(null);
    }

    private void setEnd(Instant now)
    {
        state = cancelled ? PreloadState.CANCELED : failedBytes > 0 || problem.isPresent() ? PreloadState.FAILED : PreloadState.FINISHED;
        ended = Optional.of(now);
    }

    /**
     * Nothing but a defect makes a job end like this.
     */
    public void fail(String problem, Instant now)
    {
        synchronized (this) {
            addProblem(problem);
        }
        end(now);
    }

    /**
     * Done when the job has ended, however.
     */
    public CompletableFuture<Void> end()
    {
        return end;
    }

    public synchronized Status status()
    {
        Optional<String> omitted = omittedFiles == 0 ? Optional.empty() : Optional.of(
                "the budget of the schedule is used up: %s files with up to %s bytes were not loaded".formatted(omittedFiles, omittedBytes));
        return new Status(id, schedule, table, partition, columns, state, doneBytes, remainingBytes, failedBytes, fetchedBytes, called, ended, problem.or(() -> omitted));
    }

    /**
     * The state of a job at some time.
     *
     * @param called the time of the CALL, or the scheduled time
     * @param problem the first problem, or a remark about a job without problems
     */
    public record Status(
            String id,
            Optional<String> schedule,
            TableName table,
            Optional<String> partition,
            Optional<List<String>> columns,
            PreloadState state,
            long doneBytes,
            long remainingBytes,
            long failedBytes,
            long fetchedBytes,
            Instant called,
            Optional<Instant> ended,
            Optional<String> problem) {}
}
