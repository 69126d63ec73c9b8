package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.ssh.RemoteResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestRollbackPlan
{
    private final Map<ClusterHost, HostFacts> hosts = new LinkedHashMap<>();

    @TempDir
    private Path directory;

    private List<ClusterHost> workers;

    @BeforeEach
    void setUp()
            throws IOException, ClusterFileException
    {
        workers = ClusterFile.read(Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1, w2]\nssd: [{directory: /mnt/cache, size: 1GB}]\n")).hosts();
    }

    @Test
    void testHostsThatAnUpgradeDidNotReachStay()
    {
        put(0, "1.2", "1.1", "1.1 1.2");
        put(1, "1.1", "1.0", "1.0 1.1");

        assertThat(plan()).isEqualTo(new RollbackPlan(Optional.of("1.1"), Map.of()));
    }

    @Test
    void testRollbackThatWasCutOffGoesOn()
    {
        put(0, "1.1", "", "1.1 1.2");
        put(1, "1.2", "1.1", "1.1 1.2");

        assertThat(plan()).isEqualTo(new RollbackPlan(Optional.of("1.1"), Map.of()));
    }

    @Test
    void testSecondRollbackGoesNowhere()
    {
        // as the first one leaves them: the upgrade had not reached w2
        put(0, "1.1", "", "1.1 1.2");
        put(1, "1.1", "1.0", "1.0 1.1");
        assertThat(plan().problems()).containsOnlyKeys(workers.get(0)).hasEntrySatisfying(workers.get(0), problem ->
                assertThat(problem).isEqualTo("w1: release 1.0 is not there any more (but 1.1, 1.2): "
                        + "name one of these with --to, or bring it with cache-admin upgrade --package."));

        put(1, "1.1", "", "1.0 1.1");
        assertThat(plan().problems().values()).hasSize(2).allMatch(problem -> problem.contains("there is no earlier release than the current one, 1.1"));
    }

    @Test
    void testNamedRelease()
    {
        put(0, "1.1", "", "1.1 1.2");
        put(1, "1.2", "1.1", "1.1 1.2");

        assertThat(RollbackPlan.of(hosts, Optional.of("1.2"))).isEqualTo(new RollbackPlan(Optional.of("1.2"), Map.of()));
        assertThat(RollbackPlan.of(hosts, Optional.of("../x")).problems()).hasSize(2);
    }

    @Test
    void testFinalizedUpgradeIsNotTakenBack()
    {
        put(0, "1.2", "1.1", "1.1 1.2", "ssd.0.format=3", "release_format:1.1=2", "release_format:1.2=3");
        put(1, "1.2", "1.1", "1.1 1.2", "ssd.0.format=2", "release_format:1.1=2", "release_format:1.2=3");

        assertThat(plan().problems()).containsOnlyKeys(workers.get(0));
        assertThat(plan().problems().get(workers.get(0))).contains("the upgrade was finalized: /mnt/cache is in version 3", "release 1.1 reads versions up to 2");

        // nothing is known of these
        put(0, "1.2", "1.1", "1.1 1.2", "ssd.0.format=3");
        assertThat(plan().problems()).isEmpty();
    }

    @Test
    void testFinalizeWantsOneRunningRelease()
    {
        put(0, "1.2", "1.1", "1.1 1.2", "pid=7", "running_release=1.2");
        put(1, "1.2", "1.1", "1.1 1.2", "pid=7", "running_release=1.2");
        assertThat(FinalizePlan.of(workers, hosts).problems()).isEmpty();

        put(1, "1.2", "1.1", "1.1 1.2", "pid=7", "running_release=1.1");
        assertThat(FinalizePlan.of(workers, hosts).problems()).containsOnlyKeys(workers.get(1));
        assertThat(FinalizePlan.of(workers, hosts).problems().get(workers.get(1))).contains("still runs release 1.1");
        put(1, "1.1", "", "1.1", "pid=7", "running_release=1.1");
        assertThat(FinalizePlan.of(workers, hosts).problems().get(workers.get(1))).contains("release 1.1 is installed there, and 1.2 on others");
        put(1, "1.2", "1.1", "1.1 1.2");
        assertThat(FinalizePlan.of(workers, hosts).problems().get(workers.get(1))).contains("does not run");
        hosts.remove(workers.get(1));
        assertThat(FinalizePlan.of(workers, hosts).problems().get(workers.get(1))).contains("cannot be asked");
    }

    @Test
    void testNothingIsInstalled()
    {
        put(0, "", "", "");

        assertThat(plan().problems().values()).singleElement().asString().startsWith("w1: nothing is installed in /opt/cachedhive");
    }

    private RollbackPlan plan()
    {
        return RollbackPlan.of(hosts, Optional.empty());
    }

    private void put(int worker, String current, String previous, String releases, String... facts)
    {
        String output = "current=%s\nprevious=%s\nreleases=%s \n%s\n".formatted(current, previous, releases, String.join("\n", facts));
        hosts.put(workers.get(worker), new HostFacts(new RemoteResult(output), 0, 0));
    }
}
