package io.cachedhive.worker.server;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;

import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static java.util.Objects.requireNonNull;

/**
 * The server side of the handshake, without I/O: HELLO, CHALLENGE, PROOF.
 */
final class Handshake
{
    // shared by all handshakes, because creating one reads from the kernel
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Transport transport;
    private final List<String> secrets;
    private final CacheWorkerId worker;
    private final byte[] binding;
    private final byte[] serverNonce = new byte[HandshakeProof.NONCE_BYTES];
    private Transcript transcript;

    /**
     * @param secrets the secrets of which the peer must know one; empty if none is configured, which refuses all peers on TCP
     * @param worker the id of this cache worker
     * @param binding the key material exported from the TLS connection; empty without TLS
     */
    Handshake(Transport transport, List<String> secrets, CacheWorkerId worker, byte[] binding)
    {
        this.transport = requireNonNull(transport, "transport is null");
        this.secrets = requireNonNull(secrets, "secrets is null");
        this.worker = requireNonNull(worker, "worker is null");
        this.binding = requireNonNull(binding, "binding is null");
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

    /**
     * The result of a handshake.
     *
     * @param secret the valid secret that the peer proved; empty if it proved none
     */
    record Established(Hello hello, Optional<String> secret)
    {
        @Override
        public String toString()
        {
            // without the secret
            return "Established{hello=%s, proven=%s}".formatted(hello, secret.isPresent());
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
        int version = Math.min(hello.maxVersion(), Message.MAX_VERSION);
        transcript = new Transcript(hello, version, serverNonce, worker, binding);
        return new Challenge(version, isProofRequired(), serverNonce, worker, HandshakeProof.proveAll(secrets, Side.SERVER, transcript));
    }

    // the permissions of the Unix socket admit a peer without a secret, which may do less
    private boolean isProofRequired()
    {
        return transport == Transport.TCP;
    }

    Established prove(Message second)
            throws WireException, RefusedException
    {
        if (!(second instanceof Proof(byte[] proof))) {
            throw new WireException("the second message is not PROOF but " + second.type());
        }
        if (proof.length == 0 && !isProofRequired()) {
            return new Established(transcript.hello(), Optional.empty());
        }
        OptionalInt secret = HandshakeProof.verify(secrets, Side.CLIENT, transcript, List.of(proof));
        if (secret.isEmpty()) {
            throw new RefusedException(secrets.isEmpty() ?
                    "the client proved a shared secret, the cache worker has none: set internal-communication.shared-secret" :
                    "the shared secret is not the cache worker's: internal-communication.shared-secret and cachedhive.shared-secret must be the same on all hosts");
        }
        return new Established(transcript.hello(), Optional.of(secrets.get(secret.getAsInt())));
    }
}
