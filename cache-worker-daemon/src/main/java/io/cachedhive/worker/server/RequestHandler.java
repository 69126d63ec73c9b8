package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;

/**
 * Handles the requests of authenticated peers.
 */
public interface RequestHandler
{
    /**
     * Handles a request. The connection's reader waits for it and reads no other request meanwhile, so it must return
     * quickly. A payload in the message is valid until this method returns.
     *
     * @throws WireException if the request violates the protocol; the connection is closed then
     */
    void handle(Connection connection, long requestId, Message request)
            throws WireException;

    /**
     * Called once when an established connection has ended and nothing can be sent on it any more.
     */
    void closed(Connection connection);
}
