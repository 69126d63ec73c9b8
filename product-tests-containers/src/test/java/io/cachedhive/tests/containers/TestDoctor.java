package io.cachedhive.tests.containers;

import com.google.common.collect.ImmutableList;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Faults that are planted one after the other in a sound cluster, each mended before the next: {@code cache-admin doctor} finds each, and nothing else.
 */
// queries and cuts want a cluster whose cache workers have not been stopped
@Test(groups = "doctor", singleThreaded = true, priority = 1)
public class TestDoctor
{
    private static final Pattern FAULT = Pattern.compile("\"host\":\"([^\"]+)\".*\"fault\":\"([A-Z_]+)\"");
    private static final String CATALOG = HostCluster.TRINO_HOME + "/etc/catalog/cachedhive.properties";
    private static final String CONFIGURATION = Administrator.INSTALL_DIRECTORY + "/etc";
    private static final String CURRENT = Administrator.INSTALL_DIRECTORY + "/current";
    private static final String PLUGIN = HostCluster.TRINO_HOME + "/plugin/cachedhive";

    private Administrator administrator;
    private int planted;

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testPlantedFaults()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        HostCluster hosts = cluster.hosts();
        administrator = cluster.administrator();
        ContainerHost coordinator = hosts.coordinator();
        ContainerHost first = hosts.worker(1);
        ContainerHost second = hosts.worker(2);
        ContainerHost third = hosts.worker(3);

        CommandResult sound = administrator.cacheAdmin("doctor");
        assertThat(sound.exitCode()).as(sound.text()).isZero();
        assertThat(sound.output()).isEmpty();
        assertThat(sound.error()).contains("No problems found on 4 hosts.");

        plant("a host that is cut off", () -> third.dropFrom(hosts.admin(), ""), third::dropNothing, "worker-3 UNREACHABLE");
        plant("a port that is closed", () -> second.dropFrom(first, "-p tcp --dport %s".formatted(Ports.CACHE_WORKER)), second::dropNothing, "worker-1 PORT");
        plant(
                "a cache worker that was stopped",
                () -> Administrator.check(administrator.cacheAdmin("stop", "--hosts", "worker-2")),
                () -> Administrator.check(administrator.start("--hosts", "worker-2")),
                "worker-2 NOT_RUNNING");
        plant(
                "another release",
                coordinator,
                "cp -al $(readlink -f %1$s) %2$s/releases/other && ln -sfn releases/other %1$s",
                "ln -sfn releases/$(ls %2$s/releases | grep -v other) %1$s && rm -rf %2$s/releases/other",
                List.of(CURRENT, Administrator.INSTALL_DIRECTORY),
                "coordinator PLUGIN",
                "coordinator VERSION_DRIFT");
        plant(
                "a release with a file that was changed",
                second,
                "cp -a %1$s /root/before && echo changed >> %1$s",
                "mv /root/before %1$s",
                List.of(CURRENT + "/worker/README.txt"),
                "worker-2 DAMAGED_FILES");
        plant(
                "configuration that was changed by hand",
                first,
                "cp -a %1$s /root/before && echo io.cachedhive=DEBUG >> %1$s",
                "mv /root/before %1$s",
                List.of(CONFIGURATION + "/log.properties"),
                "worker-1 CONFIG_DRIFT");
        plant(
                "another secret",
                third,
                "cp -a %1$s /root/before && sed -i 's/^internal-communication.shared-secret-file=.*/internal-communication.shared-secret=another/' %1$s",
                "mv /root/before %1$s",
                List.of(CONFIGURATION + "/config.properties"),
                "worker-3 CONFIG_DRIFT",
                "worker-3 SECRET");
        plant(
                "a catalog for another object store",
                coordinator,
                "cp -a %1$s /root/before && sed -i 's/^s3.region=.*/s3.region=elsewhere/' %1$s",
                "mv /root/before %1$s",
                List.of(CATALOG),
                "coordinator CATALOG",
                "coordinator CONFIG_DRIFT");
        plant("a plugin that is gone", third, "mv %1$s /root/before", "mv /root/before %1$s", List.of(PLUGIN), "worker-3 PLUGIN");
        plant("the directory of the socket, gone", second, "mv %1$s /root/before", "mv /root/before %1$s", List.of("/run/cachedhive"), "worker-2 DIRECTORY");
        plant(
                "an SSD directory of another user",
                third,
                "chown root:root %1$s",
                "chown %2$s:%2$s %1$s",
                List.of(Administrator.SSD_DIRECTORY, Administrator.CACHE_WORKER_USER),
                "worker-3 PERMISSION");
        plant("no Java", first, "mv %1$s /root/before", "mv /root/before %1$s", List.of(HostCluster.JAVA_HOME), "worker-1 JAVA");
        plant(
                "a clock that is fast",
                third,
                "printf '#!/bin/sh\\nexec /bin/date -d \"+1 hour\" \"$@\"\\n' > %1$s && chmod +x %1$s",
                "rm %1$s",
                List.of("/usr/local/bin/date"),
                "worker-3 CLOCK");
        plantSetting("a RAM tier that is larger than /dev/shm", "ram-size: 1GB", "worker-1 CONFIG_DRIFT", "worker-1 SHARED_MEMORY");
        plantSetting("more memory than there is", "heap-size: 4GB", "worker-1 CONFIG_DRIFT", "worker-1 MEMORY");

        assertThat(planted).isGreaterThanOrEqualTo(10);
        assertThat(faults()).as("when all is mended").isEmpty();
    }

    private void plant(String name, ContainerHost host, String fault, String remedy, List<String> arguments, String... expected)
    {
        plant(name, () -> host.mustRun(fault.formatted(arguments.toArray())), () -> host.mustRun(remedy.formatted(arguments.toArray())), expected);
    }

    /**
     * In the hosts file, for the first worker.
     */
    private void plantSetting(String name, String setting, String... expected)
    {
        String before = administrator.hostsFile();
        String changed = before.replace("  - worker-[1-3]\n", "  - host: worker-1\n    %s\n  - worker-[2-3]\n".formatted(setting));
        assertThat(changed).isNotEqualTo(before);
        plant(name, () -> administrator.writeHostsFile(changed), () -> administrator.writeHostsFile(before), expected);
    }

    /**
     * @param expected host and kind of each fault that is to be found, in the order of the alphabet
     */
    private void plant(String name, Runnable fault, Runnable remedy, String... expected)
    {
        fault.run();
        List<String> found;
        try {
            found = faults();
        }
        finally {
            remedy.run();
        }
        System.out.printf("planted %s: %s%n", name, found);
        assertThat(found).as(name).containsExactly(expected);
        planted++;
    }

    private List<String> faults()
    {
        CommandResult result = administrator.cacheAdmin("doctor", "--output", "json");
        ImmutableList.Builder<String> faults = ImmutableList.builder();
        result.output().lines().forEach(line -> {
            Matcher matcher = FAULT.matcher(line);
            assertThat(matcher.find()).as(line).isTrue();
            // each with its remedy
            assertThat(line).containsPattern("\"problem\":\"[^:]+: .+: .+\\.\"");
            faults.add("%s %s".formatted(matcher.group(1), matcher.group(2)));
        });
        List<String> found = faults.build().stream().sorted().toList();
        assertThat(result.exitCode()).as(result.text()).isEqualTo(found.isEmpty() ? 0 : 4);
        return found;
    }
}
