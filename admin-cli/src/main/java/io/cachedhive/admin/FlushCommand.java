package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Removes a table or some of its partitions from all cache workers: CALL system.flush_data_cache.
 */
@Command(
        name = "flush",
        sortOptions = false,
        description = {
                "Removes a table or some of its partitions from all cache workers: CALL system.flush_data_cache.",
                "Needed after files were changed behind the cache's back; what is flushed is read from the object store again."})
final class FlushCommand
        implements Callable<Integer>
{
    @Mixin
    private TableOptions table;

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
        String arguments = table.arguments();
        return options.run(catalog -> "CALL %s.system.flush_data_cache(%s)".formatted(catalog, arguments), console);
    }
}
