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
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * What the cache workers' clients read, and from where.
 */
@Command(
        name = "stats",
        sortOptions = false,
        description = "Shows the bytes that the Trino worker of each host read, by source.")
final class StatsCommand
        implements Callable<Integer>
{
    private static final List<Column> COLUMNS = List.of(
            Column.text("STATE", answer -> WorkerFields.of(answer).text("state").orElse(Quantity.UNKNOWN)),
            Column.number("HIT RATE", StatsCommand::hitRate),
            Column.number("REQUESTS", count("requests")),
            Column.number("RAM HITS", bytes("ram_hit_bytes")),
            Column.number("SSD HITS", bytes("ssd_hit_bytes")),
            Column.number("NON-LOCAL", bytes("non_local_hit_bytes")),
            Column.number("REMOTE", bytes("remote_read_bytes")),
            Column.number("BYPASS", bytes("bypass_bytes")),
            Column.number("ORIGIN GETS", count("origin_gets")),
            Column.number("EXTRA", bytes("extra_bytes")));

    @Mixin
    private HostOptions options;

    private final Console console;

    StatsCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException, TaskException
    {
        return options.run("/v1/stats", COLUMNS, console);
    }

    /// The share of the bytes that some cache worker had, of those that went through the cache: bypass is not among them.
    private static String hitRate(JsonNode answer)
    {
        WorkerFields fields = WorkerFields.of(answer);
        long hits = fields.number("ram_hit_bytes").orElse(0) + fields.number("ssd_hit_bytes").orElse(0) + fields.number("non_local_hit_bytes").orElse(0);
        long all = hits + fields.number("remote_read_bytes").orElse(0);
        return Quantity.percent(all == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) hits / all));
    }

    /// What nobody counted yet is not in the answer.
    private static OptionalLong counter(JsonNode answer, String field)
    {
        return OptionalLong.of(WorkerFields.of(answer).number(field).orElse(0));
    }

    private static Function<JsonNode, String> count(String field)
    {
        return answer -> Quantity.count(counter(answer, field));
    }

    private static Function<JsonNode, String> bytes(String field)
    {
        return answer -> Quantity.bytes(counter(answer, field));
    }
}
