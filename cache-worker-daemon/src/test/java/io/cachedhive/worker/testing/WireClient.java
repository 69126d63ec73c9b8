package io.cachedhive.worker.testing;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The other end of the wire, one blocking call at a time, as plain as can be.
 */
public final class WireClient
        implements AutoCloseable
{
    private static final long TIMEOUT_SECONDS = 30;

    private final ByteChannel channel;
    private final Welcome welcome;
    private final AtomicLong nextRequest = new AtomicLong(1);
    private final Map<Long, BlockingQueue<Message>> answers = new ConcurrentHashMap<>();

    private WireClient(ByteChannel channel, Welcome welcome)
    {
        this.channel = channel;
        this.welcome = welcome;
        Thread.ofPlatform().daemon().start(this::receive);
    }

    public static WireClient connect(SocketAddress address, Optional<String> secret, String catalog, List<NamedOrigin> origins)
            throws IOException
    {
        SocketChannel socket = SocketChannel.open(address);
        try {
            ByteChannel channel = socket;
            byte[] binding = new byte[0];
            if (address instanceof InetSocketAddress && secret.isPresent()) {
                TlsConnection tls = TlsConnection.client(socket, TlsContexts.secretClient());
                tls.handshake();
                channel = tls;
                binding = tls.binding();
            }
            Hello hello = new Hello(Message.MIN_VERSION, Message.MAX_VERSION, new byte[HandshakeProof.NONCE_BYTES], "cluster", catalog, "node", origins);
            send(channel, 0, hello);
            if (!(receive(channel).message() instanceof Challenge challenge)) {
                throw new IOException("no challenge");
            }
            byte[] proof = new byte[0];
            if (secret.isPresent()) {
                Transcript transcript = new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), binding);
                if (HandshakeProof.verify(List.of(secret.get()), Side.SERVER, transcript, challenge.proofs()).isEmpty()) {
                    throw new IOException("the server does not know the secret");
                }
                proof = HandshakeProof.prove(secret.get(), Side.CLIENT, transcript);
            }
            send(channel, 0, new Proof(proof));
            return switch (receive(channel).message()) {
                case Welcome welcome -> new WireClient(channel, welcome);
                case ControlMessage.Error error -> throw new IOException(error.message());
                default -> throw new IOException("no welcome");
            };
        }
        catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    public static NamedOrigin origin(String name, OriginId id)
    {
        return new NamedOrigin(name, id);
    }

    public Welcome welcome()
    {
        return welcome;
    }

    public long send(Message message)
    {
        long request = nextRequest.getAndIncrement();
        answers.put(request, new LinkedBlockingQueue<>());
        try {
            synchronized (channel) {
                send(channel, request, message);
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return request;
    }

    /**
     * The next answer to a request.
     */
    public Message await(long request)
    {
        try {
            Message answer = answers.get(request).poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (answer == null) {
                throw new AssertionError("no answer within %s seconds".formatted(TIMEOUT_SECONDS));
            }
            if (answer instanceof ControlMessage.Error error && error.message().equals(CLOSED)) {
                throw new AssertionError("connection ended");
            }
            return answer;
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Whether an answer is there already.
     */
    public boolean hasAnswer(long request)
    {
        return !answers.get(request).isEmpty();
    }

    public Message ask(Message message)
    {
        return await(send(message));
    }

    private static final String CLOSED = "\0closed";

    private void receive()
    {
        try {
            while (true) {
                Frame frame = receive(channel);
                BlockingQueue<Message> queue = answers.get(frame.request());
                if (queue != null) {
                    queue.add(frame.message());
                }
            }
        }
        catch (IOException e) {
            answers.values().forEach(queue -> queue.add(new ControlMessage.Error(CLOSED)));
        }
    }

    private record Frame(long request, Message message) {}

    public static void send(ByteChannel channel, long request, Message message)
            throws IOException
    {
        ByteBuffer frame = message.toFrame(request);
        while (frame.hasRemaining()) {
            channel.write(frame);
        }
    }

    private static Frame receive(ByteChannel channel)
            throws IOException
    {
        FrameHeader header = FrameHeader.readFrom(readFully(channel, FrameHeader.BYTES), FrameHeader.MAX_BODY_BYTES);
        return new Frame(header.requestId(), Message.read(header.type(), readFully(channel, header.bodyLength())));
    }

    /**
     * The next message of a connection that is not anybody's yet.
     */
    public static Message receiveMessage(ByteChannel channel)
            throws IOException
    {
        return receive(channel).message();
    }

    private static ByteBuffer readFully(ByteChannel channel, int length)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("connection closed");
            }
        }
        return buffer.flip();
    }

    public static byte[] bytes(BlockBytes block)
    {
        byte[] bytes = new byte[block.payload().remaining()];
        block.payload().duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void close()
    {
        try {
            channel.close();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
