package io.cachedhive.hive.conformance;

import com.google.common.collect.ImmutableMap;
import io.trino.testing.BaseDynamicPartitionPruningTest;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

import java.util.List;

import static io.trino.plugin.hive.HiveStorageFormat.ORC;
import static java.util.stream.Collectors.joining;

/** Splits of partitioned and bucketed tables that are never made because a join's other side has no rows for them. */
@Tag("conformance")
abstract class AbstractHiveDynamicPartitionPruning
        extends BaseDynamicPartitionPruningTest
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), ORC)
                .setTables(REQUIRED_TABLES)
                .setServerProperties(EXTRA_PROPERTIES)
                // splits wait for the other side of the join however long it takes
                .setCatalogProperties(ImmutableMap.of("hive.dynamic-filtering.wait-timeout", "1h"))
                .start(this::closeAfterClass);
    }

    @Override
    protected void createLineitemTable(String tableName, List<String> columns, List<String> partitionColumns)
    {
        getQueryRunner().execute("CREATE TABLE %s WITH (partitioned_by = %s) AS SELECT %s FROM tpch.tiny.lineitem".formatted(
                tableName,
                array(partitionColumns),
                String.join(", ", columns)));
    }

    @Override
    protected void createPartitionedTable(String tableName, List<String> columns, List<String> partitionColumns)
    {
        getQueryRunner().execute("CREATE TABLE %s (%s) WITH (partitioned_by = %s)".formatted(
                tableName,
                String.join(", ", columns),
                array(partitionColumns)));
    }

    @Override
    protected void createPartitionedAndBucketedTable(String tableName, List<String> columns, List<String> partitionColumns, List<String> bucketColumns)
    {
        getQueryRunner().execute("CREATE TABLE %s (%s) WITH (partitioned_by = %s, bucketed_by = %s, bucket_count = 10)".formatted(
                tableName,
                String.join(", ", columns),
                array(partitionColumns),
                array(bucketColumns)));
    }

    private static String array(List<String> columns)
    {
        return columns.stream()
                .map("'%s'"::formatted)
                .collect(joining(", ", "ARRAY[", "]"));
    }
}
