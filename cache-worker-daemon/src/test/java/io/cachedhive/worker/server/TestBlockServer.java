package io.cachedhive.worker.server;

import com.google.common.collect.ImmutableList;
import com.sun.management.UnixOperatingSystemMXBean;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.MessageType;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.GetTables;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ByteChannel;
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
    private static final CacheWorkerId WORKER = new CacheWorkerId("worker");
    private static final byte[] NONCE = new byte[HandshakeProof.NONCE_BYTES];

    // as the default, but handshakes may take longer on a busy machine
    private static final BlockServer.Limits PATIENT = limits(Duration.ofSeconds(60), 64, Duration.ofSeconds(30), 64 << 20);
    private static final Optional<String> SECRET = Optional.of("secret");

    @TempDir
    private Path directory;

    private final PeerRefusals refusals = new PeerRefusals();
    private final AtomicInteger closedConnections = new AtomicInteger();
    private final AtomicInteger closedAnswers = new AtomicInteger();
    private TlsMode tlsMode = TlsMode.REQUIRED;
    private BlockServer server;
    private ListenSockets sockets;

    private void start(Optional<String> secret, BlockServer.Limits limits)
    {
        Optional<InetSocketAddress> tcp = secret.map(_ -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        sockets = ListenSockets.bind(tcp, directory.resolve("w.sock"), SocketAccess.OWN_USER);
        server = new BlockServer(sockets, Secrets.of(secret.stream().toArray(String[]::new)), tlsMode, Optional.empty(), limits, new PlainWelcomer(), new EchoHandler(), refusals);
        server.start();
    }

    private void start()
    {
        start(Optional.empty(), PATIENT);
    }

    private static BlockServer.Limits limits(Duration handshakeTimeout, int maxUnproven, Duration stuckTimeout, int bodyBytes)
    {
        return new BlockServer.Limits(handshakeTimeout, maxUnproven, stuckTimeout, bodyBytes, 256, 64);
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
        public CacheWorkerId worker()
        {
            return WORKER;
        }

        @Override
        public Session session(Hello hello)
        {
            return new Session(hello.cluster(), hello.catalog(), hello.node(), ImmutableList.of());
        }

        @Override
        public Welcome welcome(Session session, Transport transport)
        {
            return new Welcome(WORKER, new Digest128(1, 2), 1 << 20, transport.name(), true, ImmutableList.of());
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
                case GetTables _ -> {
                    // the second thread of the connection sends more than one answer
                    connection.send(requestId, new Ack());
                    connection.send(requestId, new Ack());
                }
                case GetStats _ -> {
                    for (int i = 0; i < 64; i++) {
                        connection.send(new LargeAnswer());
                    }
                }
                case GetRings _ -> connection.send(requestId, new ControlMessage.Error("x".repeat(FrameHeader.MAX_BODY_BYTES)));
                case Fill _ -> connection.send(requestId, new Ack());
                case Flush _ -> connection.send(requestId, new Ack());
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

    private InetSocketAddress tcp()
    {
        return sockets.tcpAddress().orElseThrow();
    }

    private WireClient connect(SocketAddress address, Optional<String> secret)
            throws IOException
    {
        return WireClient.connect(address, secret, "catalog", List.of());
    }

    private static void assertClosed(ByteChannel channel)
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
        start(SECRET, PATIENT);
        try (WireClient local = connect(unix(), Optional.empty()); WireClient remote = connect(tcp(), SECRET)) {
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

    /**
     * A process that has just started initializes many classes, and each virtual thread that waits for one of them keeps its carrier.
     */
    @Test
    void testServesWithoutVirtualThreads()
            throws Exception
    {
        start(SECRET, PATIENT);
        try (PinnedCarriers _ = PinnedCarriers.pin();
                WireClient local = connect(unix(), Optional.empty());
                WireClient remote = connect(tcp(), SECRET)) {
            assertThat(local.ask(new Ping())).isEqualTo(new Ack());
            assertThat(remote.ask(new Ping())).isEqualTo(new Ack());
            // sent by the second thread of the connection
            long request = remote.send(new GetTables(""));
            assertThat(remote.await(request)).isEqualTo(new Ack());
            assertThat(remote.await(request)).isEqualTo(new Ack());
            assertThat(PinnedCarriers.isFree()).isFalse();
        }
        Await.until("virtual threads run again", PinnedCarriers::isFree);
    }

    @Test
    void testSecret()
            throws IOException
    {
        start(SECRET, PATIENT);
        try (WireClient peer = connect(tcp(), SECRET)) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        // the socket file's permissions stand for the secret
        try (WireClient peer = connect(unix(), Optional.empty())) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testRequestThatNeedsAnotherRole()
            throws IOException
    {
        start(SECRET, PATIENT);
        try (WireClient reader = connect(unix(), Optional.empty()); WireClient member = connect(tcp(), SECRET)) {
            assertThat(reader.ask(new Flush(List.of(), true))).isEqualTo(new ControlMessage.Error(
                    "FLUSH needs the role of the cluster, and this connection did not prove the shared secret: give its client the secret of the cache worker"));
            // the connection serves on
            assertThat(reader.ask(new Ping())).isEqualTo(new Ack());
            assertThat(member.ask(new Flush(List.of(), true))).isEqualTo(new Ack());
        }
        assertThat(refusals.requestCount()).isEqualTo(1);
        assertThat(refusals.count()).isZero();
    }

    /**
     * A message without an answer gets none, because an error without a request id would end the connection.
     */
    @Test
    void testMessageWithoutAnswerThatNeedsAnotherRole()
            throws IOException
    {
        start(SECRET, PATIENT);
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(1, 1));
            WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
            WireClient.send(channel, 0, new TableQuota("schema.table", 0));
            WireClient.send(channel, 1, new Ping());
            assertThat(WireClient.receiveMessage(channel)).isEqualTo(new Ack());
        }
        assertThat(refusals.requestCount()).isEqualTo(1);
    }

    /**
     * Without a secret, the socket is the only door, and its peers are the cluster.
     */
    @Test
    void testSocketOfAWorkerWithoutSecret()
            throws IOException
    {
        start();
        try (WireClient peer = connect(unix(), Optional.empty())) {
            assertThat(peer.ask(new Flush(List.of(), true))).isEqualTo(new Ack());
        }
        assertThat(refusals.requestCount()).isZero();
    }

    @Test
    void testMessageThatIsNoRequest()
            throws IOException
    {
        start();
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(1, 1));
            WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
            WireClient.send(channel, 1, new Ack());
            assertClosed(channel);
        }
        Await.until("refused", () -> refusals.count() == 1);
    }

    @Test
    void testWrongSecret()
            throws IOException
    {
        start(SECRET, PATIENT);
        for (byte[] proof : List.of(new byte[0], new byte[32], new byte[31])) {
            try (TlsConnection channel = tls()) {
                WireClient.send(channel, 0, hello(1, 1));
                Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
                assertThat(challenge.proofRequired()).isTrue();
                assertThat(challenge.worker()).isEqualTo(WORKER);
                WireClient.send(channel, 0, new Proof(proof));
                assertThat(((ControlMessage.Error) WireClient.receiveMessage(channel)).message()).contains("the shared secret is not the cache worker's");
                assertClosed(channel);
            }
        }
        Await.until("refused", () -> refusals.count() == 3);
        assertThat(server.acceptedConnections()).isZero();
    }

    private TlsConnection tls()
            throws IOException
    {
        TlsConnection tls = TlsConnection.client(SocketChannel.open(tcp()), TlsContexts.secretClient());
        tls.handshake();
        return tls;
    }

    /// The server's own proof, sent back to it, proves nothing.
    @Test
    void testReflection()
            throws IOException
    {
        start(SECRET, PATIENT);
        try (TlsConnection channel = tls()) {
            WireClient.send(channel, 0, hello(1, 1));
            Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(challenge.proofs().getFirst()));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(ControlMessage.Error.class);
        }
    }

    /// A proof that was made for another TLS connection, as a relay would send it.
    @Test
    void testProofOfAnotherTlsConnection()
            throws IOException
    {
        start(SECRET, PATIENT);
        for (boolean bound : List.of(true, false)) {
            try (TlsConnection channel = tls(); TlsConnection another = tls()) {
                Hello hello = hello(1, 1);
                WireClient.send(channel, 0, hello);
                Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
                byte[] binding = (bound ? channel : another).binding();
                Transcript transcript = new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), binding);
                assertThat(HandshakeProof.verify(List.of("secret"), Side.SERVER, transcript, challenge.proofs()).isPresent()).isEqualTo(bound);
                WireClient.send(channel, 0, new Proof(HandshakeProof.prove("secret", Side.CLIENT, transcript)));
                assertThat(WireClient.receiveMessage(channel)).isInstanceOf(bound ? Welcome.class : ControlMessage.Error.class);
            }
        }
    }

    /// A peer without TLS gets nothing but the reason, or is counted during an upgrade.
    @Test
    void testPlainPeers()
            throws IOException
    {
        start(SECRET, PATIENT);
        try (SocketChannel channel = SocketChannel.open(tcp())) {
            WireClient.send(channel, 0, hello(1, 1));
            assertThat(((ControlMessage.Error) WireClient.receiveMessage(channel)).message()).contains("requires TLS", "cache.worker.tls=ALLOWED");
            assertClosed(channel);
        }
        Await.until("refused", () -> refusals.count() == 1);
        assertThat(server.plainConnections()).isZero();
    }

    @Test
    void testPlainPeersDuringUpgrade()
            throws IOException
    {
        tlsMode = TlsMode.ALLOWED;
        start(SECRET, PATIENT);
        try (SocketChannel channel = SocketChannel.open(tcp())) {
            Hello hello = hello(1, 1);
            WireClient.send(channel, 0, hello);
            Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
            Transcript transcript = new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), new byte[0]);
            WireClient.send(channel, 0, new Proof(HandshakeProof.prove("secret", Side.CLIENT, transcript)));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
        }
        assertThat(server.plainConnections()).isEqualTo(1);
        try (WireClient peer = connect(tcp(), SECRET)) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        assertThat(server.plainConnections()).isEqualTo(1);
    }

    /// TLS 1.2 is refused, and nothing is sent to a peer that proves nothing.
    @Test
    void testOldTls()
            throws Exception
    {
        start(SECRET, PATIENT);
        SSLSocketFactory factory = TlsContexts.secretClient().getSocketFactory();
        InetSocketAddress address = tcp();
        try (SSLSocket socket = (SSLSocket) factory.createSocket(address.getAddress(), address.getPort())) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLException.class);
        }
        Await.until("refused", () -> refusals.count() == 1);
    }

    /**
     * Without a secret, there is no TCP port, and a client with a secret sees that the server proves nothing.
     */
    @Test
    void testClientWithSecretAndServerWithout()
            throws IOException
    {
        start();
        assertThat(sockets.tcpAddress()).isEmpty();
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(1, 1));
            Challenge challenge = (Challenge) WireClient.receiveMessage(channel);
            assertThat(challenge.proofRequired()).isFalse();
            assertThat(challenge.proofs()).isEmpty();
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
        start(SECRET, PATIENT);
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
            try (SocketChannel channel = SocketChannel.open(tcp())) {
                channel.write(ByteBuffer.wrap(bytes));
                assertClosed(channel);
            }
        }
        Await.until("all %s are refused, seed %s".formatted(garbage.size(), seed), () -> refusals.count() == garbage.size());
        // and others are served
        try (WireClient peer = connect(tcp(), SECRET)) {
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
        start(SECRET, PATIENT);
        SocketChannel.open(tcp()).close();
        try (WireClient peer = connect(tcp(), SECRET)) {
            peer.ask(new Ping());
        }
        assertThat(refusals.count()).isZero();
    }

    @Test
    void testHandshakeTakesTooLong()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(2), 64, Duration.ofSeconds(30), 1 << 20));
        try (SocketChannel silent = SocketChannel.open(tcp()); SocketChannel halfway = SocketChannel.open(unix())) {
            try {
                WireClient.send(halfway, 0, hello(1, 1));
            }
            catch (IOException _) {
                // on a busy machine it is closed already
            }
            assertClosed(silent);
            assertClosed(halfway);
        }
        Await.until("both are refused", () -> refusals.count() == 2);
    }

    @Test
    void testManyThatDoNotFinishTheirHandshake()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 4, Duration.ofSeconds(30), 1 << 20));
        List<SocketChannel> silent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            silent.add(SocketChannel.open(tcp()));
        }
        // somebody honest finds a place among them
        try (WireClient peer = connect(tcp(), SECRET)) {
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
     * A flood of one host closes no handshake of another.
     */
    @Test
    void testFloodOfOneHostDisplacesItsOwnHandshakes()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 4, Duration.ofSeconds(30), 1 << 20));
        List<SocketChannel> silent = new ArrayList<>();
        try (SocketChannel oldest = SocketChannel.open(tcp())) {
            for (int i = 0; i < 20; i++) {
                SocketChannel channel = SocketChannel.open();
                silent.add(channel);
                channel.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0));
                channel.connect(tcp());
            }
            Await.until("all of the other host but three are closed", () -> refusals.count() >= 17);
            WireClient.send(oldest, 0, hello(1, 1));
            assertThat(WireClient.receiveMessage(oldest)).as("an answer: TLS is required").isInstanceOf(ControlMessage.Error.class);
        }
        for (SocketChannel channel : silent) {
            channel.close();
        }
    }

    /**
     * Peers that prove the secret do not use up the handshakes of their host.
     */
    @Test
    void testProvenPeersDoNotWaitForTheirHandshakes()
            throws IOException
    {
        start(SECRET, new BlockServer.Limits(Duration.ofSeconds(60), 64, Duration.ofSeconds(30), 1 << 20, 2, 1.0 / 3600));
        for (int i = 0; i < 5; i++) {
            try (WireClient peer = connect(tcp(), SECRET)) {
                assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
            }
        }
    }

    /**
     * A flood on TCP closes no handshake on the Unix socket.
     */
    @Test
    void testFloodOnTcpDisplacesNoLocalHandshake()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 4, Duration.ofSeconds(30), 1 << 20));
        List<SocketChannel> silent = new ArrayList<>();
        List<SocketChannel> local = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SocketChannel channel = SocketChannel.open(unix());
            WireClient.send(channel, 0, hello(1, 1));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Challenge.class);
            local.add(channel);
        }
        for (int i = 0; i < 50; i++) {
            silent.add(SocketChannel.open(tcp()));
        }
        Await.until("all but the last few are closed", () -> refusals.count() >= 46);
        for (SocketChannel channel : local) {
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
            channel.close();
        }
        for (SocketChannel channel : silent) {
            channel.close();
        }
        assertThat(refusals.count()).isEqualTo(46);
    }

    /**
     * What an attacker leaves behind is as much as there was before.
     */
    @Test
    void testFloodUsesFewThreadsAndLeavesNothing()
            throws IOException
    {
        start(SECRET, PATIENT);
        UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (WireClient peer = connect(tcp(), SECRET)) {
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
            long descriptors = system.getOpenFileDescriptorCount();
            List<SocketChannel> flood = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                flood.add(SocketChannel.open(tcp()));
            }
            Await.until("the limit holds", () -> refusals.count() >= 500 - 64 && server.unprovenCount() <= 64);
            // a little more, because threads that have ended a handshake are idle for a moment
            Await.until("each handshake has one thread", () -> threads("block-server-handshake") + threads("block-server-idle") <= 2 * 64);
            Await.until("only the peer with the secret is served", () -> threads("block-server-read") == 1);
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
            for (SocketChannel channel : flood) {
                channel.close();
            }
            Await.until("nothing is left", () ->
                    server.unprovenCount() == 0 && threads("block-server-handshake") == 0 && system.getOpenFileDescriptorCount() < descriptors + 16);
        }
    }

    private static long threads(String name)
    {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals(name)).count();
    }

    @Test
    void testConnectionsOfReaders()
            throws IOException
    {
        start(SECRET, PATIENT);
        List<WireClient> readers = new ArrayList<>();
        for (int i = 0; i < BlockServer.MAX_READERS; i++) {
            readers.add(connect(unix(), Optional.empty()));
        }
        Await.until("all are established", () -> server.connectionCount() == BlockServer.MAX_READERS);
        try (SocketChannel channel = SocketChannel.open(unix())) {
            WireClient.send(channel, 0, hello(1, 1));
            WireClient.receiveMessage(channel);
            WireClient.send(channel, 0, new Proof(new byte[0]));
            assertClosed(channel);
        }
        assertThat(refusals.count()).isEqualTo(1);
        // members of the cluster have no such limit
        try (WireClient member = connect(tcp(), SECRET)) {
            assertThat(member.ask(new Ping())).isEqualTo(new Ack());
        }
        readers.removeFirst().close();
        Await.until("one ended", () -> server.connectionCount() == BlockServer.MAX_READERS - 1);
        try (WireClient reader = connect(unix(), Optional.empty())) {
            assertThat(reader.ask(new Ping())).isEqualTo(new Ack());
        }
        readers.forEach(WireClient::close);
    }

    private SocketChannel handshake(SocketAddress address)
            throws IOException
    {
        SocketChannel channel = SocketChannel.open(address);
        WireClient.send(channel, 0, hello(1, 1));
        WireClient.receiveMessage(channel);
        WireClient.send(channel, 0, new Proof(new byte[0]));
        assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
        return channel;
    }

    private static void beginFill(SocketChannel channel, int length, int sent)
            throws IOException
    {
        ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + sent);
        new FrameHeader(length, MessageType.FILL, 1).writeTo(frame.duplicate());
        while (frame.hasRemaining()) {
            channel.write(frame);
        }
    }

    /**
     * Completes a handshake whose last message arrives in parts, and another handshake between them.
     */
    private WireClient connectBetweenParts(SocketChannel channel)
            throws IOException
    {
        WireClient.send(channel, 0, hello(1, 1));
        WireClient.receiveMessage(channel);
        ByteBuffer proof = new Proof(new byte[0]).toFrame(0);
        channel.write(proof.slice(0, 5));
        WireClient other = connect(unix(), Optional.empty());
        channel.write(proof.slice(5, proof.remaining() - 5));
        assertThat(WireClient.receiveMessage(channel)).isInstanceOf(Welcome.class);
        return other;
    }

    /**
     * The time for a message does not start again with each byte. A peer between two messages has all the time.
     */
    @Test
    void testMessageThatIsNotCompleted()
            throws IOException, InterruptedException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 64, Duration.ofMillis(500), 1 << 20));
        try (SocketChannel idleSinceHandshake = SocketChannel.open(unix());
                WireClient idle = connectBetweenParts(idleSinceHandshake);
                SocketChannel inBody = handshake(unix());
                SocketChannel inHeader = handshake(unix());
                SocketChannel dribbling = handshake(unix())) {
            beginFill(inBody, 1 << 20, 100_000);
            inHeader.write(ByteBuffer.allocate(5));
            beginFill(dribbling, 60_000, 1);
            assertThatThrownBy(() -> {
                for (int i = 0; i < 50_000; i++) {
                    dribbling.write(ByteBuffer.allocate(1));
                    // the limit is many of these
                    // the peer is slow on purpose: its pauses are what is tested, not what is waited for
                    Thread.sleep(5);
                }
            }).isInstanceOf(IOException.class);
            assertClosed(inBody);
            assertClosed(inHeader);
            assertThat(idle.ask(new Ping())).isEqualTo(new Ack());
            WireClient.send(idleSinceHandshake, 1, new Ping());
            assertThat(WireClient.receiveMessage(idleSinceHandshake)).isEqualTo(new Ack());
            assertThat(refusals.count()).isEqualTo(3);
            // by the thread that read, after the connection was closed
            Await.until("the memory is returned", () -> server.bodyBudget().usedBytes() == 0);
        }
    }

    /**
     * A peer that stalls in its bodies does not keep others from sending theirs.
     */
    @Test
    void testPeerThatStallsHoldsAPartOfTheMemory()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 64, Duration.ofSeconds(60), 4 << 20));
        List<SocketChannel> stalled = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SocketChannel channel = handshake(unix());
            beginFill(channel, 1 << 20, 1);
            stalled.add(channel);
        }
        Await.until("one body of it is admitted", () -> server.bodyBudget().usedBytes() == 1 << 20);
        try (WireClient peer = connect(tcp(), SECRET)) {
            assertThat(peer.ask(new Fill(1, 2, 3, 4, ByteBuffer.allocate(1 << 20)))).isEqualTo(new Ack());
            assertThat(server.bodyBudget().usedBytes()).isEqualTo(1 << 20);
        }
        for (SocketChannel channel : stalled) {
            channel.close();
        }
        Await.until("the memory is returned", () -> server.bodyBudget().usedBytes() == 0);
    }

    /**
     * The limit depends on the message, and holds before the body is received.
     */
    @Test
    void testLimitOfAMessageType()
            throws IOException
    {
        start();
        try (SocketChannel channel = handshake(unix())) {
            int length = MessageType.PING.maxBodyBytes() + 1;
            ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + length);
            new FrameHeader(length, MessageType.PING, 5).writeTo(frame.duplicate());
            while (frame.hasRemaining()) {
                channel.write(frame);
            }
            assertThat(WireClient.receiveMessage(channel)).isEqualTo(new ControlMessage.Error("PING request has 65537 bytes, at most 65536 are allowed"));
            WireClient.send(channel, 6, new Ping());
            assertThat(WireClient.receiveMessage(channel)).isEqualTo(new Ack());
        }
        assertThat(refusals.requestCount()).isEqualTo(1);
    }

    /**
     * A reply that does not fit, and a request that is too large, fail alone: later requests use the same connection.
     */
    @Test
    void testMessageThatIsTooLargeFailsAlone()
            throws IOException
    {
        start();
        try (WireClient peer = connect(unix(), Optional.empty())) {
            assertThat(peer.ask(new GetRings()))
                    .isEqualTo(new ControlMessage.Error("the reply does not fit: ERROR message has 8454148 bytes, and a frame has at most 8454144"));
            assertThat(peer.ask(new Ping())).isEqualTo(new Ack());
        }
        try (SocketChannel channel = handshake(unix())) {
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
        assertThat(refusals.requestCount()).isEqualTo(1);
    }

    @Test
    void testPeerThatDoesNotRead()
            throws IOException
    {
        start(SECRET, limits(Duration.ofSeconds(60), 64, Duration.ofMillis(500), 1 << 20));
        try (SocketChannel deaf = SocketChannel.open(unix())) {
            WireClient.send(deaf, 0, hello(1, 1));
            WireClient.receiveMessage(deaf);
            WireClient.send(deaf, 0, new Proof(new byte[0]));
            assertThat(WireClient.receiveMessage(deaf)).isInstanceOf(Welcome.class);
            for (int i = 0; i < 4; i++) {
                WireClient.send(deaf, i + 1, new GetStats());
            }
            // the others do not notice
            try (WireClient peer = connect(tcp(), SECRET)) {
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
