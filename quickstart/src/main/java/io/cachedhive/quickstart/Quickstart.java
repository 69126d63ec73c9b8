package io.cachedhive.quickstart;

import com.google.common.io.Resources;
import io.cachedhive.quickstart.check.Expectations;
import io.cachedhive.quickstart.check.Machine;
import io.cachedhive.quickstart.check.Preflight;
import io.cachedhive.quickstart.check.QueryTask;
import io.cachedhive.quickstart.check.QuickstartCheck;
import io.cachedhive.quickstart.check.RunReport;
import io.cachedhive.quickstart.check.WorkloadRun;
import io.cachedhive.quickstart.check.WorkloadRunner;
import io.cachedhive.quickstart.page.SqlPage;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.sql.ResultText;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;
import io.cachedhive.testing.cluster.tpch.TpchTables;
import io.cachedhive.testing.cluster.tpch.TpchTables.Schema;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * The program behind {@code bin/quickstart}: a whole cluster with a cache on one machine, to look at or to check.
 * Results go to the standard output, progress to the standard error.
 */
@Command(name = "bin/quickstart")
public final class Quickstart
{
    private static final int OK = 0;
    private static final int CHECK_FAILED = 1;
    private static final int WRONG_USAGE = 2;
    private static final int CANNOT_RUN = 3;

    private static final String CACHED = "cachedhive";
    private static final String PLAIN = "hive";
    // a quiet machine needs half a minute
    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration LOAD_TIMEOUT = Duration.ofMinutes(30);
    private static final Duration CACHE_WORKERS_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration SQL_PAGE_TIMEOUT = Duration.ofMinutes(10);
    // readable on any screen and in any log
    private static final int DEFAULT_COLUMNS = 120;
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long RAM_TIER_BYTES = 256 * MIB;

    @Option(names = "--check")
    private boolean check;

    @Option(names = "--keep")
    private boolean keep;

    @Option(names = "--sql-page")
    private boolean sqlPage;

    @Option(names = "--scale", paramLabel = "FACTOR")
    private double scale = 0.1;

    @Option(names = "--workers", paramLabel = "COUNT")
    private int workers = 2;

    @Option(names = "--latency", paramLabel = "MILLIS")
    private int latencyMillis = 20;

    @Option(names = "--directory", paramLabel = "DIRECTORY")
    private Path directory;

    @Option(names = {"-h", "--help"}, usageHelp = true)
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final long start = System.nanoTime();
    // the cluster is being stopped by this program's own will
    private volatile boolean leaving;

    public Quickstart(PrintStream out, PrintStream error)
    {
        this.out = out;
        this.error = error;
    }

    public static void main(String[] args)
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        PrintStream error = new PrintStream(System.err, true, UTF_8);
        System.exit(new Quickstart(out, error).run(args));
    }

    /**
     * @param args of {@code bin/quickstart}
     * @return the exit code
     */
    public int run(String... args)
    {
        CommandLine command = new CommandLine(this);
        try {
            command.parseArgs(args);
            if (help) {
                // bin/quickstart shows the same file without this program, which may not have been built
                out.print(Resources.toString(Resources.getResource("quickstart-usage.txt"), UTF_8));
                return OK;
            }
            if (workers < 1 || workers > 20) {
                return fail(WRONG_USAGE, "--workers must be between 1 and 20: " + workers);
            }
            if (!(scale > 0 && scale <= 1000)) {
                return fail(WRONG_USAGE, "--scale must be above 0 and at most 1000: " + scale);
            }
            if (latencyMillis < 0) {
                return fail(WRONG_USAGE, "--latency must not be negative: " + latencyMillis);
            }
            return execute();
        }
        catch (CommandLine.ParameterException e) {
            return fail(WRONG_USAGE, e.getMessage());
        }
        catch (ClusterException | IllegalStateException e) {
            return fail(CANNOT_RUN, e.getMessage());
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return fail(CANNOT_RUN, "interrupted");
        }
        catch (Exception e) {
            e.printStackTrace(error);
            return fail(CANNOT_RUN, e.toString());
        }
    }

    private int execute()
            throws Exception
    {
        Distribution distribution = Distribution.find();
        if (sqlPage) {
            return writeSqlPage(distribution);
        }
        directory = (directory == null ? distribution.root().resolve(".quickstart") : directory).toAbsolutePath().normalize();
        Optional<RunningQuickstart> running = RunningQuickstart.find(directory);
        if (running.isPresent()) {
            return fail(CANNOT_RUN, "another quickstart is running on %s, pid %s, at %s: use it with bin/sql, stop it with Ctrl-C there, or choose another --directory".formatted(
                    directory,
                    running.get().pid(),
                    running.get().server()));
        }
        QuickstartDirectory memory = QuickstartDirectory.open(directory);
        String scaleText = Double.toString(scale);
        if (memory.scale().isPresent() && !memory.scale().get().equals(scaleText)) {
            return fail(CANNOT_RUN, "%s holds tables of scale %s, not %s: choose another --directory, or delete that one".formatted(directory, memory.scale().get(), scaleText));
        }

        List<String> problems = problems(directory, distribution);
        if (!problems.isEmpty()) {
            problems.forEach(problem -> fail(CANNOT_RUN, problem));
            return CANNOT_RUN;
        }
        Files.createDirectories(directory);
        progress("everything is kept in " + directory);
        try (Cluster cluster = clusterBuilder(distribution, directory).start()) {
            // the lock on the directory is the cluster's: from here on this is the only quickstart here
            RunningQuickstart note = new RunningQuickstart(cluster.coordinator().httpUri(), CACHED, Schema.ORC.schemaName(), ProcessHandle.current().pid());
            note.write(directory);
            // the cluster has a hook of its own that stops all processes
            Runtime.getRuntime().addShutdownHook(new Thread(
                    () -> {
                        if (!leaving) {
                            progress("stopping everything");
                            removeNote();
                        }
                    },
                    "quickstart-shutdown"));
            try {
                return use(cluster, memory, scaleText);
            }
            finally {
                leaving = true;
                removeNote();
            }
        }
    }

    private int writeSqlPage(Distribution distribution)
            throws Exception
    {
        workers = SqlPage.WORKERS;
        // of its own: the page tells what a session on a new cluster sees
        Path temporary = Files.createTempDirectory("cachedhive-sql-page");
        List<String> problems;
        try {
            problems = problems(temporary, distribution);
            if (!problems.isEmpty()) {
                problems.forEach(problem -> fail(CANNOT_RUN, problem));
                return CANNOT_RUN;
            }
            try (Cluster cluster = clusterBuilder(distribution, temporary).start()) {
                awaitHealthy(cluster);
                problems = new SqlPage(cluster.coordinator().httpUri(), this::progress).write(distribution.root());
            }
        }
        finally {
            deleteRecursively(temporary, ALLOW_INSECURE);
        }
        problems.forEach(problem -> fail(CHECK_FAILED, problem));
        return problems.isEmpty() ? OK : CHECK_FAILED;
    }

    private int use(Cluster cluster, QuickstartDirectory memory, String scaleText)
            throws Exception
    {
        String endpoint = cluster.s3().endpoint().toString();
        boolean endpointChanged = memory.s3Endpoint().isPresent() && !memory.s3Endpoint().get().equals(endpoint);
        memory.setScale(scaleText);
        memory.setS3Endpoint(endpoint);
        memory.save();

        awaitHealthy(cluster);
        long cachedBytes;
        try (SqlConnection connection = connect(cluster)) {
            cachedBytes = new CacheStatistics(connection, CACHED).cachedBytes();
        }
        try (SqlConnection connection = connect(cluster)) {
            load(cluster, connection);
        }
        boolean cold = cachedBytes == 0 || endpointChanged;
        if (endpointChanged) {
            progress("the cache starts cold: the port of the S3 server was taken, and its files are known by it");
        }
        else if (cold) {
            progress("the cache starts cold");
        }
        else {
            progress("the cache starts warm: it holds %.1f MiB that earlier starts on this directory have read".formatted(cachedBytes / (double) MIB));
        }

        boolean ok = true;
        if (check) {
            ok = check(cluster, cold);
        }
        else {
            show(cluster, cold);
        }
        if (!check || keep) {
            goOn(cluster);
            // Ctrl-C ends this process, and its shutdown hooks stop the cluster
            while (true) {
                cluster.checkAlive();
                Thread.sleep(Duration.ofSeconds(1));
            }
        }
        return ok ? OK : CHECK_FAILED;
    }

    private List<String> problems(Path directory, Distribution distribution)
            throws IOException
    {
        List<String> problems = preflight().problems(Machine.inspect(directory, hostAddresses()));
        if (problems.isEmpty() && !distribution.missing().isEmpty()) {
            return List.of("not built: %s; bin/quickstart builds what is missing".formatted(
                    distribution.missing().stream().map(path -> distribution.root().relativize(path).toString()).collect(joining(", "))));
        }
        return problems;
    }

    private Preflight preflight()
    {
        // measured: 0.7 to 0.9 GB for each Trino server and half of that for each cache worker; the S3 server and this process besides
        long memoryBytes = GIB + 512 * MIB + workers * (GIB + 512 * MIB + RAM_TIER_BYTES);
        // both schemas together are about 0.6 of the nominal size
        long diskBytes = GIB + (long) (scale * GIB) + workers * ssdBytes();
        return new Preflight(memoryBytes, workers * RAM_TIER_BYTES, diskBytes);
    }

    // each host's tier alone has room for everything
    private long ssdBytes()
    {
        return Math.max(2, (long) Math.ceil(scale)) * GIB;
    }

    private List<String> hostAddresses()
    {
        return IntStream.rangeClosed(1, workers + 1).mapToObj(number -> "127.0.0." + number).toList();
    }

    private Cluster.Builder clusterBuilder(Distribution distribution, Path directory)
            throws IOException
    {
        // one to try rules with: what somebody has made of it stays
        Path rules = directory.resolve("rules.json");
        if (!Files.exists(rules)) {
            Files.writeString(rules, Resources.toString(Resources.getResource("quickstart-rules.json"), UTF_8));
        }
        return Cluster.builder(directory)
                .distribution(distribution)
                .hosts(workers)
                .ramMaxSize(RAM_TIER_BYTES / MIB + "MB")
                .ssdMaxSize(ssdBytes() / GIB + "GB")
                .s3Faults(S3Faults.NONE.withLatency(Duration.ofMillis(latencyMillis)))
                .startTimeout(START_TIMEOUT)
                .cachedHiveProperty("cachedhive.rules-file", rules.toString())
                .progress(this::progress);
    }

    private static void awaitHealthy(Cluster cluster)
            throws Exception
    {
        try (SqlConnection connection = connect(cluster)) {
            CacheStatistics statistics = new CacheStatistics(connection, CACHED);
            cluster.watching(CACHE_WORKERS_TIMEOUT, () -> {
                statistics.awaitHealthy(cluster.cacheWorkers().size(), CACHE_WORKERS_TIMEOUT);
                return true;
            });
        }
    }

    private void load(Cluster cluster, SqlConnection connection)
            throws Exception
    {
        for (Schema schema : Schema.values()) {
            for (String table : TpchTables.missing(connection, CACHED, schema)) {
                deleteLeftovers(cluster, schema, table);
                progress("loading %s.%s".formatted(schema.schemaName(), table));
                long rows = cluster.watching(LOAD_TIMEOUT, () -> TpchTables.load(connection, CACHED, schema, table, scale));
                progress("loaded %s.%s: %s rows".formatted(schema.schemaName(), table, rows));
            }
        }
    }

    // files of a load that was killed: Hive refuses to create a table where some are
    private static void deleteLeftovers(Cluster cluster, Schema schema, String table)
    {
        String prefix = "%s/%s/%s/".formatted(Cluster.WAREHOUSE.substring("s3://%s/".formatted(Cluster.BUCKET).length()), schema.schemaName(), table);
        try (S3Client client = cluster.s3().client()) {
            for (S3Object object : client.listObjectsV2Paginator(request -> request.bucket(Cluster.BUCKET).prefix(prefix)).contents()) {
                client.deleteObject(request -> request.bucket(Cluster.BUCKET).key(object.key()));
            }
        }
    }

    private boolean check(Cluster cluster, boolean cold)
            throws Exception
    {
        Expectations expectations = new Expectations(out::println);
        List<WorkloadRun> runs = new QuickstartCheck(cluster, this::progress, expectations).run(cold);
        expectations.noProblems("docs/sql.md: what it says is so", cluster.watching(SQL_PAGE_TIMEOUT, () ->
                new SqlPage(cluster.coordinator().httpUri(), this::progress).check(Distribution.find().root())));
        printReport(runs);
        printStatistics(cluster);
        if (!expectations.failures().isEmpty()) {
            expectations.failures().forEach(failure -> error.println("quickstart: " + failure));
            out.println("quickstart: FAILED %s of %s expectations, %s".formatted(expectations.failures().size(), expectations.count(), RunReport.figures(runs, elapsedSeconds())));
            return false;
        }
        out.println("quickstart: ok %s expectations, %s".formatted(expectations.count(), RunReport.figures(runs, elapsedSeconds())));
        return true;
    }

    private void show(Cluster cluster, boolean cold)
            throws Exception
    {
        WorkloadRunner runner = new WorkloadRunner(cluster, this::progress);
        List<QueryTask> tasks = new ArrayList<>();
        tasks.addAll(QueryTask.of(Schema.ORC, 1, 6, 9, 18));
        tasks.addAll(QueryTask.of(Schema.PARQUET, 3, 4, 12));
        List<WorkloadRun> runs = new ArrayList<>();
        runs.add(runner.runPlain("plain Hive", PLAIN, tasks));
        runs.add(runner.runCached(cold ? "cold" : "first", CACHED, tasks, Map.of()));
        runs.add(runner.runCached("warm", CACHED, tasks, Map.of()));
        printReport(runs);
        printStatistics(cluster);
    }

    private void printReport(List<WorkloadRun> runs)
            throws IOException
    {
        out.println();
        out.println("milliseconds by query");
        RunReport.printQueries(runs, out);
        out.println();
        out.println("requests that the S3 server saw (data files; LIST of all prefixes), and bytes that queries asked for by source");
        RunReport.printTotals(runs, out);
    }

    private void printStatistics(Cluster cluster)
            throws SQLException, IOException
    {
        String sql = "SELECT * FROM system.cache.stats";
        out.println();
        out.println(sql);
        try (SqlConnection connection = connect(cluster)) {
            out.print(ResultText.format(connection.query(sql), Integer.getInteger("cachedhive.terminal.columns", DEFAULT_COLUMNS)));
        }
        out.println();
    }

    private void goOn(Cluster cluster)
    {
        String directoryOption = System.getProperty("cachedhive.quickstart.directory", "").equals(directory.toString()) ? "" : " --directory " + directory;
        out.println(
                """
                The cluster is running: %1$s (web interface, any user name). In another terminal:

                  bin/sql%2$s "SELECT * FROM system.cache.stats"
                  bin/sql%2$s "SELECT l_shipmode, count(*) FROM lineitem GROUP BY 1"
                  bin/sql%2$s "EXPLAIN ANALYZE VERBOSE SELECT max(o_totalprice) FROM orders"
                  bin/sql%2$s "SELECT max(o_totalprice) FROM orders" --session cachedhive.node_selection_strategy=NO_PREFERENCE
                  bin/sql%2$s "CALL cachedhive.system.preload_partition('tpch_orc', 'lineitem', ARRAY['l_returnflag'], ARRAY['R'])"
                  bin/sql%2$s "SELECT * FROM cachedhive.cache.preloads"

                Tables: schemas tpch_orc and tpch_parquet, in catalog cachedhive, and the same files uncached in catalog hive.
                Ctrl-C stops everything. Tables and cache stay in %3$s: the next start is warm.""".formatted(
                        cluster.coordinator().httpUri(),
                        directoryOption,
                        directory));
    }

    private static SqlConnection connect(Cluster cluster)
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), "quickstart", Optional.empty(), Optional.empty());
    }

    private void removeNote()
    {
        try {
            RunningQuickstart.remove(directory);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void progress(String message)
    {
        error.println("[%5.1f s] %s".formatted(elapsedSeconds(), message).replace('\n', ' '));
    }

    private double elapsedSeconds()
    {
        return (System.nanoTime() - start) / 1e9;
    }

    private int fail(int code, String message)
    {
        error.println("quickstart: " + (message == null ? "failed without a message" : message.strip()));
        return code;
    }
}
