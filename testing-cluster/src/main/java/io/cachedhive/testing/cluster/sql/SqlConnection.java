package io.cachedhive.testing.cluster.sql;

import io.trino.jdbc.QueryStats;
import io.trino.jdbc.TrinoConnection;
import io.trino.jdbc.TrinoDriver;
import io.trino.jdbc.TrinoResultSet;
import io.trino.jdbc.TrinoStatement;

import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * One session at a Trino coordinator. {@code USE}, {@code SET SESSION} and prepared statements stay with it.
 * Not thread-safe, except {@link #cancel()}.
 */
public final class SqlConnection
        implements AutoCloseable
{
    private final URI server;
    private final Connection connection;
    private final AtomicReference<Statement> running = new AtomicReference<>();

    private SqlConnection(URI server, Connection connection)
    {
        this.server = requireNonNull(server, "server is null");
        this.connection = requireNonNull(connection, "connection is null");
    }

    /**
     * Prepares a session; the server is first spoken to by the first statement.
     *
     * @param server {@code http://host:port} or {@code https://host:port}
     */
    public static SqlConnection open(URI server, String user, Optional<String> catalog, Optional<String> schema)
            throws SQLException
    {
        if (server.getHost() == null || server.getPort() < 0 || !("http".equals(server.getScheme()) || "https".equals(server.getScheme()))) {
            throw new SQLException("the server's address must look like http://host:port: " + server);
        }
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("source", "cachedhive-sql");
        if ("https".equals(server.getScheme())) {
            properties.setProperty("SSL", "true");
        }
        String url = "jdbc:trino://%s:%s".formatted(server.getHost(), server.getPort());
        Connection connection = new TrinoDriver().connect(url, properties);
        if (catalog.isPresent()) {
            connection.setCatalog(catalog.get());
        }
        if (schema.isPresent()) {
            connection.setSchema(schema.get());
        }
        return new SqlConnection(server, connection);
    }

    public URI server()
    {
        return server;
    }

    /// Sets a session property, `name` or `catalog.name`, for the statements that follow.
    public void setSession(String name, String value)
            throws SQLException
    {
        connection.unwrap(TrinoConnection.class).setSessionProperty(name, value);
    }

    public void setCatalogAndSchema(String catalog, String schema)
            throws SQLException
    {
        connection.setCatalog(catalog);
        connection.setSchema(schema);
    }

    /// Runs a statement and keeps its rows.
    public QueryResult query(String sql)
            throws SQLException
    {
        List<ResultColumn> columns = new ArrayList<>();
        List<List<Object>> rows = new ArrayList<>();
        RowHandler collector = new RowHandler()
        {
            @Override
            public void columns(List<ResultColumn> resultColumns)
            {
                columns.addAll(resultColumns);
            }

            @Override
            public void row(List<Object> values)
            {
                rows.add(values);
            }
        };
        try {
            Outcome outcome = stream(sql, collector, _ -> {});
            return new QueryResult(outcome.queryId(), columns, rows, outcome.updateCount(), outcome.elapsedMillis());
        }
        catch (IOException e) {
            throw new IllegalStateException("a list in memory failed to take a row", e);
        }
    }

    /**
     * Runs a statement and hands its rows on as they come.
     *
     * @param progress told about the running query every now and then, from the calling thread
     * @throws IOException if {@code handler} throws it: the query is cancelled
     */
    public Outcome stream(String sql, RowHandler handler, Consumer<QueryStats> progress)
            throws SQLException, IOException
    {
        long start = System.nanoTime();
        try (Statement statement = connection.createStatement()) {
            running.set(statement);
            // the only place that knows the id of a query without a result set
            AtomicReference<String> queryId = new AtomicReference<>();
            statement.unwrap(TrinoStatement.class).setProgressMonitor(stats -> {
                queryId.set(stats.getQueryId());
                progress.accept(stats);
            });
            long rowCount = 0;
            boolean hasRows = statement.execute(sql);
            if (hasRows) {
                try (ResultSet resultSet = statement.getResultSet()) {
                    queryId.set(resultSet.unwrap(TrinoResultSet.class).getQueryId());
                    List<ResultColumn> columns = columns(resultSet.getMetaData());
                    handler.columns(columns);
                    while (resultSet.next()) {
                        List<Object> row = new ArrayList<>(columns.size());
                        for (int index = 0; index < columns.size(); index++) {
                            row.add(value(resultSet, index + 1, columns.get(index)));
                        }
                        handler.row(row);
                        rowCount++;
                    }
                }
            }
            long updateCount = hasRows ? -1 : statement.getLargeUpdateCount();
            return new Outcome(
                    Optional.ofNullable(queryId.get()),
                    hasRows,
                    rowCount,
                    Optional.ofNullable(statement.unwrap(TrinoStatement.class).getUpdateType()),
                    updateCount < 0 ? OptionalLong.empty() : OptionalLong.of(updateCount),
                    (System.nanoTime() - start) / 1_000_000);
        }
        finally {
            running.set(null);
        }
    }

    /// Cancels the running statement, if there is one. May be called from any thread.
    public void cancel()
    {
        Statement statement = running.get();
        if (statement != null) {
            try {
                statement.cancel();
            }
            catch (SQLException _) {
                // the statement ended by itself meanwhile, or the server is gone: nothing is left to cancel
            }
        }
    }

    @Override
    public void close()
            throws SQLException
    {
        connection.close();
    }

    private static List<ResultColumn> columns(ResultSetMetaData metaData)
            throws SQLException
    {
        List<ResultColumn> columns = new ArrayList<>();
        for (int position = 1; position <= metaData.getColumnCount(); position++) {
            columns.add(new ResultColumn(metaData.getColumnLabel(position), metaData.getColumnTypeName(position)));
        }
        return columns;
    }

    private static Object value(ResultSet resultSet, int position, ResultColumn column)
            throws SQLException
    {
        if (column.isNumber() || column.baseType().equals("boolean") || column.baseType().equals("varbinary")) {
            return resultSet.getObject(position);
        }
        // the driver's text, not its objects: java.sql.Timestamp loses precision and java.sql.Date depends on the time zone
        return resultSet.getString(position);
    }

    /**
     * How a statement ended.
     *
     * @param hasRows whether there was a result set
     * @param updateType such as {@code CREATE TABLE}, for a statement without result set
     */
    public record Outcome(Optional<String> queryId, boolean hasRows, long rowCount, Optional<String> updateType, OptionalLong updateCount, long elapsedMillis) {}
}
