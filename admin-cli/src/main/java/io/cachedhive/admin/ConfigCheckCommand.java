package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.ConfigurationCheck;
import io.cachedhive.admin.settings.HostFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Looks at what is on this machine.
 */
@Command(
        name = "check",
        sortOptions = false,
        description = "Checks the hosts file and the configuration directory on this machine, without contacting hosts. Exit code 4 if it finds a problem.")
final class ConfigCheckCommand
        implements Callable<Integer>
{
    @Mixin
    private ClusterOptions options;

    private final Console console;

    ConfigCheckCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        options.select(cluster);
        return FaultsPrinter.print(ConfigurationCheck.check(cluster, HostFiles.read(cluster)), options.isJson(), "The configuration is well.", console);
    }
}
