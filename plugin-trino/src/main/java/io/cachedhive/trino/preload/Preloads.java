package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.preload.Owners;
import io.cachedhive.plugin.preload.PieceQueue.Patience;
import io.cachedhive.plugin.preload.PreloadJob;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.plugin.preload.PreloadListing;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.cachedhive.plugin.preload.PreloadRun;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.pin.Pins;
import io.cachedhive.trino.table.TableNames;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import jakarta.annotation.PreDestroy;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static java.util.Objects.requireNonNull;

/**
 * Begins preloads and ends them. A job that was begun goes on when its CALL is gone.
 */
public final class Preloads
{
    /**
     * At once; the others wait. Each is bounded by what cache workers give to preloads anyway.
     */
    static final int MAX_RUNNING_JOBS = 4;

    private final String catalog;
    private final long chunkSizeBytes;
    private final TableFiles files;
    private final PreloadJobs jobs;
    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;
    private final CacheDecisions decisions;
    private final Pins pins;
    private final ThreadPoolExecutor executor;

    @Inject
    Preloads(
            CachedHiveConfig config,
            TableFiles files,
            PreloadJobs jobs,
            ClusterMembership membership,
            SharedWorkerAdmin workerAdmin,
            CacheDecisions decisions,
            Pins pins)
    {
        this.catalog = decisions.catalog();
        this.chunkSizeBytes = config.getChunkSize().toBytes();
        this.files = requireNonNull(files, "files is null");
        this.jobs = requireNonNull(jobs, "jobs is null");
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.decisions = requireNonNull(decisions, "decisions is null");
        this.pins = requireNonNull(pins, "pins is null");
        this.executor = new ThreadPoolExecutor(
                MAX_RUNNING_JOBS,
                MAX_RUNNING_JOBS,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name("cachedhive-%s-preload-".formatted(catalog), 0).factory());
        executor.allowCoreThreadTimeOut(true);
    }

    /**
     * Lists the files, begins the job, and waits for its end if that is wanted.
     *
     * @throws TrinoException if the request makes no sense or is not allowed, if too much waits already, or if the job that was waited for did not load everything
     */
    void preload(ConnectorSession session, ConnectorAccessControl accessControl, PreloadRequest request)
    {
        Instant called = Instant.now();
        checkCached();
        PreloadListing listing = files.list(session, accessControl, request);
        if (membership.ring().isEmpty()) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker of catalog %s answers: see the table cache.stats for hosts without one".formatted(catalog));
        }
        PreloadJob job = new PreloadJob(
                request.job().orElseGet(session::getQueryId),
                request.schedule(),
                request.table(),
                request.partitionName(),
                request.columns(),
                listing.files().size(),
                listing.bytes(),
                called);
        take(jobs, job, () -> {
            if (request.pin()) {
                pins.pin(session, accessControl, TableNames.toTrino(request.table()), request.partition());
            }
        });
        PreloadRun run = new PreloadRun(
                Owners.of(workerAdmin.get(), request.table().toString()),
                membership::ring,
                chunkSizeBytes,
                job,
                new PreloadRun.Load(listing.files(), listing.columns(), request.budgetBytes(), request.maxBytesPerSecond()),
                decisions::problem,
                Patience.DEFAULT);
        try {
            Runnable task = run::run;
            executor.execute(task);
            // one that is cancelled while it waits would be remembered, with all its files, until there is a thread for it
            job.cancellation().thenRun(() -> executor.remove(task));
        }
        catch (RejectedExecutionException e) {
            job.cancel("the catalog is shut down", Instant.now());
        }
        if (request.waitForEnd()) {
            await(job);
        }
    }

    /**
     * @param pinning not begun before the job is taken: of one that is refused nothing is to remain
     * @throws TrinoException if it is refused
     */
    static void take(PreloadJobs jobs, PreloadJob job, Runnable pinning)
    {
        jobs.add(job).ifPresent(problem -> {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, problem);
        });
        try {
            pinning.run();
        }
        catch (RuntimeException | Error e) {
            job.fail("it could not be pinned: %s".formatted(e.getMessage()), Instant.now());
            throw e;
        }
    }

    private void checkCached()
    {
        decisions.problem().ifPresent(problem -> {
            throw new TrinoException(NOT_SUPPORTED, problem);
        });
    }

    private static void await(PreloadJob job)
    {
        try {
            job.end().get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; preload %s goes on: cancel_preload stops it".formatted(job.id()), e);
        }
        catch (ExecutionException e) {
            throw new IllegalStateException("the end of a job does not fail", e);
        }
        PreloadJob.Status status = job.status();
        switch (status.state()) {
            case CANCELED -> throw new TrinoException(PROCEDURE_CALL_FAILED, "preload %s of %s was cancelled after %s bytes: %s".formatted(
                    job.id(),
                    status.table(),
                    status.doneBytes(),
                    status.problem().orElseThrow()));
            case FAILED -> throw new TrinoException(PROCEDURE_CALL_FAILED, "%s of %s bytes of %s could not be loaded: %s".formatted(
                    status.failedBytes(),
                    status.failedBytes() + status.doneBytes() + status.remainingBytes(),
                    status.table(),
                    status.problem().orElseThrow()));
            default -> {}
        }
    }

    /**
     * Ends a job; what it has loaded stays.
     *
     * @throws TrinoException if there is no such job, it has ended, or the user may not select from its table
     */
    void cancel(ConnectorSession session, ConnectorAccessControl accessControl, String id)
    {
        PreloadJob job = jobs.find(id)
                .orElseThrow(() -> new TrinoException(INVALID_PROCEDURE_ARGUMENT, "there is no preload %s: the table cache.preloads lists them".formatted(id)));
        accessControl.checkCanSelectFromColumns(null, TableNames.toTrino(job.table()), Optional.empty(), Set.of());
        if (!job.cancel("%s called cancel_preload".formatted(session.getUser()), Instant.now())) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "preload %s has ended already: %s".formatted(id, job.state()));
        }
    }

    @PreDestroy
    public void close()
    {
        // from here on none is taken; those that wait are dropped, so that only cancelling ends them
        executor.shutdownNow();
        jobs.list().forEach(job -> job.cancel("the catalog is shut down", Instant.now()));
    }
}
