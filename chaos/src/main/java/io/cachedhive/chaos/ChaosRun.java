package io.cachedhive.chaos;

import com.google.common.io.RecursiveDeleteOption;
import io.cachedhive.chaos.fault.ClusterCertificates;
import io.cachedhive.chaos.fault.FaultRunner;
import io.cachedhive.chaos.fault.FaultSetting;
import io.cachedhive.chaos.fault.FaultSetting.SsdSizes;
import io.cachedhive.chaos.fault.RingCheck;
import io.cachedhive.chaos.lake.Lake;
import io.cachedhive.chaos.proxy.TcpProxy;
import io.cachedhive.chaos.query.Expectations;
import io.cachedhive.chaos.query.Outcome;
import io.cachedhive.chaos.query.QueryClient;
import io.cachedhive.chaos.query.QuerySetting;
import io.cachedhive.chaos.query.QueryTimeout;
import io.cachedhive.chaos.query.Tally;
import io.cachedhive.chaos.resources.ResourceSampler;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.FaultLog;
import io.cachedhive.chaos.schedule.PlannedFault;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.ShortLivedJvm;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.BytesBySource;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static java.util.Objects.requireNonNull;

/**
 * A run: starts the cluster, runs queries and faults, checks that the cache recovers, and reports.
 */
final class ChaosRun
{
    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration QUERY_TIMEOUT = Duration.ofMinutes(5);
    private static final Duration RECOVERY_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(10);
    private static final int TRINO_HEAP_MEGABYTES = 640;
    private static final int CACHE_WORKER_HEAP_MEGABYTES = 160;
    private static final SsdSizes SSD_SIZES = new SsdSizes("96MB", "192MB");
    // a third of what the tables need
    private static final String RAM_SIZE = "16MB";
    private static final String PROXY_ADDRESS = "127.0.0.1";
    private static final long LEAST_FINAL_HIT_SHARE_PERCENT = 50;

    private final ChaosPlan plan;
    private final Distribution distribution;
    private final PrintStream out;
    private final PrintStream error;
    private final long start = System.nanoTime();
    private final FaultLog faults = new FaultLog();
    private final ResourceSampler sampler = new ResourceSampler();
    private final AtomicBoolean end = new AtomicBoolean();

    ChaosRun(ChaosPlan plan, Distribution distribution, PrintStream out, PrintStream error)
    {
        this.plan = requireNonNull(plan, "plan is null");
        this.distribution = requireNonNull(distribution, "distribution is null");
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
    }

    /** Whether all rows were right, no query failed beyond plain Hive, and no process grew. */
    boolean run()
            throws Exception
    {
        out.println("seed %s: %s".formatted(plan.seed(), plan.command()));
        if (Files.exists(plan.directory())) {
            deleteRecursively(plan.directory(), RecursiveDeleteOption.ALLOW_INSECURE);
        }
        Files.createDirectories(plan.directory());
        progress("everything is kept in " + plan.directory());
        Tally tally = new Tally(plan.directory().resolve("queries.log"), this::progress);
        boolean ok = false;
        try {
            ok = run(tally);
            return ok;
        }
        finally {
            clean(ok);
        }
    }

    private boolean run(Tally tally)
            throws Exception
    {
        Files.writeString(plan.directory().resolve("rules.json"), FaultSetting.NO_RULES);
        List<TcpProxy> workerProxies = new ArrayList<>();
        int proxyPort = FreePorts.next();
        for (int host = 1; host <= ChaosPlan.HOSTS; host++) {
            workerProxies.add(TcpProxy.open("127.0.0." + (host + 1), proxyPort));
        }
        TcpProxy s3Proxy = TcpProxy.open(PROXY_ADDRESS, FreePorts.next());
        ClusterCertificates certificates = ClusterCertificates.create(plan.directory().resolve("certificates"));
        try (QueryTimeout timeout = new QueryTimeout(QUERY_TIMEOUT); Cluster cluster = startCluster(proxyPort, s3Proxy, certificates)) {
            for (int host = 0; host < ChaosPlan.HOSTS; host++) {
                CacheWorkerHome home = (CacheWorkerHome) cluster.cacheWorkers().get(host).home();
                workerProxies.get(host).forwardTo(home.address(), home.workerPort());
            }
            awaitHealthy(cluster, START_TIMEOUT);
            try (Lake lake = Lake.create(cluster, this::progress)) {
                progress("files of one length in several states: " + lake.formatsOfSameLength());
                QuerySetting queries = new QuerySetting(
                        cluster.coordinator().httpUri(),
                        lake,
                        faults,
                        tally,
                        new Expectations(cluster.coordinator().httpUri()),
                        timeout);
                FaultSetting setting = new FaultSetting(
                        cluster,
                        lake,
                        workerProxies,
                        s3Proxy,
                        new QueryClient(queries, "faults", plan.clientSeed(-1)),
                        certificates,
                        plan.directory(),
                        SSD_SIZES);
                runFaults(cluster, queries, setting, tally);
                checkRecovery(cluster, queries, tally);
                return report(cluster, tally);
            }
        }
        finally {
            s3Proxy.close();
            workerProxies.forEach(TcpProxy::close);
        }
    }

    private Cluster startCluster(int proxyPort, TcpProxy s3Proxy, ClusterCertificates certificates)
    {
        String endpoint = "http://%s:%s".formatted(PROXY_ADDRESS, s3Proxy.port());
        Path rules = plan.directory().resolve("rules.json");
        return Cluster.builder(plan.directory().resolve("cluster"))
                .distribution(distribution)
                .hosts(ChaosPlan.HOSTS)
                .ramMaxSize(RAM_SIZE)
                .ssdMaxSize(SSD_SIZES.normal())
                .startTimeout(START_TIMEOUT)
                .sharedSecretFiles()
                .cachedHiveProperty("cachedhive.worker.port", Integer.toString(proxyPort))
                .cachedHiveProperty("cachedhive.chunk-size", "1MB")
                .cachedHiveProperty("cachedhive.rules-file", rules.toString())
                .cachedHiveProperty("cachedhive.rules-refresh-period", "500ms")
                .trino((node, home) -> {
                    s3Proxy.forwardTo(node.s3().endpoint().getHost(), node.s3().endpoint().getPort());
                    home.heapMegabytes(TRINO_HEAP_MEGABYTES);
                    home.jvmOptions(fixHeap(TRINO_HEAP_MEGABYTES)).jvmOptions(ShortLivedJvm.OPTIONS);
                    if (node.coordinator()) {
                        // starts a thread for each task until it has so many, 1000 by default: then their number follows the rate of queries
                        home.config("query.executor-pool-size", "100");
                    }
                    home.catalogProperty("hive", "s3.endpoint", endpoint);
                    home.catalogProperty("cachedhive", "s3.endpoint", endpoint);
                    certificates.catalogProperties(node.name()).forEach((key, value) -> home.catalogProperty("cachedhive", key, value));
                })
                .cacheWorker((name, home) -> {
                    home.heapMegabytes(CACHE_WORKER_HEAP_MEGABYTES);
                    home.jvmOptions(fixHeap(CACHE_WORKER_HEAP_MEGABYTES)).jvmOptions(ShortLivedJvm.OPTIONS);
                    home.config("cache.block-size", "256kB");
                    certificates.cacheWorkerProperties(name).forEach(home::config);
                    home.origin("default", Map.of(
                            "s3.endpoint", endpoint,
                            "s3.region", S3Service.REGION,
                            "s3.path-style-access", "true",
                            "s3.aws-access-key", S3Service.ACCESS_KEY,
                            "s3.aws-secret-key", S3Service.SECRET_KEY));
                })
                .progress(this::progress)
                .start();
    }

    // all of the heap from the start: what grows then is a leak outside of it
    private static List<String> fixHeap(int megabytes)
    {
        return List.of("-Xms%sm".formatted(megabytes), "-XX:+AlwaysPreTouch");
    }

    private void runFaults(Cluster cluster, QuerySetting queries, FaultSetting setting, Tally tally)
            throws InterruptedException
    {
        List<PlannedFault> schedule = plan.schedule();
        progress("%s faults of %s kinds in %s".formatted(schedule.size(), schedule.stream().map(PlannedFault::kind).distinct().count(), plan.length()));
        FaultRunner runner = new FaultRunner(setting, faults, tally::addFailure, this::progress);
        List<Thread> clients = new ArrayList<>();
        for (int client = 0; client < plan.clients(); client++) {
            QueryClient queryClient = new QueryClient(queries, Integer.toString(client), plan.clientSeed(client));
            clients.add(Thread.ofPlatform().name("client-" + client).start(() -> {
                while (!end.get()) {
                    queryClient.runNext();
                }
            }));
        }
        Thread samples = Thread.ofPlatform().daemon().name("sampler").start(() -> sample(cluster, tally));
        long begin = System.nanoTime();
        long endNanos = begin + plan.length().toNanos();
        List<Thread> running = new ArrayList<>();
        for (PlannedFault fault : schedule) {
            sleepUntil(begin + Duration.ofMillis(fault.startMillis()).toNanos());
            running.add(Thread.ofPlatform().name("fault-" + fault.number()).start(() -> {
                try {
                    runner.run(fault, endNanos);
                }
                catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        sleepUntil(endNanos);
        for (Thread fault : running) {
            fault.join();
        }
        progress("all faults are undone");
        end.set(true);
        for (Thread client : clients) {
            client.join();
        }
        samples.interrupt();
        samples.join();
    }

    private static void sleepUntil(long nanos)
            throws InterruptedException
    {
        long left = nanos - System.nanoTime();
        if (left > 0) {
            Thread.sleep(Duration.ofNanos(left));
        }
    }

    private void sample(Cluster cluster, Tally tally)
    {
        List<String> ended = new ArrayList<>();
        try {
            while (true) {
                Thread.sleep(SAMPLE_INTERVAL);
                sampler.sample(cluster.nodes());
                for (ClusterNode node : cluster.nodes()) {
                    try {
                        node.checkAlive();
                    }
                    catch (ClusterException e) {
                        if (!ended.contains(node.name())) {
                            ended.add(node.name());
                            tally.addFailure("a process ended: " + e.getMessage());
                        }
                    }
                }
                progress("%s queries, %s wrong, %s failed beyond plain Hive".formatted(tally.queries(), tally.count(Outcome.WRONG), tally.count(Outcome.FAILED)));
            }
        }
        catch (InterruptedException _) {
            // the run is over
        }
    }

    /** Without faults, all cache workers are healthy, know the ring, and serve what was read before. */
    private void checkRecovery(Cluster cluster, QuerySetting queries, Tally tally)
            throws Exception
    {
        try {
            awaitHealthy(cluster, RECOVERY_TIMEOUT);
        }
        catch (IllegalStateException e) {
            tally.addFailure("the cache workers did not recover from the faults: " + e.getMessage());
            return;
        }
        try (SqlConnection connection = connect(cluster)) {
            RingCheck.awaitOne(connection, Optional.empty());
        }
        catch (IllegalStateException e) {
            tally.addFailure("after all faults, " + e.getMessage());
        }
        for (int pass = 0; pass < 2; pass++) {
            for (String table : queries.lake().steadyTables()) {
                try (SqlConnection connection = connect(cluster)) {
                    connection.query("SELECT count(*), max(payload) FROM cachedhive.chaos." + table);
                }
            }
        }
        try (SqlConnection connection = connect(cluster)) {
            CacheStatistics statistics = new CacheStatistics(connection, "cachedhive");
            BytesBySource before = statistics.awaitStable(RECOVERY_TIMEOUT);
            for (String table : queries.lake().steadyTables()) {
                connection.query("SELECT count(*), max(payload) FROM cachedhive.chaos." + table);
            }
            BytesBySource after = statistics.awaitStable(RECOVERY_TIMEOUT);
            long hits = hits(after) - hits(before);
            long all = hits + after.remoteRead() - before.remoteRead() + after.bypass() - before.bypass();
            progress("after the faults, %s of %s bytes come from the cache".formatted(hits, all));
            if (hits * 100 < all * LEAST_FINAL_HIT_SHARE_PERCENT) {
                tally.addFailure("after all faults, only %s of %s bytes of a third scan came from the cache: %s, before %s".formatted(hits, all, after, before));
            }
        }
    }

    private static long hits(BytesBySource bytes)
    {
        return bytes.ramHit() + bytes.ssdHit() + bytes.nonLocalHit();
    }

    private boolean report(Cluster cluster, Tally tally)
            throws SQLException
    {
        out.println();
        Map<FaultKind, Integer> counts = faults.counts();
        counts.forEach((kind, count) -> out.println("%-28s %5s  %s".formatted(kind.text(), count, kind.description())));
        int faultCount = counts.values().stream().mapToInt(Integer::intValue).sum();
        out.println("%-28s %5s  of %s kinds".formatted("faults", faultCount, counts.size()));
        out.println();
        tally.report().forEach(out::println);
        out.println();
        try (SqlConnection connection = connect(cluster)) {
            out.println("bytes since the last start of the cache workers: " + new CacheStatistics(connection, "cachedhive").read());
        }
        out.println();
        sampler.report().forEach(out::println);
        List<String> failures = tally.failures();
        List<String> leaks = sampler.findings();
        out.println();
        failures.forEach(out::println);
        leaks.forEach(leak -> out.println("leak: " + leak));
        boolean ok = failures.isEmpty() && leaks.isEmpty();
        out.println("chaos: %s seed %s, %s faults of %s kinds, %s queries, %s wrong, %s failed beyond plain Hive, %s other failures, %s leaks".formatted(
                ok ? "ok" : "FAILED",
                plan.seed(),
                faultCount,
                counts.size(),
                tally.queries(),
                tally.count(Outcome.WRONG),
                tally.count(Outcome.FAILED),
                failures.size() - tally.count(Outcome.WRONG) - tally.count(Outcome.FAILED),
                leaks.size()));
        if (!ok) {
            out.println("logs: " + plan.directory());
        }
        return ok;
    }

    private static void awaitHealthy(Cluster cluster, Duration timeout)
            throws Exception
    {
        try (SqlConnection connection = connect(cluster)) {
            new CacheStatistics(connection, "cachedhive").awaitHealthy(cluster.cacheWorkers().size(), timeout);
        }
    }

    private static SqlConnection connect(Cluster cluster)
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), "chaos", Optional.empty(), Optional.empty());
    }

    // of a run that failed, the logs and the configuration stay, without the bytes
    private void clean(boolean ok)
            throws IOException
    {
        if (plan.keep()) {
            return;
        }
        if (ok) {
            deleteRecursively(plan.directory(), RecursiveDeleteOption.ALLOW_INSECURE);
            return;
        }
        List<Path> bytes = new ArrayList<>(List.of(plan.directory().resolve("cluster/s3/objects")));
        for (int host = 1; host <= ChaosPlan.HOSTS; host++) {
            bytes.add(plan.directory().resolve("cluster/nodes/cache-worker-%s/ssd".formatted(host)));
        }
        for (Path path : bytes) {
            if (Files.exists(path)) {
                deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
            }
        }
    }

    private void progress(String message)
    {
        error.println("[%6.1f s] %s".formatted((System.nanoTime() - start) / 1e9, message.strip()));
    }
}
