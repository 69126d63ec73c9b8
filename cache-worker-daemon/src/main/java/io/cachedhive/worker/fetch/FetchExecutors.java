package io.cachedhive.worker.fetch;

import java.util.concurrent.Executor;

import static java.util.Objects.requireNonNull;

/**
 * The executors of tasks that wait for origins.
 *
 * @param requests runs each request in a thread of its own; {@link FetchLimits} limits their number
 * @param confirmations runs the HEAD requests of provisional versions, a few at a time
 */
public record FetchExecutors(Executor requests, Executor confirmations)
{
    public FetchExecutors
    {
        requireNonNull(requests, "requests is null");
        requireNonNull(confirmations, "confirmations is null");
    }
}
