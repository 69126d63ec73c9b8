package io.cachedhive.tests.containers;

import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Runs queries one after the other, beside what a test does, until one fails.
 */
final class QueryLoop
        implements AutoCloseable
{
    private final Callable<?> query;
    private final Thread thread;
    private volatile boolean closed;
    private volatile long queries;
    private volatile Optional<Throwable> failure = Optional.empty();

    private QueryLoop(Callable<?> query)
    {
        this.query = query;
        thread = Thread.ofPlatform().daemon().name("query-loop").start(this::run);
    }

    static QueryLoop start(Callable<?> query)
    {
        return new QueryLoop(query);
    }

    private void run()
    {
        while (!closed && failure.isEmpty()) {
            try {
                query.call();
                queries++;
            }
            catch (Exception | AssertionError e) {
                failure = Optional.of(e);
            }
        }
    }

    /**
     * That have ended well.
     */
    long queries()
    {
        return queries;
    }

    /**
     * @throws AssertionError if a query failed
     */
    void check()
    {
        failure.ifPresent(cause -> {
            throw new AssertionError("query %s of the loop failed".formatted(queries + 1), cause);
        });
    }

    /**
     * Waits for the query that runs.
     */
    @Override
    public void close()
            throws InterruptedException
    {
        closed = true;
        thread.join();
    }
}
