package io.cachedhive.benchmark.scans;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.scans.ScanCluster.Scan;
import io.cachedhive.benchmark.scans.ScanCluster.Settings;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.testing.cluster.statistics.BytesBySource;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Scans of a real cluster of three hosts: how much of large files is read from other hosts, what scans with other splits cost the origin, and how long
 * a scan takes beside a slow cache worker or a slow host.
 */
public final class ScansBenchmark
{
    /** What can be measured by itself. */
    public static final List<String> PARTS = List.of("large_files", "skewed_files", "split_sizes", "slow_cache_worker", "slow_host", "healthy");

    private static final double NON_LOCAL_SECOND_RUN = 0.10;
    private static final double NON_LOCAL_LATER_RUNS = 0.02;
    private static final double ONCE = 1.0;
    private static final double SLOWDOWN = 1.10;
    private static final double SLOW_SHARE = 0.1;
    private static final int SPLITS_PER_NODE = 8;
    private static final List<Integer> SOME_COLUMNS = List.of(0, 5, 10, 15);
    private static final int RUNS_OF_LARGE_FILES = 4;
    private static final int CHUNKS_OF_FILE = 2;
    private static final List<String> SPLIT_SIZES = List.of("120MB", "64MB", "200MB");

    private final Scale scale;
    private final Path directory;
    private final Consumer<String> progress;
    private final Consumer<Figure> done;
    private final ScanTable large;
    private final ScanTable many;

    /**
     * @param files of 1 GiB
     * @param workerSets sets of cache worker ids by which the same files are scanned
     * @param runs pairs of scans beside a slow process
     */
    public record Scale(int files, int workerSets, int runs, Predicate<String> parts)
    {
        public Scale
        {
            if (files < 1 || workerSets < 2 || runs < 2) {
                throw new IllegalArgumentException("there are fewer than 1 file, 2 sets of workers or 2 runs: files %s, workerSets %s, runs %s".formatted(files, workerSets, runs));
            }
            requireNonNull(parts, "parts is null");
        }
    }

    /**
     * @param directory for tables and cluster; tables that are there are used again
     */
    public ScansBenchmark(Scale scale, Path directory, Consumer<String> progress, Consumer<Figure> done)
    {
        this.scale = requireNonNull(scale, "scale is null");
        this.directory = requireNonNull(directory, "directory is null");
        this.progress = requireNonNull(progress, "progress is null");
        this.done = requireNonNull(done, "done is null");
        large = new ScanTable("large_" + scale.files(), scale.files(), 1L << 30, "128MB");
        many = new ScanTable("many", 48, 64L << 20, "16MB");
    }

    public void measure()
            throws SQLException, IOException, InterruptedException
    {
        if (measures("large_files") || measures("skewed_files") || measures("split_sizes")) {
            try (ScanCluster cluster = ScanCluster.start(directory, new Settings("1500MB", "5GB", Optional.empty()), progress)) {
                cluster.create(large);
                if (measures("large_files")) {
                    measureLargeFiles(cluster);
                }
                if (measures("skewed_files")) {
                    measureSkewedFiles(cluster);
                }
                if (measures("split_sizes")) {
                    measureSplitSizes(cluster);
                }
            }
        }
        if (measures("slow_cache_worker") || measures("slow_host") || measures("healthy")) {
            try (ScanCluster cluster = ScanCluster.start(directory, new Settings("256MB", "5GB", Optional.of(SPLITS_PER_NODE)), progress)) {
                cluster.create(many);
                measureStragglers(cluster);
            }
        }
    }

    private boolean measures(String part)
    {
        return scale.parts().test(part);
    }

    private void measureLargeFiles(ScanCluster cluster)
            throws SQLException, IOException, InterruptedException
    {
        double[][] nonLocal = new double[RUNS_OF_LARGE_FILES + 1][scale.workerSets()];
        double[] later = new double[scale.workerSets()];
        for (int set = 0; set < scale.workerSets(); set++) {
            double[] runs = nonLocalOfRuns(cluster, "set %s of cache worker ids".formatted(set + 1), large, cluster.renewCacheWorkers());
            for (int run = 1; run <= RUNS_OF_LARGE_FILES; run++) {
                nonLocal[run][set] = runs[run];
            }
            later[set] = Math.max(runs[3], runs[4]);
        }
        done.accept(Figure.ofWorst("non_local_of_large_files_second_run", "of the bytes", OptionalDouble.of(NON_LOCAL_SECOND_RUN), nonLocal[2]));
        done.accept(Figure.ofWorst("non_local_of_large_files_from_third_run", "of the bytes", OptionalDouble.of(NON_LOCAL_LATER_RUNS), later));
    }

    /** What a set of ids does by which one cache worker happens to own most: the bound on a scan's skew passes on what others then keep as guests, while they may. */
    private void measureSkewedFiles(ScanCluster cluster)
            throws SQLException, IOException, InterruptedException
    {
        int chunks = CHUNKS_OF_FILE * scale.files();
        // a third of them is its share
        for (int owned = chunks / 2 + 1; owned <= chunks; owned++) {
            ScanRing ring = cluster.renewCacheWorkers();
            String name = "%s_of_%s".formatted(owned, chunks);
            ScanTable skewed = cluster.createSkewed(large, "skewed_%s_%s".formatted(name, ring.ring().epoch()), ring, owned);
            double[] nonLocal = nonLocalOfRuns(cluster, "one owns %s of %s chunks".formatted(owned, chunks), skewed, ring);
            done.accept(Figure.ofCount("non_local_of_skewed_files_%s_second_run".formatted(name), "of the bytes", OptionalDouble.empty(), nonLocal[2]));
            done.accept(Figure.ofCount("non_local_of_skewed_files_%s_fourth_run".formatted(name), "of the bytes", OptionalDouble.empty(), nonLocal[4]));
        }
    }

    /**
     * Scans a table of which nothing is cached.
     *
     * @return the share of each run, the first at 1
     */
    private double[] nonLocalOfRuns(ScanCluster cluster, String what, ScanTable table, ScanRing ring)
            throws SQLException, InterruptedException
    {
        progress.accept("%s: ring %s, owned bytes %s".formatted(what, ring.ring().epoch(), cluster.ownedBytes(ring, table)));
        double[] nonLocal = new double[RUNS_OF_LARGE_FILES + 1];
        for (int run = 1; run <= RUNS_OF_LARGE_FILES; run++) {
            Scan scan = cluster.countedScan(table, SOME_COLUMNS);
            BytesBySource sources = scan.sources().orElseThrow();
            nonLocal[run] = sources.nonLocalShare().orElseThrow();
            progress.accept("%s, run %s: %.1f s, %.2f %% non-local, %s; read by %s; guests %s".formatted(
                    what,
                    run,
                    scan.seconds(),
                    100 * nonLocal[run],
                    sources,
                    cluster.readBytes(scan.queryId()),
                    cluster.guestBytes()));
            Optional<ScanRing> now = cluster.ring();
            if (!now.equals(Optional.of(ring))) {
                throw new IllegalStateException("the ring has changed meanwhile: %s, now %s".formatted(ring, now));
            }
        }
        progress.accept("%s: %s".formatted(what, cluster.splitsOfScan(table, SOME_COLUMNS)));
        return nonLocal;
    }

    private void measureSplitSizes(ScanCluster cluster)
            throws SQLException, IOException, InterruptedException
    {
        cluster.renewCacheWorkers();
        // each holds a row group of all columns
        cluster.setSession("max_drivers_per_task", "2");
        double tableBytes = cluster.bytes(large);
        for (String catalog : List.of("cachedhive", "alluxio")) {
            String name = catalog.equals("cachedhive") ? "" : "_by_trino_cache";
            double bytes = 0;
            double gets = 0;
            for (String size : SPLIT_SIZES) {
                // that of Parquet files is another property than that of the others
                cluster.setSession(catalog + ".max_split_size", size);
                cluster.setSession(catalog + ".parquet_max_split_size", size);
                Scan scan = cluster.scan(large, catalog, ScanTable.allColumns());
                progress.accept("%s with splits of %s: %.1f s, %s".formatted(catalog, size, scan.seconds(), scan.origin()));
                bytes += scan.origin().getBytes();
                gets += scan.origin().gets();
            }
            OptionalDouble budget = catalog.equals("cachedhive") ? OptionalDouble.of(ONCE) : OptionalDouble.empty();
            done.accept(Figure.ofCount("origin_bytes_of_three_split_sizes" + name, "of the table", budget, bytes / tableBytes));
            done.accept(Figure.ofCount("origin_gets_of_three_split_sizes" + name, "GETs", OptionalDouble.empty(), gets));
        }
    }

    private void measureStragglers(ScanCluster cluster)
            throws SQLException, InterruptedException
    {
        // the cache and the servers' compilers are warm
        for (NodeSelectionStrategy strategy : List.of(NodeSelectionStrategy.SOFT_AFFINITY, NodeSelectionStrategy.NO_PREFERENCE, NodeSelectionStrategy.SOFT_AFFINITY)) {
            cluster.setSession("cachedhive.node_selection_strategy", strategy.name());
            Scan scan = cluster.countedScan(many, SOME_COLUMNS);
            progress.accept("warm-up, %s: %.1f s, %.2f %% non-local, %s".formatted(
                    strategy,
                    scan.seconds(),
                    100 * scan.sources().flatMap(sources -> sources.nonLocalShare().stream().boxed().findFirst()).orElse(0.0),
                    scan.sources().orElseThrow()));
        }
        if (measures("healthy")) {
            measurePairs(cluster, "healthy", OptionalDouble.empty(), List.of());
        }
        if (measures("slow_cache_worker")) {
            measurePairs(cluster, "slow_cache_worker", OptionalDouble.of(SLOWDOWN), List.of(cluster.cacheWorker(1).pid()));
        }
        if (measures("slow_host")) {
            measurePairs(cluster, "slow_host", OptionalDouble.of(SLOWDOWN), List.of(cluster.cacheWorker(1).pid(), cluster.worker(1).pid()));
        }
    }

    private void measurePairs(ScanCluster cluster, String name, OptionalDouble budget, List<Long> slowed)
            throws SQLException
    {
        double[] soft = new double[scale.runs()];
        double[] any = new double[scale.runs()];
        try (DutyCycle _ = DutyCycle.start(slowed, SLOW_SHARE)) {
            for (int run = 0; run < scale.runs(); run++) {
                // who is first changes
                List<NodeSelectionStrategy> order = Stream.of(NodeSelectionStrategy.SOFT_AFFINITY, NodeSelectionStrategy.NO_PREFERENCE).toList();
                for (NodeSelectionStrategy strategy : run % 2 == 0 ? order : order.reversed()) {
                    cluster.setSession("cachedhive.node_selection_strategy", strategy.name());
                    Scan scan = cluster.scan(many, "cachedhive", SOME_COLUMNS);
                    (strategy == NodeSelectionStrategy.SOFT_AFFINITY ? soft : any)[run] = scan.seconds();
                    progress.accept("%s, run %s of %s, %s: %.1f s, %s".formatted(name, run + 1, scale.runs(), strategy, scan.seconds(), scan.origin()));
                }
            }
        }
        done.accept(Figure.ofRatio("%s_to_no_preference_wall".formatted(name), budget, soft, any));
        done.accept(Figure.of("%s_wall".formatted(name), "s", OptionalDouble.empty(), soft));
        done.accept(Figure.of("%s_no_preference_wall".formatted(name), "s", OptionalDouble.empty(), any));
    }
}
