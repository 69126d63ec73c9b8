package io.cachedhive.worker.server;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.HandshakeProof;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.MessageType;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class TestBlockServer
{
    private static final byte[] NONCE = new byte[HandshakeProof.NONCE_BYTES];

    @TempDir
    private Path directory;

    private final PeerRefusals refusals = new PeerRefusals();
    private final AtomicInteger closedConnections = new AtomicInteger();
    private final AtomicInteger closedAnswers = new AtomicInteger();
    private BlockServer server;
    private ListenSockets sockets;

    private void start(Optional<String> secret, BlockServer.Limits limits)
    {
        sockets = ListenSockets.bind(InetAddress.getLoopbackAddress(), 0, directory.resolve("w.sock"), Optional.empty());
        server = new BlockServer(sockets, secret, limits, new PlainWelcomer(), new EchoHandler(), refusals);
        server.start();
    }

    private void start()
    {
        start(Optional.empty(), BlockServer.Limits.DEFAULT);
    }

    @AfterEach
    void stop()
    {
        server.close();
    }

    private static final class PlainWelcomer
            implements Welcomer
    {
        @Override
        public Session session(Hello hello)
        {
            return new Session(hello.cluster(), hello.catalog(), hello.node(), ImmutableList.of());
        }

        @Override
        public Welcome welcome(Session session, Transport transport)
        {
            return new Welcome(new CacheWorkerId("worker"), new Digest128(1, 2), 1 << 20, transport.name(), true, ImmutableList.of());
        }
    }

    /// Answers a ping with an ack, and a question for statistics with many megabytes.
    private final class EchoHandler
            implements RequestHandler
    {
        @Override
        public void handle(Connection connection, long requestId, Message request)
                throws WireException
        {
            switch (request) {
                case Ping _ -> connection.send(requestId, new Ack());
                case GetStats _ -> {
                    for (int i = 0; i < 64; i++) {
                        connection.send(new LargeAnswer());
                    }
                }
                case GetRings _ -> connection.send(requestId, new ControlMessage.Error("x".repeat(FrameHeader.MAX_BODY_BYTES)));
                default -> throw new WireException("not expected: " + request.type());
            }
        }

        @Override
        public void closed(Connection connection)
        {
            closedConnections.incrementAndGet();
        }
    }

    private final class LargeAnswer
            implements Outgoing
    {
        @Override
        public void prepare(List<ByteBuffer> buffers)
        {
            ReadMessage.BlockBytes message = new ReadMessage.BlockBytes(0, Source.RAM, 0, new PieceChecksums(0, 1 << 20, new int[16]), ByteBuffer.allocate(1 << 20));
            buffers.add(message.toFramePrefix(0));
            buffers.add(message.payload());
        }

        @Override
        public void close()
        {
            closedAnswers.incrementAndGet();
        }
    }

    private SocketAddress unix()
    {
        return UnixDomainSocketAddress.of(directory.resolve("w.sock"));
    }

    private WireClient connect(SocketAddress address, Optional<String> secret)
            throws IOException
    {
        return WireClient.connect(address, secret, "catalog", List.of());
    }

    private static void assertClosed(SocketChannel channel)
            throws IOException
    {
        ByteBuffer rest = ByteBuffer.allocate(1 << 16);
        try {
            while (channel.read(rest) >= 0) {
                rest.clear();
            }
        }
        catch (IOException _) {
            // reset, since the server did not read all: closed as well
        }
        channel.close();
    }

    @Test
    void testBothTransports()
            throws IOException
    {
        start();
        try (WireClient local = connect(unix(), Optional.empty()); WireClient remote = connect(sockets.tcpAddress(), Optional.empty())) {
            assertThat(local.welcome().memoryFile()).isEqualTo("UNIX");
            assertThat(remote.welcome().memoryFile()).isEqualTo("TCP");
            assertThat(local.ask(new Ping())).isEqualTo(new Ack());
            assertThat(remote.ask(new Ping())).isEqualTo(new Ack());
            assertThat(server.connectionCount()).isEqualTo(2);
        }
        Await.until("both are gone", () -> server.connectionCount() == 0 && closedConnections.get() == 2);
        assertThat(server.acceptedConnections()).isEqualTo(2);
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testSecret()
            throws IOException
    {
        start(Optional.of("secret"), BlockServer.Limits.DEFAULT);
        try (WireClient peer = connect(sockets.tcpAddress(), Optional.of("secret"))) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        // the socket file's permissions stand for the secret
        try (WireClient peer = connect(unix(), Optional.empty())) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testWrongSecret()
            throws IOException
    {
        start(Optional.of("secret"), BlockServer.Limits.DEFAULT);
        for (byte[] proof : List.of(new byte[0], new byte[32], new byte[31])) {
            try (SocketChannel channel = SocketChannel.open(sockets.tcpAddress())) {
                WireClient.send(channel, 0, hello(1, 1));
                Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
                assertThat(challenge.proofRequired()).isTrue();
                WireClient.send(channel, 0, new Proof(proof));
                assertThat(((ControlMessage.Error) WireClient.receiveMessage(channel)).message()).contains("the shared secret is not the cache worker's");
                assertClosed(channel);
            }
        }
        Await.until("refused", () -> refusals.count() == 3);
        assertThat(server.acceptedConnections()).isZero();
    }

    /// The server's own proof, sent back to it, proves nothing.
    @Test
    void testReflection()
            throws IOException
    {
        start(Optional.of("secret"), BlockServer.Limits.DEFAULT);
        try (SocketChannel channel = SocketChannel.open(sockets.tcpAddress())) {
            WireClient.send(channel, 0, hello(1, 1));
            Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(challenge.proof()));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(ControlMessage.Error.class);
        }
    }

    @Test
    void testClientWithSecretAndServerWithout()
            throws IOException
    {
        start();
        // a client that wants to speak to nobody else sees that the server proves nothing
        try (SocketChannel channel = SocketChannel.open(sockets.tcpAddress())) {
            WireClient.send(channel, 0, hello(1, 1));
            Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
            assertThat(challenge.proofRequired()).isFalse();
            assertThat(challenge.proof()).isEmpty();
        }
    }

    @Test
    void testVersions()
            throws IOException
    {
        start();
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(7, 9));
            assertThat(((ControlMessage.Error) WireClient.receiveMessage(channel)).message())
                    .isEqualTo("this cache worker speaks the protocol versions %d to %d, the client 7 to 9: upgrade the older of the two".formatted(
                            Message.MIN_VERSION,
                            Message.MAX_VERSION));
            assertClosed(channel);
        }
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(0, 9));
            assertThat(((Challenge) WireClient.receiveMessage(channel)).version()).isEqualTo(Message.MAX_VERSION);
        }
    }

    private static Hello hello(int minVersion, int maxVersion)
    {
        return new Hello(minVersion, maxVersion, NONCE, "cluster", "catalog", "node", List.of());
    }

    @Test
    void testGarbage()
            throws IOException
    {
        start(Optional.of("secret"), BlockServer.Limits.DEFAULT);
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        List<byte[]> garbage = new ArrayList<>();
        garbage.add("GET / HTTP/1.1\r\nHost: worker\r\n\r\n".getBytes(US_ASCII));
        garbage.add(header(FrameHeader.MAX_HANDSHAKE_BODY_BYTES + 1, MessageType.HELLO));
        garbage.add(header(-1, MessageType.HELLO));
        garbage.add(header(Integer.MAX_VALUE, MessageType.FILL));
        garbage.add(frame(new Ping()));
        garbage.add(frame(new Hello(1, 1, new byte[5], "cluster", "catalog", "node", List.of())));
        garbage.add(frame(new Proof(new byte[32])));
        for (int i = 0; i < 50; i++) {
            byte[] bytes = new byte[16 + random.nextInt(2000)];
            random.nextBytes(bytes);
            garbage.add(bytes);
            // and with a head that is right
            byte[] headed = bytes.clone();
            new FrameHeader(bytes.length - FrameHeader.BYTES, MessageType.HELLO, 0).writeTo(ByteBuffer.wrap(headed));
            garbage.add(headed);
        }
        for (byte[] bytes : garbage) {
            try (SocketChannel channel = SocketChannel.open(sockets.tcpAddress())) {
                channel.write(ByteBuffer.wrap(bytes));
                assertClosed(channel);
            }
        }
        Await.until("all %s are refused, seed %s".formatted(garbage.size(), seed), () -> refusals.count() == garbage.size());
        // and others are served
        try (WireClient peer = connect(sockets.tcpAddress(), Optional.of("secret"))) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
    }

    private static byte[] header(int length, MessageType type)
    {
        return ByteBuffer.allocate(FrameHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(length).put(type.code()).array();
    }

    private static byte[] frame(Message message)
    {
        ByteBuffer frame = message.toFrame(0);
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return bytes;
    }

    @Test
    void testGarbageAfterTheHandshake()
            throws IOException
    {
        start();
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(1, 1));
            WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
            channel.write(ByteBuffer.wrap("nonsense, more of it".getBytes(US_ASCII)));
            assertClosed(channel);
        }
        Await.until("refused", () -> refusals.count() == 1 && closedConnections.get() == 1);
    }

    @Test
    void testConnectionThatSaysNothingIsNotCounted()
            throws IOException
    {
        start();
        SocketChannel.open(sockets.tcpAddress()).close();
        try (WireClient peer = connect(sockets.tcpAddress(), Optional.empty())) {
            peer.ask(new Ping());
        }
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testHandshakeTakesTooLong()
            throws IOException
    {
        start(Optional.empty(), new BlockServer.Limits(Duration.ofSeconds(2), 64, Duration.ofSeconds(30), 1 << 20));
        try (SocketChannel silent = SocketChannel.open(sockets.tcpAddress()); SocketChannel halfway = SocketChannel.open(unix())) {
            WireClient.send(halfway, 0, hello(1, 1));
            assertThat(WireClient.receiveMessage(halfway)).isInstanceOf(Challenge.class);
            assertClosed(silent);
            assertClosed(halfway);
        }
        assertThat(refusals.count()).isEqualTo(2);
    }

    @Test
    void testManyThatDoNotFinishTheirHandshake()
            throws IOException
    {
        start(Optional.empty(), new BlockServer.Limits(Duration.ofSeconds(60), 4, Duration.ofSeconds(30), 1 << 20));
        List<SocketChannel> silent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            silent.add(SocketChannel.open(sockets.tcpAddress()));
        }
        // somebody honest finds a place among them
        try (WireClient peer = connect(sockets.tcpAddress(), Optional.empty())) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        Await.until("all but the last few are closed", () -> refusals.count() >= 16);
        for (SocketChannel channel : silent.subList(0, 16)) {
            assertClosed(channel);
        }
        for (SocketChannel channel : silent) {
            channel.close();
        }
    }

    /**
     * A reply that does not fit, and a request that is too large, fail alone: later requests use the same connection.
     */
    @Test
    void testMessageThatIsTooLargeFailsAlone()
            throws IOException
    {
        start();
        try (WireClient peer = connect(sockets.tcpAddress(), Optional.empty())) {
            assertThat(peer.ask(new GetRings()))
                    .isEqualTo(new ControlMessage.Error("the reply does not fit: ERROR message has 8454148 bytes, and a frame has at most 8454144"));
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        try (SocketChannel channel = SocketChannel.open(sockets.tcpAddress())) {
            WireClient.send(channel, 0, hello(1, 1));
            WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
            int length = FrameHeader.MAX_BODY_BYTES + 1;
            ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + length);
            new FrameHeader(length, MessageType.FILL, 5).writeTo(frame);
            frame.rewind();
            while (frame.hasRemaining()) {
                channel.write(frame);
            }
            assertThat(WireClient.receiveMessage(channel)).isEqualTo(new ControlMessage.Error("FILL request has 8454145 bytes, at most 8454144 are allowed"));
            WireClient.send(channel, 6, new Ping());
            assertThat(WireClient.receiveMessage(channel)).isEqualTo(new Ack());
        }
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testPeerThatDoesNotRead()
            throws IOException
    {
        start(Optional.empty(), new BlockServer.Limits(Duration.ofSeconds(60), 64, Duration.ofMillis(500), 1 << 20));
        try (SocketChannel deaf = SocketChannel.open(sockets.tcpAddress())) {
            WireClient.send(deaf, 0, hello(1, 1));
            WireClient.receiveMessage(deaf);
            WireClient.send(deaf, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(deaf)).isInstanceOf(Welcome.class);
            for (int i = 0; i < 4; i++) {
                WireClient.send(deaf, i + 1, new GetStats());
            }
            // the others do not notice
            try (WireClient peer = connect(sockets.tcpAddress(), Optional.empty())) {
                for (int i = 0; i < 100; i++) {
                    assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
                }
            }
            Await.until("it is closed", () -> closedConnections.get() == 2);
            assertClosed(deaf);
        }
        Await.until("every answer is closed, sent or not", () -> closedAnswers.get() == 256);
        assertThat(refusals.count()).isEqualTo(1);
    }

    @Test
    void testStop()
            throws IOException
    {
        start();
        WireClient peer = connect(unix(), Optional.empty());
        // the peer is welcomed before it counts
        Await.until("the connection is established", () -> server.connectionCount() == 1);
        server.close();
        Await.until("the connection ends", () -> closedConnections.get() == 1);
        assertThatThrownBy(() -> connect(unix(), Optional.empty())).isInstanceOf(IOException.class);
        peer.close();
    }
}
