package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.install.HostScripts;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Puts the hosts back to what {@code install} found.
 */
@Command(
        name = "uninstall",
        sortOptions = false,
        description = {
                "Stops the cache workers, removes the installed files, and restores the files that install replaced.",
                "Data and logs of the cache workers stay, unless --purge is given. Restart Trino afterwards: a running server still has the plugin."})
final class UninstallCommand
        implements Callable<Integer>
{
    @Option(names = "--purge", description = "also remove data and logs of the cache workers")
    private boolean purge;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    UninstallCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        Ssh ssh = options.ssh(cluster);
        String dry = dryRun.isSet() ? "yes" : "no";
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(options.select(cluster), host -> {
            List<String> changes = new ArrayList<>();
            if (host.isWorker()) {
                changes.addAll(ssh.run(host, ServiceAction.STOP.script(host, dryRun.isSet())).values("change"));
            }
            RemoteScript script = HostScripts.script(host, "uninstall.sh").set("DRY_RUN", dry).set("PURGE", purge ? "yes" : "no").call("uninstall");
            changes.addAll(ssh.run(host, script).values("change"));
            return HostOutcome.done(host, changes);
        });
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }
}
