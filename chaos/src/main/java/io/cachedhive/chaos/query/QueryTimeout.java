package io.cachedhive.chaos.query;

import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Cancels queries that run for too long.
 */
public final class QueryTimeout
        implements AutoCloseable
{
    private final Duration limit;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("query-timeout").factory());

    public QueryTimeout(Duration limit)
    {
        this.limit = requireNonNull(limit, "limit is null");
    }

    /** A query. */
    public interface Query
    {
        QueryResult run()
                throws SQLException;
    }

    public QueryResult limit(SqlConnection connection, Query query)
            throws SQLException
    {
        Future<?> cancel = executor.schedule(connection::cancel, limit.toMillis(), MILLISECONDS);
        try {
            return query.run();
        }
        finally {
            cancel.cancel(false);
        }
    }

    @Override
    public void close()
    {
        executor.shutdownNow();
    }
}
