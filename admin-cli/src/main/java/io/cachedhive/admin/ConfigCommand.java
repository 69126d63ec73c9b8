package io.cachedhive.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/**
 * The configuration of the hosts, which is made of the hosts file and the files of the configuration directory.
 */
@Command(
        name = "config",
        sortOptions = false,
        description = "Checks, compares, deploys and migrates the configuration of cache workers and catalogs.")
final class ConfigCommand
        implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call()
    {
        throw new ParameterException(spec.commandLine(), "which command? One of: " + String.join(", ", spec.subcommands().keySet()));
    }
}
