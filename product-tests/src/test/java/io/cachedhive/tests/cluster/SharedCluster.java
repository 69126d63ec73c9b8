package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.TrinoNodePlan;
import io.cachedhive.testing.cluster.home.TrinoHome;
import io.cachedhive.testing.cluster.s3.S3Faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A cluster that several test classes use, one after the other, because starting one costs more than most of them do. The first class starts it, and it is
 * closed when another one is required or all classes have finished. {@link SharedClusterListener} orders the classes by {@link UsesCluster}.
 * <p>
 * Each class uses a schema of its own, and compares counters with what they were before: other classes count too. Classes that need other properties of the
 * catalog use another catalog of the cluster over the same tables. A class may kill and restart nodes, if all of them are running again at its end; a class
 * that finds the cluster damaged gets a new one, so that it does not fail because of an earlier class. The logs of the damaged cluster stay in its directory.
 */
enum SharedCluster
{
    /**
     * Two hosts, with enough room in RAM for all that the classes load.
     */
    TWO_HOSTS("shared", SharedCluster::twoHosts),
    /**
     * One host, with catalogs that come and go.
     */
    ONE_HOST("one-host", SharedCluster::oneHost),
    /**
     * Two hosts with less room than the classes read, so that blocks are evicted and fetched again.
     */
    FULL("full", SharedCluster::full);

    /**
     * The RAM tier of each host of {@link #TWO_HOSTS}.
     */
    static final int RAM_MEGABYTES = 256;
    /**
     * A catalog of {@link #TWO_HOSTS} whose rules are {@link #writeRules}.
     */
    static final String RULES = "cachedhive_rules";
    static final String NO_RULES = "{\"rules\": []}";
    /**
     * A catalog of {@link #TWO_HOSTS} whose mode is SHADOW when a server starts.
     */
    static final String SHADOW = "cachedhive_shadow";
    /**
     * A catalog of {@link #TWO_HOSTS} with chunks of 1 MB.
     */
    static final String SMALL_CHUNKS = "cachedhive_chunks";
    /**
     * A catalog of {@link #TWO_HOSTS} whose cache only the user {@code test} may change.
     */
    static final String ADMINS = "cachedhive_admins";
    /**
     * A catalog of {@link #ONE_HOST} whose origin no cache worker has.
     */
    static final String MISSING_ORIGIN = "cachedhive_missing";

    private final String clusterName;
    private final UnaryOperator<Cluster.Builder> settings;

    // guarded by this
    private TestingCluster running;
    private int started;

    SharedCluster(String clusterName, UnaryOperator<Cluster.Builder> settings)
    {
        this.clusterName = clusterName;
        this.settings = settings;
    }

    /**
     * The cluster, with all nodes running and all cache workers on the ring. It stays open when the class has finished.
     */
    synchronized TestingCluster get()
            throws Exception
    {
        for (SharedCluster other : values()) {
            if (other != this) {
                other.close();
            }
        }
        if (running != null && !isHealthy(running)) {
            close();
        }
        if (running == null) {
            started++;
            running = TestingCluster.start(started == 1 ? clusterName : "%s-%s".formatted(clusterName, started), settings);
            running.awaitRing();
        }
        return running;
    }

    private static boolean isHealthy(TestingCluster testing)
            throws Exception
    {
        Cluster cluster = testing.cluster();
        if (!cluster.nodes().stream().allMatch(ClusterNode::isAlive)) {
            System.out.printf("not all nodes of %s are running%n", cluster.directory());
            return false;
        }
        cluster.s3().setFaults(S3Faults.NONE);
        try {
            testing.awaitRing();
            return true;
        }
        catch (AssertionError | ClusterException e) {
            System.out.printf("%s is damaged: %s%n", cluster.directory(), e);
            return false;
        }
    }

    private synchronized void close()
    {
        if (running != null) {
            TestingCluster closing = running;
            running = null;
            closing.close();
        }
    }

    static void closeAll()
    {
        for (SharedCluster cluster : values()) {
            cluster.close();
        }
    }

    /**
     * Replaces the rules of the catalog {@link #RULES}.
     */
    static void writeRules(String rules)
    {
        try {
            Path written = Files.writeString(rulesFile().resolveSibling("cache-rules.new"), rules);
            Files.move(written, rulesFile(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // beside the cluster's directory, which is emptied when it starts
    private static Path rulesFile()
    {
        return Path.of("target", "cache-rules.json").toAbsolutePath();
    }

    private static Cluster.Builder twoHosts(Cluster.Builder builder)
    {
        writeRules(NO_RULES);
        return TableRights.guard(builder, "flushes", "kept")
                .ramMaxSize(RAM_MEGABYTES + "MB")
                .trino((plan, home) -> {
                    addCatalog(plan, home, RULES, Map.of("cachedhive.rules-file", rulesFile().toString()));
                    addCatalog(plan, home, SHADOW, Map.of("cachedhive.mode", "SHADOW"));
                    addCatalog(plan, home, ADMINS, Map.of("cachedhive.admin-users", "test"));
                    addCatalog(plan, home, SMALL_CHUNKS, Map.of("cachedhive.chunk-size", "1MB"));
                });
    }

    private static Cluster.Builder oneHost(Cluster.Builder builder)
    {
        return builder
                .hosts(1)
                .ramMaxSize("32MB")
                .ssdMaxSize("128MB")
                .trino((plan, home) -> {
                    home.config("catalog.management", "dynamic");
                    addCatalog(plan, home, MISSING_ORIGIN, Map.of("cachedhive.origin", "missing"));
                });
    }

    private static Cluster.Builder full(Cluster.Builder builder)
    {
        return builder
                .ramMaxSize("32MB")
                .ssdMaxSize("64MB")
                .trino(SharedCluster::recordInterrupts);
    }

    /**
     * For a query that fails since its thread was interrupted: {@code jfr print --events jdk.MethodTrace} of the node's file tells who did it.
     */
    private static void recordInterrupts(TrinoNodePlan node, TrinoHome.Builder home)
    {
        Path directory = TestingCluster.directory(FULL.clusterName).resolve("nodes").resolve(node.name()).resolve("var");
        home.jvmOption("-XX:FlightRecorderOptions:repository=" + directory.resolve("jfr"));
        home.jvmOption("-XX:StartFlightRecording:filename=%s,dumponexit=true,maxsize=50m,method-trace=java.lang.Thread::interrupt".formatted(directory.resolve("interrupts.jfr")));
    }

    private static void addCatalog(TrinoNodePlan plan, TrinoHome.Builder home, String name, Map<String, String> more)
    {
        Map<String, String> properties = new HashMap<>(plan.cachedHiveCatalog());
        properties.putAll(more);
        home.catalog(name, properties);
    }
}
