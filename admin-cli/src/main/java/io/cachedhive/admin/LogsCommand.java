package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * The ends of the logs.
 */
@Command(
        name = "logs",
        sortOptions = false,
        description = "Prints the last lines of the cache workers' logs, each with the name of its host.")
final class LogsCommand
        implements Callable<Integer>
{
    enum Log
    {
        SERVER,
        LAUNCHER
    }

    @Option(names = "--lines", paramLabel = "N", defaultValue = "100", description = "number of lines per host (default: ${DEFAULT-VALUE})")
    private int lines;

    @Option(names = "--log", paramLabel = "LOG", defaultValue = "server",
            description = "server, or launcher for the output before the server log starts (default: ${DEFAULT-VALUE})")
    private Log log = Log.SERVER;

    @Option(names = "--grep", paramLabel = "TEXT", description = "only lines with this text")
    private String text;

    @Mixin
    private ClusterOptions options;

    private final Console console;

    LogsCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> workers = options.select(cluster).stream().filter(ClusterHost::isWorker).toList();
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(workers, host ->
                HostOutcome.done(host, Installation.log(options.ssh(cluster), host, log.name().toLowerCase(Locale.ROOT), Math.max(1, lines))));
        console.clearProgress();
        int failed = 0;
        for (HostOutcome outcome : outcomes) {
            outcome.notes().stream()
                    .filter(line -> text == null || line.contains(text))
                    .forEach(line -> console.out().println(outcome.host() + ": " + line));
            failed += outcome.problem().isPresent() ? 1 : 0;
        }
        console.out().flush();
        outcomes.forEach(outcome -> outcome.problem().ifPresent(console::problem));
        return failed == 0 ? ExitCode.OK : ExitCode.HOST_FAILED;
    }
}
