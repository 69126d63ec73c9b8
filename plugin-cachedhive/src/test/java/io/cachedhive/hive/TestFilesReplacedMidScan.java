package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import io.airlift.compress.v3.bzip2.BZip2HadoopStreams;
import io.cachedhive.client.TestingWorker;
import io.cachedhive.hive.connector.CachedHiveConnectorFactory;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.transport.Timeouts;
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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

/**
 * Queries in every file format while the cache fails in every way in the middle of a file, and the file is replaced at that moment or is not. All rows of
 * a result are of one state of the file. The cache worker is one that does what the test says, since none does all of it on order.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestFilesReplacedMidScan
{
    private static final int BLOCK = 1 << 20;
    private static final long ROWS = 60_175;
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");
    // the first two bring rows to the reader, or what it needs to know before them
    private static final int REQUESTS_BEFORE_TROUBLE = 2;
    // readers that wait for the cache for as long as a test lasts: what is answered is taken from it, however slow the machine is
    private static final String PATIENT = "cachedhive";
    // readers that wait for the cache as users do
    private static final String IMPATIENT = "impatient";
    private static final Timeouts USUAL = new Timeouts(
            Timeouts.DEFAULT.silenceMillis(),
            Timeouts.DEFAULT.fetchMillis(),
            Timeouts.DEFAULT.reconnectMillis(),
            Timeouts.DEFAULT.probeMillis(),
            60_000);
    // read as a stream, and by ranges
    private static final Set<Format> QUICK = ImmutableSet.of(Format.TEXTFILE, Format.PARQUET);

    private S3Server s3;
    private S3Client objects;
    private TestingWorker worker;
    private Path socket;
    private DistributedQueryRunner queryRunner;
    private byte[] probe;
    private final Map<Format, StoredTable> tables = new EnumMap<>(Format.class);

    enum Format
    {
        TEXTFILE, TEXT_GZIP, TEXT_BZIP2, CSV, JSON, OPENX_JSON, AVRO, SEQUENCEFILE, RCTEXT, RCBINARY, ORC, PARQUET;

        String table()
        {
            return "t_" + name().toLowerCase(Locale.ROOT);
        }

        String fileFormat()
        {
            return name().startsWith("TEXT_") ? "TEXTFILE" : name();
        }

        /**
         * Files of lines and of Avro and RC are read as a whole below 8 MB, or 8 MB at a time.
         */
        int hashesPerRow()
        {
            return switch (this) {
                case TEXTFILE, CSV, JSON, OPENX_JSON, SEQUENCEFILE -> 2;
                case TEXT_GZIP, TEXT_BZIP2, AVRO, RCTEXT, RCBINARY -> 3;
                case ORC, PARQUET -> 1;
            };
        }

        /**
         * As Trino writes it.
         */
        String codec()
        {
            return this == TEXT_GZIP ? "GZIP" : "NONE";
        }
    }

    /**
     * @param before the file when the query is planned
     * @param after what it is replaced by: the same rows of another state
     */
    private record StoredTable(String key, byte[] before, byte[] after) {}

    enum Trouble
    {
        VERSION_GONE,
        ABSENT,
        OVERLOADED,
        ORIGIN_FAILED,
        LEASE_TIMEOUT,
        SILENT,
        DISCONNECTS,
        KILLED,
        GARBAGE,
        ERROR,
        FLIPPED_BIT,
        OTHER_ETAG,
        LEASE;

        /**
         * Only a reader that does not wait for long gets past a silent worker.
         */
        String catalog()
        {
            return this == SILENT ? IMPATIENT : PATIENT;
        }
    }

    /**
     * @param troubled whether the trouble began before the reader asked the origin: always, if the reader is patient
     */
    private record Result(boolean troubled, List<MaterializedRow> rows) {}

    /**
     * The connector under another name, with the time-outs of users. Hedged reads are off: they would go past the trouble.
     */
    private static final class ImpatientReaders
            implements Plugin, ConnectorFactory
    {
        private final ConnectorFactory factory = new CachedHiveConnectorFactory(Optional.empty(), USUAL);

        @Override
        public Iterable<ConnectorFactory> getConnectorFactories()
        {
            return List.of(this);
        }

        @Override
        public String getName()
        {
            return IMPATIENT;
        }

        @Override
        public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
        {
            return factory.create(catalogName, config, context);
        }
    }

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().directory(Files.createDirectories(directory.resolve("s3"))).bucket("lake").start();
        objects = s3.client();
        socket = directory.resolve("worker.sock");
        worker = new TestingWorker("worker", BLOCK, Optional.empty());
        worker.sharesMemory = false;
        worker.listen(socket);
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(0)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        queryRunner.installPlugin(new ImpatientReaders());
        Map<String, String> hive = ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("hive.security", "allow-all")
                .put("fs.s3.enabled", "true")
                // several reads of each file
                .put("hive.orc.tiny-stripe-threshold", "1B")
                .put("hive.orc.writer.stripe-min-size", "1MB")
                .put("hive.orc.writer.stripe-max-size", "1MB")
                .put("parquet.small-file-threshold", "0B")
                .put("parquet.max-buffer-size", "1MB")
                .put("parquet.writer.block-size", "1MB")
                .buildOrThrow();
        queryRunner.createCatalog("hive", "hive", hive);
        Map<String, String> cached = ImmutableMap.<String, String>builder()
                .putAll(hive)
                .put("cachedhive.worker.socket-path", socket.toString())
                .buildOrThrow();
        queryRunner.createCatalog(PATIENT, "cachedhive", cached);
        queryRunner.createCatalog(IMPATIENT, IMPATIENT, cached);
        queryRunner.execute("CREATE SCHEMA hive.s");
        queryRunner.execute("CREATE TABLE hive.s.probe AS SELECT name FROM tpch.tiny.nation");
        probe = content("probe");
    }

    private StoredTable table(Format format)
    {
        return tables.computeIfAbsent(format, this::create);
    }

    private StoredTable create(Format format)
    {
        byte[] before = create(format, "a");
        queryRunner.execute("DROP TABLE hive.s." + format.table());
        byte[] after = create(format, "b");
        String key = onlyFile(format.table());
        if (format != Format.TEXT_BZIP2) {
            return new StoredTable(key, before, after);
        }
        // Trino reads what it does not write
        objects.deleteObject(request -> request.bucket("lake").key(key));
        return new StoredTable(key + ".bz2", bzip2(before), bzip2(after));
    }

    private static byte[] bzip2(byte[] bytes)
    {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream stream = new BZip2HadoopStreams().createOutputStream(compressed)) {
            stream.write(bytes);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return compressed.toByteArray();
    }

    private byte[] create(Format format, String state)
    {
        queryRunner.execute(
                testSessionBuilder(queryRunner.getDefaultSession()).setCatalogSessionProperty("hive", "compression_codec", format.codec()).build(),
                "CREATE TABLE hive.s.%s WITH (format = '%s') AS SELECT '%s' || %s v FROM tpch.tiny.lineitem".formatted(
                        format.table(),
                        format.fileFormat(),
                        state,
                        IntStream.range(0, format.hashesPerRow())
                                .mapToObj("to_hex(sha512(to_utf8(cast((orderkey * 10 + linenumber) * 10 + %s AS varchar))))"::formatted)
                                .collect(joining(" || "))));
        return content(format.table());
    }

    private byte[] content(String table)
    {
        return objects.getObjectAsBytes(request -> request.bucket("lake").key(onlyFile(table))).asByteArray();
    }

    private String onlyFile(String table)
    {
        List<String> keys = objects.listObjectsV2(request -> request.bucket("lake").prefix("warehouse/s/%s/".formatted(table))).contents().stream()
                .map(S3Object::key)
                .filter(key -> !key.contains("/."))
                .toList();
        return getOnlyElement(keys);
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, objects, s3, worker);
    }

    private void put(String key, byte[] content)
    {
        objects.putObject(request -> request.bucket("lake").key(key), RequestBody.fromBytes(content));
    }

    /**
     * Runs the query while the worker has the old state, is in trouble from the third request on, and the file may be replaced just before.
     *
     * @return the state of the rows and their number; the query fails where the file is replaced
     */
    private Result query(Format format, Trouble trouble, boolean replaced)
    {
        StoredTable table = table(format);
        put(table.key(), table.before());
        s3.setLastModified("lake", table.key(), WRITTEN);
        awaitHealthy(trouble.catalog());

        long mark = s3.log().mark();
        AtomicInteger requests = new AtomicInteger();
        AtomicReference<Boolean> inTrouble = new AtomicReference<>();
        worker.reads = (exchange, read) -> {
            worker.addFile(read.file(), table.before());
            if (requests.getAndIncrement() >= REQUESTS_BEFORE_TROUBLE && isInTrouble(inTrouble, table, mark, replaced)) {
                answer(exchange, read, trouble);
            }
            else {
                exchange.answerAll(read);
            }
        };
        List<MaterializedRow> rows = queryRunner.execute(sql(trouble.catalog(), format)).getMaterializedRows();
        return new Result(inTrouble.get() == Boolean.TRUE, rows);
    }

    private boolean isInTrouble(AtomicReference<Boolean> inTrouble, StoredTable table, long mark, boolean replaced)
    {
        synchronized (inTrouble) {
            if (inTrouble.get() == null) {
                boolean begins = gets(table, mark) == 0;
                if (begins && replaced) {
                    put(table.key(), table.after());
                }
                inTrouble.set(begins);
            }
            return inTrouble.get();
        }
    }

    private long gets(StoredTable table, long mark)
    {
        return Stream.concat(s3.log().since(mark).stream(), s3.inFlight().stream())
                .filter(S3Request::isGet)
                .filter(request -> request.key().equals(Optional.of(table.key())))
                .count();
    }

    private void answer(TestingWorker.Exchange exchange, Read read, Trouble trouble)
            throws IOException
    {
        switch (trouble) {
            case VERSION_GONE -> exchange.no(read.firstBlock(), NoCause.VERSION_GONE);
            case ABSENT -> exchange.no(read.firstBlock(), NoCause.ABSENT);
            case OVERLOADED -> exchange.no(read.firstBlock(), NoCause.OVERLOADED);
            case ORIGIN_FAILED -> exchange.no(read.firstBlock(), NoCause.ORIGIN_FAILED);
            case LEASE_TIMEOUT -> exchange.no(read.firstBlock(), NoCause.LEASE_TIMEOUT);
            case SILENT -> {}
            case DISCONNECTS -> exchange.disconnect();
            case KILLED -> worker.stop();
            case GARBAGE -> exchange.write(new byte[100]);
            case ERROR -> exchange.send(new ControlMessage.Error("not today"));
            case FLIPPED_BIT -> exchange.answerFlipped(read.firstBlock(), 0);
            case OTHER_ETAG -> {
                for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                    exchange.answer(block, TestingWorker.ETAG + 1);
                }
            }
            case LEASE -> {
                for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                    exchange.lease(block);
                }
            }
        }
    }

    private static String sql(String catalog, Format format)
    {
        return "SELECT substr(v, 1, 1), count(*) FROM %s.s.%s GROUP BY 1".formatted(catalog, format.table());
    }

    /**
     * Until the cache worker answers a query, after what it did before.
     */
    private void awaitHealthy(String catalog)
    {
        worker.reads = (exchange, read) -> {
            worker.addFile(read.file(), probe);
            exchange.answerAll(read);
        };
        Await.until("the cache worker serves a query", () -> {
            int requests = worker.readRequests.size();
            queryRunner.execute("SELECT max(name) FROM %s.s.probe".formatted(catalog));
            return worker.readRequests.size() > requests;
        });
    }

    private static void assertRows(List<MaterializedRow> rows, String state)
    {
        assertThat(rows).extracting(MaterializedRow::getFields).containsExactly(List.of(state, ROWS));
    }

    @ParameterizedTest
    @EnumSource
    void testReplaced(Trouble trouble)
            throws IOException
    {
        testReplaced(trouble, QUICK);
    }

    @Tag("conformance")
    @ParameterizedTest
    @EnumSource
    void testReplacedInEverySecondFormat(Trouble trouble)
            throws IOException
    {
        testReplaced(trouble, otherFormats(trouble, 0));
    }

    @Tag("conformance")
    @Tag("exhaustive")
    @ParameterizedTest
    @EnumSource
    void testReplacedInTheRemainingFormats(Trouble trouble)
            throws IOException
    {
        testReplaced(trouble, otherFormats(trouble, 1));
    }

    /**
     * Half of the formats that are not quick, and the other half for the next trouble: each format meets every second trouble.
     */
    private static Set<Format> otherFormats(Trouble trouble, int half)
    {
        return Sets.filter(Sets.difference(EnumSet.allOf(Format.class), QUICK), format -> (format.ordinal() + trouble.ordinal() + half) % 2 == 0);
    }

    private void testReplaced(Trouble trouble, Set<Format> formats)
            throws IOException
    {
        for (Format format : formats) {
            try {
                AtomicReference<Result> result = new AtomicReference<>();
                Throwable failure = catchThrowable(() -> result.set(query(format, trouble, true)));
                if (failure == null && trouble.catalog().equals(IMPATIENT) && !result.get().troubled()) {
                    // the machine was so slow that the reader asked the origin before the trouble, and the file is not replaced then
                    assertRows(result.get().rows(), "a");
                }
                else {
                    assertThat(failure)
                            .as("%s, %s: %s", format, trouble, result)
                            .hasMessage("file s3://lake/%s was replaced while it was read: run the query again", table(format).key());
                }
            }
            finally {
                revive(trouble);
            }
        }
    }

    private void revive(Trouble trouble)
            throws IOException
    {
        if (trouble == Trouble.KILLED) {
            worker.listen(socket);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"VERSION_GONE", "OTHER_ETAG"}, mode = EXCLUDE)
    void testNotReplaced(Trouble trouble)
            throws IOException
    {
        for (Format format : QUICK) {
            long mark = s3.log().mark();
            Result result = query(format, trouble, false);
            assertThat(result.troubled() || trouble.catalog().equals(IMPATIENT)).as("trouble while %s was read", format).isTrue();
            assertRows(result.rows(), "a");
            // a lease has one of its own for each request, before its bytes are kept
            if (trouble != Trouble.LEASE) {
                assertThat(heads(format, mark)).as("HEADs of %s", format).isLessThanOrEqualTo(1);
            }
            revive(trouble);
        }
    }

    private long heads(Format format, long mark)
    {
        return s3.log().since(mark).stream()
                .filter(S3Request::isHead)
                .filter(request -> request.key().equals(Optional.of(table(format).key())))
                .count();
    }

    @Test
    void testNoRequestsWithoutTrouble()
    {
        testNoRequestsWithoutTrouble(QUICK);
    }

    @Tag("conformance")
    @Test
    void testNoRequestsWithoutTroubleInAllFormats()
    {
        testNoRequestsWithoutTrouble(Sets.difference(EnumSet.allOf(Format.class), QUICK));
    }

    private void testNoRequestsWithoutTrouble(Set<Format> formats)
    {
        for (Format format : formats) {
            StoredTable table = table(format);
            put(table.key(), table.before());
            s3.setLastModified("lake", table.key(), WRITTEN);
            awaitHealthy(PATIENT);
            worker.reads = (exchange, read) -> {
                worker.addFile(read.file(), table.before());
                exchange.answerAll(read);
            };
            // some readers ask for the length, which the split does not tell them
            long plainMark = s3.log().mark();
            assertRows(queryRunner.execute(sql("hive", format)).getMaterializedRows(), "a");
            long plainHeads = heads(format, plainMark);

            long mark = s3.log().mark();
            assertRows(queryRunner.execute(sql(PATIENT, format)).getMaterializedRows(), "a");
            assertThat(heads(format, mark)).as("HEADs of %s", format).isLessThanOrEqualTo(plainHeads);
            assertThat(s3.log().since(mark).stream().filter(S3Request::isDataFile).filter(S3Request::isGet)).as("GETs of %s", format).isEmpty();
        }
    }
}
