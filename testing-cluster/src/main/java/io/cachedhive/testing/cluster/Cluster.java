package io.cachedhive.testing.cluster;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.hash.Hashing;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.CacheWorkerHome.SsdDirectory;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.SharedSecretFile;
import io.cachedhive.testing.cluster.home.SharedSecrets;
import io.cachedhive.testing.cluster.home.TrinoHome;
import io.cachedhive.testing.cluster.home.TrinoHome.Plugin;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.testing.cluster.s3.S3ServerProcess;
import io.cachedhive.testing.cluster.s3.S3Service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Throwables.throwIfUnchecked;
import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * A whole cluster on one machine, as separate processes: an S3 server and a coordinator on 127.0.0.1; on each of the hosts 127.0.0.2, 127.0.0.3, ...
 * a Trino worker and a cache worker beside it.
 * <p>
 * Everything is under one directory: installed homes, objects, logs, the SSD cache; only shared memory is in /dev/shm, and gone after {@link #close}.
 * A second start on the directory finds tables and cache as they were.
 * The catalogs are {@code hive} and {@code cachedhive} over the same tables, and {@code tpch}.
 */
public final class Cluster
        implements AutoCloseable
{
    public static final String BUCKET = "lake";
    /** Under which the file metastore keeps its files and the managed tables theirs. */
    public static final String WAREHOUSE = "s3://" + BUCKET + "/warehouse";

    private static final String NODES = "nodes";
    private static final String COORDINATOR_ADDRESS = "127.0.0.1";
    private static final String ACTIVE_WORKERS_METRIC = "trino_node_name_CoordinatorNodeManager_ActiveWorkerCount";
    private static final Duration WATCH_INTERVAL = Duration.ofMillis(250);
    // the kernel's limit is 107, and names are appended
    private static final int LONGEST_SOCKET_PATH_BYTES = 100;

    private final Path directory;
    private final FileLock lock;
    private final S3Service s3;
    private final ClusterNode coordinator;
    private final List<ClusterNode> workers;
    private final List<ClusterNode> cacheWorkers;
    private final List<Path> toDelete;
    private final Thread shutdownHook = new Thread(this::closeNow, "cluster-shutdown");
    private boolean closed;

    private Cluster(Path directory, FileLock lock, S3Service s3, ClusterNode coordinator, List<ClusterNode> workers, List<ClusterNode> cacheWorkers, List<Path> toDelete)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.s3 = requireNonNull(s3, "s3 is null");
        this.coordinator = requireNonNull(coordinator, "coordinator is null");
        this.workers = ImmutableList.copyOf(workers);
        this.cacheWorkers = ImmutableList.copyOf(cacheWorkers);
        this.toDelete = ImmutableList.copyOf(toDelete);
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    public static Builder builder(Path directory)
    {
        return new Builder(directory);
    }

    public Path directory()
    {
        return directory;
    }

    public S3Service s3()
    {
        return s3;
    }

    public ClusterNode coordinator()
    {
        return coordinator;
    }

    /** The Trino workers: {@code worker-1}, {@code worker-2}, ..., and {@code worker-1-2} for the second one on the first host. */
    public List<ClusterNode> workers()
    {
        return workers;
    }

    /** The cache workers, one per host: {@code cache-worker-1}, ...; empty in a cluster without them. */
    public List<ClusterNode> cacheWorkers()
    {
        return cacheWorkers;
    }

    /** All nodes, coordinator first. */
    public List<ClusterNode> nodes()
    {
        return Stream.of(List.of(coordinator), workers, cacheWorkers).flatMap(List::stream).toList();
    }

    public ClusterNode node(String name)
    {
        return nodes().stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such node: %s; there are %s".formatted(name, nodes().stream().map(ClusterNode::name).toList())));
    }

    public String jdbcUrl()
    {
        return "jdbc:trino://%s:%s".formatted(coordinator.httpUri().getHost(), coordinator.httpUri().getPort());
    }

    /** The file from which a node reads the shared secret, if {@link Builder#sharedSecretFiles} was called. */
    public SharedSecretFile sharedSecretFile(ClusterNode node)
    {
        return sharedSecretFile(directory, node.name());
    }

    private static SharedSecretFile sharedSecretFile(Path directory, String node)
    {
        return new SharedSecretFile(directory.resolve("secrets").resolve(node));
    }

    /** A connection of the user {@code quickstart}, to be closed by the caller. */
    public Connection connect(String catalog, String schema)
            throws SQLException
    {
        return DriverManager.getConnection("%s/%s/%s?user=quickstart".formatted(jdbcUrl(), catalog, schema));
    }

    /**
     * @throws ClusterException if a node ended that nobody stopped or killed
     */
    public void checkAlive()
    {
        nodes().forEach(ClusterNode::checkAlive);
    }

    /**
     * Runs something that waits for the cluster, in a thread of its own, and gives up as soon as a node dies that nobody stopped or killed:
     * without its workers Trino lets a query wait for minutes.
     *
     * @throws ClusterException if a node dies or the time is over; the action is interrupted then
     * @throws Exception what the action throws
     */
    public <T> T watching(Duration timeout, Callable<T> action)
            throws Exception
    {
        FutureTask<T> task = new FutureTask<>(action);
        Thread thread = Thread.ofPlatform().daemon().name("cluster-action").start(task);
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (true) {
                try {
                    return task.get(WATCH_INTERVAL.toMillis(), MILLISECONDS);
                }
                catch (TimeoutException _) {
                    checkAlive();
                    if (System.nanoTime() >= deadline) {
                        throw new ClusterException("no end within " + timeout);
                    }
                }
            }
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof Exception exception) {
                throw exception;
            }
            throwIfUnchecked(e.getCause());
            throw e;
        }
        finally {
            thread.interrupt();
        }
    }

    /** Waits until the coordinator sees exactly this number of active workers. */
    public void awaitWorkers(int count, Duration timeout)
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            checkAlive();
            Optional<Integer> active = activeWorkers();
            if (active.equals(Optional.of(count))) {
                return;
            }
            if (System.nanoTime() >= deadline) {
                String seen = active.map(Object::toString).orElse("an unknown number of");
                throw new ClusterException("the coordinator sees %s active workers instead of %s after %s".formatted(seen, count, timeout));
            }
            ClusterNode.pause();
        }
    }

    /**
     * From the coordinator's metrics: a query could be given to a worker that has died and wait a minute for it, and without any worker it would not run at all.
     */
    private Optional<Integer> activeWorkers()
    {
        return coordinator.get("/metrics?name[]=" + ACTIVE_WORKERS_METRIC).flatMap(metrics -> metrics.lines()
                .filter(line -> line.startsWith(ACTIVE_WORKERS_METRIC + " "))
                .map(line -> (int) Double.parseDouble(line.substring(ACTIVE_WORKERS_METRIC.length() + 1)))
                .findFirst());
    }

    /** Stops all processes and waits for their end. The directory stays. */
    @Override
    public void close()
    {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        }
        catch (IllegalStateException _) {
            // the JVM is going down, and the hook does the same
        }
        closeNow();
    }

    private synchronized void closeNow()
    {
        if (closed) {
            return;
        }
        closed = true;
        nodes().forEach(ClusterNode::beginStop);
        nodes().forEach(ClusterNode::stop);
        s3.close();
        deleteAll(toDelete);
        release(lock);
    }

    private static void deleteAll(List<Path> paths)
    {
        for (Path path : paths) {
            try {
                if (Files.exists(path)) {
                    deleteRecursively(path, ALLOW_INSECURE);
                }
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void release(FileLock lock)
    {
        try {
            lock.acquiredBy().close();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static final class Builder
    {
        private final Path directory;
        private Distribution distribution;
        private int hosts = 2;
        private int workersPerHost = 1;
        private boolean cachedHive = true;
        private boolean withCacheWorkers = true;
        private boolean remoteJmx;
        private boolean internalTls;
        private boolean sharedSecretFiles;
        private boolean s3InProcess;
        private S3Faults s3Faults = S3Faults.NONE;
        private String mainClass = TrinoHome.EXTENDED_SERVER;
        private String ramMaxSize = "256MB";
        private String ssdMaxSize = "2GB";
        private Set<String> startedLater = ImmutableSet.of();
        private final String sharedSecret = SharedSecrets.generate();
        private Duration startTimeout = ClusterNode.DEFAULT_START_TIMEOUT;
        private Consumer<String> progress = _ -> {};
        private final Map<String, String> cachedHiveProperties = new LinkedHashMap<>();
        private final List<BiConsumer<TrinoNodePlan, TrinoHome.Builder>> trinoCustomizers = new ArrayList<>();
        private final List<BiConsumer<String, CacheWorkerHome.Builder>> cacheWorkerCustomizers = new ArrayList<>();

        private Builder(Path directory)
        {
            this.directory = directory.toAbsolutePath().normalize();
        }

        /** Where the built parts are; {@link Distribution#find} if not called. */
        public Builder distribution(Distribution distribution)
        {
            this.distribution = requireNonNull(distribution, "distribution is null");
            return this;
        }

        /** Number of hosts, 2 if not called. */
        public Builder hosts(int hosts)
        {
            checkArgument(hosts >= 1 && hosts <= 200, "hosts is not between 1 and 200: %s", hosts);
            this.hosts = hosts;
            return this;
        }

        /** Number of Trino workers on each host, 1 if not called. */
        public Builder workersPerHost(int workersPerHost)
        {
            checkArgument(workersPerHost >= 1, "workersPerHost is not positive: %s", workersPerHost);
            this.workersPerHost = workersPerHost;
            return this;
        }

        /** Leaves out the cache workers, the plugin and the catalog cachedhive: a plain Trino cluster. */
        public Builder withoutCachedHive()
        {
            cachedHive = false;
            return this;
        }

        /** Leaves out the cache workers only: Trino then has the plugin and finds nobody to ask. */
        public Builder withoutCacheWorkers()
        {
            withCacheWorkers = false;
            return this;
        }

        /** Opens remote JMX on every node, see {@link ClusterNode#home} and its {@code jmxUrl}. */
        public Builder remoteJmx()
        {
            remoteJmx = true;
            return this;
        }

        /** Encrypts the traffic between Trino servers, see {@link TrinoHome.Builder#internalTls}. */
        public Builder internalTls()
        {
            internalTls = true;
            return this;
        }

        /** Lets each Trino server and each cache worker read the shared secret from a file of its own, see {@link Cluster#sharedSecretFile}. */
        public Builder sharedSecretFiles()
        {
            sharedSecretFiles = true;
            return this;
        }

        /** Runs the S3 server in this process, where its log and its faults are a method call away. Its objects are under the directory all the same. */
        public Builder s3InProcess()
        {
            s3InProcess = true;
            return this;
        }

        public Builder s3Faults(S3Faults s3Faults)
        {
            this.s3Faults = requireNonNull(s3Faults, "s3Faults is null");
            return this;
        }

        /** Main class of all Trino servers, see {@link TrinoHome}. */
        public Builder mainClass(String mainClass)
        {
            this.mainClass = requireNonNull(mainClass, "mainClass is null");
            return this;
        }

        /** {@code cache.ram.max-size} of each cache worker. */
        public Builder ramMaxSize(String ramMaxSize)
        {
            this.ramMaxSize = requireNonNull(ramMaxSize, "ramMaxSize is null");
            return this;
        }

        /** {@code cache.ssd.max-sizes} of each cache worker; empty for no SSD tier. */
        public Builder ssdMaxSize(String ssdMaxSize)
        {
            this.ssdMaxSize = requireNonNull(ssdMaxSize, "ssdMaxSize is null");
            return this;
        }

        /** A property of the catalog cachedhive on all nodes. */
        public Builder cachedHiveProperty(String key, String value)
        {
            cachedHiveProperties.put(key, value);
            return this;
        }

        /** Is called for each Trino node before its home is written: more catalogs, properties, JVM options. */
        public Builder trino(BiConsumer<TrinoNodePlan, TrinoHome.Builder> customizer)
        {
            trinoCustomizers.add(requireNonNull(customizer, "customizer is null"));
            return this;
        }

        /** Is called with the name of each cache worker before its home is written. */
        public Builder cacheWorker(BiConsumer<String, CacheWorkerHome.Builder> customizer)
        {
            cacheWorkerCustomizers.add(requireNonNull(customizer, "customizer is null"));
            return this;
        }

        /** Names of nodes that are installed with the others, but not started: {@link Cluster#node} has them. */
        public Builder startedLater(String... nodes)
        {
            startedLater = ImmutableSet.copyOf(nodes);
            return this;
        }

        /** How long each node may take to be ready. */
        public Builder startTimeout(Duration startTimeout)
        {
            this.startTimeout = requireNonNull(startTimeout, "startTimeout is null");
            return this;
        }

        /** Is told in one line what happens, as it happens. */
        public Builder progress(Consumer<String> progress)
        {
            this.progress = requireNonNull(progress, "progress is null");
            return this;
        }

        /**
         * Starts all processes and returns when the coordinator sees all workers.
         *
         * @throws ClusterException if anything does not start; what had started is stopped
         */
        public Cluster start()
        {
            FileLock lock = lock();
            Cluster cluster = null;
            S3Service s3 = null;
            try {
                Distribution parts = distribution == null ? Distribution.find() : distribution;
                ProcessFile.stopLeftovers(directory.resolve(NODES), progress);
                ClusterPorts ports = ClusterPorts.open(directory.resolve("ports.properties"));
                int s3Port = ports.port("s3", List.of(COORDINATOR_ADDRESS));
                progress.accept("starting the S3 server on port " + s3Port);
                s3 = startS3(s3Port);
                cluster = install(parts, ports, s3, lock);
                ports.save();
                launch(cluster);
                return cluster;
            }
            catch (RuntimeException | Error e) {
                if (cluster != null) {
                    cluster.close();
                }
                else {
                    if (s3 != null) {
                        s3.close();
                    }
                    release(lock);
                }
                throw e;
            }
        }

        private FileLock lock()
        {
            try {
                Files.createDirectories(directory);
                FileChannel channel = FileChannel.open(directory.resolve("lock"), CREATE, WRITE);
                FileLock lock = tryLock(channel);
                if (lock == null) {
                    channel.close();
                    throw new ClusterException("another cluster runs in " + directory);
                }
                return lock;
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static FileLock tryLock(FileChannel channel)
                throws IOException
        {
            try {
                return channel.tryLock();
            }
            catch (OverlappingFileLockException _) {
                // held by this JVM
                return null;
            }
        }

        private S3Service startS3(int port)
        {
            Path s3Directory = directory.resolve("s3");
            if (s3InProcess) {
                return S3Server.builder()
                        .port(port)
                        .directory(s3Directory.resolve("objects"))
                        .logFile(s3Directory.resolve("requests.log"))
                        .bucket(BUCKET)
                        .faults(s3Faults)
                        .start();
            }
            return S3ServerProcess.builder(s3Directory)
                    .port(port)
                    .bucket(BUCKET)
                    .faults(s3Faults)
                    .start();
        }

        private Cluster install(Distribution parts, ClusterPorts ports, S3Service s3, FileLock lock)
        {
            List<String> addresses = IntStream.range(0, hosts).mapToObj(index -> "127.0.0." + (index + 2)).toList();
            String key = Hashing.sha256().hashString(directory.toString(), UTF_8).toString().substring(0, 8);
            Path sharedMemory = Path.of("/dev/shm/cachedhive-" + key);
            Path sockets = directory.resolve("run");
            List<Path> toDelete = new ArrayList<>(List.of(sharedMemory));
            if (sockets.resolve("cache-worker-100.sock").toString().getBytes(UTF_8).length >= LONGEST_SOCKET_PATH_BYTES) {
                sockets = Path.of(System.getProperty("java.io.tmpdir"), "cachedhive-" + key);
                toDelete.add(sockets);
            }
            try {
                Files.createDirectories(sockets);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }

            int coordinatorPort = ports.port("coordinator", List.of(COORDINATOR_ADDRESS));
            int coordinatorHttpsPort = internalTls ? ports.port("coordinator-https", List.of(COORDINATOR_ADDRESS)) : 0;
            URI coordinatorUri = URI.create(internalTls ?
                    "https://%s:%s".formatted(COORDINATOR_ADDRESS, coordinatorHttpsPort) :
                    "http://%s:%s".formatted(COORDINATOR_ADDRESS, coordinatorPort));
            int cacheWorkerPort = ports.port("cache-worker", addresses);
            int cacheWorkerHttpPort = ports.port("cache-worker-http", addresses);

            TrinoNodePlan coordinatorPlan = plan("coordinator", COORDINATOR_ADDRESS, true, sockets.resolve("coordinator.sock"), s3, cacheWorkerPort);
            ClusterNode coordinator = trinoNode(parts, coordinatorPlan, home -> {
                home.coordinator().httpPort(coordinatorPort);
                if (internalTls) {
                    home.internalTls(coordinatorHttpsPort, key);
                }
                if (remoteJmx) {
                    home.remoteJmx(ports.port("coordinator-jmx", List.of(COORDINATOR_ADDRESS)));
                }
            });
            ImmutableList.Builder<ClusterNode> workers = ImmutableList.builder();
            ImmutableList.Builder<ClusterNode> cacheWorkers = ImmutableList.builder();
            for (int host = 1; host <= hosts; host++) {
                String address = addresses.get(host - 1);
                Path socket = sockets.resolve("cache-worker-%s.sock".formatted(host));
                for (int ofHost = 1; ofHost <= workersPerHost; ofHost++) {
                    String suffix = ofHost == 1 ? "" : "-" + ofHost;
                    int port = ports.port("worker" + suffix + (host == 1 ? "" : "@" + host), List.of(address));
                    String name = "worker-%s%s".formatted(host, suffix);
                    workers.add(trinoNode(parts, plan(name, address, false, socket, s3, cacheWorkerPort), home -> {
                        home.worker(coordinatorUri).httpPort(port);
                        if (internalTls) {
                            home.internalTls(ports.port(name + "-https", List.of(address)), key);
                        }
                        if (remoteJmx) {
                            home.remoteJmx(ports.port(name + "-jmx", List.of(address)));
                        }
                    }));
                }
                if (cachedHive && withCacheWorkers) {
                    Path ramDirectory = sharedMemory.resolve("host-" + host);
                    String name = "cache-worker-" + host;
                    cacheWorkers.add(cacheWorkerNode(parts, name, address, socket, ramDirectory, cacheWorkerPort, cacheWorkerHttpPort, s3, home -> {
                        if (remoteJmx) {
                            home.remoteJmx(ports.port(name + "-jmx", List.of(address)));
                        }
                    }));
                }
            }
            return new Cluster(directory, lock, s3, coordinator, workers.build(), cacheWorkers.build(), toDelete);
        }

        private TrinoNodePlan plan(String name, String address, boolean coordinator, Path socketPath, S3Service s3, int cacheWorkerPort)
        {
            Map<String, String> hive = new HashMap<>();
            hive.put("connector.name", "hive");
            hive.put("hive.metastore", "file");
            hive.put("hive.metastore.catalog.dir", WAREHOUSE);
            hive.put("hive.security", "allow-all");
            hive.put("hive.non-managed-table-writes-enabled", "true");
            hive.put("fs.s3.enabled", "true");
            hive.putAll(s3.clientProperties());
            Map<String, String> cached = new HashMap<>(hive);
            cached.put("connector.name", "cachedhive");
            cached.put("cachedhive.worker.socket-path", socketPath.toString());
            cached.put("cachedhive.worker.port", Integer.toString(cacheWorkerPort));
            if (sharedSecretFiles) {
                SharedSecretFile file = sharedSecretFile(directory, name);
                file.write(List.of(sharedSecret));
                cached.put("cachedhive.shared-secret-file", file.path().toString());
            }
            else {
                cached.put("cachedhive.shared-secret", sharedSecret);
            }
            cached.putAll(cachedHiveProperties);
            return new TrinoNodePlan(name, address, coordinator, socketPath, s3, hive, cached);
        }

        private ClusterNode trinoNode(Distribution parts, TrinoNodePlan plan, Consumer<TrinoHome.Builder> role)
        {
            TrinoHome.Builder home = TrinoHome.builder(parts, directory.resolve(NODES).resolve(plan.name()))
                    .nodeId(plan.name())
                    .address(plan.address())
                    .mainClass(mainClass)
                    .plugin(Plugin.HIVE)
                    .plugin(Plugin.TPCH)
                    .catalog("hive", plan.hiveCatalog())
                    .catalog("tpch", Map.of("connector.name", "tpch"));
            if (cachedHive) {
                home.plugin(Plugin.CACHEDHIVE);
                home.catalog("cachedhive", plan.cachedHiveCatalog());
            }
            role.accept(home);
            trinoCustomizers.forEach(customizer -> customizer.accept(plan, home));
            return ClusterNode.of(plan.name(), home.assemble());
        }

        private ClusterNode cacheWorkerNode(
                Distribution parts,
                String name,
                String address,
                Path socket,
                Path ramDirectory,
                int workerPort,
                int httpPort,
                S3Service s3,
                Consumer<CacheWorkerHome.Builder> more)
        {
            Path path = directory.resolve(NODES).resolve(name);
            CacheWorkerHome.Builder home = CacheWorkerHome.builder(parts, path)
                    .nodeId(name)
                    .address(address)
                    .workerPort(workerPort)
                    .httpPort(httpPort)
                    .socketPath(socket)
                    .sharedSecret(sharedSecret)
                    .ramDirectory(ramDirectory)
                    .ramMaxSize(ramMaxSize)
                    .ssdDirectories(ssdMaxSize.isEmpty() ? List.of() : List.of(new SsdDirectory(path.resolve("ssd"), ssdMaxSize)))
                    .origin("default", s3.clientProperties());
            if (sharedSecretFiles) {
                home.sharedSecretFile(sharedSecretFile(directory, name));
            }
            more.accept(home);
            cacheWorkerCustomizers.forEach(customizer -> customizer.accept(name, home));
            return ClusterNode.of(name, home.assemble());
        }

        private void launch(Cluster cluster)
        {
            List<ClusterNode> later = startedLater.stream().map(cluster::node).toList();
            for (ClusterNode node : without(later, cluster.nodes())) {
                progress.accept("starting " + node);
                node.start();
            }
            for (ClusterNode node : without(later, cluster.cacheWorkers(), List.of(cluster.coordinator()), cluster.workers())) {
                awaitReady(cluster, node);
                progress.accept(node.name() + " is ready");
            }
            int workers = without(later, cluster.workers()).size();
            cluster.awaitWorkers(workers, startTimeout);
            progress.accept("the coordinator sees %s workers".formatted(workers));
        }

        @SafeVarargs
        @SuppressWarnings("varargs") // only read
        private static List<ClusterNode> without(List<ClusterNode> excluded, List<ClusterNode>... nodes)
        {
            return Stream.of(nodes)
                    .flatMap(List::stream)
                    .filter(node -> !excluded.contains(node))
                    .toList();
        }

        // any node's death ends the wait, not only that of the one waited for
        private void awaitReady(Cluster cluster, ClusterNode node)
        {
            long deadline = System.nanoTime() + startTimeout.toNanos();
            while (!node.isReady()) {
                cluster.checkAlive();
                if (System.nanoTime() >= deadline) {
                    node.awaitReady(Duration.ZERO);
                }
                ClusterNode.pause();
            }
        }
    }
}
