package io.cachedhive.attack.path;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.Listener;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An attacker on the path has one TLS connection to the client and another one to the cache worker, and relays the
 * proofs between both.
 */
public final class Relay
        implements Attack
{
    private final SSLContext tls = TlsContexts.selfSignedServer();

    @Override
    public String name()
    {
        return "relay";
    }

    @Override
    public String description()
    {
        return "a man in the middle ends TLS on both sides and relays the proofs of the secret";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SECRET);
    }

    @Override
    public boolean isCounted()
    {
        return true;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        AtomicReference<String> success = new AtomicReference<>();
        try (Listener listener = Listener.start(connection -> relay(target, connection, success))) {
            try {
                target.client().orElseThrow().read(listener.address(), Optional.empty(), target.sample());
                return Optional.of("a client read a block over two TLS connections");
            }
            catch (IOException _) {
                // refused
            }
            // the cache worker must not rely on its client's check
            proveCarelessly(listener, target.secret().orElseThrow());
        }
        return Optional.ofNullable(success.get());
    }

    private void relay(Target target, SocketChannel connection, AtomicReference<String> success)
            throws IOException
    {
        try (WireConnection client = WireConnection.accepted(connection, tls, WireConnection.LIFETIME); WireConnection worker = WireConnection.tls(target.socketAddress())) {
            worker.send(0, client.expect(Hello.class));
            client.send(0, worker.expect(Challenge.class));
            worker.send(0, client.expect(Proof.class));
            Welcome welcome = worker.expect(Welcome.class);
            success.set("the cache worker accepted a relayed proof");
            client.send(0, welcome);
            while (true) {
                WireConnection.Frame request = client.receiveFrame();
                worker.send(request.request(), request.message());
                client.send(request.request(), worker.awaitAnswer(request.request()));
            }
        }
    }

    /**
     * Sends a valid proof to the attacker, as a client does that does not check the server's proof.
     */
    private static void proveCarelessly(Listener listener, String secret)
            throws IOException
    {
        try (WireConnection connection = WireConnection.tls(new InetSocketAddress(listener.address().host(), listener.address().port()))) {
            Hello hello = WireConnection.newHello(Sample.ORIGINS);
            connection.send(0, hello);
            Challenge challenge = connection.expect(Challenge.class);
            connection.send(0, new Proof(HandshakeProof.prove(secret, Side.CLIENT, connection.transcript(hello, challenge))));
            try {
                connection.receive();
            }
            catch (IOException _) {
                // the attacker was refused, and has no more use for its victim
            }
        }
    }
}
