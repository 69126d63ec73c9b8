package io.cachedhive.testing.cluster.statistics;

import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.ResultColumn;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.time.Duration;

import static java.util.Objects.requireNonNull;

/**
 * Reads the counters of the cache through SQL, as anybody can.
 */
public final class CacheStatistics
{
    // clients send their counts in batches of 200 ms
    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);
    private static final Duration STABLE_TIME = Duration.ofSeconds(2);

    private final SqlConnection connection;
    private final String catalog;

    public CacheStatistics(SqlConnection connection, String catalog)
    {
        this.connection = requireNonNull(connection, "connection is null");
        this.catalog = requireNonNull(catalog, "catalog is null");
    }

    /// The sums over all cache workers now.
    public BytesBySource read()
            throws SQLException
    {
        QueryResult result = connection.query(
                """
                SELECT
                    sum(ram_hit_bytes), sum(ssd_hit_bytes), sum(non_local_hit_bytes), sum(remote_read_bytes), sum(bypass_bytes),
                    (SELECT sum(requested_bytes) FROM %s.cache.stats_detail)
                FROM system.cache.stats
                WHERE catalog_name = '%s'
                """.formatted(catalog, catalog));
        long[] values = result.rows().getFirst().stream()
                // no cache worker answers: no counts
                .mapToLong(value -> value == null ? 0 : ((Number) value).longValue())
                .toArray();
        return new BytesBySource(values[0], values[1], values[2], values[3], values[4], values[5]);
    }

    /// Bytes that readers requested from the origin because a cache worker was silent for longer than usual, or had just started. On a busy machine this happens now
    /// and then, and says nothing about what is cached. The bytes count as bypass, except those of hedges that lost.
    public long slowWorkerBytes()
            throws SQLException
    {
        Object bytes = connection.query(
                """
                SELECT sum(coalesce(hedge_extra_bytes, 0) + coalesce(reduce(
                    map_values(map_filter(bypass_bytes_by_cause, (cause, bytes) -> cause IN ('hedged', 'timeout', 'fetch_timeout', 'breaker_open', 'unavailable'))),
                    BIGINT '0', (sum, bytes) -> sum + bytes, sum -> sum), 0))
                FROM %s.cache.stats_detail
                """.formatted(catalog)).onlyValue();
        return bytes == null ? 0 : ((Number) bytes).longValue();
    }

    /// SSD operations of the running cache workers that took more than a second, and blocks that they refused because an SSD directory did not answer in time.
    public long slowDiskOperations()
            throws SQLException
    {
        Object operations = connection.query("SELECT sum(ssd_errors_slow + overloaded_load_queue) FROM %s.cache.stats_detail".formatted(catalog)).onlyValue();
        return operations == null ? 0 : ((Number) operations).longValue();
    }

    /// What can explain requests to the object store for cached files, as a row for each cache worker.
    public String causesOfRequests()
            throws SQLException
    {
        QueryResult causes = connection.query(
                """
                SELECT
                    host, bypass_bytes_by_cause, restored_blocks, corrupt_blocks, ssd_directories_offline, ssd_errors_slow, ssd_errors_io_error,
                    ssd_writes_rejected_queue_full, ssd_writes_rejected_offline, overloaded_load_queue, overloaded_frames
                FROM %s.cache.stats_detail
                ORDER BY host
                """.formatted(catalog));
        return "%s: %s".formatted(causes.columns().stream().map(ResultColumn::name).toList(), causes.rows());
    }

    /// Bytes of blocks that the cache workers hold now, the larger of both tiers at each: what is in RAM may also be on SSD.
    public long cachedBytes()
            throws SQLException
    {
        Object bytes = connection.query("SELECT sum(greatest(ram_used_bytes, ssd_used_bytes)) FROM system.cache.stats WHERE catalog_name = '%s'".formatted(catalog)).onlyValue();
        return bytes == null ? 0 : ((Number) bytes).longValue();
    }

    /// Waits until the sums have stayed the same for two seconds: then all clients have sent what they counted.
    ///
    /// @throws IllegalStateException if they go on changing
    public BytesBySource awaitStable(Duration timeout)
            throws SQLException, InterruptedException
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        BytesBySource last = read();
        long stableSince = System.nanoTime();
        while (System.nanoTime() - stableSince < STABLE_TIME.toNanos()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the cache's counters still change %s s after the last query, last to %s".formatted(timeout.toSeconds(), last));
            }
            Thread.sleep(POLL_INTERVAL);
            BytesBySource current = read();
            if (!current.equals(last)) {
                last = current;
                stableSince = System.nanoTime();
            }
        }
        return last;
    }

    /// Waits until so many cache workers answer without a problem.
    ///
    /// @throws IllegalStateException if they do not in time
    public void awaitHealthy(int count, Duration timeout)
            throws SQLException, InterruptedException
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            QueryResult workers = connection.query("SELECT host, state, problem FROM system.cache.stats WHERE catalog_name = '%s' ORDER BY host".formatted(catalog));
            // problem is NULL for a cache worker that is well, also for one that still reads its index
            if (workers.rows().size() == count && workers.rows().stream().allMatch(worker -> "RUNNING".equals(worker.get(1)) && worker.get(2) == null)) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("%s cache workers should be well within %s s, but system.cache.stats shows %s".formatted(
                        count,
                        timeout.toSeconds(),
                        workers.rows()));
            }
            Thread.sleep(POLL_INTERVAL);
        }
    }
}
