package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Catalogs that come and go while the servers run leave nothing behind.
 */
@UsesCluster(SharedCluster.ONE_HOST)
@Test(groups = "catalogs", singleThreaded = true)
public class TestDynamicCatalogs
{
    private static final String ROUNDS = "cachedhive.test.catalogs";
    private static final int WARM_UP_ROUNDS = 3;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final String NAME = "comes_and_goes_";

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.ONE_HOST.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA hive.catalogs");
            connection.query("CREATE TABLE hive.catalogs.nation WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.nation");
        }
    }

    @Test
    public void testNothingIsLeft()
            throws Exception
    {
        int rounds = Integer.getInteger(ROUNDS, 10);
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            String properties = properties();
            // pools of the server grow to their size
            for (int round = 0; round < WARM_UP_ROUNDS; round++) {
                comeAndGo(connection, round, properties);
            }
            for (ClusterNode node : nodes()) {
                awaitGone(node);
            }
            Map<String, ProcessResources> before = resources();
            for (int round = WARM_UP_ROUNDS; round < WARM_UP_ROUNDS + rounds; round++) {
                comeAndGo(connection, round, properties);
            }
            for (ClusterNode node : nodes()) {
                awaitGone(node);
                ProcessResources earlier = before.get(node.name());
                // what is left of each catalog is left as often as there were catalogs
                long some = rounds / 2;
                Await.until("nothing of %s catalogs is left on %s".formatted(rounds, node.name()), TIMEOUT, QUERY_PAUSE, () ->
                        growth(earlier, ProcessResources.of(node), some).isEmpty());
                ProcessResources later = ProcessResources.of(node);
                try (NodeJmx jmx = testing.jmx(node)) {
                    System.out.printf(
                            "%s after %s catalogs: more than before by kind: descriptors %s, mappings %s, threads %s, beans %s; connectors in memory %s%n",
                            node.name(),
                            rounds,
                            ProcessResources.grown(earlier.descriptors(), later.descriptors(), 0),
                            ProcessResources.grown(earlier.mappings(), later.mappings(), 0),
                            ProcessResources.grown(earlier.threads(), later.threads(), 0),
                            ProcessResources.grown(earlier.beans(), later.beans(), 0),
                            jmx.instances("io.cachedhive.trino.connector.CachedConnector"));
                }
                assertThat(ProcessResources.grown(earlier.beans(), later.beans(), 0)).as("beans that are left on %s", node.name()).isEmpty();
                assertThat(ProcessResources.grown(earlier.mappings(), later.mappings(), 0).keySet()).as("shared memory that is left mapped on %s", node.name())
                        .noneMatch(path -> path.startsWith("/dev/shm/"));
            }
        }
    }

    private static List<Map<String, Long>> growth(ProcessResources before, ProcessResources after, long more)
    {
        return Stream.of(
                        ProcessResources.grown(before.descriptors(), after.descriptors(), more),
                        ProcessResources.grown(before.mappings(), after.mappings(), more),
                        ProcessResources.grown(before.threads(), after.threads(), more),
                        ProcessResources.grown(before.beans(), after.beans(), more))
                .filter(kinds -> !kinds.isEmpty())
                .toList();
    }

    /**
     * A catalog that does all that a catalog does: reads through the cache, is preloaded, asks cache workers.
     */
    private static void comeAndGo(SqlConnection connection, int round, String properties)
            throws Exception
    {
        String catalog = NAME + round;
        connection.query("CREATE CATALOG %s USING cachedhive WITH (%s)".formatted(catalog, properties));
        try {
            assertThat(connection.query("SELECT count(*), max(name) FROM %s.catalogs.nation".formatted(catalog)).rows()).containsExactly(List.of(25L, "VIETNAM"));
            assertThat(connection.query("SELECT count(*) FROM %s.cache.stats".formatted(catalog)).onlyValue()).isEqualTo(1L);
            if (round % 3 == 0) {
                Await.until("there is a ring", TIMEOUT, QUERY_PAUSE, () ->
                        (boolean) connection.query("SELECT count(*) = 1 FROM %s.cache.nodes WHERE ring_share > 0".formatted(catalog)).onlyValue());
                connection.query("CALL %s.system.preload_table('catalogs', 'nation')".formatted(catalog));
                assertThat(connection.query("SELECT count(*), max(name) FROM %s.catalogs.nation".formatted(catalog)).rows()).containsExactly(List.of(25L, "VIETNAM"));
                connection.query("CALL %s.system.flush_data_cache(schema_name => 'catalogs', table_name => 'nation')".formatted(catalog));
            }
        }
        finally {
            connection.query("DROP CATALOG " + catalog);
        }
    }

    /**
     * Workers learn a moment later that a catalog was dropped.
     */
    private static void awaitGone(ClusterNode node)
            throws Exception
    {
        try {
            Await.until("everything named after a catalog is gone", TIMEOUT, QUERY_PAUSE, () -> ProcessResources.of(node).named(NAME).isEmpty());
        }
        catch (AssertionError e) {
            throw new AssertionError("left on %s: %s".formatted(node.name(), ProcessResources.of(node).named(NAME)), e);
        }
    }

    private Map<String, ProcessResources> resources()
            throws IOException
    {
        return Map.of(
                testing.cluster().coordinator().name(), ProcessResources.of(testing.cluster().coordinator()),
                testing.cluster().workers().getFirst().name(), ProcessResources.of(testing.cluster().workers().getFirst()));
    }

    private List<ClusterNode> nodes()
    {
        return List.of(testing.cluster().coordinator(), testing.cluster().workers().getFirst());
    }

    /**
     * Those of the worker's catalog file, which names the socket of its host.
     */
    private String properties()
            throws IOException
    {
        Path file = testing.cluster().workers().getFirst().home().path().resolve("etc/catalog/cachedhive.properties");
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        properties.remove("connector.name");
        return properties.entrySet().stream()
                .map(property -> "\"%s\" = '%s'".formatted(property.getKey(), property.getValue().toString().replace("'", "''")))
                .collect(joining(", "));
    }
}
