package io.cachedhive.plugin.conformance;

import io.cachedhive.plugin.CachedHivePlugin;
import io.cachedhive.quickstart.s3.S3Server;
import io.trino.testing.DistributedQueryRunner;

import java.util.Map;

/** The Hive connector read through the cache. */
final class CachedHive
        implements ConnectorUnderTest
{
    @Override
    public String name()
    {
        return "cachedhive";
    }

    @Override
    public void install(DistributedQueryRunner queryRunner, S3Server s3)
    {
        queryRunner.installPlugin(new CachedHivePlugin());
    }

    @Override
    public Map<String, String> catalogProperties()
    {
        return Map.of();
    }

    @Override
    public void close() {}
}
