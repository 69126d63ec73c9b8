package io.cachedhive.tests.cluster;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs queries one after the other, beside what a test does, until one fails.
 */
final class QueryLoop
        implements AutoCloseable
{
    private final Callable<?> query;
    // held while a query runs; fair, so that who wants a pause gets one
    private final ReentrantLock turn = new ReentrantLock(true);
    private final Thread thread;
    private volatile boolean closed;
    private volatile long queries;
    private volatile Optional<Throwable> failure = Optional.empty();

    private QueryLoop(Callable<?> query)
    {
        this.query = query;
        this.thread = Thread.ofPlatform().daemon().name("query-loop").start(this::run);
    }

    static QueryLoop start(Callable<?> query)
    {
        return new QueryLoop(query);
    }

    private void run()
    {
        while (!closed && failure.isEmpty()) {
            turn.lock();
            try {
                query.call();
                queries++;
            }
            catch (Exception | AssertionError e) {
                failure = Optional.of(e);
            }
            finally {
                turn.unlock();
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
     * Runs something while no query runs.
     */
    <T> T beside(Callable<T> action)
            throws Exception
    {
        turn.lock();
        try {
            check();
            return action.call();
        }
        finally {
            turn.unlock();
        }
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

    @Override
    public void close()
            throws InterruptedException
    {
        closed = true;
        thread.join();
    }
}
