package io.cachedhive.transport;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.transport.WorkerException.Reason;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static io.cachedhive.protocol.security.HandshakeProof.Side.CLIENT;
import static io.cachedhive.protocol.security.HandshakeProof.Side.SERVER;
import static java.util.Objects.requireNonNull;

/**
 * The client's side of the beginning of a connection: what to say next, and whether to go on.
 */
final class Handshake
{
    private static final int MIN_BLOCK_BYTES = 64 << 10;
    private static final int MAX_BLOCK_BYTES = 8 << 20;

    private final Endpoint endpoint;
    private final ClientIdentity identity;
    private final Hello hello;
    private byte[] binding = new byte[0];
    private Optional<CacheWorkerId> certified = Optional.empty();
    private Optional<CacheWorkerId> challenger = Optional.empty();
    private int version;
    private Optional<Welcome> welcome = Optional.empty();
    // read by other threads
    private volatile Optional<String> provenSecret = Optional.empty();

    Handshake(Endpoint endpoint, ClientIdentity identity, byte[] nonce)
    {
        this.endpoint = endpoint;
        this.identity = identity;
        this.hello = new Hello(Message.MIN_VERSION, Message.MAX_VERSION, nonce, identity.cluster(), identity.catalog(), identity.node(), identity.origins());
    }

    /**
     * Binds the handshake to a TLS connection. To be called before {@link #hello}.
     *
     * @param binding the key material exported from the connection
     * @param certified the cache worker that the certificate of the server names; empty for any
     */
    void bind(byte[] binding, Optional<CacheWorkerId> certified)
    {
        this.binding = requireNonNull(binding, "binding is null");
        this.certified = requireNonNull(certified, "certified is null");
    }

    Hello hello()
    {
        return hello;
    }

    /**
     * Empty until the worker has said welcome.
     */
    Optional<Welcome> welcome()
    {
        return welcome;
    }

    /**
     * Of the protocol, that both speak; known when the worker has said welcome.
     */
    int version()
    {
        return version;
    }

    /**
     * Returns the secret that both ends proved; empty if the client has none, and before the proof.
     */
    Optional<String> provenSecret()
    {
        return provenSecret;
    }

    /**
     * @return what to send next, if anything
     * @throws WorkerException if this worker is not to be used, with the remedy
     */
    Optional<Message> answer(Message message)
            throws WireException, WorkerException
    {
        return switch (message) {
            case Challenge challenge when challenger.isEmpty() -> {
                challenger = Optional.of(challenge.worker());
                version = challenge.version();
                yield Optional.of(prove(challenge));
            }
            case Welcome accepted when challenger.isPresent() -> {
                check(accepted);
                welcome = Optional.of(accepted);
                yield Optional.empty();
            }
            case ControlMessage.Error error -> throw new WorkerException(Reason.REFUSED, "cache worker at %s refuses: %s".formatted(endpoint, error.message()));
            default -> throw new WireException("%s message in the midst of a handshake".formatted(message.type()));
        };
    }

    private Proof prove(Challenge challenge)
            throws WorkerException
    {
        if (challenge.version() < Message.MIN_VERSION || challenge.version() > Message.MAX_VERSION) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s speaks protocol version %s, this client %s to %s: install the same release on both"
                    .formatted(endpoint, challenge.version(), Message.MIN_VERSION, Message.MAX_VERSION));
        }
        if (challenge.nonce().length != HandshakeProof.NONCE_BYTES) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s sent a nonce of %s bytes instead of %s: install the same release on both"
                    .formatted(endpoint, challenge.nonce().length, HandshakeProof.NONCE_BYTES));
        }
        if (certified.isPresent() && !certified.get().equals(challenge.worker())) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s is %s, but its certificate names the cache worker %s: issue a certificate for %s"
                    .formatted(endpoint, challenge.worker(), certified.get(), challenge.worker()));
        }
        List<String> secrets = identity.secrets().valid();
        if (secrets.isEmpty()) {
            // the socket admits readers without the secret, but who asks for a worker by its address wants the rights of the cluster
            boolean needsProof = challenge.proofRequired() || (endpoint instanceof Endpoint.Tcp && !challenge.proofs().isEmpty());
            if (needsProof) {
                throw new WorkerException(Reason.REFUSED, "cache worker at %s asks for the shared secret: ".formatted(endpoint) +
                        "set cachedhive.shared-secret to the value of the worker's internal-communication.shared-secret");
            }
            return new Proof(new byte[0]);
        }
        Transcript transcript = new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), binding);
        OptionalInt known = HandshakeProof.verify(secrets, SERVER, transcript, challenge.proofs());
        if (known.isEmpty()) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s does not prove that it knows the shared secret: ".formatted(endpoint) +
                    "give cachedhive.shared-secret and the worker's internal-communication.shared-secret the same value");
        }
        String secret = secrets.get(known.getAsInt());
        provenSecret = Optional.of(secret);
        return new Proof(HandshakeProof.prove(secret, CLIENT, transcript));
    }

    private void check(Welcome welcome)
            throws WireException, WorkerException
    {
        if (welcome.blockSizeBytes() < MIN_BLOCK_BYTES || welcome.blockSizeBytes() > MAX_BLOCK_BYTES) {
            throw new WireException("block size is not between %s and %s: %s".formatted(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES, welcome.blockSizeBytes()));
        }
        if (welcome.origins().size() != identity.origins().size()) {
            throw new WireException("cache worker sent the status of %s origins instead of %s".formatted(welcome.origins().size(), identity.origins().size()));
        }
        if (!challenger.equals(Optional.of(welcome.worker()))) {
            throw new WireException("cache worker sent the id %s after it signed the id %s".formatted(welcome.worker(), challenger.orElseThrow()));
        }
        if (endpoint instanceof Endpoint.Tcp(_, var expected) && expected.isPresent() && !expected.get().equals(welcome.worker())) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s is %s, but the ring expects %s; the next ring will have the new id"
                    .formatted(endpoint, welcome.worker(), expected.get()));
        }
    }

    /**
     * What is wrong with the worker's origins, and what to do.
     */
    static Optional<String> originProblem(ClientIdentity identity, Welcome welcome)
    {
        for (int i = 0; i < identity.origins().size(); i++) {
            String name = identity.origins().get(i).name();
            OriginId id = identity.origins().get(i).id();
            switch (welcome.origins().get(i)) {
                case KNOWN -> {}
                case UNKNOWN -> {
                    if (!identity.clientOrigins().contains(name)) {
                        return Optional.of("cache worker %s has no origin %s, so that Trino reads for it: add etc/origins/%s.properties to the worker"
                                .formatted(welcome.worker(), name, name));
                    }
                }
                case MISMATCH -> {
                    return Optional.of(("origin %s of cache worker %s is another endpoint, region or isolation domain than this catalog's (%s, %s), and nothing is cached: " +
                            "make etc/origins/%s.properties of the worker and the catalog agree").formatted(name, welcome.worker(), id, identity.isolationDomain(), name));
                }
            }
        }
        return Optional.empty();
    }
}
