package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;

/**
 * What the worker does with the requests of proven peers.
 */
public interface RequestHandler
{
    /**
     * Called by the connection's reader, which reads no further meanwhile: returns soon. A payload in the message is valid until this returns.
     *
     * @throws WireException if no client would send this: the connection is closed
     */
    void handle(Connection connection, long requestId, Message request)
            throws WireException;

    /**
     * The connection has ended: nothing can be sent on it any more. Called once for each connection that stood.
     */
    void closed(Connection connection);
}
