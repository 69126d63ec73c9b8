package io.cachedhive.worker.request;

import io.cachedhive.protocol.wire.WireException;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The requests of a connection that have not been answered yet.
 */
final class ActiveRequests
{
    interface Active
    {
        /**
         * Cancels the request, because no client waits for the answer any more.
         */
        void cancel();
    }

    private final Map<Long, Active> requests = new ConcurrentHashMap<>();

    void add(long requestId, Active request)
            throws WireException
    {
        if (requests.putIfAbsent(requestId, request) != null) {
            throw new WireException("two concurrent requests have id " + requestId);
        }
    }

    void remove(long requestId)
    {
        requests.remove(requestId);
    }

    Optional<Active> take(long requestId)
    {
        return Optional.ofNullable(requests.remove(requestId));
    }

    Collection<Active> all()
    {
        return requests.values();
    }

    int count()
    {
        return requests.size();
    }
}
