package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.WorkerOptions.Selection;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.Quantity;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.worker.WorkerFields;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;

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
    private static final List<Column> COLUMNS = List.of(
            Column.text("STATE", answer -> WorkerFields.of(answer).text("state").orElse(Quantity.UNKNOWN)),
            Column.number("HANDED OVER", count("given_blocks")),
            Column.number("OF BLOCKS", count("blocks")),
            Column.number("TIME LEFT", answer -> Quantity.duration(WorkerFields.of(answer).number("millis_left"))));

    @Option(names = "--deadline", paramLabel = "DURATION", defaultValue = "10m", description = "time limit for each cache worker, such as 30s or 5m (default: ${DEFAULT-VALUE})")
    private Duration deadline;

    @Option(names = "--show", description = "show progress without starting a drain")
    private boolean show;

    @Option(names = "--cancel", description = "cancel a drain in progress")
    private boolean cancel;

    @Mixin
    private HostOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    DrainCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException, TaskException
    {
        Selection selection = options.select(console);
        List<WorkerHost> workers = selection.hosts();
        if (!show && !cancel && !selection.known().isEmpty() && workers.containsAll(selection.known())) {
            throw new WrongUsageException("All cache workers would be drained, and none would remain to receive their blocks: select some of them with --hosts, or use stop.");
        }
        if (dryRun.isSet() && !show) {
            workers.forEach(worker -> console.line("%s would %s.".formatted(worker, cancel ? "stay" : "be drained")));
            return ExitCode.OK;
        }
        String path = show || cancel ? "/v1/drain" : "/v1/drain?deadline=" + deadline.toMillis() + "ms";
        return options.run(selection, show ? "GET" : cancel ? "DELETE" : "POST", path, COLUMNS, console);
    }

    private static Function<JsonNode, String> count(String field)
    {
        return answer -> Quantity.count(WorkerFields.of(answer).number(field));
    }
}
