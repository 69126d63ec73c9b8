package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Bytes by source, summed over the cache workers or over the Trino nodes.
 */
record Counters(long requested, long ramHit, long ssdHit, long nonLocalHit, long remoteRead, long bypass)
{
    static final Counters ZERO = new Counters(0, 0, 0, 0, 0, 0);

    private static final Duration REST = Duration.ofSeconds(2);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /**
     * The sums of the catalog's table, as they are now.
     */
    static Counters ofTable(SqlConnection connection, String catalog)
            throws SQLException
    {
        QueryResult result = connection.query(
                """
                SELECT
                    coalesce(sum(requested_bytes), 0),
                    coalesce(sum(s.ram_hit_bytes), 0),
                    coalesce(sum(s.ssd_hit_bytes), 0),
                    coalesce(sum(s.non_local_hit_bytes), 0),
                    coalesce(sum(s.remote_read_bytes), 0),
                    coalesce(sum(s.bypass_bytes), 0)
                FROM %1$s.cache.stats s
                JOIN %1$s.cache.stats_detail d ON s.node_id = d.node_id
                """.formatted(catalog));
        List<Object> row = result.rows().getFirst();
        return new Counters(number(row, 0), number(row, 1), number(row, 2), number(row, 3), number(row, 4), number(row, 5));
    }

    /**
     * The sums of the catalog's table once they have not changed for two seconds: clients send what they count in batches.
     */
    static Counters atRest(SqlConnection connection, String catalog)
    {
        return atRest("the counters of " + catalog, () -> ofTable(connection, catalog));
    }

    /**
     * The rows of a query over the tables of the cache once they have not changed for two seconds: cache workers write to SSD behind the reads.
     */
    static List<List<Object>> rowsAtRest(SqlConnection connection, String query)
    {
        return atRest("the rows of " + query, () -> connection.query(query).rows());
    }

    private static <T> T atRest(String what, Callable<T> sample)
    {
        AtomicReference<T> last = new AtomicReference<>();
        AtomicLong lastChange = new AtomicLong();
        Await.untilAsserted("%s do not change any more".formatted(what), TIMEOUT, QUERY_PAUSE, () -> {
            T next = sample.call();
            if (!next.equals(last.getAndSet(next))) {
                lastChange.set(System.nanoTime());
            }
            assertThat(Duration.ofNanos(System.nanoTime() - lastChange.get())).as("since they have been %s", next).isGreaterThanOrEqualTo(REST);
        });
        return last.get();
    }

    Counters plus(Counters other)
    {
        return new Counters(
                requested + other.requested,
                ramHit + other.ramHit,
                ssdHit + other.ssdHit,
                nonLocalHit + other.nonLocalHit,
                remoteRead + other.remoteRead,
                bypass + other.bypass);
    }

    Counters minus(Counters other)
    {
        return new Counters(
                requested - other.requested,
                ramHit - other.ramHit,
                ssdHit - other.ssdHit,
                nonLocalHit - other.nonLocalHit,
                remoteRead - other.remoteRead,
                bypass - other.bypass);
    }

    /**
     * Served by the cache without the origin.
     */
    long hits()
    {
        return ramHit + ssdHit + nonLocalHit;
    }

    long bySource()
    {
        return hits() + remoteRead + bypass;
    }

    private static long number(List<Object> row, int index)
    {
        return ((Number) row.get(index)).longValue();
    }
}
