package io.cachedhive.worker.testing;

import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FrameHeader;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between clients and a cache worker, and does to what the worker says what it is told to.
 */
public final class Relay
        implements AutoCloseable
{
    // the worker's part of a handshake
    private static final int HANDSHAKE_FRAMES = 2;

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
        Thread.ofVirtual().start(this::accept);
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
                SocketChannel upstream = SocketChannel.open(new InetSocketAddress(worker.host(), worker.port()));
                channels.add(client);
                channels.add(upstream);
                Thread.ofVirtual().start(() -> relay(client, upstream, this::requests));
                Thread.ofVirtual().start(() -> relay(client, upstream, this::answers));
            }
        }
        catch (IOException _) {
            // closed
        }
    }

    private interface Direction
    {
        void copy(SocketChannel client, SocketChannel upstream)
                throws IOException;
    }

    private void relay(SocketChannel client, SocketChannel upstream, Direction direction)
    {
        try (client; upstream) {
            direction.copy(client, upstream);
        }
        catch (IOException _) {
            // one of the two left
        }
        finally {
            channels.remove(client);
            channels.remove(upstream);
        }
    }

    private void requests(SocketChannel client, SocketChannel upstream)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        while (client.read(buffer) >= 0) {
            write(upstream, buffer.flip());
            buffer.clear();
        }
    }

    private void answers(SocketChannel client, SocketChannel upstream)
            throws IOException
    {
        for (int frame = 0; ; frame++) {
            ByteBuffer header = read(upstream, FrameHeader.BYTES);
            ByteBuffer body = read(upstream, FrameHeader.readFrom(header.duplicate(), FrameHeader.MAX_BODY_BYTES).bodyLength());
            Mode mode = this.mode;
            if (mode == Mode.FAITHFUL || mode != Mode.SILENT && frame < HANDSHAKE_FRAMES) {
                write(client, header);
                write(client, body);
            }
            else if (mode == Mode.GARBAGE) {
                byte[] garbage = new byte[header.remaining() + body.remaining()];
                random.nextBytes(garbage);
                write(client, ByteBuffer.wrap(garbage));
            }
            else if (mode == Mode.RESET) {
                client.setOption(StandardSocketOptions.SO_LINGER, 0);
                return;
            }
        }
    }

    private static ByteBuffer read(SocketChannel channel, int length)
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

    private static void write(SocketChannel channel, ByteBuffer bytes)
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
