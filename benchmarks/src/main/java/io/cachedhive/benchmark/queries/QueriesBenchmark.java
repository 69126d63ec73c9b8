package io.cachedhive.benchmark.queries;

import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.tpch.ResultComparison;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import static java.util.Comparator.comparingInt;
import static java.util.Objects.requireNonNull;

/**
 * Runs whole queries by all contenders, in turns.
 *
 * <p>Each run of a workload reads new copies of its tables, so that every cache is cold at first (ClickBench's rule). All contenders pass over the workload in
 * one phase before the next one begins, in another order in each run. Their rows have to be equal.
 *
 * <p>Before the first run, passes that are not measured are repeated until they no longer become faster, because JVMs compile code for minutes. Three contenders
 * share the classes of the Hive plugin, and cachedhive has its own, so it makes three times as many of these passes. Servers restart after the runs of all workloads.
 *
 * <p>The runs of a {@link Workload#steady} workload read the same tables, and have warm passes only.
 */
public final class QueriesBenchmark
{
    private static final int LEAST_WARM_UP_ROUNDS = 3;
    // a cache for a quarter of the tables is then filled several times over
    private static final int KEPT_WARM_UP_PASSES = 3;
    // of the fastest round before: compilation has ended when a round is hardly faster
    private static final double WARM_UP_GAIN = 0.95;
    private static final int CONTENDERS_OF_HIVE_PLUGIN = (int) Arrays.stream(Contender.values()).filter(contender -> contender != Contender.CACHEDHIVE).count();

    private final Settings settings;
    private final Consumer<String> progress;
    // caches keep what an interrupted benchmark read, so that the copies of each one have other names
    private final String unique = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);

    /**
     * @param directory for servers, tables, caches and the passes that were measured
     * @param workloads names, in the order in which they are measured; empty for all
     * @param ram of each cache worker
     * @param ssd of the caches of each host
     */
    public record Settings(Path directory, Scale scale, List<StoreProfile> profiles, int runs, List<String> workloads, String ram, String ssd)
    {
        public Settings
        {
            requireNonNull(directory, "directory is null");
            requireNonNull(scale, "scale is null");
            profiles = List.copyOf(profiles);
            workloads = List.copyOf(workloads);
            requireNonNull(ram, "ram is null");
            requireNonNull(ssd, "ssd is null");
            if (runs < 2) {
                throw new IllegalArgumentException("fewer than 2 runs: " + runs);
            }
        }

        /**
         * One for each capacity, since passes with different ones do not compare.
         */
        Path passFile()
        {
            return directory.resolve("passes-%s-ram-%s-ssd-%s.jsonl".formatted(scale, ram, ssd));
        }

        List<Workload> selected()
        {
            List<Workload> all = Workload.all(scale);
            for (String name : workloads) {
                if (all.stream().noneMatch(workload -> workload.name().equals(name))) {
                    throw new IllegalArgumentException("no such workload: %s, use some of %s".formatted(name, all.stream().map(Workload::name).toList()));
                }
            }
            return workloads.isEmpty() ? all : all.stream()
                    .filter(workload -> workloads.contains(workload.name()))
                    .sorted(comparingInt(workload -> workloads.indexOf(workload.name())))
                    .toList();
        }
    }

    public QueriesBenchmark(Settings settings, Consumer<String> progress)
    {
        this.settings = requireNonNull(settings, "settings is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    /**
     * Measures what is not in the file of passes yet.
     *
     * @return all passes of the selected workloads and profiles
     */
    public List<Pass> measure()
            throws Exception
    {
        List<Workload> workloads = settings.selected();
        PassFile file = new PassFile(settings.passFile());
        boolean complete = workloads.stream()
                .allMatch(workload -> settings.profiles().stream().allMatch(profile -> file.has(workload.name(), profile, settings.runs(), workload.lastPhase())));
        if (!complete) {
            try (QueryCluster cluster = QueryCluster.start(settings.directory(), new QueryCluster.Capacity(settings.ram(), settings.ssd()), progress)) {
                try (SqlConnection connection = cluster.connect()) {
                    new TableCopies(cluster, settings.scale()).dropAll(connection);
                }
                for (StoreProfile profile : settings.profiles()) {
                    for (Workload workload : workloads) {
                        measureRuns(cluster, file, workload, profile);
                    }
                    measureChanges(cluster, file, workloads, profile);
                }
            }
        }
        List<String> names = workloads.stream().map(Workload::name).toList();
        return file.passes().stream()
                .filter(pass -> names.contains(pass.workload()) && settings.profiles().contains(pass.profile()) && pass.run() <= settings.runs())
                .toList();
    }

    private void measureRuns(QueryCluster cluster, PassFile file, Workload workload, StoreProfile profile)
            throws Exception
    {
        if (file.has(workload.name(), profile, settings.runs(), workload.steady() ? Phase.WARM : Phase.COLD)) {
            return;
        }
        writeBase(cluster, workload);
        TableCopies copies = new TableCopies(cluster, settings.scale());
        if (workload.steady()) {
            measureSteadyRuns(cluster, copies, file, workload, profile);
            return;
        }
        new Run(cluster, copies, workload, profile, 0).warmUp();
        for (int run = 1; run <= settings.runs(); run++) {
            if (!file.has(workload.name(), profile, run, Phase.COLD)) {
                file.add(new Run(cluster, copies, workload, profile, run).measure(run == settings.runs()));
            }
        }
    }

    /**
     * Measures warm passes over the same copies in all runs.
     */
    private void measureSteadyRuns(QueryCluster cluster, TableCopies copies, PassFile file, Workload workload, StoreProfile profile)
            throws Exception
    {
        Run warmUp = new Run(cluster, copies, workload, profile, 0);
        String schema = warmUp.schema("kept");
        warmUp.prepare(schema);
        try {
            warmUp.warmUpKept(schema);
            for (int number = 1; number <= settings.runs(); number++) {
                if (!file.has(workload.name(), profile, number, Phase.WARM)) {
                    file.add(new Run(cluster, copies, workload, profile, number).measureWarm(schema));
                }
            }
        }
        finally {
            warmUp.drop(schema);
        }
    }

    /**
     * Measures all workloads after each change of the servers, so that a change is made once.
     */
    private void measureChanges(QueryCluster cluster, PassFile file, List<Workload> workloads, StoreProfile profile)
            throws Exception
    {
        List<Run> runs = new ArrayList<>();
        try {
            for (Workload workload : workloads) {
                if (!workload.steady() && !file.has(workload.name(), profile, settings.runs(), Phase.HOST_REPLACED)) {
                    writeBase(cluster, workload);
                    Run run = new Run(cluster, new TableCopies(cluster, settings.scale()), workload, profile, settings.runs());
                    runs.add(run);
                    run.fill();
                }
            }
            for (Phase phase : Phase.values()) {
                if (phase.change() != Phase.Change.NONE && !runs.isEmpty()) {
                    progress.accept("before " + phase);
                    cluster.change(phase.change());
                    for (Run run : runs) {
                        run.measureFilled(phase);
                    }
                }
            }
            runs.forEach(run -> file.add(run.passes));
        }
        finally {
            for (Run run : runs) {
                run.dropFilled();
            }
        }
    }

    private void writeBase(QueryCluster cluster, Workload workload)
            throws Exception
    {
        try (SqlConnection connection = cluster.connect()) {
            cluster.cluster().s3().setFaults(S3Faults.NONE);
            new TableCopies(cluster, settings.scale()).writeBase(connection, workload.tables());
        }
    }

    /**
     * The passes over one set of copies.
     */
    private final class Run
    {
        private final QueryCluster cluster;
        private final TableCopies copies;
        private final Workload workload;
        private final StoreProfile profile;
        private final int number;
        private final List<Pass> passes = new ArrayList<>();
        private List<Workload.Query> queries;
        private Map<String, QueryResult> expected = Map.of();

        Run(QueryCluster cluster, TableCopies copies, Workload workload, StoreProfile profile, int number)
        {
            this.cluster = cluster;
            this.copies = copies;
            this.workload = workload;
            this.profile = profile;
            this.number = number;
            this.queries = workload.passes().apply(number);
        }

        List<Pass> measure(boolean last)
                throws Exception
        {
            for (boolean listed : new boolean[] {true, false}) {
                if (listed && !last && !settings.scale().listsInEachRun()) {
                    continue;
                }
                String schema = schema(number + (listed ? "_listed" : ""));
                prepare(schema);
                cluster.cluster().s3().setFaults(profile.faults());
                try {
                    for (Phase phase : Phase.values()) {
                        if (phase.change() == Phase.Change.NONE && (!phase.isOnce() || (last && !listed))) {
                            measureAll(schema, listed, phase);
                        }
                    }
                }
                finally {
                    drop(schema);
                }
            }
            return passes;
        }

        void warmUp()
                throws Exception
        {
            double fastest = Double.MAX_VALUE;
            double total = 0;
            for (int round = 1; ; round++) {
                String schema = schema("warmup_" + round);
                prepare(schema);
                try {
                    long start = System.nanoTime();
                    for (Contender contender : Contender.values()) {
                        warmUp(contender, schema);
                    }
                    double seconds = (System.nanoTime() - start) / 1e9;
                    progress.accept("%s: round %s to compile code took %.1f s".formatted(workload.name(), round, seconds));
                    total += seconds;
                    boolean compiled = round >= LEAST_WARM_UP_ROUNDS && seconds > WARM_UP_GAIN * fastest;
                    if (compiled || total >= settings.scale().warmUp().toSeconds()) {
                        return;
                    }
                    fastest = Math.min(fastest, seconds);
                }
                finally {
                    drop(schema);
                }
            }
        }

        /**
         * Fills the caches with what is read often, and lets JVMs compile code. All contenders run the same passes.
         */
        void warmUpKept(String schema)
                throws Exception
        {
            cluster.cluster().s3().setFaults(profile.faults());
            for (int pass = 1; pass <= KEPT_WARM_UP_PASSES; pass++) {
                // other ones than those of the runs
                queries = workload.passes().apply(-pass);
                progress.accept("%s at profile %s: pass %s of %s to fill the caches".formatted(workload.name(), profile, pass, KEPT_WARM_UP_PASSES));
                for (Contender contender : Contender.values()) {
                    run(contender.catalog(false), TableCopies.schema(schema, contender == Contender.LOCAL), Phase.WARM);
                }
            }
        }

        List<Pass> measureWarm(String schema)
                throws Exception
        {
            cluster.cluster().s3().setFaults(profile.faults());
            measureAll(schema, false, Phase.WARM);
            return passes;
        }

        private void warmUp(Contender contender, String schema)
                throws Exception
        {
            if (contender != Contender.CACHEDHIVE) {
                runTwice(contender, schema);
                return;
            }
            for (int pass = 0; pass < CONTENDERS_OF_HIVE_PLUGIN; pass++) {
                runTwice(contender, schema);
                flush(schema);
            }
            run(contender.catalog(false), schema, Phase.ANY_NODE);
        }

        private void runTwice(Contender contender, String schema)
                throws Exception
        {
            for (int pass = 0; pass < 2; pass++) {
                run(contender.catalog(false), TableCopies.schema(schema, contender == Contender.LOCAL), Phase.WARM);
            }
        }

        private void flush(String schema)
                throws SQLException
        {
            String catalog = Contender.CACHEDHIVE.catalog(false);
            try (SqlConnection connection = cluster.connect()) {
                for (BaseTable table : workload.tables()) {
                    connection.query("CALL %s.system.flush_data_cache(schema_name => '%s', table_name => '%s')".formatted(catalog, schema, table.copyName()));
                }
            }
        }

        /**
         * Copies the tables, and fills the caches of all contenders.
         */
        void fill()
                throws Exception
        {
            prepare(filled());
            for (Contender contender : Contender.values()) {
                runTwice(contender, filled());
                cluster.awaitRest();
            }
        }

        void measureFilled(Phase phase)
                throws Exception
        {
            cluster.cluster().s3().setFaults(profile.faults());
            measureAll(filled(), false, phase);
        }

        void dropFilled()
                throws Exception
        {
            drop(filled());
        }

        private String filled()
        {
            return schema("filled");
        }

        private String schema(String suffix)
        {
            return "%s_%s_%s_%s".formatted(workload.name().replace('-', '_'), profile, unique, suffix);
        }

        private void drop(String schema)
                throws Exception
        {
            cluster.cluster().s3().setFaults(S3Faults.NONE);
            try (SqlConnection connection = cluster.connect()) {
                copies.drop(connection, schema);
            }
        }

        private void prepare(String schema)
                throws Exception
        {
            progress.accept("%s at profile %s, run %s of %s: copying tables to %s".formatted(workload.name(), profile, number, settings.runs(), schema));
            try (SqlConnection connection = cluster.connect()) {
                cluster.cluster().s3().setFaults(S3Faults.NONE);
                copies.create(connection, schema, workload.tables());
            }
        }

        private void measureAll(String schema, boolean listed, Phase phase)
                throws Exception
        {
            List<Contender> order = new ArrayList<>(List.of(Contender.values()));
            Collections.rotate(order, number + phase.ordinal());
            Map<Contender, Map<String, QueryResult>> results = new EnumMap<>(Contender.class);
            order.removeIf(contender -> !phase.concerns(contender));
            for (Contender contender : order) {
                progress.accept("%s at profile %s, run %s of %s, %s%s: %s".formatted(
                        workload.name(),
                        profile,
                        number,
                        settings.runs(),
                        phase,
                        listed ? " with cached listings" : "",
                        contender.title()));
                results.put(contender, pass(contender, schema, listed, phase));
            }
            if (expected.isEmpty()) {
                expected = results.get(Contender.HIVE);
            }
            results.forEach(this::check);
        }

        private Map<String, QueryResult> pass(Contender contender, String schema, boolean listed, Phase phase)
                throws Exception
        {
            cluster.awaitRest();
            QueryCluster.CpuTime before = cluster.cpuTime();
            long mark = cluster.cluster().s3().log().mark();
            long start = System.nanoTime();
            Map<String, QueryResult> results = run(contender.catalog(listed), TableCopies.schema(schema, contender == Contender.LOCAL), phase);
            double wallMillis = (System.nanoTime() - start) / 1e6;
            cluster.awaitRest();
            QueryCluster.CpuTime taken = cluster.cpuTime().minus(before);
            S3RequestCounts data = cluster.cluster().s3().log().dataFileCountsSince(mark);
            S3RequestCounts all = cluster.cluster().s3().log().countsSince(mark);
            passes.add(new Pass(
                    workload.name(),
                    profile,
                    number,
                    contender,
                    listed,
                    phase,
                    wallMillis,
                    taken.trinoMillis(),
                    taken.workerMillis(),
                    data.gets(),
                    data.heads(),
                    all.lists(),
                    data.getBytes(),
                    cluster.readMillis(results.values().stream().map(QueryResult::queryId).map(Optional::orElseThrow).toList())));
            return results;
        }

        private Map<String, QueryResult> run(String catalog, String schema, Phase phase)
                throws Exception
        {
            Map<String, QueryResult> results = new ConcurrentHashMap<>();
            List<Callable<Void>> clients = new ArrayList<>();
            for (int stream = 0; stream < workload.streams(); stream++) {
                int first = stream;
                clients.add(() -> {
                    try (SqlConnection connection = cluster.connect()) {
                        connection.setCatalogAndSchema(catalog, schema);
                        for (Map.Entry<String, String> property : phase.session().entrySet()) {
                            connection.setSession(catalog + "." + property.getKey(), property.getValue());
                        }
                        for (int index = first; index < queries.size(); index += workload.streams()) {
                            Workload.Query query = queries.get(index);
                            results.put(query.name(), query(connection, catalog, query));
                        }
                    }
                    return null;
                });
            }
            try (ExecutorService executor = Executors.newFixedThreadPool(workload.streams())) {
                for (Future<Void> client : executor.invokeAll(clients)) {
                    client.get();
                }
            }
            return results;
        }

        private QueryResult query(SqlConnection connection, String catalog, Workload.Query query)
        {
            try {
                return connection.query(query.sql());
            }
            catch (SQLException e) {
                throw new IllegalStateException("%s of %s over catalog %s failed: %s".formatted(query.name(), workload.name(), catalog, e.getMessage()), e);
            }
        }

        private void check(Contender contender, Map<String, QueryResult> results)
        {
            for (Workload.Query query : queries) {
                Optional<String> difference = ResultComparison.difference(expected.get(query.name()), results.get(query.name()), query.orderBy(), query.limit());
                difference.ifPresent(text -> {
                    throw new IllegalStateException("%s of %s by %s has other rows than plain Hive: %s; its first one is %s".formatted(
                            query.name(),
                            workload.name(),
                            contender.title(),
                            text,
                            results.get(query.name()).rows().stream().findFirst()));
                });
            }
        }
    }
}
