package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.placement.OwnedChunks.Moved;
import io.cachedhive.benchmark.placement.SimulatedCluster.Host;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.placement.RecentLoad;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.trino.plugin.hive.HiveSplit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

import static java.util.Objects.requireNonNull;

/**
 * Where chunks and splits go, against the promises of the placement: with the product's own rings, places and split source, and seeds instead of clusters.
 */
public final class PlacementBenchmark
{
    private static final int[] CLUSTERS = {8, 64, 1000};
    private static final int[] SCANNING_CLUSTERS = {2, 8, 64, 1000};
    private static final double FAIR_DEVIATIONS = 4;
    private static final double WEIGHT_ERROR = 0.02;
    private static final double MOVED = 1.05;
    private static final double OWNER_MICROS = 5;
    private static final double SPLIT_MICROS = 20;
    private static final double SERVED_AFTER_LOSS = 1.5;
    private static final double RING_CHANGE_SECONDS = 10;
    private static final int CONCURRENT_SCANS = 50;
    private static final int CONCURRENT_WORKERS = 64;
    private static final double CONCURRENT_TO_PLAIN = 1.1;
    private static final double MOST_LOADED = 2;
    private static final double PLAIN_SECONDS_PER_BYTE = 1 / 100e6;

    private final Scale scale;
    private final long seed;
    private final Consumer<String> progress;
    private final Consumer<Figure> done;

    /**
     * @param chunks of which owners are counted
     * @param runs each with another seed
     * @param hours of a cluster's life
     */
    public record Scale(int chunks, int runs, int hours)
    {
        public Scale
        {
            if (chunks < 1000 || runs < 2 || hours < 1) {
                throw new IllegalArgumentException("fewer than 1000 keys, 2 runs or 1 hour: keys %s, runs %s, hours %s".formatted(chunks, runs, hours));
            }
        }
    }

    public PlacementBenchmark(Scale scale, long seed, Consumer<String> progress, Consumer<Figure> done)
    {
        this.scale = requireNonNull(scale, "scale is null");
        this.seed = seed;
        this.progress = requireNonNull(progress, "progress is null");
        this.done = requireNonNull(done, "done is null");
    }

    public void measure()
    {
        measureCost();
        for (int workers : CLUSTERS) {
            measureOwners(workers);
        }
        worst("weights_1_2_4_error", "share of the share", WEIGHT_ERROR, this::weightError);
        worst("moved_by_new_addresses", "chunks", 0, this::movedByNewAddresses);
        for (int workers : SCANNING_CLUSTERS) {
            for (TableShape shape : TableShape.values()) {
                measureScans(workers, shape);
            }
        }
        for (TableShape shape : List.of(TableShape.TEN_FILES_OF_512_MIB, TableShape.FORTY_FILES_OF_40_MIB, TableShape.TWO_HUNDRED_FILES_OF_1_GIB)) {
            measureConcurrentScans(shape, false);
            measureConcurrentScans(shape, true);
        }
        for (int gibibytes : new int[] {1, 5, 20}) {
            for (int workers : new int[] {8, 100, 1000}) {
                measureUse(gibibytes, workers);
            }
        }
        worst("served_by_survivors_of_60_percent_lost", "ratio", SERVED_AFTER_LOSS, random -> servedAfterLoss(random, 0.6));
        worst("served_by_survivors_of_15_percent_lost", "ratio", SERVED_AFTER_LOSS, random -> servedAfterLoss(random, 0.15));
        for (TableShape shape : TableShape.values()) {
            measurePartialFleet(shape);
        }
        for (int workers : SCANNING_CLUSTERS) {
            measureLife(workers);
        }
    }

    private void measureCost()
    {
        for (int workers : CLUSTERS) {
            OptionalDouble owner = workers == 1000 ? OptionalDouble.of(OWNER_MICROS) : OptionalDouble.empty();
            OptionalDouble split = workers == 1000 ? OptionalDouble.of(SPLIT_MICROS) : OptionalDouble.empty();
            mean("owner_%s_workers".formatted(workers), "us of CPU", owner, random -> PlacementCost.ofOwner(Rings.random(random, workers), random));
            mean("owner_%s_workers_weighted".formatted(workers), "us of CPU", owner, random -> PlacementCost.ofOwner(weighted(random, workers), random));
            mean("split_%s_workers".formatted(workers), "us of CPU", split, random -> PlacementCost.ofSplit(Rings.view(Rings.random(random, workers)), random));
            mean("split_%s_workers_weighted".formatted(workers), "us of CPU", split, random -> PlacementCost.ofSplit(Rings.view(weighted(random, workers)), random));
        }
    }

    private static HashRing weighted(SplittableRandom random, int workers)
    {
        return Rings.random(random, workers, i -> (1L << i % 3) * 400_000_000_000L);
    }

    private void measureOwners(int workers)
    {
        worst("shares_of_%s_workers_chi_square".formatted(workers), "deviations", FAIR_DEVIATIONS, random -> {
            HashRing ring = Rings.random(random, workers);
            return OwnedChunks.chiSquareDeviations(ring, OwnedChunks.count(ring, random.nextLong(), scale.chunks()), scale.chunks());
        });
        worst("moved_by_one_of_%s_that_leaves".formatted(workers), "of 1/N", MOVED, random -> {
            HashRing before = Rings.random(random, workers);
            RingMember leaving = before.members().get(random.nextInt(workers));
            return movedOfOne(before, before.restrictedTo(member -> !member.equals(leaving)), random, workers);
        });
        worst("moved_by_one_that_joins_%s".formatted(workers), "of 1/N", MOVED, random -> {
            HashRing after = Rings.random(random, workers + 1);
            RingMember joining = after.members().get(random.nextInt(workers + 1));
            return movedOfOne(after.restrictedTo(member -> !member.equals(joining)), after, random, workers);
        });
    }

    private double movedOfOne(HashRing before, HashRing after, SplittableRandom random, int workers)
    {
        Moved moved = OwnedChunks.moved(before, after, random.nextLong(), scale.chunks());
        if (moved.uncaused() > 0) {
            throw new IllegalStateException("%s chunks moved between workers that stayed".formatted(moved.uncaused()));
        }
        return (double) moved.all() / scale.chunks() * workers;
    }

    private double weightError(SplittableRandom random)
    {
        HashRing ring = weighted(random, 24);
        return OwnedChunks.largestError(ring, OwnedChunks.count(ring, random.nextLong(), scale.chunks()), scale.chunks());
    }

    private double movedByNewAddresses(SplittableRandom random)
    {
        SimulatedCluster cluster = new SimulatedCluster(random, 64, 64);
        cluster.pass(5_000);
        PublishedRing before = cluster.ring();
        cluster.moveAll();
        cluster.pass(2 * SimulatedCluster.GRACE_MILLIS);
        PublishedRing after = cluster.ring();
        for (Host host : cluster.hosts()) {
            if (before.address(host.worker()).equals(after.address(host.worker()))) {
                throw new IllegalStateException("%s has its old address".formatted(host.worker()));
            }
        }
        return OwnedChunks.moved(before.ring(), after.ring(), random.nextLong(), Math.min(scale.chunks(), 100_000)).all();
    }

    private void measureScans(int workers, TableShape shape)
    {
        String name = "%s_%s_workers".formatted(shape.name().toLowerCase(Locale.ROOT), workers);
        worst("most_for_a_worker_%s".formatted(name), "of the bound", 1, random ->
                Skew.largestBoundShare(shape.splits("scan", random), Rings.view(Rings.random(random, workers))));
        mean("overflow_%s".formatted(name), "of the splits", OptionalDouble.empty(), random -> {
            List<HiveSplit> splits = shape.splits("scan", random);
            PlacedScan scan = new PlacedScan(splits, Rings.view(Rings.random(random, workers)), NodeSelectionStrategy.SOFT_AFFINITY);
            while (!scan.isFinished()) {
                scan.nextBatch();
            }
            return (double) scan.counts().overflowed() / splits.size();
        });
    }

    /**
     * Many scans of one table at the same time: until the last one ends, against nodes that the engine chooses.
     */
    private void measureConcurrentScans(TableShape shape, boolean warm)
    {
        double[] seconds = new double[scale.runs()];
        double[] plain = new double[scale.runs()];
        for (int run = 0; run < scale.runs(); run++) {
            SplittableRandom random = new SplittableRandom(seed + run);
            RingView view = Rings.view(Rings.random(random, CONCURRENT_WORKERS));
            List<HiveSplit> splits = shape.splits("hot", random);
            seconds[run] = concurrentSeconds(splits, view, NodeSelectionStrategy.SOFT_AFFINITY, warm, random);
            plain[run] = concurrentSeconds(splits, view, NodeSelectionStrategy.NO_PREFERENCE, warm, random);
        }
        String name = "%s_scans_%s_%s_workers_%s_to_any_node".formatted(CONCURRENT_SCANS, shape.name().toLowerCase(Locale.ROOT), CONCURRENT_WORKERS, warm ? "warm" : "cold");
        done.accept(Figure.ofRatio(name, OptionalDouble.of(CONCURRENT_TO_PLAIN), seconds, plain));
    }

    private static double concurrentSeconds(List<HiveSplit> splits, RingView view, NodeSelectionStrategy strategy, boolean warm, SplittableRandom random)
    {
        CacheCost cost = new CacheCost(view, true);
        if (warm) {
            cost.warm(splits);
        }
        List<PlacedScan> scans = new ArrayList<>();
        RecentLoad load = new RecentLoad(() -> 0);
        for (int scan = 0; scan < CONCURRENT_SCANS; scan++) {
            scans.add(new PlacedScan(splits, view, strategy, load.query(scan)));
        }
        return SimulatedEngine.run(scans, Rings.nodes(view), cost, random).seconds();
    }

    /**
     * One scan alone on a cluster: the most loaded worker against the mean, so far as there are splits for all.
     */
    private void measureUse(int gibibytes, int workers)
    {
        worst("most_loaded_of_%s_workers_by_%s_gib".formatted(workers, gibibytes), "of the mean", MOST_LOADED, random -> {
            List<HiveSplit> splits = TableShape.TEN_FILES_OF_512_MIB.splitsOfGibibytes("use", random, gibibytes);
            Map<HostAndPort, Long> bytes = PlacedScan.preferredBytes(splits, Rings.view(Rings.random(random, workers)));
            long total = splits.stream().mapToLong(HiveSplit::getLength).sum();
            long most = bytes.values().stream().mapToLong(Long::longValue).max().orElseThrow();
            return most / ((double) total / Math.min(workers, splits.size()));
        });
    }

    /**
     * Cache workers are lost at once, their Trino workers stay: what a survivor serves then to what it served before, of the worst one, until long after
     * the grace period.
     */
    private double servedAfterLoss(SplittableRandom random, double lost)
    {
        SimulatedCluster cluster = new SimulatedCluster(random, 100, 100);
        cluster.pass(5_000);
        long scans = random.nextLong();
        Map<CacheWorkerId, Long> before = servedBytes(cluster, scans);
        cluster.hosts().subList(0, (int) (lost * 100)).forEach(host -> host.setCacheAnswers(false));
        double worst = 0;
        for (int minute = 0; minute < 15; minute++) {
            cluster.pass(60_000);
            Map<CacheWorkerId, Long> after = servedBytes(cluster, scans);
            for (Host host : cluster.hosts()) {
                if (host.cacheAnswers()) {
                    worst = Math.max(worst, (double) after.get(host.worker()) / before.get(host.worker()));
                }
            }
        }
        return worst;
    }

    /**
     * By owners, which readers ask wherever they run. One that does not answer, or has no address, is bypassed.
     */
    private static Map<CacheWorkerId, Long> servedBytes(SimulatedCluster cluster, long seed)
    {
        Map<CacheWorkerId, Long> served = new HashMap<>();
        SplittableRandom random = new SplittableRandom(seed);
        PublishedRing ring = cluster.ring();
        cluster.hosts().stream().filter(Host::cacheAnswers).forEach(host -> served.put(host.worker(), 0L));
        for (int read = 0; read < 200_000; read++) {
            CacheWorkerId owner = ring.ring().owner(new ChunkKey(random.nextLong(), 0)).orElseThrow();
            long bytes = 1L + random.nextInt(64 << 20);
            if (ring.address(owner).isPresent()) {
                served.computeIfPresent(owner, (_, sum) -> sum + bytes);
            }
        }
        return served;
    }

    /**
     * A cache worker on every tenth host: nobody is to get more splits than the engine gives to its busiest node without the cache.
     */
    private void measurePartialFleet(TableShape shape)
    {
        double[] most = new double[scale.runs()];
        double[] plain = new double[scale.runs()];
        double[] toPlain = new double[scale.runs()];
        double[] atOwner = new double[scale.runs()];
        for (int run = 0; run < scale.runs(); run++) {
            SplittableRandom random = new SplittableRandom(seed + run);
            SimulatedCluster cluster = new SimulatedCluster(random, 100, 10);
            cluster.pass(5_000);
            RingView view = cluster.view();
            List<HostAndPort> nodes = cluster.hosts().stream().map(Host::node).toList();
            List<HiveSplit> splits = shape.splits("partial", random);
            PlacedScan scan = new PlacedScan(splits, view, NodeSelectionStrategy.SOFT_AFFINITY);
            most[run] = SimulatedEngine.run(scan, nodes, _ -> PLAIN_SECONDS_PER_BYTE, random).mostSplits();
            PlacedScan anywhere = new PlacedScan(splits, view, NodeSelectionStrategy.NO_PREFERENCE);
            plain[run] = SimulatedEngine.run(anywhere, nodes, _ -> PLAIN_SECONDS_PER_BYTE, random).mostSplits();
            toPlain[run] = most[run] / plain[run];
            atOwner[run] = (double) scan.counts().atOwner() / splits.size();
        }
        String name = shape.name().toLowerCase(Locale.ROOT);
        done.accept(Figure.ofWorst("most_splits_10_percent_with_cache_%s_to_plain".formatted(name), "ratio", OptionalDouble.of(1), toPlain));
        done.accept(Figure.of("most_splits_10_percent_with_cache_%s".formatted(name), "splits", OptionalDouble.empty(), most));
        done.accept(Figure.of("most_splits_without_cache_%s".formatted(name), "splits", OptionalDouble.empty(), plain));
        done.accept(Figure.of("at_owner_10_percent_with_cache_%s".formatted(name), "of the splits", OptionalDouble.empty(), atOwner));
    }

    private void measureLife(int workers)
    {
        progress.accept("%s hours of %s workers".formatted(scale.hours(), workers));
        List<ClusterLife.Outcome> outcomes = new ArrayList<>();
        for (int run = 0; run < scale.runs(); run++) {
            outcomes.add(new ClusterLife(new SplittableRandom(seed + run), workers).live(scale.hours()));
        }
        String suffix = "_life_of_%s_workers".formatted(workers);
        life("rings_in_10_seconds" + suffix, "rings", OptionalDouble.of(1), outcomes, outcome -> RING_CHANGE_SECONDS / outcome.shortestRingSeconds());
        life("moved_between_workers_that_stayed" + suffix, "chunks", OptionalDouble.of(0), outcomes, ClusterLife.Outcome::uncausedMoves);
        life("rings_changed_by_flaps" + suffix, "rings", OptionalDouble.of(0), outcomes, ClusterLife.Outcome::changedWithoutCause);
        life("most_for_a_worker" + suffix, "of the bound", OptionalDouble.of(1), outcomes, ClusterLife.Outcome::largestBoundShare);
        life("rings" + suffix, "rings", OptionalDouble.empty(), outcomes, ClusterLife.Outcome::ringChanges);
        life("overflow" + suffix, "of the splits", OptionalDouble.empty(), outcomes, ClusterLife.Outcome::overflowedShare);
        life("scans_to_plain" + suffix, "ratio of time", OptionalDouble.empty(), outcomes, ClusterLife.Outcome::secondsToPlain);
    }

    private void life(String name, String unit, OptionalDouble budget, List<ClusterLife.Outcome> outcomes, ToDoubleFunction<ClusterLife.Outcome> value)
    {
        done.accept(Figure.ofWorst(name, unit, budget, outcomes.stream().mapToDouble(value).toArray()));
    }

    private void mean(String name, String unit, OptionalDouble budget, ToDoubleFunction<SplittableRandom> value)
    {
        done.accept(Figure.of(name, unit, budget, runs(value)));
    }

    private void worst(String name, String unit, double budget, ToDoubleFunction<SplittableRandom> value)
    {
        done.accept(Figure.ofWorst(name, unit, OptionalDouble.of(budget), runs(value)));
    }

    private double[] runs(ToDoubleFunction<SplittableRandom> value)
    {
        double[] values = new double[scale.runs()];
        for (int run = 0; run < values.length; run++) {
            values[run] = value.applyAsDouble(new SplittableRandom(seed + run));
        }
        return values;
    }
}
