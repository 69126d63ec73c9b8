package io.cachedhive.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/**
 * The shared secret of the cluster.
 */
@Command(
        name = "secret",
        sortOptions = false,
        description = "Changes the shared secret of the cluster.")
final class SecretCommand
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
