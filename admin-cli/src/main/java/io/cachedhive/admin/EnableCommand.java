package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Makes queries use the cache: CALL system.set_cache_mode.
 */
@Command(
        name = "enable",
        sortOptions = false,
        description = {
                "Makes queries use the cache: CALL system.set_cache_mode.",
                "In force until the coordinator ends; cachedhive.mode of the catalog holds from then on."})
final class EnableCommand
        implements Callable<Integer>
{
    enum Mode
    {
        ON,
        READ_ONLY,
        SHADOW,
        DEFAULT
    }

    @Option(names = "--mode", paramLabel = "MODE", defaultValue = "ON",
            description = "ON, READ_ONLY, SHADOW, or DEFAULT to follow the rules and the catalog (default: ${DEFAULT-VALUE})")
    private Mode mode;

    @Mixin
    private CatalogOptions options;

    private final Console console;

    EnableCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        return options.run(catalog -> "CALL %s.system.set_cache_mode('%s')".formatted(catalog, mode), console);
    }
}
