package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Starts the cache workers, and waits until they listen.
 */
@Command(
        name = "start",
        sortOptions = false,
        description = "Starts the cache workers and waits until they accept connections. Running ones are left unchanged.")
final class StartCommand
        implements Callable<Integer>
{
    @Mixin
    private ServiceOptions options;

    private final Console console;

    StartCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        return options.run(List.of(ServiceAction.START), console);
    }
}
