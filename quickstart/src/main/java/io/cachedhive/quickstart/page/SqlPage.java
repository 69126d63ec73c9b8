package io.cachedhive.quickstart.page;

import io.cachedhive.quickstart.page.SqlScript.Columns;
import io.cachedhive.quickstart.page.SqlScript.Part;
import io.cachedhive.quickstart.page.SqlScript.Statement;
import io.cachedhive.quickstart.page.SqlScript.Text;
import io.cachedhive.quickstart.sql.ResultText;
import io.cachedhive.quickstart.sql.SqlConnection;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * Runs a {@link SqlScript} on a running cluster and writes {@code docs/sql.md}: the script with the results of its statements.
 */
public final class SqlPage
{
    /// Of the cluster on which the page is written.
    public static final int WORKERS = 3;

    private static final String FILE = "docs/sql.md";
    private static final String CATALOG = "cachedhive";
    private static final Duration AWAIT_TIMEOUT = Duration.ofMinutes(1);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);
    // fits on a page of a browser
    private static final int MAX_WIDTH = 130;

    private final URI server;
    private final Consumer<String> progress;
    private final List<String> problems = new ArrayList<>();

    /// @param progress is told each statement
    public SqlPage(URI server, Consumer<String> progress)
    {
        this.server = requireNonNull(server, "server is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    /// Writes the page, unless something is wrong with it.
    ///
    /// @param root of the repository
    /// @return what is wrong, one sentence each: a statement that failed, or did not though it should, or a table that the page does not have
    public List<String> write(Path root)
            throws SQLException, InterruptedException, IOException
    {
        String page = run(SqlScript.read());
        if (problems.isEmpty()) {
            Path file = root.resolve(FILE);
            Files.writeString(file, Files.exists(file) ? PageText.keepResults(page, Files.readString(file)) : page);
        }
        return problems;
    }

    /// Runs the same on another cluster.
    ///
    /// @return as of {@link #write}, and whether the page is the script's, but for results, which are of the cluster
    public List<String> check(Path root)
            throws SQLException, InterruptedException, IOException
    {
        String page = run(SqlScript.read());
        if (!PageText.withoutResults(page).equals(PageText.withoutResults(Files.readString(root.resolve(FILE))))) {
            problems.add("%s is not what its script makes of these tables: run bin/quickstart --sql-page".formatted(FILE));
        }
        return problems;
    }

    private String run(SqlScript script)
            throws SQLException, InterruptedException
    {
        StringBuilder page = new StringBuilder();
        Set<String> shown = new HashSet<>();
        try (SqlConnection connection = SqlConnection.open(server, "docs", Optional.of(CATALOG), Optional.of("web"))) {
            for (Part part : script.parts()) {
                switch (part) {
                    case Text text -> page.append(text.markdown());
                    case Columns columns -> {
                        shown.add(columns.table());
                        page.append(columns(connection, columns.table()));
                    }
                    case Statement statement -> page.append(statement(connection, statement));
                }
            }
            // in both places: the same tables may be in one and not in the other
            for (String catalog : List.of(CATALOG, "system")) {
                connection.query("SELECT table_name FROM %s.information_schema.tables WHERE table_schema = 'cache' ORDER BY 1".formatted(catalog)).rows().forEach(row -> {
                    if (!shown.contains(row.getFirst())) {
                        problems.add("%s.cache.%s is not on the page".formatted(catalog, row.getFirst()));
                    }
                });
            }
        }
        return page.toString();
    }

    private String columns(SqlConnection connection, String table)
            throws SQLException
    {
        StringBuilder markdown = new StringBuilder("| column | type | meaning |\n|---|---|---|\n");
        for (List<Object> row : connection.query("SHOW COLUMNS FROM %s.cache.%s".formatted(CATALOG, table)).rows()) {
            String comment = (String) row.get(3);
            if (comment == null || comment.isBlank()) {
                problems.add("column %s of cache.%s says nothing about itself".formatted(row.getFirst(), table));
            }
            markdown.append("| `%s` | `%s` | %s |\n".formatted(row.get(0), row.get(1), comment));
        }
        return markdown.toString();
    }

    private String statement(SqlConnection connection, Statement statement)
            throws InterruptedException
    {
        progress.accept(statement.sql().lines().findFirst().orElseThrow());
        return switch (statement.kind()) {
            case SHOWN -> shown(statement.sql(), succeed(connection, statement));
            case HIDDEN -> {
                succeed(connection, statement);
                yield "";
            }
            case ERROR -> shown(statement.sql(), fail(connection, statement));
            case AWAIT -> {
                await(connection, statement);
                yield "";
            }
        };
    }

    private static String shown(String sql, String output)
    {
        return "```sql\n%s\n```\n".formatted(sql) + (output.isBlank() ? "" : "\n```text\n%s\n```\n".formatted(output.stripTrailing()));
    }

    private String succeed(SqlConnection connection, Statement statement)
    {
        try {
            return ResultText.format(connection.query(statement.sql()), MAX_WIDTH);
        }
        catch (SQLException e) {
            problems.add("%s: %s".formatted(statement.sql(), e.getMessage()));
            return "";
        }
    }

    private String fail(SqlConnection connection, Statement statement)
    {
        try {
            connection.query(statement.sql());
        }
        catch (SQLException e) {
            return e.getMessage();
        }
        problems.add("this should have failed: " + statement.sql());
        return "";
    }

    private void await(SqlConnection connection, Statement statement)
            throws InterruptedException
    {
        long deadline = System.nanoTime() + AWAIT_TIMEOUT.toNanos();
        while (true) {
            String failure = "";
            try {
                if (connection.query(statement.sql()).onlyValue().equals(true)) {
                    return;
                }
            }
            catch (SQLException e) {
                failure = e.getMessage();
            }
            if (System.nanoTime() - deadline > 0) {
                problems.add("not within %s: %s %s".formatted(AWAIT_TIMEOUT, statement.sql(), failure));
                return;
            }
            Thread.sleep(POLL_INTERVAL);
        }
    }
}
