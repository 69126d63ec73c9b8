package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hosts that do not reach one another for a while, without anybody telling them so: what they send is dropped.
 */
@Test(groups = "failures", singleThreaded = true)
public class TestNetworkCuts
{
    // reads go to the owners wherever they are, so two thirds of them over the network
    private static final String ANYWHERE = "cachedhive.node_selection_strategy";

    @AfterMethod(alwaysRun = true)
    public void heal()
            throws Exception
    {
        SharedCluster.get().hosts().workers().forEach(ContainerHost::dropNothing);
    }

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testCacheWorkersThatDoNotReachOneAnother()
            throws Exception
    {
        String ofCacheWorkers = "-p tcp --dport %s".formatted(Ports.CACHE_WORKER);
        checkQueriesOverCut("unreached", ofCacheWorkers, 6);
    }

    public void testHostsThatDoNotReachOneAnother()
            throws Exception
    {
        // Trino's own exchange is cut, too: it waits for the other worker, and no query ends meanwhile
        checkQueriesOverCut("apart", "", 0);
    }

    /**
     * @param match conditions of iptables(8) on what is dropped
     * @param during how many queries are to end well while the hosts are apart
     */
    private static void checkQueriesOverCut(String name, String match, int during)
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        ContainerHost one = cluster.hosts().worker(1);
        ContainerHost other = cluster.hosts().worker(2);
        try (LineItems table = LineItems.create(cluster, name)) {
            List<List<Object>> expected = cluster.rows(table.checksumQuery("hive"));
            // all of it is cached
            assertThat(table.checksum("cachedhive", ANYWHERE, "NO_PREFERENCE")).isEqualTo(expected);

            try (QueryLoop loop = QueryLoop.start(() -> assertThat(table.checksum("cachedhive", ANYWHERE, "NO_PREFERENCE")).isEqualTo(expected))) {
                awaitQueries(loop, 2);

                one.dropFrom(other, match);
                other.dropFrom(one, match);
                long begin = System.nanoTime();
                if (during > 0) {
                    awaitQueries(loop, during);
                }
                else {
                    // longer than the time-outs of the cache, shorter than those of Trino
                    Await.until("the hosts were apart", Patience.LIMIT, () -> System.nanoTime() - begin > Duration.ofSeconds(15).toNanos());
                }
                assertThat(one.mustRun("iptables -w -L INPUT -v -n -x | awk '/DROP/ { sum += $1 } END { print sum + 0 }'").strip())
                        .as("packets that were dropped")
                        .isNotEqualTo("0");

                one.dropNothing();
                other.dropNothing();
                awaitQueries(loop, 3);
            }

            Await.until("the cache is whole again and the object store is asked for nothing", Patience.LIMIT, QUERY_PAUSE, () -> {
                long mark = cluster.hosts().s3Log().mark();
                assertThat(table.checksum("cachedhive", ANYWHERE, "NO_PREFERENCE")).isEqualTo(expected);
                return DataFiles.gets(cluster.hosts().s3Log(), mark, table.prefix()) == 0;
            });
        }
    }

    private static void awaitQueries(QueryLoop loop, int count)
            throws Exception
    {
        long before = loop.queries();
        Await.until("%s more queries have ended".formatted(count), Patience.LIMIT, () -> {
            loop.check();
            return loop.queries() - before >= count;
        });
    }
}
