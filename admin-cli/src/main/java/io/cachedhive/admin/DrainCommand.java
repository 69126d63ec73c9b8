package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.worker.WorkerFields;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Takes cache workers out of the cluster, with their blocks handed over.
 */
@Command(
        name = "drain",
        sortOptions = false,
        description = {
                "Transfers the blocks of cache workers to the remaining ones and stops them. Select them with --hosts; first shut down the Trino workers on these hosts.",
                "Returns at once: run it again with --show to see how far they are, or with --cancel to keep them."})
final class DrainCommand
        implements Callable<Integer>
{
    @Option(names = "--deadline", paramLabel = "DURATION", defaultValue = "10m", description = "time limit for each cache worker, such as 30s or 5m (default: ${DEFAULT-VALUE})")
    private Duration deadline;

    @Option(names = "--show", description = "show progress without starting a drain")
    private boolean show;

    @Option(names = "--cancel", description = "cancel a drain in progress")
    private boolean cancel;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    DrainCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> workers = options.select(cluster).stream().filter(ClusterHost::isWorker).toList();
        if (!show && !cancel && workers.size() == cluster.workers().size()) {
            throw new WrongUsageException("All cache workers would be drained, and none would remain to receive their blocks: select some of them with --hosts, or use stop.");
        }
        if (dryRun.isSet() && !show) {
            return options.report(workers.stream().map(host -> HostOutcome.done(host, List.of(cancel ? "stays" : "drain"))).toList(), "WOULD CHANGE", "UNCHANGED", console);
        }
        List<HostAnswer> answers;
        try (WorkerHosts http = new WorkerHosts(workers.stream().map(ClusterHost::http).toList(), Duration.ofSeconds(10), HostFiles.readSecret(cluster), cluster.tls().context())) {
            answers = http.ask(show ? "GET" : cancel ? "DELETE" : "POST", show || cancel ? "/v1/drain" : "/v1/drain?deadline=" + deadline.toMillis() + "ms", _ -> {});
        }
        List<HostOutcome> outcomes = new ArrayList<>();
        for (int index = 0; index < workers.size(); index++) {
            ClusterHost host = workers.get(index);
            outcomes.add(switch (answers.get(index)) {
                case Failed failed -> HostOutcome.failed(host, failed.problem());
                case Answered answered -> {
                    WorkerFields fields = WorkerFields.of(answered.content());
                    yield HostOutcome.done(host, List.of("%s, %s of %s blocks handed over, %s s left".formatted(
                            fields.text("state").orElse("?"),
                            fields.number("given_blocks").orElse(0),
                            fields.number("blocks").orElse(0),
                            fields.number("millis_left").orElse(0) / 1000)));
                }
            });
        }
        return options.report(outcomes, show ? "ANSWERED" : "CHANGED", "UNCHANGED", console);
    }
}
