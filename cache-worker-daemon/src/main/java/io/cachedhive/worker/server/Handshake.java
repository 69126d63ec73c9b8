package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeProof;
import io.cachedhive.protocol.wire.HandshakeProof.Role;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;

import java.security.SecureRandom;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The server side of the handshake, without I/O: HELLO, CHALLENGE, PROOF.
 */
final class Handshake
{
    // shared by all handshakes, because creating one reads from the kernel
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Optional<String> secret;
    private final byte[] serverNonce = new byte[HandshakeProof.NONCE_BYTES];
    private Hello hello;

    /**
     * @param secret the secret that the peer must know; empty if none is set or the transport authenticates the peer
     */
    Handshake(Optional<String> secret)
    {
        this.secret = requireNonNull(secret, "secret is null");
        RANDOM.nextBytes(serverNonce);
    }

    /**
     * Thrown to reject a peer. The message is sent to the peer before the connection is closed.
     */
    static final class RefusedException
            extends Exception
    {
        RefusedException(String message)
        {
            super(message);
        }
    }

    Challenge challenge(Message first)
            throws WireException, RefusedException
    {
        if (!(first instanceof Hello hello)) {
            throw new WireException("the first message is not HELLO but " + first.type());
        }
        if (hello.nonce().length != HandshakeProof.NONCE_BYTES) {
            throw new WireException("nonce has %s bytes instead of %s".formatted(hello.nonce().length, HandshakeProof.NONCE_BYTES));
        }
        if (hello.maxVersion() < Message.MIN_VERSION || hello.minVersion() > Message.MAX_VERSION || hello.minVersion() > hello.maxVersion()) {
            throw new RefusedException("this cache worker speaks the protocol versions %s to %s, the client %s to %s: upgrade the older of the two".formatted(
                    Message.MIN_VERSION,
                    Message.MAX_VERSION,
                    hello.minVersion(),
                    hello.maxVersion()));
        }
        this.hello = hello;
        return new Challenge(
                Math.min(hello.maxVersion(), Message.MAX_VERSION),
                secret.isPresent(),
                serverNonce,
                HandshakeProof.prove(secret, Role.SERVER, hello.nonce(), serverNonce));
    }

    Hello prove(Message second)
            throws WireException, RefusedException
    {
        if (!(second instanceof Proof(byte[] proof))) {
            throw new WireException("the second message is not PROOF but " + second.type());
        }
        if (!HandshakeProof.verify(secret, Role.CLIENT, hello.nonce(), serverNonce, proof)) {
            throw new RefusedException(secret.isPresent() ?
                    "the shared secret is not the cache worker's: internal-communication.shared-secret and cachedhive.shared-secret must be the same on all hosts" :
                    "the client proved a shared secret, the cache worker has none: set internal-communication.shared-secret");
        }
        return hello;
    }
}
