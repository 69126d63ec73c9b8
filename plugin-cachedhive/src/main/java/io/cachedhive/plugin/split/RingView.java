package io.cachedhive.plugin.split;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.trino.spi.HostAddress;

import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The ring by which scans are planned at the moment, and the active Trino workers beside its members.
 *
 * @param nodes the active Trino workers on the host of a cache worker, in a fixed order; none for a cache worker whose Trino worker is away
 */
public record RingView(HashRing ring, Map<CacheWorkerId, List<HostAddress>> nodes)
{
    public static final RingView EMPTY = new RingView(HashRing.of(List.of()), Map.of());

    public RingView
    {
        requireNonNull(ring, "ring is null");
        nodes = Map.copyOf(nodes);
    }

    /**
     * The nodes that read the chunk with the least way: those beside the first cache worker in the chunk's order that has any. Empty if there are none.
     */
    public List<HostAddress> preferredNodes(ChunkKey chunk)
    {
        if (ring.isEmpty()) {
            return List.of();
        }
        List<HostAddress> beside = nodes.getOrDefault(ring.owner(chunk).orElseThrow(), List.of());
        if (!beside.isEmpty()) {
            return beside;
        }
        return ring.order(chunk).stream()
                .map(worker -> nodes.getOrDefault(worker, List.of()))
                .filter(candidates -> !candidates.isEmpty())
                .findFirst()
                .orElse(List.of());
    }
}
