package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.CacheWorkerHome.SsdDirectory;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.SkipException;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queries run one after another while the file system under one cache worker's SSD directory fills up, is mended, turns read-only, and is mended again: all of
 * them return the rows of plain Hive, the counters name the cause, and the directory is used again.
 */
@Test(groups = "ssd", singleThreaded = true)
public class TestSsdTrouble
{
    private static final String SCAN = "SELECT count(*), sum(CAST(quantity AS bigint)), sum(orderkey), to_hex(checksum(comment)) FROM %s";
    // a failed directory is tried again every 10 s
    private static final Duration MENDED = Duration.ofSeconds(60);

    private Path directory;
    private Path mount;
    private boolean mounted;
    private TestingCluster testing;
    private ClusterNode worker;
    private SqlConnection connection;
    private ExecutorService executor;
    private int tables;

    @BeforeClass
    public void start()
            throws Exception
    {
        if (!run("id", "-u").equals("0")) {
            System.out.println("TestSsdTrouble is skipped: only root can mount file systems");
            throw new SkipException("only root can mount file systems");
        }
        executor = Executors.newCachedThreadPool();
        directory = Files.createTempDirectory("cachedhive-ssd-trouble");
        mount = Files.createDirectory(directory.resolve("mount"));
        run("truncate", "-s", "128M", image());
        run("mkfs.ext4", "-q", "-F", "-m", "0", image());
        mount();
        AtomicInteger number = new AtomicInteger();
        testing = TestingCluster.start("ssd-trouble", builder -> builder
                .ramMaxSize("16MB")
                .ssdMaxSize("96MB")
                .cacheWorker((_, home) -> {
                    if (number.getAndIncrement() == 0) {
                        home.ssdDirectories(List.of(new SsdDirectory(mount, "96MB")));
                    }
                }));
        testing.awaitRing();
        worker = testing.cluster().cacheWorkers().getFirst();
        connection = testing.connect("cachedhive", "trouble");
        connection.query("CREATE SCHEMA cachedhive.trouble");
        // a file for each part: the worker owns none of them in one of 16 million clusters
        connection.query("CREATE TABLE warm WITH (format = 'ORC', partitioned_by = ARRAY['part']) AS " +
                "SELECT orderkey, quantity, comment, orderkey % 24 AS part FROM tpch.\"sf0.1\".lineitem");
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws Exception
    {
        if (executor != null) {
            executor.shutdownNow();
        }
        if (connection != null) {
            connection.close();
        }
        if (testing != null) {
            testing.close();
        }
        if (mounted) {
            unmount();
        }
        if (directory != null) {
            Files.deleteIfExists(directory.resolve("image"));
            Files.deleteIfExists(mount);
            Files.deleteIfExists(directory);
        }
    }

    @Test
    public void testFileSystemFillsUp()
            throws Exception
    {
        List<List<Object>> expected = scan("hive.trouble.warm");
        Await.until("blocks are on SSD", Duration.ofSeconds(60), QUERY_PAUSE, () -> {
            scan("warm");
            return gauge("ssd_blocks") > 0;
        });
        try (Queries queries = new Queries(expected)) {
            // copies and backups make files sparse; the room that they had goes to others
            for (Path file : slabs()) {
                run("fallocate", "--punch-hole", "--offset", "0", "--length", Long.toString(Files.size(file)), file.toString());
            }
            Path filler = mount.resolve("filler");
            run("sh", "-c", "cat /dev/zero > '%s' || true".formatted(filler));
            Await.until("the worker has noticed", Duration.ofMinutes(2), QUERY_PAUSE, () -> {
                newTable();
                return problem().isPresent();
            });
            assertThat(problem().orElseThrow()).contains(mount.toString(), "takes no blocks", "no space left on device");
            assertThat(gauge("ssd_errors_no_space")).isPositive();
            assertThat(gauge("ssd_directories_offline")).isEqualTo(1);
            queries.awaitMore();

            Files.delete(filler);
            Await.until("the directory is used again", MENDED, QUERY_PAUSE, () -> {
                newTable();
                return problem().isEmpty();
            });
            assertThat(gauge("ssd_directories_offline")).isZero();
            queries.awaitMore();
        }
    }

    @Test(dependsOnMethods = "testFileSystemFillsUp")
    public void testFileSystemIsReadOnlyAtTheStart()
            throws Exception
    {
        List<List<Object>> expected = scan("hive.trouble.warm");
        try (Queries queries = new Queries(expected)) {
            // a file system that the kernel turned read-only is let go, and mounted again as it is
            worker.stop();
            unmount();
            mount();
            run("mount", "-o", "remount,ro", mount.toString());
            worker.start();
            worker.awaitReady();
            Await.until("the worker says what is wrong", Duration.ofSeconds(60), QUERY_PAUSE, () -> problem().isPresent());
            assertThat(problem().orElseThrow()).contains(mount.toString(), "is not used since the start", "read-only file system", "repair the disk");
            assertThat(gauge("ssd_errors_read_only")).isPositive();
            queries.awaitMore();

            run("mount", "-o", "remount,rw", mount.toString());
            Await.until("the directory is taken in", MENDED, QUERY_PAUSE, () -> problem().isEmpty());
            Await.until("the directory is used again", MENDED, QUERY_PAUSE, () -> {
                newTable();
                return gauge("ssd_blocks") > 0;
            });
            queries.awaitMore();
        }
    }

    /**
     * Scans the same table again and again, until it is closed.
     */
    private final class Queries
            implements AutoCloseable
    {
        private final AtomicBoolean end = new AtomicBoolean();
        private final AtomicInteger finished = new AtomicInteger();
        private final Future<?> running;

        Queries(List<List<Object>> expected)
        {
            running = executor.submit(() -> {
                while (!end.get()) {
                    assertThat(scan("warm")).isEqualTo(expected);
                    finished.incrementAndGet();
                }
                return null;
            });
        }

        void awaitMore()
                throws Exception
        {
            int before = finished.get();
            Await.until("two more queries have finished", Duration.ofMinutes(2), () -> finished.get() >= before + 2 || running.isDone());
            if (running.isDone()) {
                running.get();
            }
        }

        @Override
        public void close()
                throws Exception
        {
            end.set(true);
            running.get();
            System.out.printf("%s queries with the rows of plain Hive%n", finished.get());
        }
    }

    /**
     * New files, which the cache workers fill and want to keep on SSD: several, since each is one worker's.
     */
    private void newTable()
            throws Exception
    {
        tables++;
        String table = "more_" + tables;
        connection.query(
                "CREATE TABLE %s WITH (format = 'ORC', partitioned_by = ARRAY['part']) AS SELECT * FROM warm WHERE orderkey %% 10 = %s".formatted(table, tables % 10));
        assertThat(scan(table)).isEqualTo(scan("hive.trouble." + table));
    }

    private Optional<String> problem()
            throws Exception
    {
        List<List<Object>> rows = answered("SELECT coalesce(problem, '') FROM cachedhive.cache.stats WHERE host = '%s' AND state <> 'UNREACHABLE'");
        return rows.stream().map(row -> (String) row.getFirst()).filter(problem -> problem.contains("SSD directory")).findFirst();
    }

    /**
     * Of the worker whose disk is in trouble.
     */
    private long gauge(String name)
            throws Exception
    {
        return ((Number) answered("SELECT %s FROM cachedhive.cache.stats_detail WHERE host = '%%s' AND %1$s IS NOT NULL".formatted(name)).getFirst().getFirst()).longValue();
    }

    /**
     * The rows of the worker whose disk is in trouble, once it has answered: on a busy machine it may take longer than it is waited for.
     *
     * @param query with a place for its host, and without rows if it has not answered
     */
    private List<List<Object>> answered(String query)
            throws Exception
    {
        return Await.untilPresent("the worker answers", Duration.ofSeconds(60), QUERY_PAUSE, () ->
                Optional.of(connection.query(query.formatted(worker.address())).rows()).filter(rows -> !rows.isEmpty()));
    }

    private List<List<Object>> scan(String table)
            throws Exception
    {
        try (SqlConnection own = testing.connect("cachedhive", "trouble")) {
            return own.query(SCAN.formatted(table)).rows();
        }
    }

    private List<Path> slabs()
            throws IOException
    {
        try (Stream<Path> files = Files.list(mount)) {
            return files.filter(file -> file.getFileName().toString().startsWith("slab-")).toList();
        }
    }

    private String image()
    {
        return directory.resolve("image").toString();
    }

    private void mount()
            throws Exception
    {
        run("mount", "-o", "loop", image(), mount.toString());
        mounted = true;
    }

    private void unmount()
            throws Exception
    {
        run("umount", mount.toString());
        mounted = false;
    }

    private static String run(String... command)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        assertThat(process.waitFor()).as("%s: %s", String.join(" ", command), output).isZero();
        return output;
    }
}
