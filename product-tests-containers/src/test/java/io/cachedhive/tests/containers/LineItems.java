package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A partitioned table of TPC-H's line items, made by way of {@code cachedhive} and dropped at the end. Its schema is in the metastore for both catalogs.
 */
final class LineItems
        implements AutoCloseable
{
    private static final String SCHEMA = "shop";
    private static final String LOCATION = "warehouse/" + SCHEMA + ".db/";
    // an object store tells whole seconds; what was read within two of them after it was written may have been overwritten unseen
    private static final Duration SETTLED_AFTER = Duration.ofSeconds(3);

    private final InstalledCluster cluster;
    private final String name;

    private LineItems(InstalledCluster cluster, String name)
    {
        this.cluster = requireNonNull(cluster, "cluster is null");
        this.name = requireNonNull(name, "name is null");
    }

    static LineItems create(InstalledCluster cluster, String name)
            throws Exception
    {
        LineItems table = noTable(cluster, name);
        cluster.rows(
                """
                CREATE TABLE %s (
                   orderkey bigint,
                   partkey bigint,
                   quantity double,
                   comment varchar(44),
                   linenumber integer)
                WITH (format = 'ORC', partitioned_by = ARRAY['linenumber'])
                """.formatted(table.name("cachedhive")));
        cluster.rows("INSERT INTO %s SELECT orderkey, partkey, quantity, comment, linenumber FROM tpch.\"sf0.1\".lineitem".formatted(table.name("cachedhive")));
        awaitOld();
        return table;
    }

    /**
     * The same rows in 40 files without partitions: one of three cache workers owns none of them in one of three million clusters.
     */
    static LineItems createManyFiles(InstalledCluster cluster, String name)
            throws Exception
    {
        LineItems table = noTable(cluster, name);
        cluster.rows(
                """
                CREATE TABLE %s WITH (format = 'ORC', bucketed_by = ARRAY['orderkey'], bucket_count = 40) AS
                SELECT orderkey, partkey, quantity, comment, linenumber FROM tpch."sf0.1".lineitem
                """.formatted(table.name("cachedhive")));
        awaitOld();
        return table;
    }

    /**
     * Its schema is there, and nothing of an earlier run.
     */
    private static LineItems noTable(InstalledCluster cluster, String name)
            throws Exception
    {
        LineItems table = new LineItems(cluster, name);
        cluster.rows("CREATE SCHEMA IF NOT EXISTS cachedhive." + SCHEMA);
        cluster.rows("DROP TABLE IF EXISTS " + table.name("cachedhive"));
        return table;
    }

    private static void awaitOld()
            throws Exception
    {
        long written = System.nanoTime();
        Await.until("the table is old enough", Patience.LIMIT, () -> System.nanoTime() - written > SETTLED_AFTER.toNanos());
    }

    String name(String catalog)
    {
        return "%s.%s.%s".formatted(catalog, SCHEMA, name);
    }

    /**
     * Of the table's objects.
     */
    String prefix()
    {
        return LOCATION + name + "/";
    }

    /**
     * A query that reads every byte of the table's columns, and whose row tells one wrong value.
     */
    String checksumQuery(String catalog)
    {
        return """
                SELECT
                   count(*),
                   to_hex(checksum(orderkey)),
                   to_hex(checksum(partkey)),
                   to_hex(checksum(quantity)),
                   to_hex(checksum(comment)),
                   to_hex(checksum(linenumber))
                FROM\s""" + name(catalog);
    }

    /**
     * The rows of {@link #checksumQuery}, with session properties set before.
     */
    List<List<Object>> checksum(String catalog, String property, String value)
            throws SQLException
    {
        try (var connection = cluster.connect(catalog, SCHEMA)) {
            connection.setSession(property, value);
            return connection.query(checksumQuery(catalog)).rows();
        }
    }

    @Override
    public void close()
            throws SQLException
    {
        cluster.rows("DROP TABLE IF EXISTS " + name("cachedhive"));
    }
}
