package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.client.TestingWorker;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.metastore.HiveMetastore;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.plugin.hive.HiveConnector;
import io.trino.plugin.hive.HiveConnectorFactory;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.spi.Plugin;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * ORC ACID tables: rows of base and delta files less the rows that delete deltas name. A split reads delete deltas late, as files of their own, and without a
 * length or a time from the listing.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestTransactionalTables
{
    private static final int BLOCK = 1 << 20;
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");
    private static final String STATES = "SELECT state, count(*) FROM scripted.s.deleted GROUP BY 1";

    private S3Server s3;
    private S3Client objects;
    private TestingCacheWorker worker;
    private TestingWorker scripted;
    private DistributedQueryRunner queryRunner;
    private HiveMetastore metastore;
    private List<List<Object>> rowsOfStateOne;
    private String deleteDelta;
    // it deletes the rows of state 0 at first, and then those of state 1
    private byte[] deletesZero;
    private byte[] deletesOne;

    enum Trouble
    {
        VERSION_GONE,
        ABSENT,
        OVERLOADED,
        DISCONNECTS,
        OTHER_ETAG,
    }

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().directory(Files.createDirectories(directory.resolve("s3"))).bucket("lake").start();
        objects = s3.client();
        worker = new TestingCacheWorker(Files.createDirectories(directory.resolve("worker")), s3.clientProperties());
        worker.start();
        Path socket = directory.resolve("scripted.sock");
        scripted = new TestingWorker("scripted", BLOCK, Optional.empty());
        scripted.sharesMemory = false;
        scripted.listen(socket);

        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(0)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("hive.security", "allow-all")
                .put("fs.s3.enabled", "true")
                // several reads of each file
                .put("hive.orc.tiny-stripe-threshold", "1B")
                .buildOrThrow();
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.createCatalog("without_transactions", "hive", properties);
        metastore = TransactionalMetastore.of(((HiveConnector) queryRunner.getCoordinator().getConnector("without_transactions"))
                .getInjector()
                .getInstance(HiveMetastoreFactory.class)
                .createMetastore(Optional.empty()));

        queryRunner.installPlugin(plugin(new PlainHiveFactory()));
        queryRunner.installPlugin(PatientReaders.plugin(Optional.of(metastore)));
        ImmutableMap.Builder<String, String> withoutMetastore = ImmutableMap.builder();
        properties.forEach((name, value) -> {
            if (!name.startsWith("hive.metastore")) {
                withoutMetastore.put(name, value);
            }
        });
        Map<String, String> shared = withoutMetastore.buildOrThrow();
        queryRunner.createCatalog("hive", "transactional_hive", shared);
        queryRunner.createCatalog("cachedhive", "cachedhive", with(shared, "cachedhive.worker.socket-path", worker.socketPath().toString()));
        queryRunner.createCatalog("scripted", "cachedhive", with(shared, "cachedhive.worker.socket-path", socket.toString()));
        queryRunner.execute("CREATE SCHEMA hive.s");
        createDeleted();
    }

    private final class PlainHiveFactory
            implements ConnectorFactory
    {
        @Override
        public String getName()
        {
            return "transactional_hive";
        }

        @Override
        public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
        {
            return HiveConnectorFactory.createConnector(catalogName, config, context, () -> _ -> {}, Optional.of(metastore), false, Optional.empty());
        }
    }

    private static Plugin plugin(ConnectorFactory factory)
    {
        return new Plugin()
        {
            @Override
            public Iterable<ConnectorFactory> getConnectorFactories()
            {
                return List.of(factory);
            }
        };
    }

    private static Map<String, String> with(Map<String, String> properties, String name, String value)
    {
        return ImmutableMap.<String, String>builder().putAll(properties).put(name, value).buildOrThrow();
    }

    /**
     * Creates a table whose only delete delta has two states.
     */
    private void createDeleted()
    {
        queryRunner.execute("CREATE TABLE hive.s.deleted (state bigint) WITH (transactional = true, format = 'ORC')");
        // in an order that compresses badly
        queryRunner.execute("INSERT INTO hive.s.deleted SELECT crc32(to_utf8(comment)) % 2 FROM tpch.\"sf0.1\".orders");
        rowsOfStateOne = rows("SELECT state, count(*) FROM hive.s.deleted WHERE state = 1 GROUP BY 1");
        queryRunner.execute("DELETE FROM hive.s.deleted WHERE state = 0");
        deleteDelta = getOnlyElement(deleteDeltas());
        deletesZero = content(deleteDelta);
        delete(deleteDelta);
        queryRunner.execute("DELETE FROM hive.s.deleted WHERE state = 1");
        String other = getOnlyElement(deleteDeltas());
        deletesOne = content(other);
        delete(other);
        // more than the footer, which is read by itself
        assertThat(deletesZero.length).isGreaterThan(20_000);
    }

    private List<String> deleteDeltas()
    {
        return keys("deleted").filter(key -> key.contains("/delete_delta_") && !key.endsWith("_orc_acid_version")).toList();
    }

    private Stream<String> keys(String table)
    {
        return objects.listObjectsV2(request -> request.bucket("lake").prefix("warehouse/s/%s/".formatted(table))).contents().stream().map(S3Object::key);
    }

    private byte[] content(String key)
    {
        return objects.getObjectAsBytes(request -> request.bucket("lake").key(key)).asByteArray();
    }

    private void delete(String key)
    {
        objects.deleteObject(request -> request.bucket("lake").key(key));
    }

    private void put(byte[] content)
    {
        objects.putObject(request -> request.bucket("lake").key(deleteDelta), RequestBody.fromBytes(content));
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, objects, s3, worker, scripted);
    }

    private List<List<Object>> rows(String sql)
    {
        return queryRunner.execute(sql).getMaterializedRows().stream().map(MaterializedRow::getFields).toList();
    }

    @Test
    void testChangedRows()
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.changed WITH (transactional = true, format = 'ORC') AS SELECT orderkey, comment FROM tpch.tiny.orders");
        for (String change : List.of(
                "INSERT INTO cachedhive.s.changed SELECT -orderkey, comment FROM tpch.tiny.orders",
                "DELETE FROM cachedhive.s.changed WHERE orderkey % 3 = 0",
                "UPDATE cachedhive.s.changed SET comment = 'updated' WHERE orderkey % 5 = 0",
                """
                MERGE INTO cachedhive.s.changed t USING tpch.tiny.nation n ON t.orderkey = n.nationkey
                WHEN MATCHED THEN DELETE
                WHEN NOT MATCHED THEN INSERT VALUES (n.nationkey, n.comment)
                """)) {
            queryRunner.execute(change);
            assertThat(changedRows("cachedhive")).as(change).isEqualTo(changedRows("hive"));
        }
        // files written less than two seconds ago are not shared
        keys("changed").forEach(key -> s3.setLastModified("lake", key, WRITTEN));
        List<List<Object>> expected = changedRows("hive");
        Await.until("the cache worker serves a scan", () -> {
            long mark = s3.log().mark();
            assertThat(changedRows("cachedhive")).isEqualTo(expected);
            return s3.log().since(mark).stream().filter(S3Request::isDataFile).noneMatch(S3Request::isGet);
        });
    }

    private List<List<Object>> changedRows(String catalog)
    {
        return rows("SELECT count(*), sum(orderkey), to_hex(checksum(comment)), to_hex(checksum(row(orderkey, comment))) FROM %s.s.changed".formatted(catalog));
    }

    @Test
    void testNotReplaced()
    {
        assertThat(query(Optional.empty(), false)).isEqualTo(rowsOfStateOne);
    }

    @ParameterizedTest
    @EnumSource(names = {"ABSENT", "OVERLOADED", "DISCONNECTS"})
    void testNotReplaced(Trouble trouble)
    {
        assertThat(query(Optional.of(trouble), false)).isEqualTo(rowsOfStateOne);
    }

    @ParameterizedTest
    @EnumSource
    void testReplaced(Trouble trouble)
    {
        assertThatThrownBy(() -> assertThat(query(Optional.of(trouble), true)).as("rows").isNull())
                .hasMessage("file %s was replaced while it was read: run the query again", location());
    }

    /**
     * Counts the rows while the cache worker is in trouble from the second read of the delete delta on, which may be replaced just before.
     */
    private List<List<Object>> query(Optional<Trouble> trouble, boolean replaced)
    {
        put(deletesZero);
        s3.setLastModified("lake", deleteDelta, WRITTEN);
        scripted.reads = this::answer;
        Await.until("the cache worker serves a query", () -> {
            int requests = scripted.readRequests.size();
            rows(STATES);
            return scripted.readRequests.size() > requests;
        });
        AtomicInteger reads = new AtomicInteger();
        scripted.reads = (exchange, read) -> {
            if (trouble.isEmpty() || !read.file().location().equals(location()) || reads.getAndIncrement() == 0) {
                answer(exchange, read);
                return;
            }
            if (replaced) {
                put(deletesOne);
            }
            switch (trouble.get()) {
                case VERSION_GONE -> exchange.no(read.firstBlock(), NoCause.VERSION_GONE);
                case ABSENT -> exchange.no(read.firstBlock(), NoCause.ABSENT);
                case OVERLOADED -> exchange.no(read.firstBlock(), NoCause.OVERLOADED);
                case DISCONNECTS -> exchange.disconnect();
                case OTHER_ETAG -> exchange.answer(read.firstBlock(), TestingWorker.ETAG + 1);
            }
        };
        List<List<Object>> rows = rows(STATES);
        assertThat(trouble.isEmpty() || reads.get() > 1).as("the cache worker was in trouble").isTrue();
        return rows;
    }

    private void answer(TestingWorker.Exchange exchange, Read read)
            throws IOException
    {
        boolean isDeleteDelta = read.file().location().equals(location());
        scripted.addFile(read.file(), isDeleteDelta ? deletesZero : content(read.file().location().substring("s3://lake/".length())));
        exchange.answerAll(read);
    }

    private String location()
    {
        return "s3://lake/" + deleteDelta;
    }
}
