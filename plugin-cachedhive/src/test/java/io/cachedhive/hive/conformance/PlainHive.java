package io.cachedhive.hive.conformance;

import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.plugin.hive.HivePlugin;
import io.trino.testing.DistributedQueryRunner;

import java.util.Map;

/** Trino's own Hive connector: the reference that the cached connector is held against. */
final class PlainHive
        implements ConnectorUnderTest
{
    @Override
    public String name()
    {
        return "hive";
    }

    @Override
    public void install(DistributedQueryRunner queryRunner, S3Server s3)
    {
        queryRunner.installPlugin(new HivePlugin());
    }

    @Override
    public Map<String, String> catalogProperties()
    {
        return Map.of();
    }

    @Override
    public void close() {}
}
