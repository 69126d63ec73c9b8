package io.cachedhive.worker.testing;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stand-in for another cache worker, which completes the handshake and then follows a script.
 */
public final class FakePeer
        implements AutoCloseable
{
    private final CacheWorkerId id;
    private final Script script;
    private final ServerSocketChannel server;
    private final List<SocketChannel> channels = new CopyOnWriteArrayList<>();
    private final AtomicInteger requests = new AtomicInteger();

    private FakePeer(String id, Script script)
    {
        this.id = new CacheWorkerId(id);
        this.script = script;
        try {
            this.server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().start(this::accept);
    }

    public interface Script
    {
        /**
         * Answers a request, as it likes.
         */
        void answer(Exchange exchange, Message request)
                throws IOException;
    }

    public interface Exchange
    {
        void send(Message message)
                throws IOException;

        /**
         * Whatever bytes.
         */
        void sendRaw(ByteBuffer bytes)
                throws IOException;
    }

    public static FakePeer start(String id, Script script)
    {
        return new FakePeer(id, script);
    }

    public CacheWorkerId id()
    {
        return id;
    }

    public WorkerAddress address()
    {
        try {
            InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
            return new WorkerAddress(address.getAddress().getHostAddress(), address.getPort());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Requests so far, of whatever kind.
     */
    public int requests()
    {
        return requests.get();
    }

    private void accept()
    {
        try {
            while (true) {
                SocketChannel channel = server.accept();
                channels.add(channel);
                Thread.ofPlatform().daemon().start(() -> serve(channel));
            }
        }
        catch (IOException _) {
            // closed
        }
    }

    private void serve(SocketChannel channel)
    {
        try (channel; TlsConnection tls = TlsConnection.server(channel, TlsContexts.selfSignedServer(), false, ByteBuffer.allocate(0))) {
            tls.handshake();
            serve(tls);
        }
        catch (IOException _) {
            // the worker left, or the test ends
        }
    }

    private void serve(TlsConnection channel)
            throws IOException
    {
        Hello hello = (Hello) receive(channel).message();
        byte[] nonce = new byte[HandshakeProof.NONCE_BYTES];
        Transcript transcript = new Transcript(hello, Message.MAX_VERSION, nonce, id, channel.binding());
        WireClient.send(channel, 0, new Challenge(Message.MAX_VERSION, true, nonce, id, HandshakeProof.proveAll(List.of(TestingWorker.SECRET), Side.SERVER, transcript)));
        if (!(receive(channel).message() instanceof Proof)) {
            throw new IOException("no proof");
        }
        WireClient.send(channel, 0, new Welcome(
                id,
                new Digest128(1, 2),
                TestingWorker.BLOCK_SIZE,
                "",
                true,
                new ArrayList<>(hello.origins().stream().map(_ -> OriginStatus.KNOWN).toList())));
        while (true) {
            Request request = receive(channel);
            if (!(request.message() instanceof ControlMessage.Cancel)) {
                requests.incrementAndGet();
                script.answer(new ChannelExchange(channel, request.id()), request.message());
            }
        }
    }

    private record Request(long id, Message message) {}

    private record ChannelExchange(ByteChannel channel, long request)
            implements Exchange
    {
        @Override
        public void send(Message message)
                throws IOException
        {
            WireClient.send(channel, request, message);
        }

        @Override
        public void sendRaw(ByteBuffer bytes)
                throws IOException
        {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        }
    }

    private static Request receive(ByteChannel channel)
            throws IOException
    {
        FrameHeader header = FrameHeader.readFrom(readFully(channel, FrameHeader.BYTES), FrameHeader.MAX_BODY_BYTES);
        return new Request(header.requestId(), Message.read(header.type(), readFully(channel, header.bodyLength())));
    }

    private static ByteBuffer readFully(ByteChannel channel, int length)
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
