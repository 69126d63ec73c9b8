package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code retry-policy=TASK}: the engine keeps what tasks hand on in files, and asks a split for its nodes once.
 */
@Test(groups = "fault_tolerance", singleThreaded = true)
public class TestFaultTolerantExecution
{
    private static final String JOIN =
            "SELECT a.custkey, count(*), max(b.comment) FROM %1$s.tolerant.bucketed a JOIN %1$s.tolerant.bucketed b ON a.custkey = b.custkey GROUP BY a.custkey";

    private TestingCluster testing;
    private ScannedTable table;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("fault-tolerant", builder -> builder
                .trino((_, home) -> {
                    home.config("retry-policy", "TASK");
                    // else a node of this size runs one task of the default size after another
                    home.config("fault-tolerant-execution-task-memory", "64MB");
                    home.exchangeDirectory(TestingCluster.directory("fault-tolerant").resolve("exchange"));
                }));
        table = ScannedTable.create(testing, "tolerant");
        try (SqlConnection connection = testing.connect("cachedhive", "tolerant")) {
            BucketedTable.create(connection);
            PublishedOwners.await(connection, testing.cluster().s3(), testing.cluster().cacheWorkers());
            table.awaitOldFiles(connection);
        }
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    @Test
    public void testSecondRunAsksForNothing()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "tolerant")) {
            DataFileGets first = table.getsOfScan(connection, "cachedhive");
            assertThat(first.keys()).isEqualTo(table.keys());
            for (int run = 2; run <= 4; run++) {
                String name = "run %s with retry-policy=TASK".formatted(run);
                AtomicReference<Counters> atStart = new AtomicReference<>();
                new NoOriginReads(testing, connection).during(name, () -> {
                    atStart.set(testing.jmxCounters("cachedhive"));
                    table.scan(connection, "cachedhive");
                });
                Counters counters = testing.jmxCounters("cachedhive").minus(atStart.get());
                System.out.printf("%s: no GETs, %.1f %% non-local of %s bytes%n", name, 100.0 * counters.nonLocalHit() / counters.requested(), counters.requested());
                assertThat(counters.hits()).as("run %s: %s", run, counters).isEqualTo(counters.requested()).isPositive();
            }
        }
    }

    /**
     * Here the engine has no map of buckets to nodes unless the connector fixes it: a bucket may be read on any node, from its owner.
     */
    @Test(dependsOnMethods = "testSecondRunAsksForNothing")
    public void testBuckets()
            throws Exception
    {
        List<List<Object>> expected;
        try (SqlConnection connection = testing.connect("cachedhive", "tolerant")) {
            expected = TestingCluster.sorted(connection.query(JOIN.formatted("hive")).rows());
            assertThat(getsOfJoin(connection, "first run", expected).count()).as("GETs of the first run").isPositive();
            for (String run : List.of("second run", "third run")) {
                new NoOriginReads(testing, connection).during(run + " over buckets", () -> getsOfJoin(connection, run, expected));
            }
        }
        testing.cluster().coordinator().restart();
        testing.cluster().awaitWorkers(2, Duration.ofMinutes(2));
        try (SqlConnection connection = testing.connect("cachedhive", "tolerant")) {
            PublishedOwners.await(connection, testing.cluster().s3(), testing.cluster().cacheWorkers());
            String run = "first run after the restart of the coordinator";
            new NoOriginReads(testing, connection).during(run, () -> getsOfJoin(connection, run, expected));
        }
    }

    private DataFileGets getsOfJoin(SqlConnection connection, String run, List<List<Object>> expected)
            throws Exception
    {
        // a coordinator that has just started counts from 0; the workers read
        Counters before = testing.jmxCounters("cachedhive");
        long mark = BucketedTable.mark(testing);
        assertThat(TestingCluster.sorted(connection.query(JOIN.formatted("cachedhive")).rows())).isEqualTo(expected);
        DataFileGets gets = BucketedTable.getsSince(testing, mark, "tolerant");
        Counters counters = testing.jmxCounters("cachedhive").minus(before);
        System.out.printf(
                "%s over buckets with retry-policy=TASK: %s GETs, %.1f %% non-local of %s bytes%n",
                run, gets.count(), 100.0 * counters.nonLocalHit() / counters.requested(), counters.requested());
        return gets;
    }
}
