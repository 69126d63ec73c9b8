package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Trino is replaced by one in another home and back, while cache workers keep running with their blocks. The other home has the same version of Trino, because no
 * other is supported.
 */
// before the upgrade of cachedhive, which leaves another release
@Test(groups = "upgrade", singleThreaded = true, priority = 1)
public class TestTrinoUpgrade
{
    private static final String NEXT_HOME = "/opt/trino-next";
    private static final String PLUGIN = "/plugin/cachedhive";

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testTrinoUpgradeAndBack()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        HostCluster hosts = cluster.hosts();
        Administrator administrator = cluster.administrator();
        String hostsFile = administrator.hostsFile();
        try (LineItems table = LineItems.create(cluster, "kept")) {
            List<List<Object>> expected = cluster.rows(table.checksumQuery("hive"));
            awaitCached(cluster, table, expected);
            long cached = hosts.s3Log().mark();
            List<String> processes = processes(hosts);

            checkRefused(administrator, "/opt", "/opt has no lib/trino-spi-*.jar, so it is no Trino server");
            checkRefused(administrator, HostCluster.TRINO_HOME, "trino-home is /opt/trino already");
            assertThat(administrator.hostsFile()).isEqualTo(hostsFile);

            Parallel.forEach(hosts.trinoHosts(), TestTrinoUpgrade::unpackTrino);
            Administrator.check(administrator.cacheAdmin("upgrade", "--trino-home", NEXT_HOME));
            assertThat(administrator.hostsFile()).isEqualTo(hostsFile.replace("trino-home: /opt/trino\n", "trino-home: %s\n".formatted(NEXT_HOME)));
            hosts.restartTrino(NEXT_HOME);
            checkWarm("with the new Trino", cached, processes, cluster, table, expected);
            CommandResult found = administrator.cacheAdmin("doctor");
            assertThat(found.exitCode()).as(found.text()).isZero();
            for (ContainerHost host : hosts.trinoHosts()) {
                assertThat(host.mustRun("readlink -e %s%s".formatted(HostCluster.TRINO_HOME, PLUGIN))).as("plugin in the former home of %s", host)
                        .isEqualTo(host.mustRun("readlink -e %s%s".formatted(NEXT_HOME, PLUGIN)));
            }

            Administrator.check(administrator.cacheAdmin("upgrade", "--trino-home", HostCluster.TRINO_HOME));
            assertThat(administrator.hostsFile()).isEqualTo(hostsFile);
            hosts.restartTrino(HostCluster.TRINO_HOME);
            checkWarm("with the former Trino", cached, processes, cluster, table, expected);
        }
    }

    /**
     * A new Trino as it is unpacked, with the configuration of the present one.
     */
    private static void unpackTrino(ContainerHost host)
    {
        host.mustRun(ContainerHost.steps(List.of(
                "cp -a %s %s".formatted(HostCluster.TRINO_HOME, NEXT_HOME),
                "cd " + NEXT_HOME,
                "rm -r var/run var/log plugin/cachedhive lib/cachedhive-engine-extension.jar",
                "install -d -o %1$s -g %1$s var/log".formatted(HostCluster.TRINO_USER),
                "sed -i 's/^main-class=.*/main-class=io.trino.server.TrinoServer/' bin/launcher.properties")));
    }

    private static void checkRefused(Administrator administrator, String home, String sentence)
    {
        CommandResult refused = administrator.cacheAdmin("upgrade", "--trino-home", home);
        assertThat(refused.exitCode()).as(refused.text()).isEqualTo(1);
        assertThat(refused.error()).contains(sentence, "0 changed");
    }

    /**
     * The process ids of all cache workers, with the time of their start.
     */
    private static List<String> processes(HostCluster hosts)
    {
        return Parallel.map(hosts.workers(), worker -> worker.mustRun("cut -d ' ' -f 1,22 /proc/$(head -n 1 %s/data/var/run/launcher.pid)/stat".formatted(
                Administrator.INSTALL_DIRECTORY))).entrySet().stream().map(entry -> "%s %s".formatted(entry.getKey(), entry.getValue())).sorted().toList();
    }

    private static void checkWarm(String when, long cached, List<String> processes, InstalledCluster cluster, LineItems table, List<List<Object>> expected)
            throws Exception
    {
        cluster.awaitCacheWorkers();
        assertThat(processes(cluster.hosts())).as("processes of cache workers %s", when).isEqualTo(processes);
        awaitCached(cluster, table, expected);
        assertThat(DataFiles.getsOfCacheWorkers(cluster.hosts().s3Log(), cached, table.prefix())).as("GETs of cache workers %s", when).isZero();
    }

    /**
     * A reader that waits for a cache worker for too long asks the object store itself: on a slow machine in more than one scan.
     */
    private static void awaitCached(InstalledCluster cluster, LineItems table, List<List<Object>> expected)
            throws Exception
    {
        Await.until("a scan asks the object store for nothing", Patience.LIMIT, QUERY_PAUSE, () -> {
            long next = cluster.hosts().s3Log().mark();
            assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
            return DataFiles.gets(cluster.hosts().s3Log(), next, table.prefix()) == 0;
        });
    }
}
