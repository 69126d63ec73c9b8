package io.cachedhive.admin;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Shows the help of a command. Picocli's own command of this name cannot be used, because it does not inherit the option {@code --help}.
 */
@Command(
        name = "help",
        sortOptions = false,
        helpCommand = true,
        description = "Shows the help of a command.")
final class HelpCommand
        implements Callable<Integer>
{
    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "the command, such as config check (default: list the commands)")
    private List<String> command = List.of();

    @Spec
    private CommandSpec spec;

    private final Console console;

    HelpCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
    {
        CommandLine found = spec.root().commandLine();
        for (String name : command) {
            CommandLine next = found.getSubcommands().get(name);
            if (next == null) {
                // its suggestions are printed as for the command itself
                throw new UnmatchedArgumentException(found, List.of(name));
            }
            found = next;
        }
        found.usage(console.out());
        return ExitCode.OK;
    }
}
