package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Makes queries bypass the cache, as the plain Hive connector does: CALL system.set_cache_mode('OFF').
 */
@Command(
        name = "disable",
        sortOptions = false,
        description = {
                "Makes queries bypass the cache, as the plain Hive connector does: CALL system.set_cache_mode('OFF').",
                "For queries that are planned from now on, on all workers; works with every cache worker dead. In force until the coordinator ends, or until enable."})
final class DisableCommand
        implements Callable<Integer>
{
    @Mixin
    private CatalogOptions options;

    private final Console console;

    DisableCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        return options.run(catalog -> "CALL %s.system.set_cache_mode('OFF')".formatted(catalog), console);
    }
}
