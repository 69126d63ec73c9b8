package io.cachedhive.plugin.membership;

import io.cachedhive.protocol.ring.WorkerAddress;

import java.util.concurrent.CompletionException;

/**
 * Says to an operator what is wrong with a cache worker, and how to mend it: one sentence each.
 */
public final class WorkerProblems
{
    private WorkerProblems() {}

    public static String describe(WorkerAddress address, Throwable failure)
    {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return "no cache worker answers on %s: start it there, or set cachedhive.worker.port to the port that cache workers listen on (%s)"
                .formatted(address, cause.getMessage());
    }
}
