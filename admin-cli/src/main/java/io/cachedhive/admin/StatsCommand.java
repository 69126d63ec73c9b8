package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.Quantity;
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
        description = "Shows of each cache worker where the bytes came from that Trino workers beside it read.")
final class StatsCommand
        implements Callable<Integer>
{
    private static final List<Column> COLUMNS = List.of(
            Column.number("HIT RATE", StatsCommand::hitRate),
            Column.number("REQUESTS", answer -> Quantity.count(WorkerFields.of(answer).number("requests"))),
            Column.number("RAM HITS", bytes("ram_hit_bytes")),
            Column.number("SSD HITS", bytes("ssd_hit_bytes")),
            Column.number("NON-LOCAL", bytes("non_local_hit_bytes")),
            Column.number("REMOTE", bytes("remote_read_bytes")),
            Column.number("BYPASS", bytes("bypass_bytes")),
            Column.number("ORIGIN GETS", answer -> Quantity.count(WorkerFields.of(answer).number("origin_gets"))),
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
    {
        return options.run("/v1/stats", COLUMNS, console);
    }

    /// The share of the bytes that some cache worker had, of those that went through the cache: bypass is not among them.
    private static String hitRate(JsonNode answer)
    {
        WorkerFields fields = WorkerFields.of(answer);
        OptionalLong remote = fields.number("remote_read_bytes");
        if (remote.isEmpty()) {
            return Quantity.UNKNOWN;
        }
        long hits = fields.number("ram_hit_bytes").orElse(0) + fields.number("ssd_hit_bytes").orElse(0) + fields.number("non_local_hit_bytes").orElse(0);
        long all = hits + remote.getAsLong();
        return Quantity.percent(all == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) hits / all));
    }

    private static Function<JsonNode, String> bytes(String field)
    {
        return answer -> Quantity.bytes(WorkerFields.of(answer).number(field));
    }
}
