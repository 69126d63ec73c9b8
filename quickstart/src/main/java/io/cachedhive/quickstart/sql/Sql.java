package io.cachedhive.quickstart.sql;

import io.trino.jdbc.QueryStats;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The SQL client behind {@code bin/sql}. Results go to the standard output; row counts, times, progress and errors to the standard error.
 */
@Command(
        name = "bin/sql",
        sortOptions = false,
        usageHelpWidth = 110,
        description = {
                "Runs SQL on a Trino server: the statements given, or those on the standard input.",
                "Without --server it asks the quickstart that is running.",
                ""},
        footer = {
                "",
                "Environment: CACHEDHIVE_SERVER is the server if --server is absent.",
                "Exit code: 0 done, 1 a statement failed, 2 wrong usage, 3 the server cannot be reached."})
public final class Sql
{
    public static final int OK = 0;
    public static final int STATEMENT_FAILED = 1;
    public static final int WRONG_USAGE = 2;
    public static final int NO_SERVER = 3;

    @Parameters(arity = "0..*", paramLabel = "STATEMENT", description = "one or more statements, separated by semicolons")
    private List<String> statements = new ArrayList<>();

    @Option(names = "--server", paramLabel = "URL", description = "Trino's address, such as http://localhost:8080")
    private String server;

    @Option(names = "--directory", paramLabel = "DIRECTORY", description = "directory of the running quickstart (default: .quickstart of this repository)")
    private Path directory;

    @Option(names = "--catalog", paramLabel = "NAME", description = "catalog of names without one")
    private String catalog;

    @Option(names = "--schema", paramLabel = "NAME", description = "schema of names without one")
    private String schema;

    @Option(names = "--user", paramLabel = "NAME", description = "name to run as (default: yours)")
    private String user = System.getProperty("user.name");

    @Option(names = "--session", paramLabel = "NAME=VALUE", description = "session property, also catalog.name=value; may be repeated")
    private Map<String, String> session = new LinkedHashMap<>();

    @Option(names = "--output", paramLabel = "FORMAT", description = "table (default; wide rows vertically), vertical, csv or json")
    private OutputFormat output = OutputFormat.TABLE;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final InputStream in;
    private final Writer out;
    private final PrintStream error;
    private final Terminal terminal;
    private final Map<String, String> environment;
    private volatile boolean interrupted;

    /// @param defaultDirectory of the quickstart that is asked if no server is named
    public Sql(InputStream in, Writer out, PrintStream error, Terminal terminal, Map<String, String> environment, Optional<Path> defaultDirectory)
    {
        this.in = requireNonNull(in, "in is null");
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.terminal = requireNonNull(terminal, "terminal is null");
        this.environment = Map.copyOf(environment);
        this.directory = defaultDirectory.orElse(null);
    }

    public static void main(String[] args)
    {
        PrintStream error = new PrintStream(System.err, true, UTF_8);
        Optional<Path> directory = Optional.ofNullable(System.getProperty("cachedhive.quickstart.directory")).map(Path::of);
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, UTF_8));
        System.exit(new Sql(System.in, out, error, Terminal.detect(), System.getenv(), directory).run(args));
    }

    /// Runs the program; returns its exit code.
    public int run(String... args)
    {
        CommandLine command = new CommandLine(this)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUnmatchedOptionsArePositionalParams(false);
        try {
            command.parseArgs(args);
        }
        catch (CommandLine.ParameterException e) {
            return fail(WRONG_USAGE, e.getMessage());
        }
        try {
            if (help) {
                command.usage(new PrintWriter(out, true));
                return OK;
            }
            return execute();
        }
        catch (IOException e) {
            return fail(STATEMENT_FAILED, e.getMessage());
        }
    }

    private int execute()
            throws IOException
    {
        Optional<String> defaultCatalog = Optional.ofNullable(catalog);
        Optional<String> defaultSchema = Optional.ofNullable(schema);
        String address = server != null ? server : environment.get("CACHEDHIVE_SERVER");
        if (address == null) {
            Optional<RunningQuickstart> running = directory == null ? Optional.empty() : RunningQuickstart.find(directory);
            if (running.isEmpty()) {
                return fail(NO_SERVER, "no quickstart is running%s; start bin/quickstart, or name a Trino server with --server"
                        .formatted(directory == null ? "" : " on " + directory));
            }
            address = running.get().server().toString();
            // a schema belongs to its catalog: where one is given, the note's other half means nothing
            if (defaultCatalog.isEmpty()) {
                defaultCatalog = Optional.of(running.get().catalog());
                defaultSchema = defaultSchema.or(() -> Optional.of(running.get().schema()));
            }
        }
        URI uri;
        try {
            uri = URI.create(address);
        }
        catch (IllegalArgumentException _) {
            return fail(WRONG_USAGE, "the server's address must look like http://host:port: " + address);
        }
        try (SqlConnection connection = SqlConnection.open(uri, user, defaultCatalog, defaultSchema)) {
            for (Map.Entry<String, String> property : session.entrySet()) {
                connection.setSession(property.getKey(), property.getValue());
            }
            // Ctrl-C must not leave the query running on the server
            Thread cancel = new Thread(
                    () -> {
                        interrupted = true;
                        connection.cancel();
                    },
                    "cancel");
            Runtime.getRuntime().addShutdownHook(cancel);
            try {
                return statements.isEmpty() ? runInput(connection) : runAll(connection, StatementSplitter.split(String.join("\n", statements)));
            }
            finally {
                removeShutdownHook(cancel);
            }
        }
        catch (SQLException e) {
            return fail(WRONG_USAGE, e.getMessage());
        }
    }

    private static void removeShutdownHook(Thread hook)
    {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        catch (IllegalStateException _) {
            // the JVM is on its way down: the hook runs
        }
    }

    private int runAll(SqlConnection connection, List<String> all)
            throws IOException
    {
        if (all.isEmpty()) {
            return fail(WRONG_USAGE, "there is no statement to run");
        }
        for (String statement : all) {
            int code = run(connection, statement);
            if (code != OK) {
                return code;
            }
        }
        return OK;
    }

    private int runInput(SqlConnection connection)
            throws IOException
    {
        BufferedReader reader = new BufferedReader(new InputStreamReader(in, UTF_8));
        StatementSplitter splitter = new StatementSplitter();
        while (true) {
            if (terminal.input()) {
                error.print(splitter.isEmpty() ? "sql> " : "  -> ");
                error.flush();
            }
            String line = reader.readLine();
            if (line == null) {
                break;
            }
            if (splitter.isEmpty() && List.of("quit", "exit").contains(line.replace(";", "").strip().toLowerCase(Locale.ROOT))) {
                return OK;
            }
            for (String statement : splitter.add(line + "\n")) {
                int code = run(connection, statement);
                // a person corrects the statement and goes on; a script must not go on with what depends on it
                if (code != OK && !terminal.input()) {
                    return code;
                }
            }
        }
        if (terminal.input()) {
            error.println();
        }
        String rest = splitter.finish();
        return rest.isEmpty() ? OK : run(connection, rest);
    }

    private int run(SqlConnection connection, String statement)
            throws IOException
    {
        ResultPrinter printer = output.printer(out, terminal.columns());
        Progress progress = new Progress();
        ClearingHandler handler = new ClearingHandler(progress, printer);
        try {
            SqlConnection.Outcome outcome = connection.stream(statement, handler, progress);
            progress.clear();
            printer.finish();
            out.flush();
            error.println(summary(outcome));
            return OK;
        }
        catch (SQLException e) {
            progress.clear();
            // what arrived before the failure was right; a header alone would look like an empty result
            if (handler.rowSeen()) {
                printer.finish();
            }
            out.flush();
            if (interrupted) {
                return fail(STATEMENT_FAILED, "cancelled");
            }
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof IOException || cause instanceof UncheckedIOException) {
                    return fail(NO_SERVER, "cannot reach Trino at %s: %s".formatted(connection.server(), cause.getMessage()));
                }
            }
            return fail(STATEMENT_FAILED, e.getMessage());
        }
    }

    private static String summary(SqlConnection.Outcome outcome)
    {
        double seconds = outcome.elapsedMillis() / 1000.0;
        if (outcome.hasRows()) {
            return "(%s in %.2f s)".formatted(rows(outcome.rowCount()), seconds);
        }
        String what = outcome.updateType().orElse("done");
        if (outcome.updateCount().isPresent() && outcome.updateCount().getAsLong() > 0) {
            what += ": " + rows(outcome.updateCount().getAsLong());
        }
        return "(%s in %.2f s)".formatted(what, seconds);
    }

    private static String rows(long count)
    {
        return count == 1 ? "1 row" : count + " rows";
    }

    private int fail(int code, String message)
    {
        error.println("bin/sql: " + (message == null ? "failed without a message" : message.strip()));
        return code;
    }

    /**
     * One line on a terminal that says how far the running query is.
     */
    private final class Progress
            implements Consumer<QueryStats>
    {
        private final long start = System.nanoTime();
        private boolean shown;

        @Override
        public void accept(QueryStats stats)
        {
            long elapsedMillis = (System.nanoTime() - start) / 1_000_000;
            // most statements are over before anybody would read it
            if (terminal.error() && terminal.output() && elapsedMillis > 500) {
                String state = stats.getState().toLowerCase(Locale.ROOT);
                error.print("\r%s, %s of %s splits, %s s ".formatted(state, stats.getCompletedSplits(), stats.getTotalSplits(), elapsedMillis / 1000));
                error.flush();
                shown = true;
            }
        }

        void clear()
        {
            if (shown) {
                error.print("\r\033[K");
                error.flush();
                shown = false;
            }
        }
    }

    private static final class ClearingHandler
            implements RowHandler
    {
        private final Progress progress;
        private final ResultPrinter printer;
        private boolean rowSeen;

        private ClearingHandler(Progress progress, ResultPrinter printer)
        {
            this.progress = progress;
            this.printer = printer;
        }

        boolean rowSeen()
        {
            return rowSeen;
        }

        @Override
        public void columns(List<ResultColumn> columns)
                throws IOException
        {
            progress.clear();
            printer.columns(columns);
        }

        @Override
        public void row(List<Object> values)
                throws IOException
        {
            rowSeen = true;
            progress.clear();
            printer.row(values);
        }
    }
}
