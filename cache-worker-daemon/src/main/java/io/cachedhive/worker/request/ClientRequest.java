package io.cachedhive.worker.request;

import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.worker.server.Connection;

import static java.util.Objects.requireNonNull;

/**
 * A request that is answered asynchronously and can be cancelled.
 *
 * @param active the active requests of the connection
 */
record ClientRequest(Connection connection, ActiveRequests active, long id)
{
    ClientRequest
    {
        requireNonNull(connection, "connection is null");
        requireNonNull(active, "active is null");
    }

    void begin(ActiveRequests.Active task)
            throws WireException
    {
        active.add(id, task);
    }

    void send(Message answer)
    {
        connection.send(id, answer);
    }

    void end()
    {
        active.remove(id);
    }
}
