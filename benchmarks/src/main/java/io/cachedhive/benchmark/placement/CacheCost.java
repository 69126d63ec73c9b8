package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.benchmark.placement.SimulatedEngine.SplitCost;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * What a split costs beside a cache: the first one of a range waits for the object store, later ones read from the owner of the range or, on its host, from its memory.
 * Each thread takes the time for decoding in any case.
 */
final class CacheCost
        implements SplitCost
{
    // of one thread
    private static final double DECODED_BYTES_PER_SECOND = 250e6;
    private static final double STORE_BYTES_PER_SECOND = 100e6;
    private static final double OTHER_HOST_BYTES_PER_SECOND = 1e9;

    private final RingView view;
    private final Set<String> filled = new HashSet<>();
    private final boolean cached;

    /**
     * @param cached whether there is a cache; without one, every split waits for the object store
     */
    CacheCost(RingView view, boolean cached)
    {
        this.view = requireNonNull(view, "view is null");
        this.cached = cached;
    }

    @Override
    public double seconds(HostAndPort node, ConnectorSplit split)
    {
        HiveSplit file = (HiveSplit) CachedSplit.unwrap(split);
        double seconds = file.getLength() / DECODED_BYTES_PER_SECOND;
        if (!cached || filled.add(file.getPath() + "#" + file.getStart())) {
            return seconds + file.getLength() / STORE_BYTES_PER_SECOND;
        }
        List<HostAndPort> local = view.readers()
                .owner(ChunkKey.at(PlacedScan.locationHash(file.getPath()), file.getStart() + file.getLength() / 2, PlacedScan.CHUNK_BYTES))
                .map(this::nodes)
                .orElse(List.of());
        return local.contains(node) ? seconds : seconds + file.getLength() / OTHER_HOST_BYTES_PER_SECOND;
    }

    private List<HostAndPort> nodes(CacheWorkerId worker)
    {
        return view.nodes().get(worker);
    }

    /**
     * Marks all ranges as cached.
     */
    CacheCost warm(List<HiveSplit> splits)
    {
        splits.forEach(split -> filled.add(split.getPath() + "#" + split.getStart()));
        return this;
    }
}
