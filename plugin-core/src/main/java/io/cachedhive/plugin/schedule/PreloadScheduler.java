package io.cachedhive.plugin.schedule;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.event.EventType;
import io.cachedhive.plugin.table.TableName;
import io.cachedhive.rules.PreloadSchedule;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Begins the preloads of a catalog's schedules. A run begins at the scheduled time, or as soon as it can in the time that the schedule allows afterwards.
 *
 * <p>Nothing is stored. The first poll after the start also begins runs whose scheduled time passed shortly before: the coordinator was down then, or it ended while they
 * ran. A run that had ended already costs a listing of the files, because cached bytes are not fetched again.
 */
public final class PreloadScheduler
{
    private static final Logger log = Logger.get(PreloadScheduler.class);

    static final Duration RETRY_PERIOD = Duration.ofSeconds(10);

    private static final DateTimeFormatter JOB_TIME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmm'Z'").withZone(ZoneOffset.UTC);

    private final String catalog;
    private final Supplier<List<PreloadSchedule>> schedules;
    private final Runs runs;
    private final ScheduleClaims.Catalog claims;
    private final InstantSource clock;
    private final CacheEvents events;

    // by definition
    @GuardedBy("this")
    private Map<String, Plan> plans = new LinkedHashMap<>();
    @GuardedBy("this")
    private boolean polled;
    private volatile List<Scheduled> scheduled = List.of();

    /**
     * Begins runs, and records runs that did not begin.
     */
    public interface Runs
    {
        /**
         * Begins a run.
         *
         * @throws RuntimeException if it cannot begin now; the message states the reason
         */
        void begin(Scheduled run);

        /**
         * Records that a run did not begin in time.
         *
         * @param problem the last reason
         */
        void recordMissed(Scheduled run, String problem);
    }

    /**
     * The next run of a schedule.
     *
     * @param job the id of the job
     * @param time the scheduled time
     * @param problem why the run did not begin, if its time has passed
     */
    public record Scheduled(PreloadSchedule schedule, String job, Instant time, Optional<String> problem)
    {
        public Scheduled
        {
            requireNonNull(schedule, "schedule is null");
            requireNonNull(job, "job is null");
            requireNonNull(time, "time is null");
            requireNonNull(problem, "problem is null");
        }

        static Scheduled of(PreloadSchedule schedule, Instant time)
        {
            return new Scheduled(schedule, "%s.%s".formatted(schedule.name(), JOB_TIME.format(time)), time, Optional.empty());
        }

        Scheduled withProblem(String reason)
        {
            return new Scheduled(schedule, job, time, Optional.of(reason));
        }

        /**
         * Returns the table that the run loads.
         */
        public TableName table()
        {
            return new TableName(schedule.schema(), schedule.table());
        }
    }

    /**
     * The times of one schedule.
     */
    private static final class Plan
    {
        private final PreloadSchedule schedule;
        // the next time that has not come yet; null if none follows
        private Instant next;
        // its time has come; null if there is none
        private Scheduled due;
        private Instant retry = Instant.MIN;

        private Plan(PreloadSchedule schedule, Instant after)
        {
            this.schedule = schedule;
            this.next = schedule.cron().next(after).orElse(null);
        }

        private Optional<Scheduled> scheduled()
        {
            return Optional.ofNullable(due).or(() -> Optional.ofNullable(next).map(time -> Scheduled.of(schedule, time)));
        }
    }

    /**
     * @param schedules the schedules in force
     * @param clock decides when a scheduled time has come
     */
    public PreloadScheduler(
            String catalog,
            Supplier<List<PreloadSchedule>> schedules,
            Runs runs,
            ScheduleClaims.Catalog claims,
            InstantSource clock,
            CacheEvents events)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.schedules = requireNonNull(schedules, "schedules is null");
        this.runs = requireNonNull(runs, "runs is null");
        this.claims = requireNonNull(claims, "claims is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.events = requireNonNull(events, "events is null");
    }

    /**
     * Begins the runs whose time has come. The listing of their files can take long.
     */
    public synchronized void poll()
    {
        Instant now = clock.instant();
        Map<String, Plan> current = new LinkedHashMap<>();
        for (PreloadSchedule schedule : schedules.get()) {
            Plan known = plans.get(schedule.definition());
            // a schedule that the file has had since before the start may have missed its time; a new one waits for its next time
            current.put(schedule.definition(), known != null ? known : new Plan(schedule, polled ? now : now.minus(schedule.startWithin())));
        }
        plans = current;
        polled = true;
        for (Plan plan : plans.values()) {
            advance(plan, now);
        }
        publish();
        for (Plan plan : plans.values()) {
            if (plan.due != null && !now.isBefore(plan.retry)) {
                begin(plan, now);
                publish();
            }
        }
    }

    /**
     * Returns the next run of each schedule, as of the last poll.
     */
    public List<Scheduled> scheduled()
    {
        return scheduled;
    }

    private static void advance(Plan plan, Instant now)
    {
        while (plan.next != null && !plan.next.isAfter(now)) {
            // a newer run loads what an older one would have loaded
            plan.due = Scheduled.of(plan.schedule, plan.next);
            plan.retry = Instant.MIN;
            plan.next = plan.schedule.cron().next(plan.next).orElse(null);
        }
    }

    private void begin(Plan plan, Instant now)
    {
        Scheduled run = plan.due;
        String definition = plan.schedule.definition();
        if (now.isAfter(run.time().plus(plan.schedule.startWithin()))) {
            plan.due = null;
            miss(run);
            return;
        }
        if (!claims.claim(definition, run.time())) {
            log.info("Catalog %s leaves preload %s to another catalog with the same rules file and tables", catalog, run.job());
            plan.due = null;
            return;
        }
        try {
            runs.begin(run);
            plan.due = null;
            events.add(EventType.PRELOAD, "schedule %s began preload %s".formatted(plan.schedule.name(), run.job()), run.table());
        }
        catch (RuntimeException e) {
            claims.release(definition);
            String problem = Objects.requireNonNullElse(e.getMessage(), e.toString());
            if (!run.problem().equals(Optional.of(problem))) {
                log.warn("Catalog %s cannot begin preload %s now, and retries until %s: %s", catalog, run.job(), run.time().plus(plan.schedule.startWithin()), problem);
            }
            plan.due = run.withProblem(problem);
            plan.retry = now.plus(RETRY_PERIOD);
        }
    }

    private void miss(Scheduled run)
    {
        String problem = "it did not begin within %s of its time: %s".formatted(
                io.airlift.units.Duration.succinctDuration((double) run.schedule().startWithin().toSeconds(), SECONDS),
                run.problem().orElse("the coordinator did not run"));
        log.warn("Catalog %s did not run preload %s: %s", catalog, run.job(), problem);
        events.add(EventType.PRELOAD, "schedule %s did not run preload %s: %s".formatted(run.schedule().name(), run.job(), problem), run.table());
        runs.recordMissed(run, problem);
    }

    @GuardedBy("this")
    private void publish()
    {
        List<Scheduled> all = new ArrayList<>();
        plans.values().forEach(plan -> plan.scheduled().ifPresent(all::add));
        scheduled = all.stream().collect(toImmutableList());
    }
}
