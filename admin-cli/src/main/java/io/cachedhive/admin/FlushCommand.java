package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.sql.TrinoClient;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Removes a table, some of its partitions or a location from all cache workers: CALL system.flush_data_cache or flush_location.
 */
@Command(
        name = "flush",
        sortOptions = false,
        description = {
                "Removes a table, some of its partitions or a location from all cache workers: CALL system.flush_data_cache",
                "or flush_location.",
                "Needed after files were changed behind the cache's back; what is flushed is read from the object store again."})
final class FlushCommand
        implements Callable<Integer>
{
    @ArgGroup(exclusive = true, multiplicity = "1")
    private Target target;

    @Mixin
    private CatalogOptions options;

    private final Console console;

    FlushCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        String call = target.location == null ?
                "flush_data_cache(%s)".formatted(target.table.arguments()) :
                "flush_location(location => %s)".formatted(TrinoClient.literal(target.location));
        return options.run(catalog -> "CALL %s.system.%s".formatted(catalog, call), console);
    }

    private static final class Target
    {
        @ArgGroup(exclusive = false, multiplicity = "1")
        private TableOptions table;

        @Option(
                names = "--location",
                paramLabel = "LOCATION",
                description = "a file such as s3://bucket/file, or all files of a prefix that ends in /, also if no table has them")
        private String location;
    }
}
