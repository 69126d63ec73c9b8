package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;

import static java.util.Objects.requireNonNull;

/**
 * A Trino node.
 *
 * @param address by which the engine knows it
 */
public record ClusterNode(String id, HostAndPort address)
{
    public ClusterNode
    {
        requireNonNull(id, "id is null");
        requireNonNull(address, "address is null");
    }
}
