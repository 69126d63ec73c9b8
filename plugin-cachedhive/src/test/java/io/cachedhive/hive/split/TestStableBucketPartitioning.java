package io.cachedhive.hive.split;

import io.cachedhive.hive.connector.HiveAdapter;
import io.cachedhive.trino.split.StableBucketPartitioning;
import io.trino.metastore.HiveType;
import io.trino.plugin.hive.HiveNodePartitioningProvider;
import io.trino.plugin.hive.HivePartitioningHandle;
import io.trino.plugin.hive.HiveTransactionHandle;
import io.trino.plugin.hive.util.HiveBucketing.BucketingVersion;
import io.trino.spi.connector.ConnectorBucketNodeMap;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;

import static io.trino.metastore.HiveType.HIVE_INT;
import static io.trino.metastore.HiveType.HIVE_STRING;
import static io.trino.plugin.hive.util.HiveBucketing.BucketingVersion.BUCKETING_V1;
import static io.trino.plugin.hive.util.HiveBucketing.BucketingVersion.BUCKETING_V2;
import static io.trino.testing.TestingConnectorSession.SESSION;
import static io.trino.type.InternalTypeManager.TESTING_TYPE_MANAGER;
import static org.assertj.core.api.Assertions.assertThat;

class TestStableBucketPartitioning
{
    private final HiveNodePartitioningProvider hive = new HiveNodePartitioningProvider(TESTING_TYPE_MANAGER);

    @Test
    void testHintIsTheSameInEveryProcess()
    {
        // a change moves all buckets of all clusters once
        assertThat(map(handle(BUCKETING_V1, 8, HIVE_INT)).getCacheKeyHint()).isEqualTo(8112948396070162459L);
        assertThat(map(handle(BUCKETING_V1, 8, HIVE_INT)).hasFixedMapping()).isFalse();
        assertThat(map(handle(BUCKETING_V1, 8, HIVE_INT)).getBucketCount()).isEqualTo(8);
    }

    @Test
    void testHintTellsPartitioningsApart()
    {
        assertThat(List.of(
                map(handle(BUCKETING_V1, 8, HIVE_INT)).getCacheKeyHint(),
                map(handle(BUCKETING_V2, 8, HIVE_INT)).getCacheKeyHint(),
                map(handle(BUCKETING_V1, 9, HIVE_INT)).getCacheKeyHint(),
                map(handle(BUCKETING_V1, 8, HIVE_STRING)).getCacheKeyHint(),
                map(handle(BUCKETING_V1, 8, HIVE_INT, HIVE_STRING)).getCacheKeyHint()))
                .doesNotHaveDuplicates();
    }

    @Test
    void testPlainHiveKeepsItsOwn()
    {
        HivePartitioningHandle handle = handle(BUCKETING_V1, 8, HIVE_INT);
        StableBucketPartitioning partitioning = new StableBucketPartitioning(hive, new HiveAdapter(), _ -> false);
        assertThat(partitioning.getBucketNodeMapping(new HiveTransactionHandle(true), SESSION, handle).orElseThrow().getCacheKeyHint())
                .isEqualTo(handle.getCacheKeyHint());
    }

    @Test
    void testNoMapStaysNoMap()
    {
        HivePartitioningHandle handle = new HivePartitioningHandle(BUCKETING_V1, 8, List.of(HIVE_INT), true);
        assertThat(mapping(handle)).isEmpty();
    }

    private ConnectorBucketNodeMap map(HivePartitioningHandle handle)
    {
        return mapping(handle).orElseThrow();
    }

    private Optional<ConnectorBucketNodeMap> mapping(HivePartitioningHandle handle)
    {
        return new StableBucketPartitioning(hive, new HiveAdapter(), _ -> true).getBucketNodeMapping(new HiveTransactionHandle(true), SESSION, handle);
    }

    private static HivePartitioningHandle handle(BucketingVersion version, int buckets, HiveType... types)
    {
        return new HivePartitioningHandle(version, buckets, List.of(types), false);
    }
}
