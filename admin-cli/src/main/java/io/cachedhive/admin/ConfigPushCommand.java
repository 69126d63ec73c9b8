package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Brings the configuration, and nothing else.
 */
@Command(
        name = "push",
        sortOptions = false,
        description = {
                "Writes the configuration to the hosts where it differs; run config diff first to see the changes.",
                "Cache workers use it after a restart (cache-admin restart), Trino servers after theirs."})
final class ConfigPushCommand
        implements Callable<Integer>
{
    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    ConfigPushCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        HostFiles.requireSecret(cluster);
        HostFiles files = HostFiles.read(cluster);
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(options.select(cluster), host ->
                HostOutcome.done(host, Installation.pushFiles(options.ssh(cluster), host, files, dryRun.isSet())));
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }
}
