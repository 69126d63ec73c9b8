package io.cachedhive.plugin.membership;

import io.trino.spi.HostAddress;
import io.trino.spi.Node;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

/**
 * The active Trino workers by host.
 *
 * @param byHost in the order of node ids
 */
public record TrinoNodes(Map<String, List<HostAddress>> byHost)
{
    public TrinoNodes
    {
        byHost = Map.copyOf(byHost);
    }

    public static TrinoNodes of(Collection<Node> workers)
    {
        return new TrinoNodes(workers.stream()
                .sorted(Comparator.comparing(Node::getNodeIdentifier))
                .collect(groupingBy(node -> node.getHostAndPort().getHostText(), mapping(Node::getHostAndPort, collectingAndThen(toList(), List::copyOf)))));
    }

    Set<String> hosts()
    {
        return byHost.keySet();
    }

    List<HostAddress> on(String host)
    {
        return byHost.getOrDefault(host, List.of());
    }
}
