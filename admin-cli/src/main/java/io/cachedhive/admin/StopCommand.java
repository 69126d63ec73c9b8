package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Stops the cache workers, and waits until they have ended.
 */
@Command(
        name = "stop",
        sortOptions = false,
        description = "Stops the cache workers and waits until they have ended. Their blocks are restored at the next start.")
final class StopCommand
        implements Callable<Integer>
{
    @Mixin
    private ServiceOptions options;

    private final Console console;

    StopCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        return options.run(List.of(ServiceAction.STOP), console);
    }
}
