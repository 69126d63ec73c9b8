package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.preload.PreloadJob;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.cachedhive.plugin.preload.PreloadRequest.AgeLimit;
import io.cachedhive.plugin.preload.PreloadState;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.plugin.schedule.PreloadScheduler;
import io.cachedhive.plugin.schedule.PreloadScheduler.Scheduled;
import io.cachedhive.plugin.schedule.ScheduleClaims;
import io.cachedhive.rules.PreloadSchedule;
import io.trino.plugin.base.security.AllowAllAccessControl;
import io.trino.plugin.base.session.SessionPropertiesProvider;
import io.trino.spi.Node;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.security.ConnectorIdentity;
import io.trino.spi.session.PropertyMetadata;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * Runs the preload schedules of the catalog's rules file. One thread begins the runs one after the other; the jobs themselves are the same as those of a CALL.
 */
public final class ScheduledPreloads
        implements PreloadScheduler.Runs
{
    private static final Logger log = Logger.get(ScheduledPreloads.class);

    private static final long POLL_SECONDS = 5;

    private final Preloads preloads;
    private final PreloadJobs jobs;
    private final InstantSource clock;
    private final boolean hasFile;
    private final Map<String, PropertyMetadata<?>> properties = new HashMap<>();
    private final ScheduleClaims.Catalog claims;
    private final PreloadScheduler scheduler;
    private final ScheduledThreadPoolExecutor executor;

    /**
     * The properties that name the catalog's metastore. Catalogs with the same metastore and the same origins have the same tables.
     */
    public record TableSource(Map<String, String> properties)
    {
        public TableSource
        {
            properties = Map.copyOf(properties);
        }
    }

    @Inject
    ScheduledPreloads(
            CatalogName catalog,
            Node node,
            CachedHiveConfig config,
            TableSource tables,
            FileOrigins origins,
            RuleRegistry rules,
            Preloads preloads,
            PreloadJobs jobs,
            Set<SessionPropertiesProvider> sessionProperties,
            CacheEvents events)
    {
        this.preloads = requireNonNull(preloads, "preloads is null");
        this.jobs = requireNonNull(jobs, "jobs is null");
        this.clock = InstantSource.system();
        this.hasFile = rules.hasFile();
        sessionProperties.forEach(provider -> provider.getSessionProperties().forEach(property -> properties.put(property.getName(), property)));
        String file = config.getRulesFile().map(path -> Path.of(path).toAbsolutePath().normalize().toString()).orElse("");
        // the node, because several nodes of a test can be in one process
        this.claims = ScheduleClaims.ofThisProcess().of(catalog.toString(), "%s %s %s %s".formatted(node.getNodeIdentifier(), file, tables.properties(), origins.origins()));
        this.scheduler = new PreloadScheduler(catalog.toString(), rules::preloads, this, claims, clock, events);
        this.executor = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("cachedhive-%s-schedules".formatted(catalog)).factory());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @PostConstruct
    public void start()
    {
        if (hasFile) {
            executor.scheduleWithFixedDelay(this::poll, 1, POLL_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void poll()
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            scheduler.poll();
        }
        catch (Throwable e) {
            // the executor would run no further poll
            log.error(e, "Cannot begin scheduled preloads now");
        }
    }

    @Override
    public void begin(Scheduled run)
    {
        PreloadSchedule schedule = run.schedule();
        jobs.list().stream()
                .filter(job -> job.schedule().equals(Optional.of(schedule.name())) && !job.state().isEnd())
                .findFirst()
                .ifPresent(job -> {
                    throw new IllegalStateException("preload %s of the same schedule has not ended yet".formatted(job.id()));
                });
        preloads.preload(session(run), new AllowAllAccessControl(), new PreloadRequest(
                run.table(),
                Map.of(),
                true,
                schedule.partitionAge().map(age -> new AgeLimit(age, clock.instant())),
                schedule.columns(),
                false,
                Optional.of(run.job()),
                Optional.of(schedule.name()),
                schedule.budgetBytes(),
                OptionalLong.empty(),
                false));
    }

    private ConnectorSession session(Scheduled run)
    {
        // the characters of query ids
        String queryId = "schedule_" + run.job().toLowerCase(Locale.ENGLISH).replaceAll("[^a-z0-9]", "_");
        return new ScheduleSession(queryId, ConnectorIdentity.ofUser(run.schedule().user()), clock.instant(), properties);
    }

    @Override
    public void recordMissed(Scheduled run, String problem)
    {
        PreloadJob job = new PreloadJob(
                run.job(),
                Optional.of(run.schedule().name()),
                run.table(),
                run.schedule().partitionAge().map(age -> new AgeLimit(age, run.time()).toString()),
                run.schedule().columns(),
                0,
                0,
                run.time());
        // a job that does not fit the limits is in the log and among the events
        if (jobs.add(job).isEmpty()) {
            job.fail(problem, clock.instant());
        }
    }

    /**
     * Returns the next run of each schedule, as a job that has not begun.
     */
    List<PreloadJob.Status> scheduled()
    {
        return scheduler.scheduled().stream()
                .map(run -> new PreloadJob.Status(
                        run.job(),
                        Optional.of(run.schedule().name()),
                        run.table(),
                        run.schedule().partitionAge().map(age -> new AgeLimit(age, run.time()).toString()),
                        run.schedule().columns(),
                        PreloadState.SCHEDULED,
                        0,
                        0,
                        0,
                        0,
                        run.time(),
                        Optional.empty(),
                        run.problem()))
                .toList();
    }

    @PreDestroy
    public void close()
    {
        executor.shutdownNow();
        claims.releaseAll();
    }
}
