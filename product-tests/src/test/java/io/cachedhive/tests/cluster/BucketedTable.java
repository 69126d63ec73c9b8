package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A table of twenty buckets in the schema of the connection, and who reads them.
 */
final class BucketedTable
{
    private static final int BUCKETS = 20;
    private static final String TABLE = "bucketed";

    private BucketedTable() {}

    /**
     * Writes it.
     */
    static void create(SqlConnection connection)
            throws Exception
    {
        connection.query(
                """
                CREATE TABLE %s WITH (format = 'ORC', bucketed_by = ARRAY['custkey'], bucket_count = %s) AS
                SELECT custkey, orderkey, comment FROM tpch.tiny.orders
                """.formatted(TABLE, BUCKETS));
    }

    static long mark(TestingCluster testing)
    {
        return testing.cluster().s3().log().mark();
    }

    /**
     * What the object store was asked for of the table in a schema.
     */
    static DataFileGets getsSince(TestingCluster testing, long mark, String schema)
    {
        return DataFileGets.since(testing.cluster().s3(), mark, "warehouse/%s/%s/".formatted(schema, TABLE));
    }

    /**
     * Of each bucket the node that reads it when a query reads nothing else.
     *
     * @param run a name that no earlier call had
     */
    static List<String> nodesOfBuckets(SqlConnection connection, String run)
            throws Exception
    {
        List<String> nodes = new ArrayList<>();
        for (int bucket : IntStream.range(0, BUCKETS).toArray()) {
            String mark = "%s-bucket-%s".formatted(run, bucket);
            connection.query("SELECT custkey, count(*), max(comment), '%s' FROM %s WHERE \"$bucket\" = %s GROUP BY custkey".formatted(mark, TABLE, bucket));
            List<List<Object>> readers = connection.query(
                    """
                    SELECT DISTINCT t.node_id
                    FROM system.runtime.tasks t JOIN system.runtime.queries q ON t.query_id = q.query_id
                    WHERE q.query LIKE 'SELECT custkey%%''%s''%%' AND t.physical_input_bytes > 0
                    """.formatted(mark)).rows();
            assertThat(readers).as("nodes that read bucket %s", bucket).hasSize(1);
            nodes.add((String) readers.getFirst().getFirst());
        }
        return nodes;
    }
}
