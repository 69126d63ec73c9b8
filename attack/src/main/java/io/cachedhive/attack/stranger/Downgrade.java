package io.cachedhive.attack.stranger;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.Listener;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An attacker makes a cache worker or a client use a connection without TLS, TLS 1.2, or an old version of the block
 * protocol.
 */
public final class Downgrade
        implements Attack
{
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final String TLS_1_2 = "TLSv1.2";
    // the fatal alerts handshake_failure and protocol_version
    private static final List<String> ALERTS = List.of("15030300020228", "15030300020246");

    @Override
    public String name()
    {
        return "downgrade";
    }

    @Override
    public String description()
    {
        return "connections without TLS, with TLS 1.2, and with an old version of the protocol";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
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
        Hello hello = WireConnection.newHello(Sample.ORIGINS);
        try (WireConnection connection = WireConnection.plain(target.socketAddress())) {
            if (isChallenged(connection, hello)) {
                return Optional.of("the cache worker accepted a HELLO without TLS");
            }
        }
        try (WireConnection connection = WireConnection.tls(target.socketAddress())) {
            if (isChallenged(connection, new Hello(0, 0, hello.nonce(), hello.cluster(), hello.catalog(), hello.node(), hello.origins()))) {
                return Optional.of("the cache worker accepted a HELLO of the protocol version 0");
            }
        }
        if (acceptsOldTls(target)) {
            return Optional.of("the cache worker accepted TLS 1.2");
        }
        return target.client().isPresent() ? downgradeClient(target) : Optional.empty();
    }

    private static boolean isChallenged(WireConnection connection, Hello hello)
    {
        try {
            connection.send(0, hello);
            connection.expect(Challenge.class);
            return true;
        }
        catch (IOException _) {
            // refused
            return false;
        }
    }

    private static boolean acceptsOldTls(Target target)
            throws IOException
    {
        try (SSLSocket socket = (SSLSocket) TlsContexts.secretClient().getSocketFactory().createSocket(target.address().host(), target.address().port())) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.setEnabledProtocols(new String[] {TLS_1_2});
            try {
                socket.startHandshake();
                return true;
            }
            catch (IOException _) {
                // refused
                return false;
            }
        }
    }

    /**
     * Stands at the address of a cache worker and refuses TLS 1.3. A client that falls back sends a HELLO without TLS,
     * on the same or on its next connection.
     */
    private static Optional<String> downgradeClient(Target target)
            throws IOException, InterruptedException
    {
        AtomicReference<String> success = new AtomicReference<>();
        for (String alert : ALERTS) {
            attackClient(target, success, (connection, _) -> connection.write(ByteBuffer.wrap(HexFormat.of().parseHex(alert))));
        }
        attackClient(target, success, (_, _) -> {});
        Challenge challenge = new Challenge(1, false, new byte[HandshakeProof.NONCE_BYTES], new CacheWorkerId("attacker"), List.of());
        attackClient(target, success, (connection, _) -> connection.write(challenge.toFrame(0)));
        SSLContext context = TlsContexts.selfSignedServer();
        attackClient(target, success, (connection, received) -> {
            SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(connection.socket(), new ByteArrayInputStream(received), true);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.setEnabledProtocols(new String[] {TLS_1_2});
            socket.startHandshake();
            success.set("a client accepted TLS 1.2");
        });
        return Optional.ofNullable(success.get());
    }

    private interface Answer
    {
        void send(SocketChannel connection, byte[] received)
                throws IOException;
    }

    private static void attackClient(Target target, AtomicReference<String> success, Answer answer)
            throws IOException, InterruptedException
    {
        try (Listener listener = Listener.start(connection -> {
            ByteBuffer received = ByteBuffer.allocate(TlsConnection.PREFIX_BYTES);
            while (received.hasRemaining()) {
                if (connection.read(received) < 0) {
                    return;
                }
            }
            if (!TlsConnection.isTls(received.flip())) {
                success.set("a client sent a HELLO without TLS");
                return;
            }
            byte[] prefix = new byte[received.remaining()];
            received.get(prefix);
            answer.send(connection, prefix);
        })) {
            // the second one after the first one failed
            for (int attempt = 0; attempt < 2; attempt++) {
                try {
                    target.client().orElseThrow().read(listener.address(), Optional.empty(), target.sample());
                    success.set("a client accepted a server that refuses TLS 1.3");
                }
                catch (IOException _) {
                    // refused
                }
            }
        }
    }
}
