package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostScripts;
import io.cachedhive.admin.ssh.RemoteResult;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Looks at the SSD directories of stopped cache workers.
 */
@Command(
        name = "fsck",
        sortOptions = false,
        description = {
                "Checks the SSD directories of cache workers that do not run, block by block, and repairs nothing.",
                "Reads all of each directory. Exit code 4 if one is damaged: a cache worker ignores the damaged parts when it starts."})
final class FsckCommand
        implements Callable<Integer>
{
    @Mixin
    private ClusterOptions options;

    private final Console console;

    FsckCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> workers = options.select(cluster).stream().filter(host -> host.isWorker() && !host.ssd().isEmpty()).toList();
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(workers, host -> {
            RemoteResult result = options.ssh(cluster).run(host, HostScripts.script(host, "service.sh").set("DRY_RUN", "no").set("WAIT_SECONDS", 0).call("check_directories"));
            return HostOutcome.done(host, result.values("damaged"));
        });
        int code = options.report(outcomes, "DAMAGED", "CLEAN", console);
        return code == ExitCode.OK && outcomes.stream().anyMatch(outcome -> !outcome.notes().isEmpty()) ? ExitCode.FOUND : code;
    }
}
