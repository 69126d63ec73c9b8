package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import com.google.common.net.InetAddresses;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static io.airlift.node.AddressToHostname.tryDecodeHostnameToAddress;
import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

/**
 * Groups the active Trino workers by host.
 *
 * <p>The addresses of the workers are those of the engine, unchanged: its node selector compares the addresses of a split with them as text.
 *
 * @param byHost addresses of the workers of each {@link #host}, in the order of node ids
 */
public record TrinoNodes(Map<String, List<HostAndPort>> byHost)
{
    public TrinoNodes
    {
        byHost = Map.copyOf(byHost);
    }

    public static TrinoNodes of(Collection<ClusterNode> workers)
    {
        return new TrinoNodes(workers.stream()
                .sorted(Comparator.comparing(ClusterNode::id))
                .collect(groupingBy(TrinoNodes::host, mapping(ClusterNode::address, collectingAndThen(toList(), List::copyOf)))));
    }

    /**
     * Returns the host at whose address the cache worker of a Trino node listens.
     *
     * <p>With Trino's automatic internal TLS, a node calls itself {@code 10-0-0-5.ip} (or {@code x2001-db8--5.ip}), a name that no resolver knows. This method returns
     * the IP address in its place. Readers and cache workers, which know nothing of Trino's names, connect to that address. Tables show the same host with and without
     * TLS, and turning TLS on moves no cache worker to another place.
     */
    public static String host(ClusterNode node)
    {
        String name = node.address().getHost();
        try {
            return tryDecodeHostnameToAddress(name)
                    .map(InetAddresses::toAddrString)
                    .orElse(name);
        }
        catch (IllegalArgumentException _) {
            // a name that ends in .ip, but holds no address: an ordinary name, which a resolver may know
            return name;
        }
    }

    Set<String> hosts()
    {
        return byHost.keySet();
    }

    List<HostAndPort> on(String host)
    {
        return byHost.getOrDefault(host, List.of());
    }
}
