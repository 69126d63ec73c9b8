package io.cachedhive.benchmark;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The program behind {@code bin/benchmark}.
 */
@Command(
        name = "bin/benchmark",
        description = {"Measures cachedhive against its budgets.", ""},
        subcommandsRepeatable = false,
        commandListHeading = "%nBenchmarks:%n",
        footer = {"", "Exit code: 0 measured (whether budgets hold stands in the figures), 1 failed, 2 wrong usage."})
public final class BenchmarkMain
{
    static final int OK = 0;
    static final int FAILED = 1;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    @SuppressWarnings("UnusedVariable") // picocli looks at the option
    private boolean help;

    private BenchmarkMain() {}

    public static void main(String[] args)
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        PrintStream error = new PrintStream(System.err, true, UTF_8);
        System.exit(run(out, error, args));
    }

    static int run(PrintStream out, PrintStream error, String... args)
    {
        return new CommandLine(new BenchmarkMain())
                .addSubcommand(new MicroCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .addSubcommand(new StoreCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .addSubcommand(new FilesCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .addSubcommand(new PlacementCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .addSubcommand(new QueriesCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .addSubcommand(new ScansCommand(out, error, "bin/benchmark " + String.join(" ", args)))
                .setUsageHelpWidth(110)
                .setExecutionExceptionHandler((e, _, _) -> {
                    printReasons(e, "bin/benchmark: ", error);
                    return FAILED;
                })
                .execute(args);
    }

    /// JMH says only that something failed: what it was stands in causes and suppressed exceptions
    private static void printReasons(Throwable failure, String prefix, PrintStream error)
    {
        error.println(prefix + failure);
        if (failure.getCause() != null) {
            printReasons(failure.getCause(), "  because of ", error);
        }
        for (Throwable suppressed : failure.getSuppressed()) {
            printReasons(suppressed, "  with ", error);
        }
    }
}
