package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.Quantity;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.worker.WorkerFields;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * How the cache workers are.
 */
@Command(
        name = "status",
        sortOptions = false,
        description = "Shows id, state, uptime and usage of each cache worker.")
final class StatusCommand
        implements Callable<Integer>
{
    private static final List<Column> COLUMNS = List.of(
            Column.text("STATE", text("state")),
            Column.text("WORKER", text("worker")),
            Column.text("VERSION", text("version")),
            Column.number("UP", answer -> Quantity.duration(WorkerFields.of(answer).number("uptime_millis"))),
            Column.number("RAM USED", bytes("ram_used_bytes")),
            Column.number("OF", bytes("ram_capacity_bytes")),
            Column.number("SSD USED", bytes("ssd_used_bytes")),
            Column.number("OF", bytes("ssd_capacity_bytes")),
            Column.text("RING", text("newest_ring")),
            Column.text("PROBLEM", text("problem")));

    @Mixin
    private HostOptions options;

    private final Console console;

    StatusCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException, TaskException
    {
        return options.run("/v1/status", COLUMNS, console);
    }

    private static Function<JsonNode, String> text(String field)
    {
        return answer -> WorkerFields.of(answer).text(field).orElse(Quantity.UNKNOWN);
    }

    private static Function<JsonNode, String> bytes(String field)
    {
        return answer -> Quantity.bytes(WorkerFields.of(answer).number(field));
    }
}
