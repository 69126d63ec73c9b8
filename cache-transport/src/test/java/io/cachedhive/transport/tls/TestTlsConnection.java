package io.cachedhive.transport.tls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestTlsConnection
{
    private static final SSLContext SERVER = TlsContexts.selfSignedServer();
    private static final SSLContext CLIENT = TlsContexts.secretClient();
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final ExecutorService threads = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
    private ServerSocketChannel listener;

    @BeforeEach
    void setUp()
            throws IOException
    {
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        listener.close();
        threads.shutdownNow();
    }

    private SocketChannel connect()
            throws IOException
    {
        return SocketChannel.open(listener.getLocalAddress());
    }

    /// Returns the server's end after its handshake.
    private Future<TlsConnection> accept()
    {
        return threads.submit(() -> {
            TlsConnection connection = TlsConnection.server(listener.accept(), SERVER, false, NOTHING);
            assertThat(connection.handshake()).isTrue();
            return connection;
        });
    }

    private TlsConnection client()
            throws IOException
    {
        TlsConnection connection = TlsConnection.client(connect(), CLIENT);
        assertThat(connection.handshake()).isTrue();
        return connection;
    }

    private static byte[] read(TlsConnection connection, int length)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            if (connection.read(buffer) < 0) {
                throw new EOFException();
            }
        }
        return buffer.array();
    }

    private static void write(TlsConnection connection, ByteBuffer... buffers)
            throws IOException
    {
        while (buffers[buffers.length - 1].hasRemaining()) {
            connection.write(buffers);
        }
        assertThat(connection.isFlushed()).isTrue();
    }

    private static byte[] bytes(int seed, int length)
    {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void testBothEndsExportTheSameBinding()
            throws Exception
    {
        Future<TlsConnection> accepted = accept();
        try (TlsConnection client = client(); TlsConnection server = accepted.get()) {
            assertThat(client.binding()).hasSize(32).isEqualTo(server.binding());
            assertThat(client.session().getProtocol()).isEqualTo("TLSv1.3");
            Future<TlsConnection> another = accept();
            try (TlsConnection other = client(); TlsConnection _ = another.get()) {
                assertThat(other.binding()).isNotEqualTo(client.binding());
            }
        }
    }

    /// Reads of all sizes, and writes of many buffers, arrive in order and whole while both ends send at once.
    @Test
    void testBytesInBothDirections()
            throws Exception
    {
        byte[] up = bytes(1, 3_000_001);
        byte[] down = bytes(2, 2_000_003);
        Future<TlsConnection> accepted = accept();
        try (TlsConnection client = client(); TlsConnection server = accepted.get()) {
            Future<?> sent = threads.submit(() -> {
                write(server, ByteBuffer.wrap(down, 0, 16), ByteBuffer.wrap(down, 16, down.length - 16));
                return null;
            });
            Future<byte[]> received = threads.submit(() -> read(server, up.length));
            Future<?> clientSent = threads.submit(() -> {
                write(client, ByteBuffer.wrap(up));
                return null;
            });
            ByteBuffer target = ByteBuffer.allocate(down.length);
            Random random = new Random(3);
            while (target.hasRemaining()) {
                target.limit(Math.min(down.length, target.position() + 1 + random.nextInt(50_000)));
                assertThat(client.read(target)).isPositive();
                target.limit(down.length);
            }
            assertThat(target.array()).isEqualTo(down);
            assertThat(received.get()).isEqualTo(up);
            sent.get();
            clientSent.get();
        }
    }

    /// A channel that does not block returns what there is, and continues where it stopped.
    @Test
    void testChannelThatDoesNotBlock()
            throws Exception
    {
        byte[] up = bytes(4, 20_000_000);
        SocketChannel channel = connect();
        channel.configureBlocking(false);
        TlsConnection client = TlsConnection.client(channel, CLIENT);
        // nobody answers yet
        assertThat(client.handshake()).isFalse();
        Future<TlsConnection> accepted = accept();
        while (!client.handshake()) {
            Thread.onSpinWait();
        }
        try (client; TlsConnection server = accepted.get()) {
            ByteBuffer source = ByteBuffer.wrap(up);
            // until the socket is full
            long written;
            do {
                written = client.write(source);
            }
            while (written > 0);
            assertThat(source.hasRemaining()).isTrue();
            assertThat(client.isFlushed()).isFalse();
            Future<byte[]> received = threads.submit(() -> read(server, up.length));
            while (source.hasRemaining() || !client.flush()) {
                client.write(source);
            }
            assertThat(received.get()).isEqualTo(up);
            assertThat(client.read(ByteBuffer.allocate(10))).isZero();
            write(server, ByteBuffer.wrap("ab".getBytes(US_ASCII)));
            ByteBuffer one = ByteBuffer.allocate(1);
            while (client.read(one) == 0) {
                Thread.onSpinWait();
            }
            // the rest of the record has left the socket, so the selector would not report it
            assertThat(client.hasReceived()).isTrue();
            one.clear();
            assertThat(client.read(one)).isEqualTo(1);
            assertThat(client.hasReceived()).isFalse();
        }
    }

    /// One changed bit on the way ends the connection.
    @Test
    void testChangedByte()
            throws Exception
    {
        Future<SocketChannel> raw = threads.submit(() -> listener.accept());
        SocketChannel channel = connect();
        try (SocketChannel serverChannel = raw.get()) {
            Future<TlsConnection> accepted = threads.submit(() -> {
                TlsConnection connection = TlsConnection.server(serverChannel, SERVER, false, NOTHING);
                connection.handshake();
                return connection;
            });
            TlsConnection client = TlsConnection.client(channel, CLIENT);
            client.handshake();
            TlsConnection server = accepted.get();
            // a record of application data whose tag cannot verify
            ByteBuffer forged = ByteBuffer.allocate(5 + 40).put((byte) 23).put((byte) 3).put((byte) 3).putShort((short) 40).put(bytes(5, 40)).flip();
            while (forged.hasRemaining()) {
                channel.write(forged);
            }
            assertThatThrownBy(() -> server.read(ByteBuffer.allocate(100))).isInstanceOf(SSLException.class);
            client.close();
        }
    }

    @Test
    void testOldVersionIsRefused()
            throws Exception
    {
        Future<?> accepted = threads.submit(this::failedHandshake);
        InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
        try (SSLSocket socket = (SSLSocket) CLIENT.getSocketFactory().createSocket(address.getAddress(), address.getPort())) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLException.class);
        }
        assertThatThrownBy(accepted::get).hasCauseInstanceOf(SSLException.class);
    }

    private boolean failedHandshake()
            throws IOException
    {
        try (SocketChannel channel = listener.accept()) {
            return TlsConnection.server(channel, SERVER, false, NOTHING).handshake();
        }
    }

    /// A peer that is not a TLS peer, and one that leaves in the middle.
    @Test
    void testOtherPeers()
            throws Exception
    {
        Future<?> accepted = threads.submit(this::failedHandshake);
        try (SocketChannel channel = connect()) {
            channel.write(ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: worker\r\n\r\n".getBytes(US_ASCII)));
            assertThatThrownBy(accepted::get).hasCauseInstanceOf(SSLException.class);
        }
        Future<?> left = threads.submit(this::failedHandshake);
        connect().close();
        assertThatThrownBy(left::get).hasCauseInstanceOf(IOException.class);
    }

    @Test
    void testBindingBeforeTheHandshake()
            throws Exception
    {
        try (TlsConnection client = TlsConnection.client(connect(), CLIENT)) {
            assertThatThrownBy(client::binding).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void testTlsIsRecognized()
            throws Exception
    {
        SSLEngine engine = CLIENT.createSSLEngine();
        engine.setUseClientMode(true);
        ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(NOTHING, hello);
        assertThat(TlsConnection.isTls(hello.flip())).isTrue();
        // frames whose lengths look alike
        assertThat(TlsConnection.isTls(ByteBuffer.wrap(new byte[] {0x16, 0x03, 0x00, 0x00}))).isFalse();
        assertThat(TlsConnection.isTls(ByteBuffer.wrap(new byte[] {0x40, 0x01, 0x00, 0x00}))).isFalse();
    }
}
