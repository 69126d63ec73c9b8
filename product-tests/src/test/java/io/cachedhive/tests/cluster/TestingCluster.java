package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.ShortLivedJvm;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import javax.management.JMException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import static io.cachedhive.testing.Await.QUERY_PAUSE;

/**
 * A cluster of real processes in a directory of its own under {@code target}, whose Trino nodes can be asked over JMX.
 */
final class TestingCluster
        implements AutoCloseable
{
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final String name;
    private final Cluster cluster;

    private TestingCluster(String name, Cluster cluster)
    {
        this.name = name;
        this.cluster = cluster;
    }

    /**
     * @param name of the directory, emptied first
     */
    static TestingCluster start(String name, UnaryOperator<Cluster.Builder> settings)
            throws IOException
    {
        Cluster.Builder builder = Cluster.builder(emptyDirectory(name))
                .s3InProcess()
                .ramMaxSize("64MB")
                .ssdMaxSize("512MB")
                .progress(line -> System.out.printf("[%s %s] %s%n", LocalTime.now().truncatedTo(ChronoUnit.SECONDS), name, line))
                .trino((_, home) -> home.jvmOptions(ShortLivedJvm.OPTIONS))
                .cacheWorker((_, home) -> home.jvmOptions(ShortLivedJvm.OPTIONS))
                .remoteJmx();
        return new TestingCluster(name, settings.apply(builder).start());
    }

    /**
     * The place of a cluster, without what an earlier run left there.
     */
    static Path emptyDirectory(String name)
            throws IOException
    {
        Path directory = directory(name);
        delete(directory);
        return directory;
    }

    static Path directory(String name)
    {
        return Path.of("target", "clusters", name).toAbsolutePath();
    }

    /**
     * Leaves of a stopped cluster what tells what happened, its configuration and logs, without the bytes: a whole run's clusters hold more of them than a disk may
     * have room for.
     */
    static void deleteBytes(String name)
    {
        Path directory = directory(name);
        try {
            delete(directory.resolve("s3").resolve("objects"));
            Path nodes = directory.resolve("nodes");
            if (Files.isDirectory(nodes)) {
                try (Stream<Path> homes = Files.list(nodes)) {
                    for (Path home : homes.toList()) {
                        delete(home.resolve("ssd"));
                    }
                }
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory)
            throws IOException
    {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    Cluster cluster()
    {
        return cluster;
    }

    SqlConnection connect(String catalog, String schema)
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), "test", Optional.of(catalog), Optional.of(schema));
    }

    SqlConnection connectAs(String user, String schema)
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), user, Optional.of("cachedhive"), Optional.of(schema));
    }

    /**
     * Waits until all cache workers that run are on the ring. Trino sees its workers five seconds apart at times, and then the first ring has one member only: what
     * is cached until the second one is on it moves, and is at two hosts then.
     */
    void awaitRing()
            throws Exception
    {
        awaitRing("cachedhive");
    }

    /**
     * Waits until all cache workers that run are on the ring that a catalog knows.
     */
    void awaitRing(String catalog)
            throws Exception
    {
        try (SqlConnection connection = connect(catalog, "default")) {
            PublishedOwners.await(connection, catalog, cluster.s3(), cluster.cacheWorkers().stream().filter(ClusterNode::isAlive).toList());
        }
    }

    /**
     * Runs the query.
     *
     * @return GETs of data files that it needed
     */
    long gets(SqlConnection connection, String query)
    {
        long mark = cluster.s3().log().mark();
        try {
            connection.query(query);
        }
        catch (SQLException e) {
            throw new AssertionError(e);
        }
        return cluster.s3().log().dataFileCountsSince(mark).gets();
    }

    /**
     * A column of the table {@code stats_detail}, summed over the cache workers that run, once all of them have answered: who takes longer than the query waits
     * has a row without values.
     */
    long sumOfCacheWorkers(SqlConnection connection, String column)
            throws Exception
    {
        long running = cluster.cacheWorkers().stream().filter(ClusterNode::isAlive).count();
        String query = "SELECT if(count(%1$s) = %2$s, sum(%1$s)) FROM cachedhive.cache.stats_detail".formatted(column, running);
        Object sum = Await.untilPresent("all cache workers answer", PATIENCE, QUERY_PAUSE, () -> Optional.ofNullable(connection.query(query).onlyValue()));
        return ((Number) sum).longValue();
    }

    /**
     * What the node answers, once it does: the first answer of a busy node may take longer than it is waited for.
     *
     * @param path of its HTTP server
     */
    static String page(ClusterNode node, String path)
            throws Exception
    {
        return Await.untilPresent("%s of %s".formatted(path, node), PATIENCE, QUERY_PAUSE, () -> node.get(path));
    }

    NodeJmx jmx(ClusterNode node)
            throws IOException
    {
        return NodeJmx.connect(node);
    }

    /**
     * The sums of the own beans of the Trino nodes that run.
     */
    Counters jmxCounters(String catalog)
            throws IOException, JMException
    {
        Counters sum = Counters.ZERO;
        for (ClusterNode node : Stream.concat(Stream.of(cluster.coordinator()), cluster.workers().stream()).filter(ClusterNode::isAlive).toList()) {
            try (NodeJmx jmx = jmx(node)) {
                sum = sum.plus(jmx.counters(catalog));
            }
        }
        return sum;
    }

    /**
     * The directory of the shared-memory files of a host, 1-based.
     */
    Path memoryDirectory(int host)
            throws IOException
    {
        Path etc = cluster.cacheWorkers().get(host - 1).home().path().resolve("etc/config.properties");
        return Files.readAllLines(etc).stream()
                .filter(line -> line.startsWith("cache.ram.directory="))
                .map(line -> Path.of(line.substring(line.indexOf('=') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no cache.ram.directory in " + etc));
    }

    static List<List<Object>> sorted(List<List<Object>> rows)
    {
        return rows.stream().sorted(Comparator.comparing(List::toString)).toList();
    }

    @Override
    public void close()
    {
        cluster.close();
        deleteBytes(name);
    }
}
