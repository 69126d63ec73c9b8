package io.cachedhive.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/**
 * Checks and explains caching rules.
 */
@Command(
        name = "rules",
        sortOptions = false,
        description = "Checks and explains files with caching rules.")
final class RulesCommand
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
