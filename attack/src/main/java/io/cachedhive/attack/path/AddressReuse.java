package io.cachedhive.attack.path;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.Listener;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A process listens at the address of a cache worker that went away, without the secret. Clients that the ring sends
 * there must neither prove the secret to it nor ask it for blocks.
 */
public final class AddressReuse
        implements Attack
{
    private static final CacheWorkerId OTHER = new CacheWorkerId("attacker");

    private final SSLContext tls = TlsContexts.selfSignedServer();

    @Override
    public String name()
    {
        return "address-reuse";
    }

    @Override
    public String description()
    {
        return "a fake cache worker at an address that clients know, with forged and stolen proofs";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SECRET);
    }

    @Override
    public boolean isCounted()
    {
        return false;
    }

    private enum Proofs
    {
        NONE("without a proof"),
        FORGED("with a forged proof"),
        STOLEN("with a proof that the cache worker made for the same HELLO"),
        STOLEN_FOR_OTHER("with a proof that the cache worker made under another id"),
        OMITTED("that omits the handshake");

        private final String text;

        Proofs(String text)
        {
            this.text = text;
        }
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        for (Proofs proofs : Proofs.values()) {
            AtomicReference<Message> sent = new AtomicReference<>();
            try (Listener listener = Listener.start(connection -> impersonate(target, proofs, connection, sent))) {
                if (isAccepted(target, listener, Optional.empty())) {
                    return Optional.of("a client read a block from a fake cache worker " + proofs.text);
                }
                if (sent.get() != null) {
                    return Optional.of("a client sent %s to a fake cache worker %s".formatted(sent.get().type(), proofs.text));
                }
            }
        }
        // a genuine cache worker at the address of another one: its blocks are those of another part of the ring
        try {
            target.client().orElseThrow().read(target.address(), Optional.of(OTHER), target.sample());
            return Optional.of("a client read a block from a cache worker with another id than the ring has");
        }
        catch (IOException _) {
            // refused
            return Optional.empty();
        }
    }

    private static boolean isAccepted(Target target, Listener listener, Optional<CacheWorkerId> worker)
            throws InterruptedException
    {
        try {
            target.client().orElseThrow().read(listener.address(), worker, target.sample());
            return true;
        }
        catch (IOException _) {
            // refused
            return false;
        }
    }

    private void impersonate(Target target, Proofs proofs, SocketChannel connection, AtomicReference<Message> sent)
            throws IOException
    {
        try (WireConnection client = WireConnection.accepted(connection, tls, WireConnection.LIFETIME)) {
            Hello hello = client.expect(Hello.class);
            Welcome welcome = new Welcome(OTHER, new Digest128(1, 1), 1 << 20, "", false, List.of(OriginStatus.KNOWN));
            switch (proofs) {
                case NONE -> client.send(0, challenge(OTHER, new byte[HandshakeProof.NONCE_BYTES], List.of()));
                case FORGED -> client.send(0, challenge(OTHER, new byte[HandshakeProof.NONCE_BYTES], List.of(new byte[HandshakeProof.PROOF_BYTES], hello.nonce())));
                case STOLEN -> client.send(0, steal(target, hello));
                case STOLEN_FOR_OTHER -> {
                    Challenge stolen = steal(target, hello);
                    client.send(0, challenge(OTHER, stolen.nonce(), stolen.proofs()));
                }
                case OMITTED -> client.send(0, welcome);
            }
            sent.set(client.receive());
            client.send(0, welcome);
            while (true) {
                WireConnection.Frame request = client.receiveFrame();
                sent.set(request.message());
                client.send(request.request(), target.sample().answer());
            }
        }
    }

    private static Challenge challenge(CacheWorkerId worker, byte[] nonce, List<byte[]> proofs)
    {
        return new Challenge(Message.MAX_VERSION, true, nonce, worker, proofs);
    }

    private static Challenge steal(Target target, Hello hello)
            throws IOException
    {
        try (WireConnection worker = WireConnection.tls(target.socketAddress())) {
            worker.send(0, hello);
            return worker.expect(Challenge.class);
        }
    }
}
