package io.cachedhive.plugin.split;

import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;
import io.trino.filesystem.Location;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.HostAddress;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

import static io.cachedhive.plugin.split.NodeSelectionStrategy.HARD_AFFINITY;
import static io.cachedhive.plugin.split.NodeSelectionStrategy.NO_PREFERENCE;
import static io.cachedhive.plugin.split.NodeSelectionStrategy.SOFT_AFFINITY;
import static org.assertj.core.api.Assertions.assertThat;

class TestSplitPlacement
{
    private static final long CHUNK_BYTES = 8 << 20;
    private static final FileOrigins ORIGINS = FileOrigins.of("default", Map.of("fs.s3.enabled", "true"), false);
    private static final HashRing RING = HashRing.of(IntStream.range(0, 4)
            .mapToObj(i -> new RingMember(new CacheWorkerId("w" + i), 100, Optional.empty()))
            .toList());

    private final HiveSplit split = TestCachedHiveSplit.hiveSplit(false);
    private final ChunkKey chunk = ChunkKey.at(
            ChunkKey.locationHash(ORIGINS.find(Location.of(split.getPath())).orElseThrow().id(), split.getPath()),
            split.getStart(),
            CHUNK_BYTES);

    @Test
    void testPrefersTheOwnersNode()
    {
        String owner = RING.owner(chunk).orElseThrow().value();
        assertThat(place(SOFT_AFFINITY, view())).containsExactly(node(owner));
        assertThat(place(HARD_AFFINITY, view())).containsExactly(node(owner));
        assertThat(place(NO_PREFERENCE, view())).isEmpty();
    }

    @Test
    void testPrefersTheNextWhoseTrinoWorkerIsActive()
    {
        List<CacheWorkerId> order = RING.order(chunk);
        assertThat(place(SOFT_AFFINITY, view(order.get(0)))).containsExactly(node(order.get(1).value()));
        assertThat(place(SOFT_AFFINITY, view(order.get(0), order.get(1)))).containsExactly(node(order.get(2).value()));
        assertThat(place(SOFT_AFFINITY, view(order.toArray(CacheWorkerId[]::new)))).isEmpty();
    }

    @Test
    void testAnyNodeWithoutRing()
    {
        assertThat(place(SOFT_AFFINITY, RingView.EMPTY)).isEmpty();
    }

    @Test
    void testAnyNodeForFilesThatAreNotCached()
    {
        assertThat(new SplitPlacement(FileOrigins.of("default", Map.of(), false), CHUNK_BYTES, SOFT_AFFINITY, view()).addresses(split)).isEmpty();
    }

    private List<HostAddress> place(NodeSelectionStrategy strategy, RingView view)
    {
        return new SplitPlacement(ORIGINS, CHUNK_BYTES, strategy, view).addresses(split);
    }

    private static RingView view(CacheWorkerId... withoutTrinoWorker)
    {
        Map<CacheWorkerId, List<HostAddress>> nodes = new HashMap<>();
        RING.members().forEach(member -> nodes.put(member.id(), List.of(node(member.id().value()))));
        List.of(withoutTrinoWorker).forEach(nodes::remove);
        return new RingView(RING, nodes);
    }

    private static HostAddress node(String worker)
    {
        return HostAddress.fromParts("host-of-" + worker, 8080);
    }
}
