package io.cachedhive.chaos.query;

import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.lake.TableFormat;
import io.cachedhive.chaos.rows.ChaosRows;
import io.cachedhive.chaos.rows.RowCheck;
import io.cachedhive.chaos.rows.SeenFile;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;

import static io.cachedhive.chaos.lake.Lake.SCHEMA;
import static java.util.Objects.requireNonNull;

/**
 * Runs queries, one after the other, as a seed draws them, and checks their rows. What it draws does not depend on results.
 */
public final class QueryClient
{
    private static final String CACHED = "cachedhive";
    private static final String PLAIN = "hive";
    private static final List<String> STRATEGIES = List.of("SOFT_AFFINITY", "HARD_AFFINITY", "NO_PREFERENCE");
    private static final int RANGES = 4;
    private static final int WRITTEN_PARTITIONS = 3;

    private final QuerySetting setting;
    private final String name;
    private final Random random;
    private int tables;

    /**
     * @param name of the client, a part of the names of its tables
     */
    public QueryClient(QuerySetting setting, String name, long seed)
    {
        this.setting = requireNonNull(setting, "setting is null");
        this.name = requireNonNull(name, "name is null");
        this.random = new Random(seed);
    }

    /** Draws a query, or a sequence of statements that writes a table, and runs it. */
    public void runNext()
    {
        int draw = random.nextInt(100);
        Session session = Session.draw(random);
        if (draw < 50) {
            runSteady(session, drawSteady());
        }
        else if (draw < 82) {
            List<MovingTable> moving = setting.lake().movingTables();
            MovingTable table = moving.get(random.nextInt(moving.size()));
            checkMoving(session, table, random.nextInt(4) == 0 ? 100 * (1 + random.nextInt(3)) : Integer.MAX_VALUE);
        }
        else if (draw < 90) {
            runPlain(drawSteady());
        }
        else {
            write(session);
        }
    }

    private record Session(Optional<String> strategy, boolean cacheEnabled)
    {
        private static final Session DEFAULT = new Session(Optional.empty(), true);

        private static Session draw(Random random)
        {
            return new Session(
                    random.nextInt(3) == 0 ? Optional.of(STRATEGIES.get(random.nextInt(STRATEGIES.size()))) : Optional.empty(),
                    random.nextInt(30) != 0);
        }

        private void apply(SqlConnection connection)
                throws SQLException
        {
            if (strategy.isPresent()) {
                connection.setSession(CACHED + ".node_selection_strategy", strategy.get());
            }
            if (!cacheEnabled) {
                connection.setSession(CACHED + ".cache_enabled", "false");
            }
        }
    }

    private String drawSteady()
    {
        List<String> steady = setting.lake().steadyTables();
        String table = steady.get(random.nextInt(steady.size()));
        String other = steady.get(random.nextInt(steady.size()));
        int from = random.nextInt(RANGES) * 900;
        return switch (random.nextInt(7)) {
            case 0, 1 -> "SELECT count(*), count(DISTINCT line), max(line), min(file_name), max(state), %s FROM %s".formatted(ChaosRows.wrongRows(), table);
            case 2 -> "SELECT count(*), min(payload), max(payload), %s FROM %s WHERE line BETWEEN '%06d' AND '%06d'".formatted(ChaosRows.wrongRows(), table, from, from + 700);
            case 3 -> "SELECT payload FROM %s WHERE line = '%06d'".formatted(table, from + 7);
            case 4 -> "SELECT count(*), to_hex(checksum(payload)) FROM %s".formatted(table);
            case 5 -> "SELECT count(*), min(a.payload), max(b.payload) FROM %s a JOIN %s b ON a.line = b.line WHERE a.line < '000500'".formatted(table, other);
            default -> "SELECT substr(line, 6) digit, count(*), to_hex(checksum(payload)) FROM %s GROUP BY 1 ORDER BY 1".formatted(table);
        };
    }

    private void runSteady(Session session, String sql)
    {
        Optional<List<List<Object>>> expected = setting.expectations().of(sql);
        if (expected.isEmpty()) {
            // plain Hive failed: the S3 server is in trouble
            setting.tally().add(QueryKind.PLAIN, Outcome.AS_PLAIN);
            return;
        }
        Run run = run(CACHED, session, sql);
        if (run.failure().isPresent()) {
            conclude(QueryKind.STEADY, run, Optional.empty(), true);
        }
        else if (!run.rows().equals(expected.get())) {
            setting.tally().add(QueryKind.STEADY, Outcome.WRONG, sql, "%s instead of %s".formatted(run.rows(), expected.get()), run.faults());
        }
        else {
            setting.tally().add(QueryKind.STEADY, Outcome.RIGHT);
        }
    }

    private void runPlain(String sql)
    {
        Run run = run(PLAIN, Session.DEFAULT, sql);
        if (run.failure().isPresent()) {
            setting.tally().add(QueryKind.PLAIN, Outcome.AS_PLAIN, sql, run.failure().get(), run.faults());
        }
        else {
            setting.tally().add(QueryKind.PLAIN, Outcome.RIGHT);
        }
    }

    /**
     * Queries a table whose files are replaced.
     *
     * @param limit only rows with smaller numbers
     */
    public void checkMoving(MovingTable table, int limit)
    {
        checkMoving(Session.DEFAULT, table, limit);
    }

    private void checkMoving(Session session, MovingTable table, int limit)
    {
        String sql = ChaosRows.check(table.name(), limit == Integer.MAX_VALUE ? "true" : "line < '%06d'".formatted(limit));
        Run run = run(CACHED, session, sql);
        if (run.failure().isPresent()) {
            conclude(QueryKind.MOVING, run, Optional.of(table), true);
            return;
        }
        List<String> violations = RowCheck.violations(run.rows().stream().map(SeenFile::of).toList(), table.files(), limit, run.fromNanos(), run.toNanos());
        if (violations.isEmpty()) {
            setting.tally().add(QueryKind.MOVING, Outcome.RIGHT);
        }
        else {
            setting.tally().add(QueryKind.MOVING, Outcome.WRONG, sql, "query %s: %s".formatted(run.queryId(), String.join("; ", violations)), run.faults());
        }
    }

    private void write(Session session)
    {
        tables++;
        String table = "%s.written_%s_%s".formatted(SCHEMA, name, tables);
        TableFormat format = TableFormat.values()[random.nextInt(TableFormat.values().length)];
        int rows = 100 * (1 + random.nextInt(20));
        int moreRows = 100 * (1 + random.nextInt(10));
        boolean partitioned = random.nextBoolean();
        String fileName = table.substring(table.indexOf('.') + 1);
        String layout = partitioned ? ", partitioned_by = ARRAY['part']" : random.nextBoolean() ? ", bucketed_by = ARRAY['line'], bucket_count = 3" : "";
        boolean ok = statement(session, "CREATE TABLE %s.%s WITH (format = '%s'%s) AS %s".formatted(CACHED, table, format, layout, written(fileName, 0, rows, partitioned)))
                && readWritten(session, table, rows, rows, 0)
                && statement(session, "INSERT INTO %s.%s %s".formatted(CACHED, table, written(fileName, 1, moreRows, partitioned)))
                && readWritten(session, table, rows + moreRows, Math.max(rows, moreRows), 1);
        if (ok && partitioned && statement(session, "DELETE FROM %s.%s WHERE part = 'p0'".formatted(CACHED, table))) {
            readWritten(
                    session,
                    table,
                    withoutFirstPartition(rows) + withoutFirstPartition(moreRows),
                    withoutFirstPartition(Math.max(rows, moreRows)),
                    1);
        }
        statement(session, "DROP TABLE IF EXISTS %s.%s".formatted(CACHED, table));
    }

    private static int withoutFirstPartition(int rows)
    {
        return rows - Math.ceilDiv(rows, WRITTEN_PARTITIONS);
    }

    private static String written(String fileName, int state, int rows, boolean partitioned)
    {
        String source = ChaosRows.source(fileName, state, rows);
        return partitioned ? "SELECT *, 'p' || CAST(CAST(line AS integer) %% %s AS varchar) part FROM (%s)".formatted(WRITTEN_PARTITIONS, source) : source;
    }

    private boolean statement(Session session, String sql)
    {
        Run run = run(CACHED, session, sql);
        if (run.failure().isPresent()) {
            conclude(QueryKind.WRITE, run, Optional.empty(), false);
            return false;
        }
        setting.tally().add(QueryKind.WRITE, Outcome.RIGHT);
        return true;
    }

    private boolean readWritten(Session session, String table, int rows, int distinctLines, int highestState)
    {
        String sql = "SELECT count(*), count(DISTINCT line), max(state), %s FROM %s".formatted(ChaosRows.wrongRows(), table.substring(table.indexOf('.') + 1));
        Run run = run(CACHED, session, sql);
        if (run.failure().isPresent()) {
            conclude(QueryKind.WRITTEN, run, Optional.empty(), true);
            return false;
        }
        List<Object> expected = List.of((long) rows, (long) distinctLines, ChaosRows.state(highestState), 0L);
        if (!run.rows().getFirst().equals(expected)) {
            Run plain = run(PLAIN, Session.DEFAULT, sql);
            setting.tally().add(
                    QueryKind.WRITTEN,
                    Outcome.WRONG,
                    sql,
                    "%s instead of %s; plain Hive has %s".formatted(run.rows(), expected, plain.failure().orElseGet(() -> plain.rows().toString())),
                    run.faults());
            return false;
        }
        setting.tally().add(QueryKind.WRITTEN, Outcome.RIGHT);
        return true;
    }

    private void conclude(QueryKind kind, Run run, Optional<MovingTable> table, boolean repeatable)
    {
        String message = run.failure().orElseThrow();
        Outcome outcome = Excuses.of(message, table, run.faults(), run.fromNanos(), run.toNanos())
                .orElseGet(() -> {
                    // the same query through plain Hive, with the same fault
                    if (repeatable && run(PLAIN, Session.DEFAULT, run.sql()).failure().isPresent()) {
                        return Outcome.AS_PLAIN;
                    }
                    return Excuses.isOfS3(message, run.faults()) ? Outcome.UNDECIDED : Outcome.FAILED;
                });
        setting.tally().add(kind, outcome, run.sql(), message, run.faults());
    }

    private record Run(String sql, String queryId, List<List<Object>> rows, Optional<String> failure, List<FaultKind> faults, long fromNanos, long toNanos) {}

    private Run run(String catalog, Session session, String sql)
    {
        long from = System.nanoTime();
        try (SqlConnection connection = setting.connect(catalog)) {
            if (catalog.equals(CACHED)) {
                session.apply(connection);
            }
            QueryResult result = setting.timeout().limit(connection, () -> connection.query(sql));
            long to = System.nanoTime();
            return new Run(sql, result.queryId().orElse("unknown"), result.rows(), Optional.empty(), setting.faults().between(from, to), from, to);
        }
        catch (SQLException e) {
            long to = System.nanoTime();
            String message = Objects.requireNonNullElse(e.getMessage(), e.toString());
            return new Run(sql, "unknown", List.of(), Optional.of(message + causes(e)), setting.faults().between(from, to), from, to);
        }
    }

    // the message of a query that failed on a worker is often in the cause
    private static String causes(Throwable failure)
    {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure.getCause(); cause != null && cause != cause.getCause(); cause = cause.getCause()) {
            if (cause.getMessage() != null && text.indexOf(cause.getMessage()) < 0) {
                text.append("; caused by: ").append(cause.getMessage());
            }
        }
        return text.toString();
    }
}
