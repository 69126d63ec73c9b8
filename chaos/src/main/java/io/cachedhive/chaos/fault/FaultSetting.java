package io.cachedhive.chaos.fault;

import io.cachedhive.chaos.lake.Lake;
import io.cachedhive.chaos.proxy.TcpProxy;
import io.cachedhive.chaos.query.QueryClient;
import io.cachedhive.testing.cluster.Cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * What faults happen to.
 *
 * @param workerProxies in front of the block port of each cache worker
 * @param s3Proxy in front of the S3 server
 * @param client for faults in the middle of a read
 * @param certificates of all processes
 * @param directory for files of the faults
 */
public record FaultSetting(
        Cluster cluster,
        Lake lake,
        List<TcpProxy> workerProxies,
        TcpProxy s3Proxy,
        QueryClient client,
        ClusterCertificates certificates,
        Path directory,
        SsdSizes ssdSizes)
{
    public static final String NO_RULES = "{\"rules\": []}";

    /** Values of {@code cache.ssd.max-sizes}. */
    public record SsdSizes(String normal, String doubled) {}

    static final Map<Integer, String> RULES = Map.of(
            0, "{\"rules\": [{\"name\": \"bypass\", \"table\": \"large_.*\", \"action\": \"bypass\"}]}",
            1, "{\"rules\": [{\"name\": \"brief\", \"table\": \"moving_.*|parts_.*\", \"ttl\": \"2s\"}, {\"name\": \"high\", \"class\": \"high\"}]}",
            2, "{\"rules\": [{\"name\": \"small\", \"table\": \"large_orc\", \"quota\": \"2MB\"}, {\"name\": \"low\", \"table\": \"large_.*\", \"class\": \"low\"}]}");

    public FaultSetting
    {
        requireNonNull(cluster, "cluster is null");
        requireNonNull(lake, "lake is null");
        workerProxies = List.copyOf(workerProxies);
        requireNonNull(s3Proxy, "s3Proxy is null");
        requireNonNull(client, "client is null");
        requireNonNull(certificates, "certificates is null");
        requireNonNull(directory, "directory is null");
        requireNonNull(ssdSizes, "ssdSizes is null");
    }

    Path rulesFile()
    {
        return directory.resolve("rules.json");
    }
}
