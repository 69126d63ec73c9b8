package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.BytesBySource;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;
import io.cachedhive.testing.cluster.tpch.TpchTables;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * Runs queries on a cluster and notes what its S3 server and its cache counted meanwhile. Nothing else may run on the cluster.
 */
public final class WorkloadRunner
{
    private static final Duration QUERY_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration COUNTERS_TIMEOUT = Duration.ofSeconds(60);
    private static final String USER = "quickstart";
    private static final int WARM_UP_ROWS = 1000;

    private final Cluster cluster;
    private final Consumer<String> progress;

    public WorkloadRunner(Cluster cluster, Consumer<String> progress)
    {
        this.cluster = requireNonNull(cluster, "cluster is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    /// Runs the queries over tables of few rows by each catalog, so that all Trino servers have loaded and compiled what they need for each of them.
    ///
    /// @param writer the catalog that writes the tables, if they are not there
    public void warmUp(String writer, List<String> catalogs, List<QueryTask> tasks)
            throws SQLException
    {
        progress.accept("warming up: %s queries over small tables, by %s".formatted(tasks.size(), String.join(" and ", catalogs)));
        try (SqlConnection connection = connect()) {
            for (TpchTables.Schema schema : TpchTables.Schema.values()) {
                TpchTables.copyFirstRows(connection, writer, schema, warmUpSchema(schema), WARM_UP_ROWS);
            }
            for (QueryTask task : tasks) {
                for (String catalog : catalogs) {
                    connection.setCatalogAndSchema(catalog, warmUpSchema(task.schema()));
                    connection.query(task.query().sql());
                }
            }
        }
    }

    private static String warmUpSchema(TpchTables.Schema schema)
    {
        return schema.schemaName() + "_warm_up";
    }

    /// Runs the queries over a catalog without a cache.
    public WorkloadRun runPlain(String name, String catalog, List<QueryTask> tasks)
            throws Exception
    {
        return run(name, catalog, tasks, Map.of(), false);
    }

    /// Runs the queries over a catalog with a cache, and waits until its counters are at rest.
    ///
    /// @param session session properties
    public WorkloadRun runCached(String name, String catalog, List<QueryTask> tasks, Map<String, String> session)
            throws Exception
    {
        return run(name, catalog, tasks, session, true);
    }

    private WorkloadRun run(String name, String catalog, List<QueryTask> tasks, Map<String, String> session, boolean cached)
            throws Exception
    {
        try (SqlConnection connection = connect(); SqlConnection statisticsConnection = connect()) {
            for (Map.Entry<String, String> property : session.entrySet()) {
                connection.setSession(property.getKey(), property.getValue());
            }
            CacheStatistics statistics = new CacheStatistics(statisticsConnection, catalog);
            Optional<BytesBySource> before = cached ? Optional.of(cluster.watching(COUNTERS_TIMEOUT, () -> statistics.awaitStable(COUNTERS_TIMEOUT))) : Optional.empty();
            long mark = cluster.s3().log().mark();
            List<QueryRun> runs = new ArrayList<>();
            for (QueryTask task : tasks) {
                progress.accept("%s: %s (%s of %s)".formatted(name, task.name(), runs.size() + 1, tasks.size()));
                connection.setCatalogAndSchema(catalog, task.schema().schemaName());
                long queryMark = cluster.s3().log().mark();
                QueryResult result;
                try {
                    result = cluster.watching(QUERY_TIMEOUT, () -> connection.query(task.query().sql()));
                }
                catch (SQLException e) {
                    throw new IllegalStateException("%s: %s over catalog %s failed: %s".formatted(name, task.name(), catalog, e.getMessage()), e);
                }
                runs.add(new QueryRun(task, result, cluster.s3().log().since(queryMark)));
            }
            Optional<BytesBySource> bytes = Optional.empty();
            if (before.isPresent()) {
                bytes = Optional.of(cluster.watching(COUNTERS_TIMEOUT, () -> statistics.awaitStable(COUNTERS_TIMEOUT)).minus(before.get()));
            }
            return new WorkloadRun(name, runs, cluster.s3().log().since(mark), bytes);
        }
    }

    SqlConnection connect()
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), USER, Optional.empty(), Optional.empty());
    }
}
