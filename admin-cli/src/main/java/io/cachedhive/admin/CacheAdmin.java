package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

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
        versionProvider = VersionProvider.class,
        description = {"Installs cachedhive on the hosts of a Trino cluster, and operates its cache workers, over SSH and over their HTTP API.", ""},
        commandListHeading = "%nCommands:%n",
        footer = {
                "",
                "Results go to the standard output, everything else to the standard error.",
                "Exit code: 0 all is done, 1 at least one host failed or did not answer (the others are done), 2 wrong usage,",
                "3 the hosts file, the package or another file on this machine cannot be used, 4 a check found something.",
                "",
                "Begin with: cache-admin init --help"})
public final class CacheAdmin
        implements Callable<Integer>
{
    @Option(names = {"-h", "--help"}, usageHelp = true, scope = CommandLine.ScopeType.INHERIT, description = "show this help")
    @SuppressWarnings("UnusedVariable") // picocli looks at the option
    private boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "show the version")
    @SuppressWarnings("UnusedVariable") // picocli looks at the option
    private boolean version;

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
        int code = commandLine(console).execute(args);
        console.out().flush();
        console.error().flush();
        return code;
    }

    /// Returns the parser of the program's command lines.
    static CommandLine commandLine(Console console)
    {
        return new CommandLine(new CacheAdmin())
                .addSubcommand(new InitCommand(console))
                .addSubcommand(new InstallCommand(console))
                .addSubcommand(new UninstallCommand(console))
                .addSubcommand(new UpgradeCommand(console))
                .addSubcommand(new RollbackCommand(console))
                .addSubcommand(new StartCommand(console))
                .addSubcommand(new StopCommand(console))
                .addSubcommand(new RestartCommand(console))
                .addSubcommand(new StatusCommand(console))
                .addSubcommand(new StatsCommand(console))
                .addSubcommand(new TopCommand(console))
                .addSubcommand(new UiCommand(console))
                .addSubcommand(new ExplainCommand(console))
                .addSubcommand(new DoctorCommand(console))
                .addSubcommand(new EnableCommand(console))
                .addSubcommand(new DisableCommand(console))
                .addSubcommand(new FlushCommand(console))
                .addSubcommand(new PreloadCommand(console))
                .addSubcommand("config", new CommandLine(new ConfigCommand())
                        .addSubcommand(new ConfigCheckCommand(console))
                        .addSubcommand(new ConfigDiffCommand(console))
                        .addSubcommand(new ConfigPushCommand(console))
                        .addSubcommand(new ConfigMigrateCommand(console)))
                .addSubcommand("secret", new CommandLine(new SecretCommand())
                        .addSubcommand(new SecretRotateCommand(console)))
                .addSubcommand("certificate", new CommandLine(new CertificateCommand())
                        .addSubcommand(new CertificatePushCommand(console)))
                .addSubcommand("rules", new CommandLine(new RulesCommand())
                        .addSubcommand(new RulesCheckCommand(console))
                        .addSubcommand(new RulesExplainCommand(console)))
                .addSubcommand(new LogsCommand(console))
                .addSubcommand(new DrainCommand(console))
                .addSubcommand(new FsckCommand(console))
                .addSubcommand(new SupportBundleCommand(console))
                .addSubcommand(new CompletionCommand(console))
                .addSubcommand(new HelpCommand(console))
                .registerConverter(Duration.class, new DurationConverter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false)
                .setOut(console.out())
                .setErr(console.error())
                .setParameterExceptionHandler((e, _) -> {
                    String program = e.getCommandLine().getCommandSpec().qualifiedName();
                    console.problem("%s%s (see %s --help)".formatted(e.getMessage(), suggestion(e), program));
                    return ExitCode.WRONG_USAGE;
                })
                .setExecutionExceptionHandler((e, _, _) -> {
                    if (e instanceof ClusterFileException) {
                        console.clearProgress();
                        console.problem(e.getMessage());
                        return ExitCode.WRONG_CONFIGURATION;
                    }
                    if (e instanceof TaskException) {
                        console.clearProgress();
                        console.problem(e.getMessage());
                        return ExitCode.HOST_FAILED;
                    }
                    if (e instanceof WrongUsageException) {
                        console.clearProgress();
                        console.problem(e.getMessage());
                        return ExitCode.WRONG_USAGE;
                    }
                    throw e;
                });
    }

    private static String suggestion(ParameterException e)
    {
        if (e instanceof UnmatchedArgumentException unmatched && !unmatched.getSuggestions().isEmpty()) {
            return ": did you mean %s?".formatted(String.join(" or ", unmatched.getSuggestions()));
        }
        return "";
    }

    @Override
    public Integer call()
    {
        throw new ParameterException(spec.commandLine(), "which command? One of: " + String.join(", ", spec.subcommands().keySet()));
    }
}
