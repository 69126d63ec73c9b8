package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import org.testng.annotations.Test;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code cache-admin} on hosts that have sshd, Java and Trino only. Trino does not run there: see {@link TestQueries} for what it does with what was installed.
 */
// before the others, whose cluster runs on until the end: not more hosts at once than needed
@Test(groups = "install", singleThreaded = true, priority = -1)
public class TestInstall
{
    private static final List<String> ACCOUNTS = List.of("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow");

    public void testInstalledHostsAreLeftAsTheyWere()
            throws Exception
    {
        try (HostCluster cluster = HostCluster.start("installed", 3, Map.of())) {
            Administrator administrator = Administrator.of(cluster);
            ContainerHost shared = cluster.worker(3);
            LaidLinks links = LaidLinks.lay(shared);
            Map<ContainerHost, FileListing> before = new LinkedHashMap<>(listings(cluster.trinoHosts()));
            Map<ContainerHost, String> processesBefore = processes(cluster.trinoHosts());

            CommandResult install = administrator.install();
            assertThat(install.exitCode()).as(install.text()).isEqualTo(1);
            assertThat(install.error()).contains("4 hosts: 3 changed, 0 unchanged, 1 failed");
            assertThat(install.error().lines()).as("a sentence with cause and remedy")
                    .anyMatch(line -> line.contains("worker-3: /srv belongs to root, and /opt/trino/etc above it to mallory") && line.contains("let one user own both"));
            assertThat(FileListing.of(shared).changesSince(before.get(shared))).as("changed on a host that was refused").isEmpty();

            links.giveDirectoryBack();
            FileListing beforeShared = FileListing.of(shared);
            before.put(shared, beforeShared);
            CommandResult completed = administrator.install("--hosts", shared.name());
            assertThat(completed.exitCode()).as(completed.text()).isZero();
            // once the files are there, other links are laid in their places
            links.layAgain();
            CommandResult pushed = administrator.cacheAdmin("config", "push", "--hosts", shared.name());
            assertThat(pushed.exitCode()).as(pushed.text()).isZero();
            assertThat(pushed.error()).contains("1 host: 1 changed");
            assertThat(FileListing.of(shared).changesSince(beforeShared).keySet()).as("changed outside of what is installed")
                    .allMatch(path -> LaidLinks.REPLACED.contains(path)
                            || path.startsWith(Administrator.SSD_DIRECTORY)
                            || path.startsWith(Administrator.INSTALL_DIRECTORY)
                            || ACCOUNTS.contains(path)
                            || path.equals("/run/cachedhive"));

            CommandResult start = administrator.cacheAdmin("start");
            assertThat(start.exitCode()).as(start.text()).isZero();
            for (ContainerHost worker : cluster.workers()) {
                assertThat(Ports.isOpen(worker.address(), Ports.CACHE_WORKER)).as("cache worker of %s", worker).isTrue();
            }
            CommandResult status = administrator.status("--output", "json");
            assertThat(status.exitCode()).as(status.text()).isZero();
            assertThat(status.output().lines()).hasSize(3).allMatch(line -> line.contains("RUNNING"));

            // nothing is left to be done
            CommandResult again = administrator.install();
            assertThat(again.exitCode()).as(again.text()).isZero();
            assertThat(again.output()).doesNotContain("CHANGED ").contains("UNCHANGED");

            for (ContainerHost host : cluster.trinoHosts()) {
                List<String> places = SecretFiles.with(host, administrator.secret());
                assertThat(places).as("files with the secret on %s", host).hasSize(host == cluster.coordinator() ? 1 : 2)
                        .allMatch(place -> place.matches("(cachedhive cachedhive 600|(root|mallory|trino) trino 6[04]0) .*"));
            }

            CommandResult uninstall = administrator.cacheAdmin("uninstall");
            assertThat(uninstall.exitCode()).as(uninstall.text()).isZero();
            // the JVM that writes the archive of classes for a cache worker outlives it, and ends by itself
            Await.untilAsserted("no process is left", Patience.LIMIT, QUERY_PAUSE, () -> assertThat(processes(cluster.trinoHosts())).isEqualTo(processesBefore));
            Map<ContainerHost, FileListing> left = listings(cluster.trinoHosts());
            left.forEach((host, listing) -> assertThat(listing.changesSince(before.get(host)).keySet()).as("left on %s beside data and logs, and the user who owns them", host)
                    .allMatch(path -> path.startsWith(Administrator.SSD_DIRECTORY) || path.startsWith(Administrator.INSTALL_DIRECTORY) || ACCOUNTS.contains(path)
                            || (host == shared && LaidLinks.NOT_RESTORED.contains(path))));
            for (ContainerHost worker : cluster.workers()) {
                assertThat(left.get(worker).entries().keySet()).as("data of %s", worker).anyMatch(path -> path.startsWith(Administrator.SSD_DIRECTORY + "/slab-"));
                assertThat(left.get(worker).entries().keySet()).as("log of %s", worker).contains(Administrator.INSTALL_DIRECTORY + "/data/var/log/server.log");
            }

            CommandResult purge = administrator.cacheAdmin("uninstall", "--purge");
            assertThat(purge.exitCode()).as(purge.text()).isZero();
            listings(cluster.trinoHosts()).forEach((host, listing) -> assertThat(listing.changesSince(before.get(host)).keySet()).as("left on %s", host)
                    .allMatch(path -> host == shared && LaidLinks.NOT_RESTORED.contains(path)));
            assertThat(processes(cluster.trinoHosts())).isEqualTo(processesBefore);
        }
    }

    public void testFaultyHostsDoNotHinderOthers()
            throws Exception
    {
        String unreachable = "worker-1";
        String full = "worker-2";
        String otherJava = "worker-3";
        try (HostCluster cluster = HostCluster.start("faulty", 4, Map.of(full, host -> host.disk(Administrator.INSTALL_DIRECTORY, 2500)))) {
            Administrator administrator = Administrator.of(cluster);
            cluster.host(unreachable).dropFrom(cluster.admin(), "");
            String ballast = Administrator.INSTALL_DIRECTORY + "/ballast";
            cluster.host(full).mustRun("fallocate -l 2400M " + ballast);
            cluster.host(otherJava).mustRun(ContainerHost.steps(List.of(
                    "rm " + HostCluster.JAVA_HOME,
                    "mkdir -p /usr/lib/jvm/jdk-21/bin",
                    "echo 'JAVA_VERSION=\"21.0.2\"' > /usr/lib/jvm/jdk-21/release",
                    "printf '#!/bin/sh\\necho openjdk version 21.0.2\\n' > /usr/lib/jvm/jdk-21/bin/java",
                    "chmod +x /usr/lib/jvm/jdk-21/bin/java")));

            CommandResult first = administrator.install();
            assertThat(first.exitCode()).as(first.text()).isEqualTo(1);
            assertThat(first.error().lines())
                    .as("a sentence with cause and remedy for each faulty host")
                    .anyMatch(line -> line.contains(unreachable + " cannot be reached by ssh") && line.contains("check that the host is up"))
                    .anyMatch(line -> line.contains(full + ":") && line.contains(Administrator.INSTALL_DIRECTORY) && line.contains("free disk space"))
                    .anyMatch(line -> line.contains(otherJava + ":") && line.contains("21") && line.contains("java-home"));
            assertThat(first.error()).contains("5 hosts: 2 changed, 0 unchanged, 3 failed");
            for (String sound : List.of("coordinator", "worker-4")) {
                cluster.host(sound).mustRun("test -L %s/plugin/cachedhive".formatted(HostCluster.TRINO_HOME));
            }
            for (String faulty : List.of(full, otherJava)) {
                assertThat(cluster.host(faulty).run("test -e %s/plugin/cachedhive".formatted(HostCluster.TRINO_HOME)).exitCode()).as(faulty).isNotZero();
            }

            cluster.host(unreachable).dropNothing();
            cluster.host(full).mustRun("rm " + ballast);
            cluster.host(otherJava).mustRun("ln -s %s %s".formatted(HostCluster.JAVA_MOUNT, HostCluster.JAVA_HOME));
            Map<ContainerHost, FileListing> sound = listings(List.of(cluster.coordinator(), cluster.host("worker-4")));

            CommandResult second = administrator.install();
            assertThat(second.exitCode()).as(second.text()).isZero();
            assertThat(second.error()).contains("5 hosts: 3 changed, 2 unchanged, 0 failed");
            listings(sound.keySet()).forEach((host, listing) -> assertThat(listing.changesSince(sound.get(host))).as("touched on %s", host).isEmpty());
            CommandResult start = administrator.cacheAdmin("start");
            assertThat(start.exitCode()).as(start.text()).isZero();
            for (ContainerHost worker : cluster.workers()) {
                assertThat(Ports.isOpen(worker.address(), Ports.CACHE_WORKER)).as("cache worker of %s", worker).isTrue();
            }
        }
    }

    private static Map<ContainerHost, FileListing> listings(Collection<ContainerHost> hosts)
    {
        return Parallel.map(hosts, FileListing::of);
    }

    /**
     * Users and programs of what runs, but for the listing itself.
     */
    private static Map<ContainerHost, String> processes(List<ContainerHost> hosts)
    {
        Map<ContainerHost, String> processes = new LinkedHashMap<>();
        hosts.forEach(host -> processes.put(host, host.mustRun("ps -eo user=,comm= | grep -vE ' (bash|ps|grep|sort)$' | sort")));
        return processes;
    }
}
