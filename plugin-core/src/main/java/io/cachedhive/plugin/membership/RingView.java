package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The ring by which scans are planned at the moment, and the active Trino workers beside its members.
 */
public final class RingView
{
    public static final RingView EMPTY = of(HashRing.of(List.of()), Map.of());

    private final HashRing ring;
    private final Map<CacheWorkerId, List<HostAndPort>> nodes;
    private final boolean partial;
    private final HashRing readers;
    private final int nodeCount;

    private RingView(HashRing ring, Map<CacheWorkerId, List<HostAndPort>> nodes, boolean partial)
    {
        this.ring = requireNonNull(ring, "ring is null");
        this.nodes = requireNonNull(nodes, "nodes is null");
        this.partial = partial;
        this.readers = ring.restrictedTo(member -> nodes.containsKey(member.id()));
        this.nodeCount = nodes.values().stream().mapToInt(List::size).sum();
    }

    /**
     * A ring whose members all have a live cache worker.
     *
     * @param nodes the active Trino workers on the host of a cache worker, in a fixed order; none for a cache worker whose Trino worker is away
     */
    public static RingView of(HashRing ring, Map<CacheWorkerId, List<HostAndPort>> nodes)
    {
        return of(ring, nodes, false);
    }

    /**
     * @param partial whether some members have no live cache worker: their chunks are read from the origin
     */
    public static RingView of(HashRing ring, Map<CacheWorkerId, List<HostAndPort>> nodes, boolean partial)
    {
        Map<CacheWorkerId, List<HostAndPort>> active = new HashMap<>();
        nodes.forEach((worker, addresses) -> {
            if (!addresses.isEmpty() && ring.member(worker).isPresent()) {
                active.put(worker, List.copyOf(addresses));
            }
        });
        return new RingView(ring, Map.copyOf(active), partial);
    }

    public HashRing ring()
    {
        return ring;
    }

    /**
     * The members of the ring with an active Trino worker beside them: splits are given to these. Each chunk has them in the ring's order.
     */
    public HashRing readers()
    {
        return readers;
    }

    /**
     * The Trino workers beside each reader.
     */
    public Map<CacheWorkerId, List<HostAndPort>> nodes()
    {
        return nodes;
    }

    /**
     * Whether the ring holds places without a live cache worker, since there are too few with one.
     */
    public boolean isPartial()
    {
        return partial;
    }

    /**
     * How many Trino workers there are beside all readers.
     */
    public int nodeCount()
    {
        return nodeCount;
    }

    @Override
    public boolean equals(Object object)
    {
        return object instanceof RingView other && ring.equals(other.ring) && nodes.equals(other.nodes) && partial == other.partial;
    }

    @Override
    public int hashCode()
    {
        return 31 * ring.hashCode() + nodes.hashCode();
    }

    @Override
    public String toString()
    {
        return "RingView{ring=%s, nodes=%s, partial=%s}".formatted(ring, nodes, partial);
    }
}
