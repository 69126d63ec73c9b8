package io.cachedhive.trino.connector;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.membership.ClusterNode;
import io.trino.spi.HostAddress;
import io.trino.spi.Node;

/**
 * Trino's nodes, as the cache knows them.
 */
final class TrinoCluster
{
    private TrinoCluster() {}

    static ClusterNode node(Node node)
    {
        HostAddress address = node.getHostAndPort();
        HostAndPort host = HostAndPort.fromHost(address.getHostText());
        return new ClusterNode(node.getNodeIdentifier(), address.hasPort() ? HostAndPort.fromParts(host.getHost(), address.getPort()) : host);
    }
}
