package io.cachedhive.admin;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * The script by which shells complete commands and options.
 */
@Command(
        name = "completion",
        sortOptions = false,
        description = "Prints the script by which bash and zsh complete commands and options: source <(cache-admin completion)")
final class CompletionCommand
        implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    private final Console console;

    CompletionCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
    {
        console.out().print(AutoComplete.bash("cache-admin", spec.root().commandLine()));
        return ExitCode.OK;
    }
}
