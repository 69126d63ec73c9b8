package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * That the object store is asked for nothing while all is cached.
 * <p>
 * Readers ask it themselves when a cache worker is silent for longer than usual, which on a busy machine happens now and then and is as it should be: it says nothing
 * about what is cached. They count what they read for that reason, so a pass with such reads is made again. Cache workers ask it for what they have not got only.
 */
final class NoOriginReads
{
    /** What readers ask the object store for because a cache worker is silent, by cause of bypass. */
    static final List<String> SLOW_CACHE_WORKERS = List.of("hedged", "timeout", "fetch_timeout", "breaker_open");

    private static final int PASSES = 5;
    static final String CACHE_WORKER = "cachedhive";

    private final TestingCluster testing;
    private final SqlConnection connection;
    private final String catalog;

    /**
     * @param connection with the right to read the statistics of the catalog {@code cachedhive}
     */
    NoOriginReads(TestingCluster testing, SqlConnection connection)
    {
        this(testing, connection, "cachedhive");
    }

    /**
     * @param connection with the right to read the statistics of the catalog
     */
    NoOriginReads(TestingCluster testing, SqlConnection connection, String catalog)
    {
        this.testing = testing;
        this.connection = connection;
        this.catalog = catalog;
    }

    interface Pass
    {
        void run()
                throws Exception;
    }

    /**
     * @param what is read, for the message
     */
    void during(String what, Pass pass)
            throws Exception
    {
        for (int i = 1; ; i++) {
            Map<String, Long> before = bytesOfSlowWorkers(connection, catalog);
            long mark = testing.cluster().s3().log().mark();
            Instant begun = Instant.now();
            pass.run();
            List<S3Request> reads = testing.cluster().s3().log().since(mark).stream()
                    .filter(S3Request::isDataFile)
                    // one that an earlier query made and did not wait for
                    .filter(request -> !request.time().isBefore(begun))
                    .filter(request -> request.isGet() || request.isHead())
                    .toList();
            if (reads.isEmpty()) {
                return;
            }
            Map<String, List<S3Request>> byProgram = reads.stream().collect(groupingBy(S3Request::application));
            assertThat(byProgram).as("what the object store was asked for during %s", what).doesNotContainKey(CACHE_WORKER);
            Counters.atRest(connection, catalog);
            long slow = growth(before, bytesOfSlowWorkers(connection, catalog));
            assertThat(S3RequestCounts.of(reads).getBytes())
                    .as("bytes that readers asked the object store for during %s, pass %s, of which %s for silent cache workers: %s", what, i, slow, reads)
                    .isLessThanOrEqualTo(i < PASSES ? slow : 0);
            System.out.printf("%s, pass %s: %s GETs since cache workers were silent%n", what, i, reads.size());
        }
    }

    /**
     * What readers of each host have asked the object store for since cache workers were silent, as the cache workers that answer know by now.
     */
    static Map<String, Long> bytesOfSlowWorkers(SqlConnection connection)
            throws SQLException
    {
        return bytesOfSlowWorkers(connection, "cachedhive");
    }

    private static Map<String, Long> bytesOfSlowWorkers(SqlConnection connection, String catalog)
            throws SQLException
    {
        Map<String, Long> result = new HashMap<>();
        connection.query(
                """
                SELECT host, coalesce(hedge_extra_bytes, 0) + coalesce(reduce(
                    map_values(map_filter(bypass_bytes_by_cause, (cause, bytes) -> cause IN (%s))),
                    BIGINT '0', (sum, bytes) -> sum + bytes, sum -> sum), 0)
                FROM %s.cache.stats_detail
                WHERE bypass_bytes_by_cause IS NOT NULL
                """.formatted(SLOW_CACHE_WORKERS.stream().map("'%s'"::formatted).collect(joining(", ")), catalog)).rows()
                .forEach(row -> result.put((String) row.get(0), ((Number) row.get(1)).longValue()));
        return result;
    }

    /**
     * By how much it has become more, on the hosts whose cache workers answer now.
     */
    static long growth(Map<String, Long> before, Map<String, Long> after)
    {
        return after.entrySet().stream().mapToLong(entry -> Math.max(0, entry.getValue() - before.getOrDefault(entry.getKey(), 0L))).sum();
    }
}
