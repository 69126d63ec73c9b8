package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.doctor.ClusterInspection;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.settings.HostFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Finds what is wrong.
 */
@Command(
        name = "doctor",
        sortOptions = false,
        description = {
                "Diagnoses the hosts and reports each problem with its fix. Changes nothing.",
                "Looks at versions, configuration, secrets, ports, directories, disks, shared memory, memory, clocks, Java, Trino and the plugin, and at what "
                        + "the cache workers say of themselves. Exit code 4 if something was found."})
final class DoctorCommand
        implements Callable<Integer>
{
    @Mixin
    private ClusterOptions options;

    private final Console console;

    DoctorCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> hosts = options.select(cluster);
        ClusterInspection inspection = new ClusterInspection(options.ssh(cluster), options.tasks(cluster, console), HostFiles.read(cluster));
        List<Fault> faults = inspection.diagnose(cluster, hosts);
        return FaultsPrinter.print(faults, options.isJson(), "No problems found on %s.".formatted(hosts.size() == 1 ? "1 host" : hosts.size() + " hosts"), console);
    }
}
