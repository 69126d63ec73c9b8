package io.cachedhive.transport;

import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.FrameTooLargeException;
import io.cachedhive.protocol.wire.HandshakeMessage;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.MessageType;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.transport.SendQueue.Outgoing;
import io.cachedhive.transport.WorkerException.Reason;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.PeerCertificateException;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsCredentials;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static java.util.Objects.requireNonNull;

/**
 * One connection to a worker, from the first byte to the last. Carries any number of requests at once.
 *
 * <p>Invariants: only the loop's thread touches the channel and the fields below the line; every request that was accepted gets its last answer,
 * is cancelled, or is told that the connection was lost, and never two of these.
 */
public final class WorkerSession
{
    private static final Logger log = Logger.get(WorkerSession.class);

    private static final int RECEIVE_BYTES = 16 << 10;
    // what may wait to be written besides the bytes of fills, which have a limit of their own: a worker that does not read is away
    private static final long MAX_QUEUED_BYTES = 1 << 20;
    // how often a readable channel is read before the loop turns to the next
    private static final int READS_PER_TURN = 16;

    private final Endpoint endpoint;
    private final Optional<Path> ownSocket;
    // whether the connection is over TCP, and so over TLS
    private final boolean isTcp;
    private final ClientIdentity identity;
    private final SSLContext tlsContext;
    private final IoLoop loop;
    private final int maxPending;
    private final Events events;

    private final AtomicLong requestIds = new AtomicLong();
    private final Map<Long, AnswerHandler> pending = new ConcurrentHashMap<>();
    private final AtomicInteger pendingCount = new AtomicInteger();
    private final AtomicLong queuedBytes = new AtomicLong();
    private final Queue<Outgoing> handedOver = new ConcurrentLinkedQueue<>();
    private final Map<String, Long> sentQuotas = new ConcurrentHashMap<>();
    private final AtomicBoolean flushScheduled = new AtomicBoolean();
    private volatile Welcome welcome;
    private volatile WorkerException closeReason;

    // ---- the loop's thread only

    private final Handshake handshake;
    private final SendQueue outgoing = new SendQueue(this::left);
    private SocketChannel channel;
    // empty on the Unix socket, and over TCP without a secret
    private Optional<TlsConnection> tls = Optional.empty();
    // empty unless the operator configured certificates
    private Optional<TlsCredentials> credentials = Optional.empty();
    private boolean greeted;
    private boolean readScheduled;
    private SelectionKey key;
    private ByteBuffer received;
    private long bytesToSkip;
    private Arriving arriving;
    private ArrivingBlock arrivingBlock;

    /**
     * @param ownSocket the Unix socket of this host's worker; a client without a secret reaches no other worker
     */
    WorkerSession(Endpoint endpoint, ClientIdentity identity, Optional<Path> ownSocket, byte[] nonce, SSLContext tlsContext, IoLoop loop, int maxPending, Events events)
    {
        this.endpoint = requireNonNull(endpoint, "endpoint is null");
        this.identity = requireNonNull(identity, "identity is null");
        this.ownSocket = requireNonNull(ownSocket, "ownSocket is null");
        this.isTcp = endpoint instanceof Endpoint.Tcp && !identity.secrets().isEmpty();
        this.tlsContext = requireNonNull(tlsContext, "tlsContext is null");
        this.loop = requireNonNull(loop, "loop is null");
        this.maxPending = maxPending;
        this.events = requireNonNull(events, "events is null");
        this.handshake = new Handshake(endpoint, identity, nonce);
    }

    /**
     * Told on the loop's thread: established at most once, closed exactly once and last.
     */
    interface Events
    {
        void established(WorkerSession session);

        void closed(WorkerSession session, WorkerException reason);
    }

    /**
     * A body that does not fit into the receive buffer.
     */
    private record Arriving(FrameHeader header, ByteBuffer target) {}

    /**
     * A block whose bytes go to whoever asked for it as they come.
     */
    private static final class ArrivingBlock
    {
        final FrameHeader header;
        final AnswerHandler handler;
        final BlockBytes block;
        final int length;
        int arrived;

        ArrivingBlock(FrameHeader header, AnswerHandler handler, BlockBytes block, int length)
        {
            this.header = header;
            this.handler = handler;
            this.block = block;
            this.length = length;
        }

        int left()
        {
            return length - arrived;
        }
    }

    public Endpoint endpoint()
    {
        return endpoint;
    }

    /**
     * What the worker said of itself.
     */
    public Welcome welcome()
    {
        Welcome value = welcome;
        if (value == null) {
            throw new IllegalStateException("connection to %s is not established".formatted(endpoint));
        }
        return value;
    }

    /**
     * Of the protocol, that both speak.
     */
    public int version()
    {
        welcome();
        return handshake.version();
    }

    /**
     * What is wrong with the worker's origins, in one sentence with the remedy.
     */
    public Optional<String> originProblem()
    {
        return Handshake.originProblem(identity, welcome());
    }

    /**
     * Returns whether this connection was made with a secret that is no longer the preferred one of this client.
     */
    boolean isOnFormerSecret()
    {
        Optional<String> proven = handshake.provenSecret();
        if (proven.isEmpty()) {
            return false;
        }
        List<String> secrets = identity.secrets().valid();
        return secrets.isEmpty() || !secrets.getFirst().equals(proven.get());
    }

    boolean isEstablished()
    {
        return welcome != null;
    }

    public boolean isOpen()
    {
        return closeReason == null;
    }

    public int pendingRequests()
    {
        return pending.size();
    }

    /**
     * Whether fewer requests are under way, and what was sent before is as good as gone: for what may not be in the way of others.
     */
    public boolean hasRoom(int requests)
    {
        return pendingCount.get() < requests && queuedBytes.get() <= MAX_QUEUED_BYTES / 4;
    }

    /**
     * @return the request's id
     * @throws WorkerException if the request was not accepted: then the handler will not be called
     */
    public long send(Message request, AnswerHandler handler)
            throws WorkerException
    {
        return send(request, null, null, handler);
    }

    /**
     * Sends the bytes of a leased block without copying them once more.
     *
     * @param fill its payload must not change until {@code written} has run
     * @param written runs exactly once if the request was accepted: when the bytes are on their way or the connection is lost
     */
    public long sendFill(FillMessage.Fill fill, AnswerHandler handler, Runnable written)
            throws WorkerException
    {
        FillMessage.Fill withoutPayload = new FillMessage.Fill(fill.lease(), fill.observedLength(), fill.observedLastModifiedMillis(), fill.checksum(), ByteBuffer.allocate(0));
        return send(withoutPayload, fill.payload().duplicate(), written, handler);
    }

    private long send(Message request, ByteBuffer payload, Runnable written, AnswerHandler handler)
            throws WorkerException
    {
        if (pendingCount.incrementAndGet() > maxPending || queuedBytes.get() > MAX_QUEUED_BYTES) {
            pendingCount.decrementAndGet();
            throw new WorkerException(Reason.OVERLOADED, "too many requests to the cache worker at %s are in flight: %s".formatted(endpoint, pendingCount));
        }
        long id = requestIds.incrementAndGet();
        ByteBuffer frame;
        try {
            frame = payload == null ? request.toFrame(id) : withPayload(request, id, payload);
        }
        catch (FrameTooLargeException e) {
            pendingCount.decrementAndGet();
            throw new WorkerException(Reason.PROTOCOL, "request to the cache worker at %s does not fit: %s".formatted(endpoint, e.getMessage()));
        }
        pending.put(id, handler);
        WorkerException reason = closeReason;
        if (reason != null) {
            // whoever takes the request out answers for it
            if (forget(id) != null) {
                throw reason;
            }
            if (written != null) {
                written.run();
            }
            return id;
        }
        enqueue(new Outgoing(frame, payload, written));
        return id;
    }

    /**
     * Offers a block, without copying it once more. Lost as everything that is told.
     *
     * @param offer its payload must not change until {@code written} has run
     * @param written runs exactly once: when the bytes are on their way, or will never be
     */
    public void offerGuest(FillMessage.OfferGuest offer, Runnable written)
    {
        if (queuedBytes.get() > MAX_QUEUED_BYTES) {
            written.run();
            return;
        }
        FillMessage.OfferGuest withoutPayload = new FillMessage.OfferGuest(
                offer.origin(),
                offer.file(),
                offer.block(),
                offer.table(),
                offer.etagDigest(),
                offer.checksum(),
                ByteBuffer.allocate(0));
        enqueue(new Outgoing(withPayload(withoutPayload, 0, offer.payload()), offer.payload().duplicate(), written));
    }

    private static ByteBuffer withPayload(Message message, long id, ByteBuffer payload)
    {
        ByteBuffer frame = message.toFrame(id);
        new FrameHeader(frame.remaining() - FrameHeader.BYTES + payload.remaining(), message.type(), id).writeTo(frame.duplicate());
        return frame;
    }

    /**
     * Tells the worker something that it does not answer. Lost if the connection is, or if the worker has not taken what came before.
     */
    public void sendOneWay(Message message)
    {
        if (queuedBytes.get() > MAX_QUEUED_BYTES) {
            return;
        }
        ByteBuffer frame;
        try {
            frame = message.toFrame(0);
        }
        catch (FrameTooLargeException e) {
            log.error(e, "a message to the cache worker at %s was dropped", endpoint);
            return;
        }
        enqueue(new Outgoing(frame, null, null));
    }

    /**
     * Tells the worker the quota of a table that is about to be read, unless it was just told the same.
     *
     * @param bytes empty if there is nothing to be told
     */
    public void sendQuota(String table, OptionalLong bytes)
    {
        if (bytes.isEmpty()) {
            return;
        }
        Long told = sentQuotas.get(table);
        if (told == null || told != bytes.getAsLong()) {
            sentQuotas.put(table, bytes.getAsLong());
            sendOneWay(new TableQuota(table, bytes.getAsLong()));
        }
    }

    /**
     * Quotas are told again when their tables are read: somebody else may have said otherwise meanwhile, and what is told may be lost.
     */
    public void forgetSentQuotas()
    {
        sentQuotas.clear();
    }

    /**
     * The request's handler is called no more, unless it is being called right now.
     */
    public void cancel(long id)
    {
        if (forget(id) != null && isOpen()) {
            sendOneWay(new ControlMessage.Cancel(id));
        }
    }

    /**
     * Ends the connection and tells all requests.
     */
    public void close(WorkerException reason)
    {
        onLoop(() -> closeNow(reason));
    }

    private AnswerHandler forget(long id)
    {
        AnswerHandler handler = pending.remove(id);
        if (handler != null) {
            pendingCount.decrementAndGet();
        }
        return handler;
    }

    private void enqueue(Outgoing message)
    {
        queuedBytes.addAndGet(message.frameBytes());
        handedOver.add(message);
        if (flushScheduled.compareAndSet(false, true)) {
            onLoop(this::flush);
        }
    }

    /**
     * @param address empty for a Unix socket
     */
    void start(Optional<InetAddress> address)
    {
        onLoop(() -> connect(address));
    }

    private void onLoop(Runnable task)
    {
        loop.execute(() -> {
            try {
                task.run();
            }
            catch (RuntimeException | Error e) {
                closeFailed(e);
            }
        });
    }

    // ---- the loop's thread

    /**
     * Nobody else would end the requests of a connection whose state is unknown.
     */
    private void closeFailed(Throwable cause)
    {
        log.error(cause, "connection to the cache worker at %s failed", endpoint);
        closeNow(new WorkerException(Reason.PROTOCOL, "connection to the cache worker at %s failed: %s".formatted(endpoint, cause)));
    }

    private void connect(Optional<InetAddress> address)
    {
        if (closeReason != null) {
            return;
        }
        try {
            if (loop.isTerminated()) {
                throw new WorkerException(Reason.CLOSED, "this client is closed");
            }
            boolean connected = switch (endpoint) {
                case Endpoint.UnixSocket(var path) -> connectSocket(path);
                case Endpoint.Tcp(_, _) when !isTcp -> {
                    if (!isThisHost(address.orElseThrow())) {
                        throw new WorkerException(Reason.REFUSED, ("the connection to the cache worker at %s leaves this host and needs a shared secret: "
                                + "set cachedhive.shared-secret to the value of the worker's internal-communication.shared-secret").formatted(endpoint));
                    }
                    yield connectSocket(ownSocket.orElseThrow(() -> new WorkerException(Reason.REFUSED,
                            "the connection to the cache worker at %s needs a shared secret: set internal-communication.shared-secret on all hosts".formatted(endpoint))));
                }
                case Endpoint.Tcp(WorkerAddress tcp, _) -> {
                    channel = SocketChannel.open();
                    channel.configureBlocking(false);
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                    yield channel.connect(new InetSocketAddress(address.orElseThrow(), tcp.port()));
                }
            };
            key = loop.register(channel, connected ? 0 : SelectionKey.OP_CONNECT, new IoLoop.ChannelHandler()
            {
                @Override
                public void ready(SelectionKey key)
                {
                    WorkerSession.this.ready(key);
                }

                @Override
                public void lost(Throwable cause)
                {
                    closeNow(new WorkerException(Reason.UNREACHABLE, unreachable("the thread of the connection failed: " + cause)));
                }
            });
            if (connected) {
                greet();
            }
        }
        catch (IOException e) {
            closeNow(reason(e));
        }
    }

    private boolean connectSocket(Path path)
            throws IOException
    {
        channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.configureBlocking(false);
        return channel.connect(UnixDomainSocketAddress.of(path));
    }

    private static boolean isThisHost(InetAddress address)
            throws IOException
    {
        return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    }

    private void ready(SelectionKey key)
    {
        try {
            if (key.isConnectable()) {
                channel.finishConnect();
                greet();
                return;
            }
            if (!greeted) {
                greet();
                return;
            }
            if (key.isWritable()) {
                write();
            }
            if (closeReason == null && key.isReadable()) {
                read();
            }
        }
        catch (IOException e) {
            closeNow(reason(e));
        }
        catch (RuntimeException | Error e) {
            closeFailed(e);
        }
    }

    private WorkerException reason(IOException e)
    {
        return switch (e) {
            case WorkerException reason -> reason;
            // TLS 1.3 reports a missing certificate after the client's side of the handshake is complete
            case SSLException _ when welcome == null && credentials.isEmpty() -> new WorkerException(
                    Reason.REFUSED,
                    ("cache worker at %s ended the TLS handshake (%s): it may require a certificate of its clients, "
                            + "set cachedhive.worker.tls.keystore-path and cachedhive.worker.tls.truststore-path").formatted(endpoint, e.getMessage()));
            case WireException _ -> new WorkerException(Reason.PROTOCOL, "cache worker at %s violated the protocol: %s".formatted(endpoint, e.getMessage()));
            default -> new WorkerException(Reason.UNREACHABLE, unreachable(e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()));
        };
    }

    private String unreachable(String cause)
    {
        Endpoint connected = endpoint instanceof Endpoint.Tcp && !isTcp ? ownSocket.<Endpoint>map(Endpoint.UnixSocket::new).orElse(endpoint) : endpoint;
        return switch (connected) {
            case Endpoint.UnixSocket(var path) when cause.contains("Permission denied") ->
                    "no permission to connect to %s: add the user of Trino to the group that the worker's cache.worker.socket-group names".formatted(path);
            case Endpoint.UnixSocket(var path) -> "no cache worker serves on %s (%s): start it, or correct cachedhive.worker.socket-path".formatted(path, cause);
            case Endpoint.Tcp(var address, _) -> "cache worker at %s cannot be reached: %s".formatted(address, cause);
        };
    }

    /**
     * Continues the TLS handshake, if there is one, and begins the handshake of the protocol when it is complete.
     */
    private void greet()
            throws IOException
    {
        if (isTcp) {
            if (tls.isEmpty()) {
                credentials = identity.certificates().map(Certificates::current);
                tls = Optional.of(TlsConnection.client(channel, credentials.map(TlsCredentials::clientContext).orElse(tlsContext)));
            }
            boolean complete;
            try {
                complete = tls.get().handshake();
            }
            catch (SSLException e) {
                Optional<PeerCertificateException> refusal = PeerCertificateException.cause(e);
                if (refusal.isPresent()) {
                    throw new WorkerException(Reason.REFUSED, "cache worker at %s is not trusted: %s".formatted(endpoint, refusal.get().getMessage()));
                }
                throw new WorkerException(Reason.REFUSED, ("TLS handshake with the cache worker at %s failed (%s): "
                        + "set internal-communication.shared-secret of the cache worker, and install the same release on both").formatted(endpoint, e.getMessage()));
            }
            if (!complete) {
                key.interestOps(tls.get().isFlushed() ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                return;
            }
            handshake.bind(tls.get().binding(), certifiedWorker());
        }
        greeted = true;
        received = ByteBuffer.allocateDirect(RECEIVE_BYTES);
        key.interestOps(SelectionKey.OP_READ);
        say(handshake.hello());
        if (tls.isPresent() && closeReason == null) {
            // the last bytes of the handshake may have arrived together with the first message
            read();
        }
    }

    private Optional<CacheWorkerId> certifiedWorker()
            throws WorkerException
    {
        if (credentials.isEmpty()) {
            return Optional.empty();
        }
        try {
            return credentials.get().certifiedWorker(tls.orElseThrow().session());
        }
        catch (PeerCertificateException e) {
            throw new WorkerException(Reason.REFUSED, "cache worker at %s is not trusted: %s".formatted(endpoint, e.getMessage()));
        }
    }

    private void say(Message message)
            throws IOException
    {
        Outgoing first = new Outgoing(message.toFrame(0), null, null);
        queuedBytes.addAndGet(first.frameBytes());
        outgoing.add(first);
        write();
    }

    private void flush()
    {
        // before the queue is emptied: what comes after that schedules the next flush
        flushScheduled.set(false);
        Outgoing message;
        while ((message = handedOver.poll()) != null) {
            outgoing.add(message);
        }
        if (closeReason != null) {
            outgoing.drop();
            return;
        }
        if (welcome == null || (key.interestOps() & SelectionKey.OP_WRITE) != 0) {
            return;
        }
        try {
            write();
        }
        catch (IOException e) {
            closeNow(reason(e));
        }
    }

    private void write()
            throws IOException
    {
        boolean all = tls.isPresent() ? outgoing.write(tls.get()) && tls.get().flush() : outgoing.write(channel);
        key.interestOps(all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }

    private static int skip(ByteBuffer buffer, long bytes)
    {
        int count = (int) Math.min(buffer.remaining(), bytes);
        buffer.position(buffer.position() + count);
        return count;
    }

    private void read()
            throws IOException
    {
        for (int i = 0; i < READS_PER_TURN && closeReason == null; i++) {
            dropUnwanted();
            ByteBuffer target = received;
            if (arrivingBlock != null) {
                target = loop.payloads(arrivingBlock.left());
            }
            else if (arriving != null) {
                target = arriving.target();
            }
            int count = tls.isPresent() ? tls.get().read(target) : channel.read(target);
            if (count < 0) {
                throw new WorkerException(Reason.UNREACHABLE, "cache worker at %s closed the connection".formatted(endpoint));
            }
            // a read that is not filled has emptied the socket: asking again would cost a system call for nothing
            boolean more = !target.hasRemaining();
            if (arrivingBlock != null) {
                pass(target.flip());
            }
            else if (arriving == null) {
                takeApart();
            }
            else if (!target.hasRemaining()) {
                complete();
            }
            if (!more) {
                return;
            }
        }
        if (tls.isPresent() && tls.get().hasReceived() && closeReason == null && !readScheduled) {
            // the selector does not know of bytes that have left the socket
            readScheduled = true;
            onLoop(this::readReceived);
        }
    }

    private void readReceived()
    {
        readScheduled = false;
        if (closeReason != null) {
            return;
        }
        try {
            read();
        }
        catch (IOException e) {
            closeNow(reason(e));
        }
    }

    /**
     * Bytes whose reader has left are looked at no more.
     */
    private void dropUnwanted()
    {
        if (arrivingBlock != null && !pending.containsKey(arrivingBlock.header.requestId())) {
            bytesToSkip = arrivingBlock.left();
            arrivingBlock = null;
        }
    }

    private void takeApart()
            throws IOException
    {
        received.flip();
        while (closeReason == null && arriving == null && arrivingBlock == null) {
            if (bytesToSkip > 0) {
                bytesToSkip -= skip(received, bytesToSkip);
            }
            int start = received.position();
            if (received.remaining() < FrameHeader.BYTES) {
                break;
            }
            FrameHeader header = FrameHeader.readFrom(received, welcome == null ? FrameHeader.MAX_HANDSHAKE_BODY_BYTES : FrameHeader.MAX_SKIPPED_BODY_BYTES);
            AnswerHandler handler = pending.get(header.requestId());
            if (welcome != null && header.requestId() != 0 && handler == null && header.type() != MessageType.BLOCK_LEASE) {
                bytesToSkip = header.bodyLength();
            }
            else if (welcome != null && handler != null && header.bodyLength() > maxBodyBytes(header.type(), handler)) {
                rejectTooLarge(header);
            }
            else if (header.type() == MessageType.BLOCK_BYTES && handler != null) {
                if (!takeBlock(header, handler)) {
                    received.position(start);
                    break;
                }
            }
            else {
                if (handler == null && header.bodyLength() > FrameHeader.MAX_HANDSHAKE_BODY_BYTES) {
                    throw new WireException("body of a %s frame without a request is longer than %s bytes: %s"
                            .formatted(header.type(), FrameHeader.MAX_HANDSHAKE_BODY_BYTES, header.bodyLength()));
                }
                if (header.bodyLength() > received.capacity() - FrameHeader.BYTES) {
                    arrive(new Arriving(header, ByteBuffer.allocate(header.bodyLength())));
                }
                else if (received.remaining() < header.bodyLength()) {
                    received.position(start);
                    break;
                }
                else {
                    ByteBuffer body = received.slice(received.position(), header.bodyLength());
                    received.position(received.position() + header.bodyLength());
                    deliver(header, Message.read(header.type(), body));
                }
            }
        }
        received.compact();
    }

    private static int maxBodyBytes(MessageType type, AnswerHandler handler)
    {
        return Math.min(FrameHeader.MAX_BODY_BYTES, type == MessageType.BLOCK_BYTES ? BlockBytes.maxBodyBytes(handler.maxPayloadBytes()) : handler.maxBodyBytes());
    }

    /**
     * Skips a reply that is too large, which fails its request and no other.
     */
    private void rejectTooLarge(FrameHeader header)
    {
        bytesToSkip = header.bodyLength();
        AnswerHandler handler = forget(header.requestId());
        if (handler != null) {
            sendOneWay(new ControlMessage.Cancel(header.requestId()));
            fail(handler, new WorkerException(Reason.PROTOCOL, "cache worker at %s sent a %s reply of %s bytes, at most %s are allowed".formatted(
                    endpoint,
                    header.type(),
                    header.bodyLength(),
                    maxBodyBytes(header.type(), handler))));
        }
    }

    /**
     * @return false if the description of the block is not there yet
     */
    private boolean takeBlock(FrameHeader header, AnswerHandler handler)
            throws IOException
    {
        ByteBuffer body = received.slice(received.position(), Math.min(received.remaining(), header.bodyLength()));
        Optional<BlockBytes> prefix = BlockBytes.readPrefix(body, header.bodyLength());
        if (prefix.isEmpty()) {
            return false;
        }
        int length = prefix.get().checksums().length();
        if (length > handler.maxPayloadBytes()) {
            rejectTooLarge(header);
            return true;
        }
        received.position(received.position() + body.position());
        arrivingBlock = new ArrivingBlock(header, handler, prefix.get(), length);
        int there = Math.min(received.remaining(), length);
        ByteBuffer first = received.slice(received.position(), there);
        received.position(received.position() + there);
        pass(first);
        return true;
    }

    private void pass(ByteBuffer bytes)
            throws IOException
    {
        ArrivingBlock block = arrivingBlock;
        int count = bytes.remaining();
        if (count > 0) {
            block.handler.arrived(block.block, block.arrived, bytes);
            block.arrived += count;
        }
        if (block.left() == 0) {
            arrivingBlock = null;
            deliver(block.header, block.block);
        }
    }

    private void arrive(Arriving body)
            throws IOException
    {
        arriving = body;
        int there = Math.min(received.remaining(), body.target().remaining());
        body.target().put(received.slice(received.position(), there));
        received.position(received.position() + there);
        if (!body.target().hasRemaining()) {
            complete();
        }
    }

    private void complete()
            throws IOException
    {
        Arriving body = arriving;
        arriving = null;
        body.target().flip();
        deliver(body.header(), Message.read(body.header().type(), body.target()));
    }

    private void deliver(FrameHeader header, Message message)
            throws IOException
    {
        if (welcome == null) {
            shakeHands(message);
            return;
        }
        if (header.requestId() == 0) {
            if (message instanceof ControlMessage.Error error) {
                throw new WorkerException(Reason.REFUSED, "cache worker at %s ends the connection: %s".formatted(endpoint, error.message()));
            }
            throw new WireException("%s message does not answer a request".formatted(header.type()));
        }
        AnswerHandler handler = pending.get(header.requestId());
        if (handler == null) {
            if (message instanceof ReadMessage.BlockLease lease) {
                // nobody will fill it, and others wait for it
                sendOneWay(new FillMessage.ReleaseLease(lease.lease()));
            }
            return;
        }
        if (handler.answered(message)) {
            forget(header.requestId());
        }
    }

    private void shakeHands(Message message)
            throws IOException
    {
        Optional<Message> answer = handshake.answer(message);
        if (answer.isPresent()) {
            say(answer.get());
        }
        if (handshake.welcome().isPresent()) {
            welcome = handshake.welcome().get();
            if (identity.chunkSizeBytes() > 0) {
                // before whatever depends on it
                say(new HandshakeMessage.ChunkSize(identity.chunkSizeBytes()));
            }
            events.established(this);
            flush();
        }
    }

    private void closeNow(WorkerException reason)
    {
        if (closeReason != null) {
            return;
        }
        closeReason = reason;
        if (channel != null) {
            try {
                channel.close();
            }
            catch (IOException e) {
                log.debug(e, "closing the connection to %s", endpoint);
            }
        }
        arriving = null;
        arrivingBlock = null;
        try {
            flush();
            // requests that are added from now on see the reason and take themselves out
            for (Long id : pending.keySet()) {
                AnswerHandler handler = forget(id);
                if (handler != null) {
                    fail(handler, reason);
                }
            }
        }
        finally {
            // only then another connection is opened
            events.closed(this, reason);
        }
    }

    private void fail(AnswerHandler handler, WorkerException reason)
    {
        try {
            handler.failed(reason);
        }
        catch (RuntimeException | Error e) {
            // each of the others waits, too
            log.error(e, "a request to the cache worker at %s was not ended", endpoint);
        }
    }

    private void left(Outgoing message)
    {
        queuedBytes.addAndGet(-message.frameBytes());
        if (message.written() != null) {
            message.written().run();
        }
    }
}
