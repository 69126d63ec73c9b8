package io.cachedhive.worker.server;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;

/**
 * Creates the last message of a handshake.
 */
public interface Welcomer
{
    /**
     * Returns the id of this cache worker, which both ends of a connection sign.
     */
    CacheWorkerId worker();

    /**
     * Returns the peer's identity, with those of its origins that this worker has.
     */
    Session session(Hello hello);

    Welcome welcome(Session session, Transport transport);
}
