package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.Session;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever queries do with columns that were preloaded, they find all of it in the cache: random columns of all shapes, small blocks, small row groups and
 * stripes, random thresholds, predicates that use indexes, dictionaries and Bloom filters. Starrocks issue 73663: a preload left out the footers, which each
 * query then read from the object store.
 */
@Tag("conformance")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestPreloadedColumns
{
    // one of each format; more with -Dcachedhive.test.trials
    private static final int TRIALS = Integer.getInteger("cachedhive.test.trials", 2);
    private static final List<String> COLUMNS = List.of(
            "orderkey", "partkey", "extendedprice", "shipdate", "comment", "shipmode", "pair", "list", "mapping", "sparse", "tax", "flag");
    // of the same columns
    private static final List<String> PREDICATES = List.of(
            "orderkey BETWEEN 5000 AND 7000",
            "partkey = 1000",
            "extendedprice > 50000",
            "shipdate < DATE '1993-01-01'",
            "comment LIKE 'a%'",
            "shipmode = 'RAIL'",
            "pair.price > 50000",
            "cardinality(list) = 2",
            "element_at(mapping, 'RAIL') > 5",
            "sparse IS NULL",
            "tax = 0.05",
            "flag = 'R'");

    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().bucket("lake").start();
        worker = new TestingCacheWorker(directory, s3.clientProperties(), 64 << 10);
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build()).build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        Map<String, String> hive = ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("hive.security", "allow-all")
                .put("hive.compression-codec", "NONE")
                .put("fs.s3.enabled", "true")
                .buildOrThrow();
        queryRunner.createCatalog("hive", "hive", hive);
        queryRunner.createCatalog("cachedhive", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(hive)
                .put("parquet.max-merge-distance", "32kB")
                .putAll(worker.catalogProperties())
                .buildOrThrow());
        queryRunner.execute("CREATE SCHEMA hive.s");
        Await.until("the cache worker is well", DEADLINE, QUERY_PAUSE, () ->
                getOnlyElement(queryRunner.execute("SELECT problem FROM cachedhive.cache.stats")).getField(0) == null);
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker, s3);
    }

    @Test
    void testRandomColumns()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        long preloadedBytes = 0;
        long fileBytes = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            String table = "trial" + trial;
            create(table, trial % 2 == 0 ? "PARQUET" : "ORC");
            fileBytes += (long) queryRunner.execute("SELECT sum(size) FROM (SELECT max(\"$file_size\") size FROM hive.s.%s GROUP BY \"$path\")".formatted(table)).getOnlyValue();

            Session session = Session.builder(queryRunner.getDefaultSession())
                    .setCatalogSessionProperty("cachedhive", "orc_tiny_stripe_threshold", random.nextBoolean() ? "0B" : "256kB")
                    .setCatalogSessionProperty("cachedhive", "orc_max_merge_distance", random.nextBoolean() ? "0B" : "64kB")
                    .setCatalogSessionProperty("cachedhive", "parquet_small_file_threshold", "0B")
                    .build();
            List<Integer> chosen = new ArrayList<>();
            for (int i = 0; i < COLUMNS.size(); i++) {
                chosen.add(i);
            }
            Collections.shuffle(chosen, random);
            chosen = chosen.subList(0, 1 + random.nextInt(4));
            String names = chosen.stream().map(COLUMNS::get).map("'%s'"::formatted).collect(joining(", "));
            queryRunner.execute(session, "CALL system.preload_table('s', '%s', ARRAY[%s], false, '%s')".formatted(table, names, table));
            MaterializedRow job = getOnlyElement(queryRunner.execute("SELECT fetched_bytes, done_bytes, remaining_bytes FROM cache.preloads WHERE job = '%s'".formatted(table)));
            preloadedBytes += (long) job.getField(0);
            assertThat((long) job.getField(1)).isPositive();
            assertThat(job.getField(2)).isEqualTo(0L);

            for (int query = 0; query < 5; query++) {
                List<Integer> some = chosen.subList(0, 1 + random.nextInt(chosen.size()));
                String sql = "SELECT count(*), %s FROM %s".formatted(some.stream().map(COLUMNS::get).map("checksum(%s)"::formatted).collect(joining(", ")), table);
                if (query > 0) {
                    sql += " WHERE " + PREDICATES.get(chosen.get(random.nextInt(chosen.size())));
                }
                List<MaterializedRow> expected = queryRunner.execute(sql.replace(" FROM ", " FROM hive.s.")).getMaterializedRows();
                long mark = s3.log().mark();
                assertThat(queryRunner.execute(session, sql).getMaterializedRows()).isEqualTo(expected);
                assertThat(s3.log().since(mark))
                        .filteredOn(request -> request.isGet() && request.isDataFile())
                        .as("GETs of: %s, preloaded: %s, trial %s", sql, names, trial)
                        .isEmpty();
            }
        }
        System.out.printf("%s of %s bytes were preloaded%n", preloadedBytes, fileBytes);
        // else it says nothing that no query found a byte missing; the widest column is never wanted
        assertThat(preloadedBytes).isLessThan(fileBytes);
    }

    private void create(String table, String format)
    {
        Session session = Session.builder(queryRunner.getDefaultSession())
                .setCatalogSessionProperty("hive", "parquet_writer_block_size", "1MB")
                .setCatalogSessionProperty("hive", "parquet_writer_page_size", "16kB")
                .setCatalogSessionProperty("hive", "orc_optimized_writer_min_stripe_size", "256kB")
                .setCatalogSessionProperty("hive", "orc_optimized_writer_max_stripe_size", "1MB")
                .build();
        queryRunner.execute(
                session,
                """
                CREATE TABLE hive.s.%s WITH (format = '%s', %s_bloom_filter_columns = ARRAY['partkey', 'comment']) AS
                SELECT
                    orderkey,
                    partkey,
                    extendedprice,
                    shipdate,
                    CAST(comment AS varchar) AS comment,
                    shipmode,
                    CAST(ROW(extendedprice, shipinstruct) AS ROW(price double, instruct varchar)) AS pair,
                    ARRAY[comment, shipinstruct] AS list,
                    MAP(ARRAY[shipmode, returnflag], ARRAY[partkey, suppkey]) AS mapping,
                    if(orderkey %% 3 = 0, comment) AS sparse,
                    tax,
                    returnflag AS flag,
                    concat(comment, shipinstruct, comment, shipinstruct) AS unwanted
                FROM tpch.tiny.lineitem
                WHERE orderkey < 30000
                """.formatted(table, format, format.toLowerCase(Locale.ROOT)));
    }
}
