package io.cachedhive.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/**
 * The certificates of cache workers and Trino servers.
 */
@Command(
        name = "certificate",
        sortOptions = false,
        description = "Distributes the certificates of the block port.")
final class CertificateCommand
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
