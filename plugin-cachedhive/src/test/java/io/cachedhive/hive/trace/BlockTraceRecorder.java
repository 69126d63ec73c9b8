package io.cachedhive.hive.trace;

import com.google.common.collect.ImmutableMap;
import io.airlift.log.Logger;
import io.cachedhive.hive.filesystem.RecordingPlugin;
import io.trino.filesystem.Location;
import io.trino.plugin.tpcds.TpcdsPlugin;
import io.trino.testing.DistributedQueryRunner;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Records which parts of which files Trino reads for queries over TPC-DS tables. Not a test, and run by its name only:
 * <pre>
 * mvn -pl plugin-cachedhive -am test -Dtest=BlockTraceRecorder -Dsurefire.failIfNoSpecifiedTests=false -Dcachedhive.trace.directory=DIR
 * </pre>
 * makes the tables in DIR if they are not there yet ({@code -Dcachedhive.trace.schema}, default sf1), runs queries for {@code -Dcachedhive.trace.seconds}, and writes
 * {@code DIR/tpcds.trace.gz}: for each read three unsigned LEB128 numbers, which are the number of the file, in the order of their first reads, the position, and
 * the length. Files count from 1.
 */
class BlockTraceRecorder
{
    private static final Logger log = Logger.get(BlockTraceRecorder.class);

    private static final String SCHEMA = "tpcds";
    private static final List<String> TABLES = List.of(
            "call_center", "catalog_page", "catalog_returns", "catalog_sales", "customer", "customer_address", "customer_demographics", "date_dim",
            "household_demographics", "income_band", "inventory", "item", "promotion", "reason", "ship_mode", "store", "store_returns", "store_sales",
            "time_dim", "warehouse", "web_page", "web_returns", "web_sales", "web_site");

    private final Map<String, Integer> files = new HashMap<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream reads = new DataOutputStream(bytes);
    private boolean recording;
    private long readCount;
    private long readBytes;

    @Test
    void record()
            throws Exception
    {
        Path directory = Path.of(System.getProperty("cachedhive.trace.directory"));
        String source = System.getProperty("cachedhive.trace.schema", "sf1");
        int seconds = Integer.getInteger("cachedhive.trace.seconds", 170);
        int streams = Integer.getInteger("cachedhive.trace.streams", 4);
        long seed = Long.getLong("cachedhive.test.seed", 20_261_121L);
        Files.createDirectories(directory);
        int queries = 0;
        boolean made = Files.exists(directory.resolve("made"));
        try (DistributedQueryRunner runner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog(RecordingPlugin.NAME).setSchema(SCHEMA).build())
                .setWorkerCount(1)
                .build()) {
            runner.installPlugin(new TpcdsPlugin());
            runner.createCatalog("tpcds", "tpcds", Map.of());
            runner.installPlugin(new RecordingPlugin(this::read));
            // a sixteenth of Trino's defaults, as is fit for tables of a gigabyte: columns are read one by one, and stripes are left out
            runner.createCatalog(RecordingPlugin.NAME, RecordingPlugin.NAME, ImmutableMap.<String, String>builder()
                    .put("hive.metastore", "file")
                    .put("hive.metastore.catalog.dir", "local:///warehouse")
                    .put("hive.security", "allow-all")
                    .put("hive.storage-format", "ORC")
                    .put("hive.orc.writer.stripe-min-size", "4MB")
                    .put("hive.orc.writer.stripe-max-size", "8MB")
                    .put("hive.orc.tiny-stripe-threshold", "512kB")
                    .put("hive.orc.max-merge-distance", "64kB")
                    .put("hive.orc.max-buffer-size", "512kB")
                    .put("fs.local.enabled", "true")
                    .put("local.location", directory.toString())
                    .buildOrThrow());
            if (!made) {
                runner.execute("CREATE SCHEMA IF NOT EXISTS " + SCHEMA);
                for (String table : TABLES) {
                    runner.execute("DROP TABLE IF EXISTS " + table);
                    long rows = runner.execute("CREATE TABLE %s AS SELECT * FROM tpcds.%s.%s".formatted(table, source, table)).getUpdateCount().orElse(0);
                    log.info("Made %s: %s rows", table, rows);
                }
                // statistics, as a warehouse has them
                for (String table : TABLES) {
                    runner.execute("ANALYZE " + table);
                }
                Files.createFile(directory.resolve("made"));
            }
            synchronized (this) {
                recording = true;
            }
            long end = System.nanoTime() + SECONDS.toNanos(seconds);
            try (ExecutorService executor = Executors.newFixedThreadPool(streams)) {
                List<Future<Integer>> running = new ArrayList<>();
                for (int i = 0; i < streams; i++) {
                    Random random = new Random(seed + i);
                    running.add(executor.submit(() -> {
                        int count = 0;
                        for (; System.nanoTime() < end; count++) {
                            runner.execute(TpcdsStyleQueries.next(random));
                        }
                        return count;
                    }));
                }
                for (Future<Integer> stream : running) {
                    queries += stream.get();
                }
            }
        }
        synchronized (this) {
            recording = false;
            try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(directory.resolve("tpcds.trace.gz")))
            {
                {
                    def.setLevel(Deflater.BEST_COMPRESSION);
                }
            }) {
                bytes.writeTo(out);
            }
            log.info("%s queries made %s reads of %s bytes in %s files, seed %s", queries, readCount, readBytes, files.size(), seed);
        }
    }

    private synchronized void read(Location location, long position, int length)
    {
        if (!recording || location.path().contains("/.")) {
            return;
        }
        try {
            Integer number = files.get(location.path());
            if (number == null) {
                number = files.size() + 1;
                files.put(location.path(), number);
            }
            put(number);
            put(position);
            put(length);
            readCount++;
            readBytes += length;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void put(long value)
            throws IOException
    {
        long rest = value;
        while (rest >= 0x80) {
            reads.writeByte((int) (rest | 0x80));
            rest >>>= 7;
        }
        reads.writeByte((int) rest);
    }
}
