package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.membership.RingView;
import io.trino.plugin.hive.HiveSplit;

import java.util.List;
import java.util.Map;

/**
 * How unevenly a scan is laid on the nodes.
 */
final class Skew
{
    private Skew() {}

    /**
     * The most that a node is preferred for, as a share of 1.25 times its share of the scan and a chunk.
     */
    static double largestBoundShare(List<HiveSplit> splits, RingView view)
    {
        long total = splits.stream().mapToLong(HiveSplit::getLength).sum();
        Map<HostAndPort, Long> preferred = PlacedScan.preferredBytes(splits, view);
        return view.nodes().entrySet().stream()
                .mapToDouble(entry -> entry.getValue().stream().mapToLong(node -> preferred.getOrDefault(node, 0L)).max().orElse(0)
                        / ((1 + PlacedScan.MAX_SKEW) * view.readers().share(entry.getKey()) * total + PlacedScan.CHUNK_BYTES))
                .max()
                .orElseThrow();
    }
}
