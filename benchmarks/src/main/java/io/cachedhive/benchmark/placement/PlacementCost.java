package io.cachedhive.benchmark.placement;

import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What it costs to place, in the CPU time of one thread.
 */
final class PlacementCost
{
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int CHUNKS = 200_000;

    private PlacementCost() {}

    /**
     * Microseconds for the owner of a chunk.
     */
    static double ofOwner(HashRing ring, SplittableRandom random)
    {
        ChunkKey[] chunks = new ChunkKey[CHUNKS];
        for (int i = 0; i < CHUNKS; i++) {
            chunks[i] = new ChunkKey(random.nextLong(), random.nextInt(4));
        }
        // the first time is of warm-up
        double micros = 0;
        for (int time = 0; time < 2; time++) {
            int present = 0;
            long start = THREADS.getCurrentThreadCpuTime();
            for (ChunkKey chunk : chunks) {
                present += ring.owner(chunk).isPresent() ? 1 : 0;
            }
            micros = (THREADS.getCurrentThreadCpuTime() - start) / 1e3 / CHUNKS;
            if (present != CHUNKS) {
                throw new IllegalStateException("chunks without owner: " + (CHUNKS - present));
            }
        }
        return micros;
    }

    /**
     * Microseconds for a split: its place, the split that carries it, and the answer to the engine's first question.
     */
    static double ofSplit(RingView view, SplittableRandom random)
    {
        double micros = 0;
        for (int time = 0; time < 2; time++) {
            List<HiveSplit> splits = TableShape.TWENTY_THOUSAND_FILES_OF_4_MIB.splits("cost", random);
            PlacedScan scan = new PlacedScan(splits, view, NodeSelectionStrategy.SOFT_AFFINITY);
            int placed = 0;
            long start = THREADS.getCurrentThreadCpuTime();
            while (!scan.isFinished()) {
                for (ConnectorSplit split : scan.nextBatch()) {
                    placed += PlacedScan.nodes(split).isEmpty() ? 0 : 1;
                }
            }
            micros = (THREADS.getCurrentThreadCpuTime() - start) / 1e3 / splits.size();
            if (placed == 0) {
                throw new IllegalStateException("no split was placed");
            }
        }
        return micros;
    }
}
