package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.benchmark.placement.OwnedChunks.Moved;
import io.cachedhive.benchmark.placement.SimulatedCluster.Host;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.placement.PlacementCounts;
import io.cachedhive.protocol.ring.HashRing;
import io.trino.plugin.hive.HiveSplit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Hours of a cluster: hosts join and leave, cache workers are restarted and flap, some Trino workers are slow, and tables are scanned, a few of them
 * much more often than the rest (by Zipf's law).
 */
final class ClusterLife
{
    private static final int TABLES = 30;
    private static final int SAMPLED_CHUNKS = 4_000;
    private static final int EVENT_SECONDS = 60;
    private static final int SCAN_SECONDS = 120;
    private static final long FLAP_MILLIS = 15_000;
    private static final double SECONDS_PER_BYTE = 1 / 100e6;
    private static final double STRAGGLERS = 0.05;
    private static final double STRAGGLER_SLOWNESS = 4;

    private final SplittableRandom random;
    private final SimulatedCluster cluster;
    private final int size;
    private final List<List<HiveSplit>> tables = new ArrayList<>();
    private final Map<Host, Long> awayUntilMillis = new HashMap<>();
    private final Set<HostAndPort> stragglers = new HashSet<>();

    private long lastRingMillis = Long.MIN_VALUE / 2;
    private long shortestRingMillis = Long.MAX_VALUE;
    private int ringChanges;
    private int flapsOnly;
    private int uncausedMoves;
    private double largestBoundShare;
    private long splits;
    private long overflowed;
    private double seconds;
    private double plainSeconds;

    /**
     * @param shortestRingSeconds the least time between two rings with other members
     * @param uncausedMoves of sampled chunks whose owners stayed
     * @param changedWithoutCause rings that were changed while workers only flapped
     * @param largestBoundShare the most that a node was preferred for, as a share of the bound, on rings whose cache workers all live
     * @param secondsToPlain how long scans took, to scans whose splits run anywhere
     */
    record Outcome(
            double shortestRingSeconds,
            int ringChanges,
            int uncausedMoves,
            int changedWithoutCause,
            double largestBoundShare,
            double overflowedShare,
            double secondsToPlain) {}

    ClusterLife(SplittableRandom random, int size)
    {
        this.random = random;
        this.size = size;
        this.cluster = new SimulatedCluster(random, size, size);
        TableShape[] shapes = TableShape.values();
        for (int i = 0; i < TABLES; i++) {
            tables.add(shapes[i % shapes.length].splits("table-" + i, random));
        }
    }

    Outcome live(int hours)
    {
        cluster.pass(5_000);
        HashRing ring = cluster.ring().ring();
        boolean quiet = true;
        for (int second = 1; second <= hours * 3600; second++) {
            // hours without joins and leaves: whatever flaps, chunks stay
            boolean flapsOnly = second / 3600 % 2 == 1;
            if (second % EVENT_SECONDS == 0) {
                happen(flapsOnly);
            }
            comeBack();
            cluster.tick();
            if (second % 3600 == 0) {
                // what was begun before has its effect until the grace period is over
                quiet = false;
            }
            else if (flapsOnly && second % 3600 == 2 * SimulatedCluster.GRACE_MILLIS / 1000) {
                quiet = true;
            }
            HashRing newest = cluster.ring().ring();
            if (!newest.equals(ring)) {
                ringChanged(ring, newest, flapsOnly && quiet);
                ring = newest;
            }
            if (second % SCAN_SECONDS == 0) {
                scan();
            }
        }
        return new Outcome(
                shortestRingMillis / 1000.0,
                ringChanges,
                uncausedMoves,
                flapsOnly,
                largestBoundShare,
                (double) overflowed / splits,
                seconds / plainSeconds);
    }

    private void happen(boolean flapsOnly)
    {
        Host host = cluster.hosts().get(random.nextInt(cluster.hosts().size()));
        int what = random.nextInt(flapsOnly ? 2 : 5);
        switch (what) {
            // not seen for less than the grace period
            case 0, 1 -> {
                host.setCacheAnswers(false);
                awayUntilMillis.put(host, cluster.nowMillis() + FLAP_MILLIS);
            }
            case 2 -> cluster.add(true);
            case 3 -> {
                if (cluster.hosts().size() > Math.max(2, size / 2)) {
                    cluster.remove(host);
                    awayUntilMillis.remove(host);
                }
            }
            default -> {
                // away for longer than that
                host.setCacheAnswers(false);
                host.setTrinoActive(random.nextBoolean());
                awayUntilMillis.put(host, cluster.nowMillis() + 2 * SimulatedCluster.GRACE_MILLIS);
            }
        }
        stragglers.clear();
        for (Host each : cluster.hosts()) {
            if (random.nextDouble() < STRAGGLERS) {
                stragglers.add(each.node());
            }
        }
    }

    private void comeBack()
    {
        awayUntilMillis.entrySet().removeIf(entry -> {
            if (entry.getValue() > cluster.nowMillis()) {
                return false;
            }
            entry.getKey().setCacheAnswers(true);
            entry.getKey().setTrinoActive(true);
            return true;
        });
    }

    private void ringChanged(HashRing before, HashRing after, boolean withoutCause)
    {
        ringChanges++;
        if (withoutCause) {
            flapsOnly++;
        }
        shortestRingMillis = Math.min(shortestRingMillis, cluster.nowMillis() - lastRingMillis);
        lastRingMillis = cluster.nowMillis();
        Moved moved = OwnedChunks.moved(before, after, random.nextLong(), SAMPLED_CHUNKS);
        uncausedMoves += moved.uncaused();
    }

    private void scan()
    {
        List<HiveSplit> table = tables.get(zipf());
        List<HostAndPort> nodes = Rings.nodes(cluster.view());
        if (nodes.isEmpty()) {
            return;
        }
        // on a ring with dead places nobody has more than its splits, whatever their bytes: that is measured apart
        if (!cluster.view().isPartial()) {
            largestBoundShare = Math.max(largestBoundShare, Skew.largestBoundShare(table, cluster.view()));
        }

        PlacedScan scan = new PlacedScan(table, cluster.view(), NodeSelectionStrategy.SOFT_AFFINITY);
        seconds += SimulatedEngine.run(scan, nodes, this::secondsPerByte, random).seconds();
        PlacementCounts counts = scan.counts();
        splits += table.size();
        overflowed += counts.overflowed();
        PlacedScan plain = new PlacedScan(table, cluster.view(), NodeSelectionStrategy.NO_PREFERENCE);
        plainSeconds += SimulatedEngine.run(plain, nodes, this::secondsPerByte, random).seconds();
    }

    private double secondsPerByte(HostAndPort node)
    {
        return stragglers.contains(node) ? SECONDS_PER_BYTE * STRAGGLER_SLOWNESS : SECONDS_PER_BYTE;
    }

    // the k-th table k times less often than the first
    private int zipf()
    {
        double total = 0;
        for (int rank = 1; rank <= TABLES; rank++) {
            total += 1.0 / rank;
        }
        double point = random.nextDouble() * total;
        for (int rank = 1; rank < TABLES; rank++) {
            point -= 1.0 / rank;
            if (point < 0) {
                return rank - 1;
            }
        }
        return TABLES - 1;
    }
}
