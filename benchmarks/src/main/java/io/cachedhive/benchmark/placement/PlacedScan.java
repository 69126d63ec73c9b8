package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.hive.connector.HiveAdapter;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.placement.PlacementCounts;
import io.cachedhive.plugin.placement.RecentLoad;
import io.cachedhive.plugin.placement.ScanPlacement;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.trino.split.CachedSplit;
import io.cachedhive.trino.split.CachedSplitSource;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.connector.FixedSplitSource;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The splits of a scan as the connector hands them to the engine.
 */
final class PlacedScan
{
    static final long CHUNK_BYTES = 512L << 20;
    static final double MAX_SKEW = 0.25;

    // Trino's query.schedule-split-batch-size
    private static final int BATCH_SPLITS = 1000;
    private static final FileOrigins ORIGINS = FileOrigins.of("default", Map.of("fs.s3.enabled", "true"), false);
    private static final SchemaTableName TABLE = new SchemaTableName("simulated", "scan");
    private static final DynamicFilterSnapshot NO_FILTER = new DynamicFilterSnapshot(TupleDomain.all(), true);

    private final ScanPlacement placement;
    private final CachedSplitSource source;

    PlacedScan(List<HiveSplit> splits, RingView view, NodeSelectionStrategy strategy)
    {
        this(splits, view, strategy, new RecentLoad(() -> 0).query("scan"));
    }

    PlacedScan(List<HiveSplit> splits, RingView view, NodeSelectionStrategy strategy, RecentLoad.Query load)
    {
        placement = new ScanPlacement(ORIGINS, CHUNK_BYTES, strategy, MAX_SKEW, view, load);
        source = new CachedSplitSource(
                new FixedSplitSource(splits),
                new HiveAdapter(),
                placement,
                CacheDecision.CACHE,
                Optional.empty(),
                _ -> Map.of(),
                (split, nodes, decision) -> CachedSplit.of(split, nodes, TABLE, decision, Optional.of(view.ring().epoch())));
    }

    boolean isFinished()
    {
        return source.isFinished();
    }

    List<ConnectorSplit> nextBatch()
    {
        return source.getNextBatch(BATCH_SPLITS, NO_FILTER).join();
    }

    PlacementCounts counts()
    {
        return placement.counts();
    }

    static long locationHash(String location)
    {
        return ChunkKey.locationHash(ORIGINS.find(location).orElseThrow().id(), location);
    }

    /**
     * The nodes that the split prefers at this attempt.
     */
    static List<HostAndPort> nodes(ConnectorSplit split)
    {
        return split.getAddresses().stream()
                .map(address -> HostAndPort.fromParts(address.getHostText(), address.getPort()))
                .toList();
    }

    /**
     * The bytes for which each node is preferred at the first attempt.
     */
    static Map<HostAndPort, Long> preferredBytes(List<HiveSplit> splits, RingView view)
    {
        Map<HostAndPort, Long> bytes = new HashMap<>();
        PlacedScan scan = new PlacedScan(splits, view, NodeSelectionStrategy.SOFT_AFFINITY);
        while (!scan.isFinished()) {
            for (ConnectorSplit split : scan.nextBatch()) {
                for (HostAndPort node : nodes(split)) {
                    bytes.merge(node, ((HiveSplit) CachedSplit.unwrap(split)).getLength(), Long::sum);
                }
            }
        }
        return bytes;
    }
}
