package io.cachedhive.tests.cluster;

import io.cachedhive.quickstart.cluster.ClusterNode;
import io.cachedhive.quickstart.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What {@code flush_data_cache} leaves on a real cluster, one of whose cache workers was down meanwhile: not a byte.
 */
@Test(groups = "flushes", singleThreaded = true)
public class TestFlushedTables
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int MAX_SAMPLES = 4096;

    private static final String RIGHTS =
            """
            {
              "schemas": [{"user": "test", "owner": true}, {"owner": false}],
              "tables": [
                {"user": "test", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]},
                {"schema": "flushes", "table": "kept", "privileges": ["SELECT"]},
                {"schema": "flushes", "privileges": []},
                {"privileges": ["SELECT"]}
              ]
            }
            """;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        Path rights = Files.writeString(Path.of("target", "flush-rights.json").toAbsolutePath(), RIGHTS);
        testing = TestingCluster.start("flushes", builder -> builder
                .hosts(2)
                .cachedHiveProperty("hive.security", "file")
                .cachedHiveProperty("security.config-file", rights.toString()));
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.flushes");
        }
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            connection.query("CREATE TABLE parts WITH (format = 'ORC', partitioned_by = ARRAY['nation']) AS "
                    + "SELECT custkey, name, address, comment, nationkey AS nation FROM tpch.sf1.customer WHERE nationkey < 3");
            connection.query("CREATE TABLE kept WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
        }
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    private long gets(SqlConnection connection, String query)
    {
        long mark = testing.cluster().s3().log().mark();
        try {
            connection.query(query);
        }
        catch (SQLException e) {
            throw new AssertionError(e);
        }
        return testing.cluster().s3().log().dataFileCountsSince(mark).gets();
    }

    private void load(SqlConnection connection, String query)
    {
        // what came while a file was too young to be kept comes again
        Await.until("all of it is cached", TIMEOUT, () -> gets(connection, query) == 0);
    }

    /**
     * All that a cache worker has: what lies in its home and in its shared memory.
     */
    private List<Path> files(int host)
            throws IOException
    {
        List<Path> files = new ArrayList<>();
        for (Path directory : List.of(testing.cluster().cacheWorkers().get(host - 1).home().path(), testing.memoryDirectory(host))) {
            try (Stream<Path> paths = Files.walk(directory)) {
                paths.filter(Files::isRegularFile).forEach(files::add);
            }
        }
        return files;
    }

    /**
     * Bytes of objects of a table, eight at a time, from places which the cache keeps at places that are divisible by eight as well.
     */
    private Set<Long> samples(SqlConnection connection, String table, Random random)
            throws SQLException
    {
        Set<Long> samples = new HashSet<>();
        for (List<Object> row : connection.query("SELECT DISTINCT \"$path\" FROM " + table).rows()) {
            ByteBuffer bytes = ByteBuffer.wrap(object((String) row.getFirst())).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < MAX_SAMPLES; i++) {
                long sample = bytes.getLong(8 * random.nextInt(bytes.limit() / 8));
                // eight like bytes may be anybody's
                if (sample != Long.rotateLeft(sample, 8)) {
                    samples.add(sample);
                }
            }
        }
        return samples;
    }

    private byte[] object(String path)
    {
        String key = path.substring("s3://".length());
        int slash = key.indexOf('/');
        return testing.cluster().s3().client().getObjectAsBytes(request -> request.bucket(key.substring(0, slash)).key(key.substring(slash + 1))).asByteArray();
    }

    private long seen(int host, Set<Long> samples)
            throws IOException
    {
        Set<Long> seen = new HashSet<>();
        for (Path file : files(host)) {
            ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
            for (int position = 0; position + 8 <= content.limit(); position += 8) {
                if (samples.contains(content.getLong(position))) {
                    seen.add(content.getLong(position));
                }
            }
        }
        return seen.size();
    }

    @Test
    public void testPartitionsAreFlushedAlone()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(comment) FROM parts");
            connection.query("CALL system.flush_data_cache(schema_name => 'flushes', table_name => 'parts', "
                    + "partition_columns => ARRAY['nation'], partition_values => ARRAY['1'])");
            assertThat(gets(connection, "SELECT max(comment) FROM parts WHERE nation IN (0, 2)")).isZero();
            assertThat(gets(connection, "SELECT max(comment) FROM parts WHERE nation = 1")).isPositive();
        }
    }

    @Test
    public void testArguments()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'parts', ARRAY['nation'])"))
                    .hasMessageContaining("partition_columns and partition_values are required both or neither");
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'parts', ARRAY['day'], ARRAY['1'])"))
                    .hasMessageContaining("table flushes.parts has no partition column day, but [nation]");
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'parts', ARRAY['nation'], ARRAY['77'])"))
                    .hasMessageContaining("table flushes.parts has no partition with {nation=77}");
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'parts', ARRAY['nation'], ARRAY['one'])"))
                    .hasMessageContaining("value of partition column nation is not a bigint: one");
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'kept', ARRAY['nation'], ARRAY['1'])"))
                    .hasMessageContaining("table flushes.kept is not partitioned: leave out partition_columns and partition_values");
            assertThatThrownBy(() -> connection.query("CALL system.flush_data_cache('flushes', 'nothing')")).hasMessageContaining("Table 'flushes.nothing' not found");
        }
        try (SqlConnection guest = SqlConnection.open(testing.cluster().coordinator().httpUri(), "guest", Optional.of("cachedhive"), Optional.of("flushes"))) {
            assertThatThrownBy(() -> guest.query("CALL system.flush_data_cache('flushes', 'parts')"))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.parts");
            // says nothing of what is there
            assertThatThrownBy(() -> guest.query("CALL system.flush_data_cache('flushes', 'nothing')"))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.nothing");
        }
    }

    @Test(dependsOnMethods = {"testPartitionsAreFlushedAlone", "testArguments"})
    public void testNoByteIsLeftAlsoOnOneThatWasDown()
            throws Exception
    {
        long seed = new Random().nextLong();
        System.out.printf("seed %s%n", seed);
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(custkey), max(name), max(address), max(comment) FROM parts");
            load(connection, "SELECT count(*), max(comment) FROM kept");
            Set<Long> samples = samples(connection, "parts", new Random(seed));
            Set<Long> kept = samples(connection, "kept", new Random(seed));
            // what kept has is not a sample, nor what is all over the files
            samples.removeAll(kept);
            Await.until("it is on SSD", TIMEOUT, () -> uncheckedSeen(samples) > samples.size() * 9L / 10);

            ClusterNode down = testing.cluster().cacheWorkers().get(1);
            assertThat(seen(2, samples)).as("on the one that goes").isPositive();
            down.kill();
            connection.query("CALL system.flush_data_cache('flushes', 'parts')");
            assertThat(seen(1, samples)).isZero();
            assertThat(seen(2, samples)).as("on the one that is down").isPositive();

            down.restart();
            Await.until("it is flushed as well", TIMEOUT, () -> uncheckedSeen(samples) == 0);
            for (int host = 1; host <= 2; host++) {
                assertThat(seen(host, samples)).isZero();
            }
            assertThat(seen(1, kept) + seen(2, kept)).isPositive();
            assertThat(gets(connection, "SELECT max(comment) FROM parts")).isPositive();
        }
    }

    private long uncheckedSeen(Set<Long> samples)
    {
        try {
            return seen(1, samples) + seen(2, samples);
        }
        catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
