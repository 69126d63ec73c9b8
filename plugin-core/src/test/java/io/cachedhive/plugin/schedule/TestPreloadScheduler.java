package io.cachedhive.plugin.schedule;

import io.cachedhive.plugin.event.CacheEvent;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.schedule.PreloadScheduler.Scheduled;
import io.cachedhive.rules.CronSchedule;
import io.cachedhive.rules.PreloadSchedule;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestPreloadScheduler
{
    private static final Instant NOON = Instant.parse("2024-03-08T12:00:00Z");

    private final ScheduleClaims claims = new ScheduleClaims();
    private Instant now = NOON;

    /**
     * A catalog whose runs are only recorded.
     */
    private final class Catalog
            implements PreloadScheduler.Runs
    {
        private final List<PreloadSchedule> schedules = new ArrayList<>();
        private final List<String> begun = new ArrayList<>();
        private final List<String> missed = new ArrayList<>();
        private final CacheEvents events = new CacheEvents(() -> now);
        private final ScheduleClaims.Catalog claim;
        private final PreloadScheduler scheduler;
        private Optional<String> problem = Optional.empty();

        private Catalog(String name, String tables, PreloadSchedule... schedules)
        {
            this.schedules.addAll(List.of(schedules));
            this.claim = claims.of(name, tables);
            this.scheduler = new PreloadScheduler(name, () -> List.copyOf(this.schedules), this, claim, () -> now, events);
        }

        private void pollAt(String time)
        {
            now = Instant.parse("2024-03-08T%sZ".formatted(time));
            scheduler.poll();
        }

        @Override
        public void begin(Scheduled run)
        {
            problem.ifPresent(reason -> {
                throw new IllegalStateException(reason);
            });
            begun.add(run.job());
        }

        @Override
        public void recordMissed(Scheduled run, String reason)
        {
            missed.add("%s: %s".formatted(run.job(), reason));
        }
    }

    private static PreloadSchedule schedule(String name, String cron)
    {
        return new PreloadSchedule(
                name,
                CronSchedule.parse(cron, ZoneOffset.UTC),
                "s",
                "t",
                Optional.empty(),
                Optional.empty(),
                OptionalLong.empty(),
                Duration.ofHours(1),
                "user",
                name + cron);
    }

    @Test
    void testBeginsOnceAtItsTime()
    {
        Catalog catalog = new Catalog("lake", "file", schedule("a", "30 12 * * *"), schedule("b", "0 13 * * *"));
        catalog.pollAt("12:00:00");
        assertThat(catalog.begun).isEmpty();
        assertThat(catalog.scheduler.scheduled()).extracting(Scheduled::job).containsExactly("a.20240308T1230Z", "b.20240308T1300Z");
        catalog.pollAt("12:29:59");
        assertThat(catalog.begun).isEmpty();
        catalog.pollAt("12:30:00");
        catalog.pollAt("12:30:05");
        assertThat(catalog.begun).containsExactly("a.20240308T1230Z");
        assertThat(catalog.scheduler.scheduled()).extracting(Scheduled::time).containsExactly(Instant.parse("2024-03-09T12:30:00Z"), Instant.parse("2024-03-08T13:00:00Z"));
        catalog.pollAt("13:00:07");
        assertThat(catalog.begun).containsExactly("a.20240308T1230Z", "b.20240308T1300Z");
        assertThat(catalog.missed).isEmpty();
        assertThat(catalog.events.list()).extracting(CacheEvent::description).containsExactly(
                "schedule a began preload a.20240308T1230Z",
                "schedule b began preload b.20240308T1300Z");
    }

    @Test
    void testStartBeginsWhatWasMissedShortlyBefore()
    {
        Catalog catalog = new Catalog("lake", "file", schedule("recent", "15 11 * * *"), schedule("old", "55 10 * * *"), schedule("often", "*/10 * * * *"));
        catalog.pollAt("12:05:00");
        assertThat(catalog.begun).containsExactly("recent.20240308T1115Z", "often.20240308T1200Z");
        assertThat(catalog.missed).isEmpty();
    }

    @Test
    void testScheduleThatIsAddedWaitsForItsNextTime()
    {
        Catalog catalog = new Catalog("lake", "file");
        catalog.pollAt("12:00:00");
        catalog.schedules.add(schedule("a", "55 11 * * *"));
        catalog.pollAt("12:00:05");
        assertThat(catalog.begun).isEmpty();
        assertThat(catalog.scheduler.scheduled()).extracting(Scheduled::time).containsExactly(Instant.parse("2024-03-09T11:55:00Z"));
        catalog.schedules.clear();
        catalog.pollAt("12:00:10");
        assertThat(catalog.scheduler.scheduled()).isEmpty();
    }

    @Test
    void testRetriesForAnHour()
    {
        Catalog catalog = new Catalog("lake", "file", schedule("a", "10 12 * * *"));
        catalog.pollAt("12:00:00");
        catalog.problem = Optional.of("no cache worker answers");
        catalog.pollAt("12:10:00");
        Scheduled waiting = catalog.scheduler.scheduled().getFirst();
        assertThat(waiting.time()).isEqualTo(Instant.parse("2024-03-08T12:10:00Z"));
        assertThat(waiting.problem()).hasValue("no cache worker answers");
        catalog.problem = Optional.empty();
        catalog.pollAt("12:10:09");
        assertThat(catalog.begun).as("too early").isEmpty();
        catalog.pollAt("12:10:10");
        assertThat(catalog.begun).containsExactly("a.20240308T1210Z");
        catalog.pollAt("12:10:30");
        assertThat(catalog.begun).hasSize(1);
    }

    @Test
    void testGivesUp()
    {
        Catalog catalog = new Catalog("lake", "file", schedule("a", "10 12 * * *"));
        catalog.pollAt("12:00:00");
        catalog.problem = Optional.of("no cache worker answers");
        catalog.pollAt("12:10:00");
        catalog.pollAt("13:10:00");
        assertThat(catalog.missed).isEmpty();
        catalog.problem = Optional.empty();
        catalog.pollAt("13:10:10");
        assertThat(catalog.begun).isEmpty();
        assertThat(catalog.missed).containsExactly("a.20240308T1210Z: it did not begin within 1.00h of its time: no cache worker answers");
        assertThat(catalog.scheduler.scheduled()).extracting(Scheduled::time).containsExactly(Instant.parse("2024-03-09T12:10:00Z"));
    }

    @Test
    void testNewerRunReplacesOneThatCouldNotBegin()
    {
        Catalog catalog = new Catalog("lake", "file", schedule("a", "*/10 * * * *"));
        catalog.pollAt("12:01:00");
        catalog.begun.clear();
        catalog.problem = Optional.of("no");
        catalog.pollAt("12:10:00");
        catalog.pollAt("12:19:59");
        catalog.problem = Optional.empty();
        catalog.pollAt("12:20:00");
        assertThat(catalog.begun).containsExactly("a.20240308T1220Z");
    }

    @Test
    void testOneOfTheCatalogsWithTheSameTables()
    {
        Catalog first = new Catalog("first", "file", schedule("a", "10 12 * * *"));
        Catalog second = new Catalog("second", "file", schedule("a", "10 12 * * *"));
        Catalog other = new Catalog("other", "file of other tables", schedule("a", "10 12 * * *"));
        for (Catalog catalog : List.of(first, second, other)) {
            catalog.pollAt("12:00:00");
        }
        first.problem = Optional.of("no");
        for (Catalog catalog : List.of(first, second, other)) {
            catalog.pollAt("12:10:00");
        }
        first.problem = Optional.empty();
        first.pollAt("12:10:10");
        assertThat(first.begun).as("second took its place").isEmpty();
        assertThat(second.begun).hasSize(1);
        assertThat(other.begun).hasSize(1);

        second.claim.releaseAll();
        now = now.plus(Duration.ofDays(1));
        first.scheduler.poll();
        second.scheduler.poll();
        assertThat(first.begun).containsExactly("a.20240309T1210Z");
        assertThat(second.begun).hasSize(1);
    }
}
