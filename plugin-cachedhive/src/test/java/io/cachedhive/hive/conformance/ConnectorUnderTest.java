package io.cachedhive.hive.conformance;

import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.testing.DistributedQueryRunner;

import java.util.Map;

/**
 * What differs between a suite over plain Hive and the same suite over the cache. A suite makes one,
 * and its {@link TestingHiveCluster} closes it after the servers.
 */
interface ConnectorUnderTest
        extends AutoCloseable
{
    /** The connector's name, and the name of the catalog that the suite reads. */
    String name();

    /** Starts what the connector needs beside Trino, if anything, and installs its plugin on every node. */
    void install(DistributedQueryRunner queryRunner, S3Server s3)
            throws Exception;

    /** Catalog properties beyond those that every Hive catalog of a suite has. */
    Map<String, String> catalogProperties();

    @Override
    void close()
            throws Exception;
}
