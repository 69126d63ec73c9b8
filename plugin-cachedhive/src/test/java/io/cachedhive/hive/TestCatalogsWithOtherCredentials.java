package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.origin.DomainRegistration;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Reader;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryFailedException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Two access keys of one object store, of which the second may list a prefix and not read it. A scan through a catalog with the second key fails as it does in
 * plain Hive, although a catalog with the first key has brought the files into the cache.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("slow")
class TestCatalogsWithOtherCredentials
{
    private static final String QUERY = "SELECT count(*), checksum(comment) FROM %s.s.%s";
    private static final S3Reader READER = new S3Reader("AKIAOFTHESECONDREADER", "secret-of-the-second-reader", "lake/secret/");

    // held so that the handler stays
    private static final Logger REGISTRATIONS = Logger.getLogger(DomainRegistration.class.getName());

    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final Handler recorder = new Handler()
    {
        @Override
        public void publish(LogRecord logged)
        {
            warnings.add(logged.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;
    private Path directory;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        this.directory = directory;
        Files.createDirectories(directory.resolve("files"));
        REGISTRATIONS.addHandler(recorder);
        s3 = S3Server.builder().directory(Files.createDirectories(directory.resolve("s3"))).bucket("lake").reader(READER).start();
        Map<String, String> first = s3.clientProperties();
        Map<String, String> second = new HashMap<>(first);
        second.put("s3.aws-access-key", READER.accessKey());
        second.put("s3.aws-secret-key", READER.secretKey());

        writeOrigin("second", second, Map.of());
        writeOrigin("shared", first, Map.of("shared-permissions", "true"));
        worker = new TestingCacheWorker(directory, first, 64 << 10);
        worker.start();

        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().build()).setWorkerCount(0).build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        createCatalog("hive_first", "hive", first, Map.of());
        createCatalog("hive_second", "hive", second, Map.of());
        createCatalog("first", "cachedhive", first, Map.of());
        createCatalog("second", "cachedhive", second, Map.of("cachedhive.origin", "second"));
        assertThat(warnings).isEmpty();
        createCatalog("stranger", "cachedhive", second, Map.of("cachedhive.origin", "default"));
        createCatalog("shared_first", "cachedhive", first, Map.of("cachedhive.origin", "shared", "cachedhive.shared-permissions", "true"));
        createCatalog("shared_second", "cachedhive", second, Map.of("cachedhive.origin", "shared", "cachedhive.shared-permissions", "true"));
        for (String catalog : List.of("first", "second", "shared_first", "shared_second")) {
            Await.untilAsserted("the cache worker of " + catalog + " is healthy", DEADLINE, QUERY_PAUSE, () -> assertThat(problem(catalog)).isNull());
        }
        queryRunner.execute("CREATE SCHEMA hive_first.s");
        for (String table : List.of("secret", "open")) {
            queryRunner.execute("CREATE TABLE hive_first.s.%s WITH (format = 'ORC', external_location = 's3://lake/%s/') AS SELECT * FROM tpch.tiny.orders"
                    .formatted(table, table));
        }
    }

    @AfterAll
    void stop()
            throws Exception
    {
        REGISTRATIONS.removeHandler(recorder);
        closeAll(queryRunner, worker, s3);
    }

    private void writeOrigin(String name, Map<String, String> properties, Map<String, String> more)
            throws IOException
    {
        Map<String, String> all = new HashMap<>(properties);
        all.putAll(more);
        Files.writeString(Files.createDirectories(directory.resolve("origins")).resolve(name + ".properties"), all.entrySet().stream()
                .map(property -> property.getKey() + "=" + property.getValue())
                .collect(joining("\n")));
    }

    private void createCatalog(String name, String connector, Map<String, String> s3Properties, Map<String, String> more)
    {
        ImmutableMap.Builder<String, String> properties = ImmutableMap.<String, String>builder()
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "local:///metastore")
                .put("fs.local.enabled", "true")
                .put("local.location", directory.resolve("files").toString())
                .put("hive.security", "allow-all")
                .put("hive.non-managed-table-writes-enabled", "true")
                .put("fs.s3.enabled", "true")
                .putAll(s3Properties)
                .putAll(more);
        if (connector.equals("cachedhive")) {
            properties.putAll(worker.catalogProperties());
        }
        queryRunner.createCatalog(name, connector, properties.buildOrThrow());
    }

    private Object problem(String catalog)
    {
        return getOnlyElement(queryRunner.execute("SELECT problem FROM %s.cache.stats".formatted(catalog))).getField(0);
    }

    private Object rows(String catalog, String table)
    {
        return queryRunner.execute(QUERY.formatted(catalog, table)).getMaterializedRows();
    }

    private QueryFailedException failure(String catalog)
    {
        return catchThrowableOfType(QueryFailedException.class, () -> queryRunner.execute(QUERY.formatted(catalog, "secret")));
    }

    /**
     * Reads the table until no byte comes from the object store.
     */
    private void awaitCached(String catalog, String table)
    {
        Await.untilAsserted("%s of %s is cached".formatted(table, catalog), DEADLINE, QUERY_PAUSE, () -> {
            long mark = s3.log().mark();
            assertThat(rows(catalog, table)).isEqualTo(rows("tpch.tiny.orders"));
            assertThat(gets(mark, table)).isEmpty();
        });
    }

    private Object rows(String source)
    {
        return queryRunner.execute("SELECT count(*), checksum(comment) FROM " + source).getMaterializedRows();
    }

    private List<S3Request> gets(long mark, String table)
    {
        return s3.log().since(mark).stream().filter(S3Request::isGet).filter(request -> request.key().orElse("").startsWith(table + "/")).toList();
    }

    private void assertFailsAsPlainHive(String catalog)
    {
        QueryFailedException plain = failure("hive_second");
        assertThat(plain).isNotNull();
        assertThat(failure(catalog)).isNotNull().hasMessage(plain.getMessage());
    }

    @Test
    void testSecondKeyGetsNothingOfTheFirst()
    {
        awaitCached("first", "secret");
        assertFailsAsPlainHive("second");
        long mark = s3.log().mark();
        assertThat(rows("first", "secret")).isEqualTo(rows("tpch.tiny.orders"));
        assertThat(gets(mark, "secret")).as("it is still in the cache").isEmpty();
    }

    @Test
    void testSecondKeyHasBlocksOfItsOwn()
    {
        awaitCached("first", "open");
        long mark = s3.log().mark();
        assertThat(rows("second", "open")).isEqualTo(rows("tpch.tiny.orders"));
        assertThat(gets(mark, "open")).isNotEmpty();
        awaitCached("second", "open");
    }

    /**
     * A catalog with the second key, and an origin file with the first.
     */
    @Test
    void testOriginWithOtherCredentialsIsRefused()
    {
        awaitCached("first", "secret");
        assertFailsAsPlainHive("stranger");
    }

    /**
     * The control: catalogs that are configured to share have the bytes of each other, and the server warns of it.
     */
    @Test
    void testSharedPermissions()
    {
        awaitCached("shared_first", "secret");
        assertThat(rows("shared_second", "secret")).isEqualTo(rows("tpch.tiny.orders"));
        assertThat(warnings).singleElement().asString()
                .startsWith("catalogs shared_first and shared_second share cached bytes (no isolation domain) but have different credentials")
                .doesNotContain(READER.accessKey(), READER.secretKey());
    }
}
