package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Stops the cache workers and starts them again.
 */
@Command(
        name = "restart",
        sortOptions = false,
        description = "Restarts the cache workers, all at once unless --parallel 1 is given. The upgrade command restarts them one by one.")
final class RestartCommand
        implements Callable<Integer>
{
    @Mixin
    private ServiceOptions options;

    private final Console console;

    RestartCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        return options.run(List.of(ServiceAction.STOP, ServiceAction.START), console);
    }
}
