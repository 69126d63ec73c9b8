package io.cachedhive.testing.cluster;

import io.cachedhive.testing.cluster.s3.S3Service;

import java.nio.file.Path;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * What a cluster is about to make of a Trino node, for those who want to change it.
 *
 * @param socketPath where this host's cache worker listens; the coordinator has a path at which nobody does
 * @param hiveCatalog properties of the catalog {@code hive}
 * @param cachedHiveCatalog properties of the catalog {@code cachedhive}, whether the cluster has it or not
 */
public record TrinoNodePlan(String name, String address, boolean coordinator, Path socketPath, S3Service s3, Map<String, String> hiveCatalog, Map<String, String> cachedHiveCatalog)
{
    public TrinoNodePlan
    {
        requireNonNull(name, "name is null");
        requireNonNull(address, "address is null");
        requireNonNull(socketPath, "socketPath is null");
        requireNonNull(s3, "s3 is null");
        hiveCatalog = Map.copyOf(hiveCatalog);
        cachedHiveCatalog = Map.copyOf(cachedHiveCatalog);
    }
}
