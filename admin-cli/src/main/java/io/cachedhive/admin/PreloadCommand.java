package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Loads a table or some of its partitions into the cache: CALL system.preload_table or preload_partition.
 */
@Command(
        name = "preload",
        sortOptions = false,
        description = {
                "Loads a table or some of its partitions into the cache: CALL system.preload_table or preload_partition.",
                "Without --wait it returns when the files are listed; cache.preloads shows how far the job is, under the query's id."})
final class PreloadCommand
        implements Callable<Integer>
{
    @Mixin
    private TableOptions table;

    @Option(names = "--columns", split = ",", paramLabel = "COLUMN", description = "load only these columns of Parquet and ORC files")
    private List<String> columns = List.of();

    @Option(names = "--wait", description = "wait until the preload has finished")
    private boolean wait;

    @Mixin
    private CatalogOptions options;

    private final Console console;

    PreloadCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        StringBuilder arguments = new StringBuilder(table.arguments());
        if (!columns.isEmpty()) {
            arguments.append(", columns => ").append(TableOptions.array(columns));
        }
        arguments.append(", wait => ").append(wait);
        String procedure = table.hasPartition() ? "preload_partition" : "preload_table";
        return options.run(catalog -> "CALL %s.system.%s(%s)".formatted(catalog, procedure, arguments), console);
    }
}
