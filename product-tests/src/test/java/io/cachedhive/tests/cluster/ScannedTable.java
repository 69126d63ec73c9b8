package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A table of many small files, each a block and a chunk of its own, and a scan of all of them.
 */
final class ScannedTable
{
    private static final int PARTITIONS = 90;
    private static final String TABLE = "lineitem";

    private final TestingCluster testing;
    private final String schema;
    private final List<List<Object>> expected;
    private final Map<String, String> locationsByKey;

    private ScannedTable(TestingCluster testing, String schema, List<List<Object>> expected, Map<String, String> locationsByKey)
    {
        this.testing = testing;
        this.schema = schema;
        this.expected = expected;
        this.locationsByKey = locationsByKey;
    }

    /**
     * Writes it; nothing of it is cached.
     */
    static ScannedTable create(TestingCluster testing, String schema)
            throws Exception
    {
        return create(testing, schema, PARTITIONS);
    }

    /**
     * Writes it with at least one file for each of the partitions; nothing of it is cached.
     */
    static ScannedTable create(TestingCluster testing, String schema, int partitions)
            throws Exception
    {
        try (SqlConnection connection = testing.connect("hive", schema)) {
            connection.query("CREATE SCHEMA " + schema);
            connection.query("CREATE TABLE %s WITH (format = 'ORC', partitioned_by = ARRAY['part']) AS ".formatted(TABLE) +
                    "SELECT orderkey, quantity, comment, orderkey %% %s AS part FROM tpch.\"sf0.1\".lineitem".formatted(partitions));
            List<List<Object>> expected = connection.query(select("hive", schema)).rows();
            Map<String, String> locationsByKey = connection.query("SELECT DISTINCT \"$path\" FROM " + TABLE).rows().stream()
                    .map(row -> (String) row.getFirst())
                    .collect(Collectors.toMap(location -> location.substring("s3://%s/".formatted(Cluster.BUCKET).length()), location -> location));
            assertThat(locationsByKey).hasSizeGreaterThanOrEqualTo(partitions);
            return new ScannedTable(testing, schema, expected, locationsByKey);
        }
    }

    private static String select(String catalog, String schema)
    {
        return "SELECT count(*), sum(CAST(quantity AS bigint)), sum(orderkey), to_hex(checksum(comment)) FROM %s.%s.%s".formatted(catalog, schema, TABLE);
    }

    /**
     * The keys of its files.
     */
    Set<String> keys()
    {
        return locationsByKey.keySet();
    }

    String location(String key)
    {
        return locationsByKey.get(key);
    }

    /**
     * Waits until its files are so old that what is fetched of them is kept at once.
     */
    void awaitOldFiles(SqlConnection connection)
            throws Exception
    {
        OldFiles.await(connection, "%s.%s".formatted(schema, TABLE));
    }

    /**
     * Scans all of it and looks at the rows.
     */
    void scan(SqlConnection connection, String catalog)
            throws Exception
    {
        assertThat(connection.query(select(catalog, schema)).rows()).isEqualTo(expected);
    }

    /**
     * Scans all of it.
     *
     * @return what the object store was asked for meanwhile
     */
    DataFileGets getsOfScan(SqlConnection connection, String catalog)
            throws Exception
    {
        long mark = mark();
        scan(connection, catalog);
        return getsSince(mark);
    }

    long mark()
    {
        return testing.cluster().s3().log().mark();
    }

    DataFileGets getsSince(long mark)
    {
        return getsSince(mark, _ -> true);
    }

    private DataFileGets getsSince(long mark, Predicate<S3Request> which)
    {
        return DataFileGets.since(testing.cluster().s3(), mark, "warehouse/%s/%s/".formatted(schema, TABLE), which);
    }

    /**
     * The same, but for what readers asked for if it was no more than they say to have asked for since cache workers were silent for longer than usual, as on a busy machine.
     *
     * @param slowBefore {@link NoOriginReads#bytesOfSlowWorkers} at the mark
     */
    DataFileGets getsSince(long mark, SqlConnection connection, Map<String, Long> slowBefore)
            throws Exception
    {
        Predicate<S3Request> ofCacheWorkers = request -> request.application().equals(NoOriginReads.CACHE_WORKER);
        long ofReaders = getsSince(mark, ofCacheWorkers.negate()).bytes();
        if (ofReaders == 0) {
            return getsSince(mark);
        }
        Counters.atRest(connection, "cachedhive");
        long slow = NoOriginReads.growth(slowBefore, NoOriginReads.bytesOfSlowWorkers(connection));
        System.out.printf("readers asked the object store for %s bytes, %s of them since cache workers were silent%n", ofReaders, slow);
        return getsSince(mark, ofReaders <= slow ? ofCacheWorkers : _ -> true);
    }
}
