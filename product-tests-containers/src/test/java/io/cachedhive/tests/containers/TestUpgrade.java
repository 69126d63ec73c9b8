package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * From one release to the next and back while queries run: with a newer wire protocol, another layout of the shared memory, and a newer format of the SSD directories.
 */
// leaves the cluster with another release: after all others
@Test(groups = "upgrade", singleThreaded = true, priority = 2)
public class TestUpgrade
{
    // reads go to the owners wherever they are, so two thirds of them to cache workers of other hosts
    private static final String ANYWHERE = "cachedhive.node_selection_strategy";
    private static final int FORMAT = 1;
    private static final int NEXT_FORMAT = 2;
    private static final int LAYOUT = 1;
    private static final int NEXT_LAYOUT = 2;

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testRollingUpgradeAndBack()
            throws Exception
    {
        Administrator.makeNextRelease();
        InstalledCluster cluster = SharedCluster.get();
        HostCluster hosts = cluster.hosts();
        Administrator administrator = cluster.administrator();
        try (LineItems table = LineItems.createManyFiles(cluster, "upgraded")) {
            List<List<Object>> expected = cluster.rows(table.checksumQuery("hive"));
            long beforeFirst = hosts.s3Log().mark();
            scan(table, expected);
            long cold = gets(hosts, beforeFirst, table);
            assertThat(cold).isPositive();
            awaitWarm("once cached", hosts, table, expected, cold);
            // what is lost from here on, cache workers fetch again
            long cached = hosts.s3Log().mark();
            checkVersions(hosts, FORMAT, LAYOUT);

            // Trino goes on with the plugin that it has: one version older than the cache workers in the end, and in between than some of them
            CommandResult upgraded = duringQueries(table, expected, administrator::upgradeToNext);
            assertRestarted(upgraded);
            checkVersions(hosts, FORMAT, NEXT_LAYOUT);
            checkReleases(cluster, NextRelease.VERSION);
            checkWarm(cached, "after the upgrade, with the plugin before it", hosts, table, expected, cold);

            hosts.restartTrino();
            cluster.awaitCacheWorkers();
            checkWarm(cached, "with the plugin of the next release", hosts, table, expected, cold);

            // and one version newer
            CommandResult back = duringQueries(table, expected, () -> administrator.cacheAdmin("rollback"));
            assertRestarted(back);
            checkVersions(hosts, FORMAT, LAYOUT);
            checkWarm(cached, "after the rollback, with the plugin of the next release", hosts, table, expected, cold);

            CommandResult forth = duringQueries(table, expected, administrator::upgradeToNext);
            assertRestarted(forth);
            checkVersions(hosts, FORMAT, NEXT_LAYOUT);
            CommandResult ended = administrator.cacheAdmin("upgrade", "--finalize");
            assertThat(ended.exitCode()).as(ended.text()).isZero();
            assertThat(ended.output()).contains("%s from format %s to %s".formatted(Administrator.SSD_DIRECTORY, FORMAT, NEXT_FORMAT));
            checkVersions(hosts, NEXT_FORMAT, NEXT_LAYOUT);
            Administrator.check(administrator.cacheAdmin("restart"));
            cluster.awaitCacheWorkers();
            checkWarm(cached, "with directories of the next format", hosts, table, expected, cold);

            CommandResult again = administrator.cacheAdmin("upgrade", "--finalize");
            assertThat(again.error()).as(again.text()).contains("0 changed, 3 unchanged, 0 failed");
            CommandResult late = administrator.cacheAdmin("rollback");
            assertThat(late.exitCode()).as(late.text()).isEqualTo(1);
            assertThat(late.error()).contains("the upgrade was finalized");
            checkVersions(hosts, NEXT_FORMAT, NEXT_LAYOUT);
            checkReleases(cluster, NextRelease.VERSION);
        }
    }

    private interface Change
    {
        CommandResult run()
                throws Exception;
    }

    /**
     * @throws AssertionError if a query fails or has other rows
     */
    private static CommandResult duringQueries(LineItems table, List<List<Object>> expected, Change change)
            throws Exception
    {
        try (QueryLoop loop = QueryLoop.start(() -> assertThat(table.checksum("cachedhive", ANYWHERE, "NO_PREFERENCE")).isEqualTo(expected))) {
            awaitQueries(loop, 1);
            long before = loop.queries();
            CommandResult result = change.run();
            loop.check();
            System.out.printf("%s queries beside it:%n%s%n", loop.queries() - before, result.text());
            assertThat(loop.queries()).as("queries beside it").isGreaterThan(before);
            awaitQueries(loop, 1);
            return result;
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

    /**
     * Each cache worker was restarted, and found its blocks on SSD again.
     */
    private static void assertRestarted(CommandResult result)
    {
        assertThat(result.exitCode()).as(result.text()).isZero();
        assertThat(result.output().lines().filter(line -> line.contains("restarted, "))).as(result.text())
                .hasSize(3)
                .allMatch(line -> line.matches(".*restarted, [1-9][0-9]* of [1-9][0-9]* blocks restored.*"));
    }

    private static void checkVersions(HostCluster hosts, int format, int layout)
    {
        for (ContainerHost worker : hosts.workers()) {
            assertThat(number(worker, Administrator.SSD_DIRECTORY + "/superblock")).as("format of the SSD directory of %s", worker).isEqualTo(format);
            assertThat(number(worker, "/dev/shm/cachedhive*")).as("layout of the shared memory of %s", worker).isEqualTo(layout);
        }
    }

    /**
     * Both kinds of files have their version behind eight bytes.
     */
    private static int number(ContainerHost host, String file)
    {
        return Integer.parseInt(host.mustRun("od -A n -t d4 --endian=little -j 8 -N 4 " + file).strip());
    }

    private static void checkReleases(InstalledCluster cluster, String version)
            throws Exception
    {
        assertThat(cluster.rows("SELECT version FROM cachedhive.cache.nodes")).hasSize(3).allMatch(row -> row.equals(List.of(version)));
    }

    /**
     * Cache workers have lost hardly anything since the mark, and are used. What readers ask the object store for says nothing about what is cached: a cache worker
     * was away, or the machine is busy.
     */
    private static void checkWarm(long mark, String when, HostCluster hosts, LineItems table, List<List<Object>> expected, long cold)
            throws Exception
    {
        awaitWarm(when, hosts, table, expected, cold);
        long fetched = DataFiles.getsOfCacheWorkers(hosts.s3Log(), mark, table.prefix());
        System.out.printf("%s: %s GETs of cache workers since all was cached, cold %s%n", when, fetched, cold);
        assertThat(fetched * 20).as("%s: GETs of cache workers since all was cached, of which a cold run makes %s", when, cold).isLessThanOrEqualTo(cold);
    }

    private static void awaitWarm(String when, HostCluster hosts, LineItems table, List<List<Object>> expected, long cold)
            throws Exception
    {
        Await.until("%s a run asks the object store for at most 5 %% of what a cold one does".formatted(when), Patience.LIMIT, QUERY_PAUSE, () -> {
            long mark = hosts.s3Log().mark();
            scan(table, expected);
            long gets = gets(hosts, mark, table);
            System.out.printf("%s: %s GETs, cold %s%n", when, gets, cold);
            return gets * 20 <= cold;
        });
    }

    private static void scan(LineItems table, List<List<Object>> expected)
            throws Exception
    {
        assertThat(table.checksum("cachedhive", ANYWHERE, "NO_PREFERENCE")).isEqualTo(expected);
    }

    private static long gets(HostCluster hosts, long mark, LineItems table)
    {
        return DataFiles.gets(hosts.s3Log(), mark, table.prefix());
    }
}
