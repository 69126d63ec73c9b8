package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;
import software.amazon.awssdk.services.s3.S3Client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.nio.file.FileVisitResult.CONTINUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What {@code flush_data_cache} leaves on a real cluster, one of whose cache workers was down meanwhile: not a byte.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "flushes", singleThreaded = true)
public class TestFlushedTables
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int MAX_SAMPLES = 4096;
    // words of like texts are shorter
    private static final int SAMPLE_BYTES = 64;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.flushes");
        }
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            // so many files that each host owns some
            connection.query("CREATE TABLE parts WITH (format = 'ORC', partitioned_by = ARRAY['nation']) AS "
                    + "SELECT custkey, name, address, comment, nationkey AS nation FROM tpch.\"sf0.1\".customer");
            connection.query("CREATE TABLE kept WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
        }
    }

    private static String call(String schema, String table, String... partition)
    {
        return "CALL system.flush_data_cache(schema_name => %s, table_name => %s".formatted(schema, table)
                + (partition.length > 0 ? ", partition_columns => " + partition[0] : "")
                + (partition.length > 1 ? ", partition_values => " + partition[1] : "")
                + ")";
    }

    private void load(SqlConnection connection, String query)
            throws Exception
    {
        // what came while a file was too young to be kept comes again
        Await.until("all of it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, query) == 0);
    }

    /**
     * All that a cache worker has: what lies in its home and in its shared memory.
     */
    private List<Path> files(int host)
            throws IOException
    {
        List<Path> files = new ArrayList<>();
        for (Path directory : List.of(testing.cluster().cacheWorkers().get(host - 1).home().path(), testing.memoryDirectory(host))) {
            Files.walkFileTree(directory, new SimpleFileVisitor<>()
            {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                {
                    if (attributes.isRegularFile()) {
                        files.add(file);
                    }
                    return CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e)
                        throws IOException
                {
                    if (e instanceof NoSuchFileException) {
                        // a state file under its temporary name
                        return CONTINUE;
                    }
                    throw e;
                }
            });
        }
        return files;
    }

    /**
     * Bytes of objects of a table by their first eight, from places which the cache keeps at places that are divisible by eight as well.
     */
    private Map<Long, byte[]> samples(SqlConnection connection, String table, Random random)
            throws SQLException
    {
        Map<Long, byte[]> samples = new HashMap<>();
        for (List<Object> row : connection.query("SELECT DISTINCT \"$path\" FROM " + table).rows()) {
            ByteBuffer bytes = ByteBuffer.wrap(object((String) row.getFirst())).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < MAX_SAMPLES; i++) {
                int position = 8 * random.nextInt((bytes.limit() - SAMPLE_BYTES) / 8);
                byte[] sample = new byte[SAMPLE_BYTES];
                bytes.get(position, sample);
                // what repeats itself may be anybody's
                if (bytes.getLong(position) != 0 && !Arrays.equals(sample, 0, SAMPLE_BYTES - 8, sample, 8, SAMPLE_BYTES)) {
                    samples.put(bytes.getLong(position), sample);
                }
            }
        }
        return samples;
    }

    private byte[] object(String path)
    {
        String key = path.substring("s3://".length());
        int slash = key.indexOf('/');
        try (S3Client client = testing.cluster().s3().client()) {
            return client.getObjectAsBytes(request -> request.bucket(key.substring(0, slash)).key(key.substring(slash + 1))).asByteArray();
        }
    }

    private long seen(int host, Map<Long, byte[]> samples)
            throws IOException
    {
        // nearly all of the words are none of a sample: a lookup of each would take seconds
        BitSet hashes = new BitSet();
        samples.keySet().forEach(word -> hashes.set(hash(word)));
        Set<Long> seen = new HashSet<>();
        for (Path file : files(host)) {
            byte[] bytes;
            try {
                bytes = Files.readAllBytes(file);
            }
            catch (NoSuchFileException _) {
                // a state file under its temporary name; slabs and shared memory stay
                assertThat(file.getFileName().toString()).endsWith(".new");
                continue;
            }
            ByteBuffer content = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            for (int position = 0; position + SAMPLE_BYTES <= bytes.length; position += 8) {
                long word = content.getLong(position);
                if (word == 0 || !hashes.get(hash(word))) {
                    continue;
                }
                byte[] sample = samples.get(word);
                if (sample != null && Arrays.equals(sample, 0, SAMPLE_BYTES, bytes, position, position + SAMPLE_BYTES)) {
                    seen.add(word);
                }
            }
        }
        return seen.size();
    }

    private static int hash(long word)
    {
        return (int) (word * 0x9E3779B97F4A7C15L >>> 40);
    }

    @Test
    public void testPartitionsAreFlushedAlone()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(comment) FROM parts");
            connection.query("CALL system.flush_data_cache(schema_name => 'flushes', table_name => 'parts', "
                    + "partition_columns => ARRAY['nation'], partition_values => ARRAY['1'])");
            new NoOriginReads(testing, connection).during("a query over other partitions", () -> connection.query("SELECT max(comment) FROM parts WHERE nation IN (0, 2)"));
            assertThat(testing.gets(connection, "SELECT max(comment) FROM parts WHERE nation = 1")).isPositive();
        }
    }

    @Test
    public void testContents()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(custkey), max(name), max(address), max(comment) FROM parts");
            load(connection, "SELECT count(*), max(comment) FROM kept");
            List<List<Object>> listed = connection.query("SELECT DISTINCT \"$path\", \"$file_size\" FROM parts").rows();
            // the table of the system lists a file once for each catalog whose metastore has its table
            for (String files : List.of("cachedhive.cache.files", "(SELECT * FROM system.cache.files WHERE catalog_name = 'cachedhive')")) {
                assertThat(connection.query("SELECT file_path, file_size FROM %s WHERE schema_name = 'flushes' AND table_name = 'parts'".formatted(files)).rows())
                        .containsExactlyInAnyOrderElementsOf(listed);
            }
            assertThat(connection.query(
                    "SELECT count(*) FROM cachedhive.cache.files "
                    + "WHERE schema_name = 'flushes' "
                    + "AND (cached_bytes < 1 OR cached_bytes > ram_bytes + ssd_bytes OR class NOT IN ('NORMAL', 'GUEST') OR expiry < now())").onlyValue())
                    .isEqualTo(0L);
            assertThat(Counters.rowsAtRest(
                    connection,
                    "SELECT count(*), count(DISTINCT partition), min(partition) FROM system.cache.tables "
                    + "WHERE catalog_name = 'cachedhive' AND schema_name = 'flushes' AND table_name = 'parts'"))
                    .containsExactly(List.of(26L, 25L, "nation=0"));
            assertThat(Counters.rowsAtRest(
                    connection,
                    "SELECT (SELECT sum(cached_bytes) FROM cachedhive.cache.files WHERE schema_name = 'flushes' AND table_name = 'parts') = cached_bytes, "
                    + "hit_rate > 0, saved_requests > 0, saved_bytes > 0, saved_cost > 0 "
                    + "FROM cachedhive.cache.tables WHERE schema_name = 'flushes' AND table_name = 'parts' AND partition IS NULL"))
                    .containsExactly(List.of(true, true, true, true, true));
        }
        try (SqlConnection guest = testing.connectAs("guest", "flushes")) {
            for (String table : List.of("cachedhive.cache.files", "cachedhive.cache.tables", "system.cache.files", "system.cache.tables")) {
                assertThat(guest.query("SELECT DISTINCT table_name FROM %s WHERE schema_name = 'flushes'".formatted(table)).rows()).as(table).containsExactly(List.of("kept"));
            }
        }
    }

    @Test
    public void testArguments()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']")))
                    .hasMessageContaining("partition_columns and partition_values are required both or neither");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['day']", "ARRAY['1']")))
                    .hasMessageContaining("table flushes.parts has no partition column day, but [nation]");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']", "ARRAY['77']")))
                    .hasMessageContaining("table flushes.parts has no partition with {nation=77}");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']", "ARRAY['one']")))
                    .hasMessageContaining("value of partition column nation is not a bigint: one");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'kept'", "ARRAY['nation']", "ARRAY['1']")))
                    .hasMessageContaining("table flushes.kept is not partitioned: leave out partition_columns and partition_values");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'nothing'"))).hasMessageContaining("Table 'flushes.nothing' not found");
        }
        try (SqlConnection guest = testing.connectAs("guest", "flushes")) {
            assertThatThrownBy(() -> guest.query(call("'flushes'", "'parts'")))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.parts");
            // nor does it say what is there
            assertThatThrownBy(() -> guest.query(call("'flushes'", "'nothing'")))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.nothing");
        }
        try (SqlConnection stranger = testing.connectAs("stranger", "flushes")) {
            assertThatThrownBy(() -> stranger.query(call("'flushes'", "'kept'")))
                    .hasMessageContaining("Access Denied: Cannot execute procedure system.flush_data_cache");
        }
    }

    @Test(dependsOnMethods = {"testPartitionsAreFlushedAlone", "testContents", "testArguments"})
    public void testNoByteIsLeftAlsoOnOneThatWasDown()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.printf("seed %s%n", seed);
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(custkey), max(name), max(address), max(comment) FROM parts");
            load(connection, "SELECT count(*), max(comment) FROM kept");
            Map<Long, byte[]> samples = samples(connection, "parts", new Random(seed));
            Map<Long, byte[]> kept = samples(connection, "kept", new Random(seed));
            Await.until("it is on SSD", TIMEOUT, QUERY_PAUSE, () -> seen(samples) > samples.size() * 9L / 10);

            ClusterNode down = testing.cluster().cacheWorkers().get(1);
            assertThat(seen(2, samples)).as("on the one that goes").isPositive();
            down.kill();
            connection.query(call("'flushes'", "'parts'"));
            assertThat(seen(1, samples)).isZero();
            assertThat(seen(2, samples)).as("on the one that is down").isPositive();

            down.restart();
            Await.until("it is flushed as well", TIMEOUT, QUERY_PAUSE, () -> seen(samples) == 0);
            for (int host = 1; host <= 2; host++) {
                assertThat(seen(host, samples)).isZero();
            }
            assertThat(seen(1, kept) + seen(2, kept)).isPositive();
            assertThat(testing.gets(connection, "SELECT max(comment) FROM parts")).isPositive();
        }
    }

    private long seen(Map<Long, byte[]> samples)
            throws IOException
    {
        return seen(1, samples) + seen(2, samples);
    }
}
