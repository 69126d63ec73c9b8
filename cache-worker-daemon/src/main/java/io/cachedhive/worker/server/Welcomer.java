package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;

/**
 * Makes the last word of a handshake.
 */
public interface Welcomer
{
    /**
     * Who the peer is, and which of its origins this worker has.
     */
    Session session(Hello hello);

    Welcome welcome(Session session, Transport transport);
}
