package io.cachedhive.attack.wire;

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
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * One end of a connection of the block protocol that follows no rule: it sends any bytes at any time. Calls block. The
 * connection is closed after a given time, so that no call blocks for longer. For one thread at a time.
 */
public final class WireConnection
        implements AutoCloseable
{
    /**
     * Long enough for a machine on which many others build.
     */
    public static final Duration LIFETIME = Duration.ofSeconds(20);

    private static final SSLContext CLIENT_TLS = TlsContexts.secretClient();
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final ScheduledExecutorService LIFETIMES = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("attack-lifetimes").factory());

    private final SocketChannel socket;
    private final ByteChannel channel;
    private final byte[] binding;
    private final ScheduledFuture<?> end;
    private long nextRequest = 1;

    private WireConnection(SocketChannel socket, ByteChannel channel, byte[] binding, ScheduledFuture<?> end)
    {
        this.socket = requireNonNull(socket, "socket is null");
        this.channel = requireNonNull(channel, "channel is null");
        this.binding = requireNonNull(binding, "binding is null");
        this.end = requireNonNull(end, "end is null");
    }

    /**
     * Connects to a TCP port without TLS.
     */
    public static WireConnection plain(InetSocketAddress address)
            throws IOException
    {
        return connect(address, LIFETIME, false);
    }

    /**
     * Connects to a TCP port with TLS 1.3. Accepts every certificate.
     */
    public static WireConnection tls(InetSocketAddress address)
            throws IOException
    {
        return connect(address, LIFETIME, true);
    }

    public static WireConnection tls(InetSocketAddress address, Duration lifetime)
            throws IOException
    {
        return connect(address, lifetime, true);
    }

    public static WireConnection unix(Path path)
            throws IOException
    {
        return connect(UnixDomainSocketAddress.of(path), LIFETIME, false);
    }

    public static WireConnection unix(Path path, Duration lifetime)
            throws IOException
    {
        return connect(UnixDomainSocketAddress.of(path), lifetime, false);
    }

    private static WireConnection connect(SocketAddress address, Duration lifetime, boolean tls)
            throws IOException
    {
        return over(SocketChannel.open(address), lifetime, channel -> tls ? Optional.of(TlsConnection.client(channel, CLIENT_TLS)) : Optional.empty());
    }

    /**
     * Takes the server's end of an accepted connection, with TLS.
     */
    public static WireConnection accepted(SocketChannel socket, SSLContext context, Duration lifetime)
            throws IOException
    {
        return over(socket, lifetime, channel -> Optional.of(TlsConnection.server(channel, context, false, ByteBuffer.allocate(0))));
    }

    /**
     * Takes the server's end of an accepted connection, without TLS.
     */
    public static WireConnection accepted(SocketChannel socket, Duration lifetime)
            throws IOException
    {
        return over(socket, lifetime, _ -> Optional.empty());
    }

    private interface Encryption
    {
        Optional<TlsConnection> of(SocketChannel channel);
    }

    private static WireConnection over(SocketChannel socket, Duration lifetime, Encryption encryption)
            throws IOException
    {
        ScheduledFuture<?> end = LIFETIMES.schedule(() -> closeQuietly(socket), lifetime.toMillis(), MILLISECONDS);
        try {
            Optional<TlsConnection> tls = encryption.of(socket);
            if (tls.isEmpty()) {
                return new WireConnection(socket, socket, new byte[0], end);
            }
            tls.get().handshake();
            return new WireConnection(socket, tls.get(), tls.get().binding(), end);
        }
        catch (IOException | RuntimeException e) {
            end.cancel(false);
            closeQuietly(socket);
            throw e;
        }
    }

    /**
     * A HELLO as the client of a Trino node sends it.
     */
    public static Hello newHello(List<NamedOrigin> origins)
    {
        byte[] nonce = new byte[HandshakeProof.NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        return new Hello(Message.MIN_VERSION, Message.MAX_VERSION, nonce, "attack", "attack", "attack", origins);
    }

    /**
     * Completes the handshake.
     *
     * @param secret proven to the server and required of it; without one, an empty proof is sent
     * @throws RefusedException if the server refuses the peer
     */
    public Welcome establish(Optional<String> secret, List<NamedOrigin> origins)
            throws IOException
    {
        Hello hello = newHello(origins);
        send(0, hello);
        Challenge challenge = expect(Challenge.class);
        byte[] proof = new byte[0];
        if (secret.isPresent()) {
            Transcript transcript = transcript(hello, challenge);
            if (HandshakeProof.verify(List.of(secret.get()), Side.SERVER, transcript, challenge.proofs()).isEmpty()) {
                throw new RefusedException("the server does not prove that it knows the secret");
            }
            proof = HandshakeProof.prove(secret.get(), Side.CLIENT, transcript);
        }
        send(0, new Proof(proof));
        return expect(Welcome.class);
    }

    /**
     * Returns what a proof on this connection signs.
     */
    public Transcript transcript(Hello hello, Challenge challenge)
    {
        return new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), binding);
    }

    /**
     * Receives a message of the handshake.
     *
     * @throws RefusedException if it is an error
     */
    public <T extends Message> T expect(Class<T> type)
            throws IOException
    {
        Message message = receive();
        if (message instanceof ControlMessage.Error error) {
            throw new RefusedException(error.message());
        }
        if (!type.isInstance(message)) {
            throw new IOException("the peer sent %s".formatted(message.type()));
        }
        return type.cast(message);
    }

    /**
     * Sends a request and returns its first answer.
     */
    public Message ask(Message request)
            throws IOException
    {
        long id = nextRequest++;
        send(id, request);
        return awaitAnswer(id);
    }

    /**
     * Returns the next answer to a request.
     */
    public Message awaitAnswer(long request)
            throws IOException
    {
        while (true) {
            Frame frame = receiveFrame();
            if (frame.request() == request) {
                return frame.message();
            }
            if (frame.request() == 0 && frame.message() instanceof ControlMessage.Error error) {
                throw new RefusedException(error.message());
            }
        }
    }

    /**
     * Returns the id for a request that is sent with {@link #send}.
     */
    public long nextRequest()
    {
        return nextRequest++;
    }

    public void send(long request, Message message)
            throws IOException
    {
        sendBytes(message.toFrame(request));
    }

    public void sendBytes(ByteBuffer bytes)
            throws IOException
    {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /**
     * A message with the id of its request.
     */
    public record Frame(long request, Message message) {}

    public Message receive()
            throws IOException
    {
        return receiveFrame().message();
    }

    public Frame receiveFrame()
            throws IOException
    {
        FrameHeader header = FrameHeader.readFrom(readFully(FrameHeader.BYTES), FrameHeader.MAX_BODY_BYTES);
        return new Frame(header.requestId(), Message.read(header.type(), readFully(header.bodyLength())));
    }

    private ByteBuffer readFully(int length)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            try {
                if (channel.read(buffer) < 0) {
                    throw new EOFException("the peer closed the connection");
                }
            }
            catch (AsynchronousCloseException e) {
                throw new IOException("the peer did not answer in time", e);
            }
        }
        return buffer.flip();
    }

    @Override
    public void close()
    {
        end.cancel(false);
        closeQuietly(socket);
    }

    private static void closeQuietly(SocketChannel socket)
    {
        try {
            socket.close();
        }
        catch (IOException _) {
            // discarded anyway
        }
    }
}
