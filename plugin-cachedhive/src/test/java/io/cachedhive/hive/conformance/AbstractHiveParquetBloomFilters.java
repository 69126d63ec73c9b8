package io.cachedhive.hive.conformance;

import io.trino.spi.connector.CatalogSchemaTableName;
import io.trino.testing.BaseTestParquetWithBloomFilters;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

import java.util.List;

import static io.trino.plugin.hive.HiveStorageFormat.PARQUET;
import static io.trino.testing.TestingNames.randomNameSuffix;
import static java.util.stream.Collectors.joining;

/** Row groups that are skipped by small reads of Parquet's bloom filters. */
@Tag("conformance")
abstract class AbstractHiveParquetBloomFilters
        extends BaseTestParquetWithBloomFilters
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), PARQUET)
                .start(this::closeAfterClass);
    }

    @Override
    protected CatalogSchemaTableName createParquetTableWithBloomFilter(String columnName, List<Integer> testValues)
    {
        CatalogSchemaTableName table = new CatalogSchemaTableName(
                getSession().getCatalog().orElseThrow(),
                getSession().getSchema().orElseThrow(),
                "parquet_with_bloom_filters_" + randomNameSuffix());
        assertUpdate(
                "CREATE TABLE %s WITH (format = 'PARQUET', parquet_bloom_filter_columns = ARRAY['%s']) AS SELECT * FROM (VALUES %s) t(%s)".formatted(
                        table,
                        columnName,
                        testValues.stream().map(Object::toString).collect(joining(", ")),
                        columnName),
                testValues.size());
        return table;
    }
}
