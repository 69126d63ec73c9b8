package io.cachedhive.hive.conformance;

import com.google.common.collect.ImmutableMap;
import io.trino.testing.BaseOrcWithBloomFiltersTest;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

import static io.trino.plugin.hive.HiveStorageFormat.ORC;

/** Row groups that are skipped by small reads of ORC's bloom filters. */
@Tag("conformance")
abstract class AbstractHiveOrcBloomFilters
        extends BaseOrcWithBloomFiltersTest
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), ORC)
                .setCatalogProperties(ImmutableMap.of("hive.orc.bloom-filters.enabled", "true"))
                .start(this::closeAfterClass);
    }

    @Override
    protected String getTableProperties(String bloomFilterColumnName, String bucketingColumnName)
    {
        return "format = 'ORC', bucketed_by = ARRAY['%s'], bucket_count = 1, orc_bloom_filter_columns = ARRAY['%s'], orc_bloom_filter_fpp = 0.001"
                .formatted(bucketingColumnName, bloomFilterColumnName);
    }
}
