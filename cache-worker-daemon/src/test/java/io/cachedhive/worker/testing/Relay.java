package io.cachedhive.worker.testing;

import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between clients and a cache worker, knows their secret, and changes the replies of the cache worker as its mode says.
 */
public final class Relay
        implements AutoCloseable
{
    // the rest of a worker's part of a handshake
    private static final int HANDSHAKE_FRAMES = 1;

    private final WorkerAddress worker;
    private final ServerSocketChannel server;
    private final Set<SocketChannel> channels = ConcurrentHashMap.newKeySet();
    private final Random random = new Random(1);
    private volatile Mode mode = Mode.FAITHFUL;

    public enum Mode
    {
        FAITHFUL,
        /**
         * Accepts, takes everything, and says nothing.
         */
        SILENT,
        /**
         * Shakes hands, and answers with random bytes.
         */
        GARBAGE,
        /**
         * Shakes hands, and resets the connection instead of answering.
         */
        RESET,
    }

    private Relay(WorkerAddress worker)
    {
        this.worker = worker;
        try {
            this.server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().start(this::accept);
    }

    public static Relay start(WorkerAddress worker)
    {
        return new Relay(worker);
    }

    public WorkerAddress address()
    {
        try {
            return new WorkerAddress("127.0.0.1", ((InetSocketAddress) server.getLocalAddress()).getPort());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public WorkerAddress worker()
    {
        return worker;
    }

    public void setMode(Mode mode)
    {
        this.mode = mode;
    }

    private void accept()
    {
        try {
            while (true) {
                SocketChannel client = server.accept();
                channels.add(client);
                Thread.ofPlatform().daemon().start(() -> serve(client));
            }
        }
        catch (IOException _) {
            // closed
        }
    }

    private void serve(SocketChannel client)
    {
        try (client; SocketChannel upstream = SocketChannel.open(new InetSocketAddress(worker.host(), worker.port()))) {
            channels.add(upstream);
            try {
                if (mode == Mode.SILENT) {
                    copy(client, _ -> {});
                    return;
                }
                TlsConnection front = TlsConnection.server(client, TlsContexts.selfSignedServer(), false, ByteBuffer.allocate(0));
                front.handshake();
                TlsConnection back = TlsConnection.client(upstream, TlsContexts.secretClient());
                back.handshake();
                shakeHands(front, back);
                Thread.ofPlatform().daemon().start(() -> {
                    try (client; upstream) {
                        answers(front, back, client);
                    }
                    catch (IOException _) {
                        // one of the two left
                    }
                });
                copy(front, bytes -> write(back, bytes));
            }
            finally {
                channels.remove(client);
                channels.remove(upstream);
            }
        }
        catch (IOException _) {
            // one of the two left
        }
    }

    /**
     * Proves the secret to both ends, because a proof for one TLS connection is of no use on another.
     */
    private static void shakeHands(TlsConnection front, TlsConnection back)
            throws IOException
    {
        Hello hello = (Hello) WireClient.receiveMessage(front);
        WireClient.send(back, 0, hello);
        Challenge challenge = (Challenge) WireClient.receiveMessage(back);
        List<String> secrets = List.of(TestingWorker.SECRET);
        WireClient.send(front, 0, new Challenge(
                challenge.version(),
                challenge.proofRequired(),
                challenge.nonce(),
                challenge.worker(),
                HandshakeProof.proveAll(secrets, Side.SERVER, transcript(hello, challenge, front))));
        if (!(WireClient.receiveMessage(front) instanceof Proof)) {
            throw new IOException("no proof");
        }
        WireClient.send(back, 0, new Proof(HandshakeProof.prove(TestingWorker.SECRET, Side.CLIENT, transcript(hello, challenge, back))));
    }

    private static Transcript transcript(Hello hello, Challenge challenge, TlsConnection connection)
    {
        return new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), connection.binding());
    }

    private interface Sink
    {
        void take(ByteBuffer bytes)
                throws IOException;
    }

    private static void copy(ByteChannel source, Sink sink)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        while (source.read(buffer) >= 0) {
            sink.take(buffer.flip());
            buffer.clear();
        }
    }

    private void answers(TlsConnection front, TlsConnection back, SocketChannel client)
            throws IOException
    {
        for (int frame = 0; ; frame++) {
            ByteBuffer header = read(back, FrameHeader.BYTES);
            ByteBuffer body = read(back, FrameHeader.readFrom(header.duplicate(), FrameHeader.MAX_BODY_BYTES).bodyLength());
            Mode mode = this.mode;
            if (mode == Mode.FAITHFUL || mode != Mode.SILENT && frame < HANDSHAKE_FRAMES) {
                write(front, header);
                write(front, body);
            }
            else if (mode == Mode.GARBAGE) {
                byte[] garbage = new byte[header.remaining() + body.remaining()];
                random.nextBytes(garbage);
                write(front, ByteBuffer.wrap(garbage));
            }
            else if (mode == Mode.RESET) {
                client.setOption(StandardSocketOptions.SO_LINGER, 0);
                return;
            }
        }
    }

    private static ByteBuffer read(ByteChannel channel, int length)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException();
            }
        }
        return buffer.flip();
    }

    private static void write(ByteChannel channel, ByteBuffer bytes)
            throws IOException
    {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    @Override
    public void close()
    {
        try {
            server.close();
            for (SocketChannel channel : channels) {
                channel.close();
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
