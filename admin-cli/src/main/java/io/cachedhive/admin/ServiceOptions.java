package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Mixin;

import java.util.ArrayList;
import java.util.List;

/**
 * What starting, stopping and restarting have in common.
 */
final class ServiceOptions
{
    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    /// Does the actions on each worker, in their order.
    ///
    /// @return the exit code
    int run(List<ServiceAction> actions, Console console)
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        Ssh ssh = options.ssh(cluster);
        List<ClusterHost> workers = options.select(cluster).stream().filter(ClusterHost::isWorker).toList();
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(workers, host -> {
            List<String> changes = new ArrayList<>();
            for (ServiceAction action : actions) {
                changes.addAll(ssh.run(host, action.script(host, dryRun.isSet())).values("change"));
            }
            return HostOutcome.done(host, changes);
        });
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }
}
