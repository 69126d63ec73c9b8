package io.cachedhive.admin;

import io.cachedhive.admin.host.WorkerHost;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The program behind {@code bin/cache-admin}: looks after the cache workers of many hosts.
 */
@Command(
        name = "cache-admin",
        sortOptions = false,
        usageHelpWidth = 110,
        description = {"Looks after the cache workers of many hosts, over their HTTP API.", ""},
        commandListHeading = "%nCommands:%n",
        footer = {
                "",
                "Results go to the standard output, everything else to the standard error.",
                "Exit code: 0 every host answered, 1 at least one did not (the others' answers are printed), 2 wrong usage.",
                "",
                "Example: cache-admin status --hosts worker1,worker2,worker3:9485"})
public final class CacheAdmin
        implements Callable<Integer>
{
    @Option(names = {"-h", "--help"}, usageHelp = true, scope = CommandLine.ScopeType.INHERIT, description = "show this help")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private CacheAdmin() {}

    public static void main(String[] args)
    {
        Console console = new Console(
                new PrintWriter(new OutputStreamWriter(System.out, UTF_8)),
                new PrintWriter(new OutputStreamWriter(System.err, UTF_8)),
                Boolean.getBoolean("cachedhive.terminal.error"));
        System.exit(run(console, args));
    }

    /// Runs the program; returns its exit code.
    static int run(Console console, String... args)
    {
        CommandLine commandLine = new CommandLine(new CacheAdmin())
                .addSubcommand(new StatusCommand(console))
                .addSubcommand(new StatsCommand(console))
                .addSubcommand(new CompletionCommand(console))
                .registerConverter(WorkerHost.class, CacheAdmin::convertHost)
                .registerConverter(Duration.class, new DurationConverter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false)
                .setOut(console.out())
                .setErr(console.error())
                .setParameterExceptionHandler((e, _) -> {
                    String program = e.getCommandLine().getCommandSpec().qualifiedName();
                    console.problem("%s (%s --help tells more)".formatted(e.getMessage(), program));
                    return ExitCode.WRONG_USAGE;
                });
        int code = commandLine.execute(args);
        console.out().flush();
        console.error().flush();
        return code;
    }

    private static WorkerHost convertHost(String text)
    {
        try {
            return WorkerHost.parse(text);
        }
        catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    @Override
    public Integer call()
    {
        throw new ParameterException(spec.commandLine(), "which command? One of: " + String.join(", ", spec.subcommands().keySet()));
    }
}
