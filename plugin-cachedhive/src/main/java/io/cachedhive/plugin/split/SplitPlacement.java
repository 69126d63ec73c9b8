package io.cachedhive.plugin.split;

import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.protocol.ring.ChunkKey;
import io.trino.filesystem.Location;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.HostAddress;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Finds the nodes of splits, by one ring for all splits of a scan.
 */
final class SplitPlacement
{
    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final NodeSelectionStrategy strategy;
    private final RingView view;

    SplitPlacement(FileOrigins origins, long chunkSizeBytes, NodeSelectionStrategy strategy, RingView view)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.strategy = requireNonNull(strategy, "strategy is null");
        this.view = requireNonNull(view, "view is null");
    }

    /**
     * Empty for any node.
     */
    List<HostAddress> addresses(HiveSplit split)
    {
        return switch (strategy) {
            case SOFT_AFFINITY, HARD_AFFINITY -> preferredNodes(split);
            case NO_PREFERENCE -> List.of();
        };
    }

    private List<HostAddress> preferredNodes(HiveSplit split)
    {
        Location location = Location.of(split.getPath());
        Optional<FileOrigin> origin = origins.find(location);
        if (origin.isEmpty()) {
            return List.of();
        }
        long locationHash = ChunkKey.locationHash(origin.get().id(), location.toString());
        return view.preferredNodes(ChunkKey.at(locationHash, split.getStart(), chunkSizeBytes));
    }
}
