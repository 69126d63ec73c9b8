package io.cachedhive.plugin.placement;

import io.cachedhive.protocol.ring.CacheWorkerId;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;
import static org.assertj.core.data.Percentage.withPercentage;

class TestRecentLoad
{
    private static final CacheWorkerId READER = new CacheWorkerId("reader");
    private static final CacheWorkerId OTHER = new CacheWorkerId("other");
    private static final long MEGABYTE = 1 << 20;

    private long now = -5;
    private final RecentLoad load = new RecentLoad(() -> now);

    @Test
    void testEmpty()
    {
        assertThat(load.query("a").listedBytes()).isZero();
        assertThat(load.query("a").givenBytes(READER)).isZero();
    }

    @Test
    void testQueriesAreAddedUp()
    {
        RecentLoad.Query first = load.query("first");
        RecentLoad.Query second = load.query("second");
        first.list(10 * MEGABYTE);
        second.list(20 * MEGABYTE);
        first.give(READER, 3 * MEGABYTE);
        second.give(READER, 4 * MEGABYTE);
        second.give(OTHER, MEGABYTE);

        for (RecentLoad.Query query : new RecentLoad.Query[] {first, second}) {
            assertThat(query.listedBytes()).isEqualTo(30 * MEGABYTE);
            assertThat(query.givenBytes(READER)).isEqualTo(7 * MEGABYTE);
            assertThat(query.givenBytes(OTHER)).isEqualTo(MEGABYTE);
        }
        assertThat(load.query("first")).as("another scan of the same query").isSameAs(first);
    }

    @Test
    void testWhatIsLongAgoCountsLess()
    {
        RecentLoad.Query query = load.query("a");
        query.list(16 * MEGABYTE);
        query.give(READER, 8 * MEGABYTE);
        now += RecentLoad.HALF_LIFE.toNanos();
        query.give(READER, MEGABYTE);
        assertThat(query.listedBytes()).isCloseTo(8 * MEGABYTE, offset(1.0));
        assertThat(query.givenBytes(READER)).isCloseTo(5 * MEGABYTE, offset(1.0));
        now += RecentLoad.HALF_LIFE.toNanos();
        assertThat(query.listedBytes()).isCloseTo(4 * MEGABYTE, offset(1.0));
        assertThat(query.givenBytes(READER)).isCloseTo(2.5 * MEGABYTE, offset(1.0));
    }

    @Test
    void testEndedQueryDoesNotCount()
    {
        RecentLoad.Query first = load.query("first");
        first.list(10 * MEGABYTE);
        first.give(READER, 10 * MEGABYTE);
        now += RecentLoad.HALF_LIFE.toNanos();
        RecentLoad.Query second = load.query("second");
        second.list(MEGABYTE);
        second.give(READER, MEGABYTE);

        load.end("first");
        load.end("first");
        load.end("unknown");

        assertThat(second.listedBytes()).isCloseTo(MEGABYTE, offset(1.0));
        assertThat(second.givenBytes(READER)).isCloseTo(MEGABYTE, offset(1.0));
        load.end("second");
        assertThat(second.listedBytes()).isZero();
        assertThat(second.givenBytes(READER)).isZero();
    }

    /**
     * For weeks, beside a model that adds up everything each time.
     */
    @Test
    void testAsTimePasses()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        // query -> time -> bytes
        Map<Integer, Map<Long, Long>> model = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            int id = random.nextInt(5);
            if (random.nextInt(10) == 0) {
                load.end(id);
                model.remove(id);
            }
            long bytes = 1 + random.nextLong(100 * MEGABYTE);
            load.query(id).give(READER, bytes);
            load.query(id).list(2 * bytes);
            model.computeIfAbsent(id, _ -> new HashMap<>()).merge(now, bytes, Long::sum);
            now += random.nextInt(1000) == 0 ? RecentLoad.HALF_LIFE.toNanos() * random.nextInt(200) : random.nextLong(RecentLoad.HALF_LIFE.toNanos());

            double expected = model.values().stream()
                    .flatMap(times -> times.entrySet().stream())
                    .mapToDouble(entry -> entry.getValue() * Math.pow(2, (double) (entry.getKey() - now) / RecentLoad.HALF_LIFE.toNanos()))
                    .sum();
            model.values().forEach(times -> times.keySet().removeIf(time -> now - time > 60 * RecentLoad.HALF_LIFE.toNanos()));
            if (expected > 1) {
                assertThat(load.query(id).givenBytes(READER)).as("step %s", step).isCloseTo(expected, withPercentage(0.1));
                assertThat(load.query(id).listedBytes()).as("step %s", step).isCloseTo(2 * expected, withPercentage(0.1));
            }
        }
    }
}
