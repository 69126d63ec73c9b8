package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsCredentials;
import io.cachedhive.worker.server.Handshake.Established;
import io.cachedhive.worker.server.Handshake.RefusedException;

import javax.net.ssl.SSLException;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * A connection to a peer of the block server. The reader thread reads requests and answers those that need no waiting;
 * the writer thread sends the answers. A peer that does not read its answers therefore blocks neither the threads that
 * produce them nor other peers, and the server stops reading its requests. If a request has a single answer at once,
 * the reader writes it itself, because waking the writer takes as long as sending a piece of the answer.
 */
public final class Connection
{
    private static final Logger log = Logger.get(Connection.class);

    private static final int READ_BUFFER_BYTES = 16 << 10;
    // the JDK copies heap buffers through a cached direct buffer of the size of the read
    private static final int READ_SLICE_BYTES = 128 << 10;
    private static final int BUDGETED_BODY_BYTES = 64 << 10;
    /**
     * The number of queued answers at which the reader stops reading requests.
     */
    private static final int MAX_QUEUED_ANSWERS = 4096;
    // answers written with one system call
    private static final int MAX_GATHERED_ANSWERS = 32;

    private final SocketChannel channel;
    private final Transport transport;
    private final String peer;
    private final BlockServer server;
    private final ByteBuffer input = ByteBuffer.allocate(READ_BUFFER_BYTES).flip();
    private final AtomicBoolean closed = new AtomicBoolean();
    // the channel, or the TLS connection over it
    private ReadableByteChannel source;
    private GatheringByteChannel sink;
    private Optional<Session> session = Optional.empty();
    private Optional<String> provenSecret = Optional.empty();
    // until the handshake has completed
    private PeerRole role = PeerRole.READER;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition answersWaiting = lock.newCondition();
    private final Condition roomForAnswers = lock.newCondition();
    @GuardedBy("lock")
    private final Deque<Outgoing> answers = new ArrayDeque<>();
    @GuardedBy("lock")
    private boolean readerAnswers;
    @GuardedBy("lock")
    private boolean readerWrites;
    @GuardedBy("lock")
    private boolean writerWrites;
    @GuardedBy("lock")
    private boolean ended;

    private volatile Thread reader;
    private volatile long chunkSizeBytes;

    // by when the frame of which a part has arrived must be complete; 0 while there is none
    private volatile long frameDeadlineNanos;

    // 0 while nothing is being written
    private volatile long lastWriteProgressNanos;

    Connection(SocketChannel channel, Transport transport, String peer, BlockServer server)
    {
        this.channel = requireNonNull(channel, "channel is null");
        this.source = channel;
        this.sink = channel;
        this.transport = requireNonNull(transport, "transport is null");
        this.peer = requireNonNull(peer, "peer is null");
        this.server = requireNonNull(server, "server is null");
    }

    public Transport transport()
    {
        return transport;
    }

    /**
     * Returns whether the peer proved that it knows a valid shared secret.
     */
    public boolean isProven()
    {
        return provenSecret.isPresent();
    }

    /**
     * Returns whether the peer proved a secret that is no longer the preferred one.
     *
     * @param secrets the valid secrets
     */
    boolean isOnFormerSecret(List<String> secrets)
    {
        return provenSecret.isPresent() && (secrets.isEmpty() || !secrets.getFirst().equals(provenSecret.get()));
    }

    /**
     * Returns whether the peer proved a secret that is no longer valid.
     *
     * @param secrets the valid secrets
     */
    boolean isOnExpiredSecret(List<String> secrets)
    {
        return provenSecret.isPresent() && !secrets.contains(provenSecret.get());
    }

    public Session session()
    {
        return session.orElseThrow();
    }

    /**
     * Returns what the peer may request.
     */
    public PeerRole role()
    {
        return role;
    }

    /**
     * Returns the chunk size by which the client finds owners, or 0 if the client did not report it.
     */
    public long chunkSizeBytes()
    {
        return chunkSizeBytes;
    }

    public void setChunkSizeBytes(long chunkSizeBytes)
    {
        this.chunkSizeBytes = chunkSizeBytes;
    }

    /**
     * Queues an answer, or closes it if the connection has ended. Never blocks.
     */
    public void send(Outgoing answer)
    {
        lock.lock();
        try {
            if (!ended) {
                answers.addLast(answer);
                // the reader sends its own answers after the request
                if (answers.size() == 1 && !(readerAnswers && Thread.currentThread() == reader)) {
                    answersWaiting.signal();
                }
                return;
            }
        }
        finally {
            lock.unlock();
        }
        answer.close();
    }

    public void send(long requestId, Message message)
    {
        send(Outgoing.message(requestId, message));
    }

    /**
     * Counts a request that is rejected and sends the reason, unless the request has no answer. The connection stays
     * open. Never blocks.
     *
     * @param reason one sentence with the problem and the fix
     */
    public void refuse(long requestId, String reason)
    {
        server.refusals().requestRefused(peer, reason);
        // an error with request id 0 would mean that the connection is rejected
        if (requestId != 0) {
            send(requestId, new ControlMessage.Error(reason));
        }
    }

    /**
     * Ends the connection before its handshake.
     *
     * @param reason one sentence for the peer
     */
    void refuseAtOnce(String reason)
    {
        sendError(reason);
        close();
    }

    /**
     * Completes the handshake and reads requests until the connection ends.
     */
    void serve()
    {
        if (establish()) {
            Thread.currentThread().setName("block-server-read");
            read();
        }
    }

    private boolean establish()
    {
        return runUntilEnd(() -> {
            Established peerIdentity = shakeHands();
            provenSecret = peerIdentity.secret();
            endFrame();
            session = Optional.of(server.welcomer().session(peerIdentity.hello()));
            // before the peer is welcomed, which would take a connection that ends then for one that served
            if (!server.startWriter(this)) {
                throw new ClosedChannelException();
            }
            write(server.welcomer().welcome(session(), transport).toFrame(0));
            if (!server.established(this)) {
                throw new ClosedChannelException();
            }
        });
    }

    private void read()
    {
        reader = Thread.currentThread();
        try {
            runUntilEnd(() -> {
                while (true) {
                    awaitRoomForAnswers();
                    readRequest();
                }
            });
        }
        finally {
            server.handler().closed(this);
        }
    }

    private interface Step
    {
        void run()
                throws IOException, RefusedException, InterruptedException;
    }

    /**
     * Runs a step of the connection, and ends the connection if the step fails.
     *
     * @return whether the step succeeded
     */
    private boolean runUntilEnd(Step step)
    {
        boolean failed = true;
        try {
            step.run();
            failed = false;
        }
        catch (RefusedException e) {
            server.refusals().refused(peer, e.getMessage());
            sendError(e.getMessage());
        }
        catch (WireException e) {
            server.refusals().refused(peer, e.getMessage());
            sendError(e.getMessage());
        }
        catch (SSLException e) {
            // a failed handshake, or bytes that were changed on the way
            server.refusals().refused(peer, "TLS failed: " + e.getMessage());
        }
        catch (IOException e) {
            log.debug("Connection of %s ended: %s", peer, e);
        }
        catch (InterruptedException e) {
            log.debug("Connection of %s interrupted", peer);
        }
        catch (RuntimeException e) {
            server.logFailure(e, peer, "its request could not be handled");
        }
        finally {
            if (failed) {
                close();
            }
        }
        return !failed;
    }

    private Established shakeHands()
            throws IOException, RefusedException, InterruptedException
    {
        List<String> secrets = server.secrets().valid();
        Secured secured = transport == Transport.TCP ? startTls() : Secured.PLAIN;
        Handshake handshake = new Handshake(transport, secrets, server.welcomer().worker(), secured.binding());
        Message hello = readHandshakeMessage();
        if (secured.refusal().isPresent()) {
            // not earlier, because a peer that is still sending may lose the reason
            throw new RefusedException(secured.refusal().get());
        }
        write(handshake.challenge(hello).toFrame(0));
        Established established = handshake.prove(readHandshakeMessage());
        server.handshakeBudget().proven(peer);
        role = PeerRole.of(transport, established.secret().isPresent(), !secrets.isEmpty());
        return established;
    }

    /**
     * The result of the beginning of a connection.
     *
     * @param binding the key material exported from the TLS connection; empty without TLS
     * @param refusal why the certificate of the peer is refused; empty if it is accepted, or if none is required
     */
    private record Secured(byte[] binding, Optional<String> refusal)
    {
        private static final Secured PLAIN = new Secured(new byte[0], Optional.empty());
    }

    /**
     * Does the TLS handshake if the peer begins one.
     */
    private Secured startTls()
            throws IOException, RefusedException, InterruptedException
    {
        Optional<TlsCredentials> credentials = server.credentials();
        boolean certificateRequired = credentials.isPresent() && credentials.get().requiresPeerCertificates();
        fillInput(TlsConnection.PREFIX_BYTES);
        if (!TlsConnection.isTls(input)) {
            if (certificateRequired || server.tlsMode() == TlsMode.REQUIRED) {
                throw new RefusedException("this cache worker requires TLS: install the same release on all hosts, or set cache.worker.tls=ALLOWED during an upgrade");
            }
            server.plainConnection();
            return Secured.PLAIN;
        }
        server.handshakeBudget().await(peer, closed::get);
        TlsConnection tls = TlsConnection.server(channel, credentials.map(TlsCredentials::serverContext).orElseGet(server::tlsContext), certificateRequired, input);
        // all of it was taken
        input.clear().flip();
        tls.handshake();
        source = tls;
        sink = tls;
        return new Secured(tls.binding(), certificateRequired ? credentials.get().clientProblem(tls.session()) : Optional.empty());
    }

    private Message readHandshakeMessage()
            throws IOException
    {
        FrameHeader header = readHeader(FrameHeader.MAX_HANDSHAKE_BODY_BYTES);
        return Message.read(header.type(), readBody(header.bodyLength()));
    }

    private void readRequest()
            throws IOException, InterruptedException
    {
        FrameHeader header = readHeader(FrameHeader.MAX_SKIPPED_BODY_BYTES);
        PeerRole needed = RequestRoles.needed(header.type()).orElseThrow(() -> new WireException("a client does not send " + header.type()));
        if (!role.includes(needed)) {
            skipBody(header.bodyLength());
            refuse(header.requestId(), "%s needs the role of the cluster, and this connection did not prove the shared secret: give its client the secret of the cache worker"
                    .formatted(header.type()));
            return;
        }
        if (header.bodyLength() > header.type().maxBodyBytes()) {
            rejectTooLarge(header);
            return;
        }
        int budgeted = header.bodyLength() > BUDGETED_BODY_BYTES ? header.bodyLength() : 0;
        if (budgeted > 0) {
            // the body has no deadline yet, because the peer cannot go on while it waits for memory
            server.bodyBudget().acquire(peer, budgeted);
        }
        try {
            beginBody(header.bodyLength());
            Message message = Message.read(header.type(), readBody(header.bodyLength()));
            endFrame();
            setReaderAnswers(true);
            server.handler().handle(this, header.requestId(), message);
        }
        finally {
            setReaderAnswers(false);
            if (budgeted > 0) {
                server.bodyBudget().release(peer, budgeted);
            }
        }
        answerOrHandOver();
    }

    /**
     * Fails a request that is too large, and no other request.
     */
    private void rejectTooLarge(FrameHeader header)
            throws IOException
    {
        String problem = "%s request has %s bytes, at most %s are allowed".formatted(header.type(), header.bodyLength(), header.type().maxBodyBytes());
        if (header.requestId() == 0) {
            throw new WireException(problem);
        }
        skipBody(header.bodyLength());
        refuse(header.requestId(), problem);
    }

    private void skipBody(int length)
            throws IOException
    {
        beginBody(length);
        int buffered = Math.min(length, input.remaining());
        input.position(input.position() + buffered);
        int left = length - buffered;
        ByteBuffer skipped = ByteBuffer.allocate(Math.min(left, READ_SLICE_BYTES));
        while (left > 0) {
            skipped.clear().limit(Math.min(left, skipped.capacity()));
            int count = source.read(skipped);
            if (count < 0) {
                throw new WireException("connection ends in the middle of a frame");
            }
            left -= count;
        }
        endFrame();
    }

    /**
     * Gives the peer a limited time for a body that has not arrived yet, however it divides the bytes.
     */
    private void beginBody(int length)
    {
        frameDeadlineNanos = input.remaining() >= length ? 0 : nonZero(System.nanoTime() + server.bodyNanos(length));
    }

    private void endFrame()
    {
        if (frameDeadlineNanos != 0) {
            frameDeadlineNanos = 0;
        }
    }

    /**
     * Returns whether the peer has begun a frame and did not complete it in time.
     */
    boolean isFrameLate()
    {
        long deadline = frameDeadlineNanos;
        return deadline != 0 && System.nanoTime() - deadline > 0;
    }

    private void setReaderAnswers(boolean value)
    {
        lock.lock();
        try {
            readerAnswers = value;
        }
        finally {
            lock.unlock();
        }
    }

    private void answerOrHandOver()
            throws IOException
    {
        Outgoing answer;
        lock.lock();
        try {
            if (answers.isEmpty()) {
                return;
            }
            // with more to write or to read, two threads are faster than one
            if (answers.size() > 1 || writerWrites || ended || input.remaining() >= FrameHeader.BYTES) {
                answersWaiting.signal();
                return;
            }
            answer = answers.removeFirst();
            readerWrites = true;
        }
        finally {
            lock.unlock();
        }
        try (answer) {
            List<ByteBuffer> buffers = new ArrayList<>(2);
            answer.prepare(buffers);
            write(buffers.toArray(new ByteBuffer[0]));
        }
        finally {
            lock.lock();
            try {
                readerWrites = false;
                if (!answers.isEmpty()) {
                    answersWaiting.signal();
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    private FrameHeader readHeader(int maxBodyBytes)
            throws IOException
    {
        fillInput(FrameHeader.BYTES);
        endFrame();
        return FrameHeader.readFrom(input, maxBodyBytes);
    }

    private void fillInput(int bytes)
            throws IOException
    {
        while (input.remaining() < bytes) {
            if (input.hasRemaining() && frameDeadlineNanos == 0) {
                frameDeadlineNanos = nonZero(System.nanoTime() + server.bodyNanos(0));
            }
            input.compact();
            int count;
            try {
                count = source.read(input);
            }
            finally {
                input.flip();
            }
            if (count < 0) {
                if (input.hasRemaining()) {
                    throw new WireException("connection ends in the middle of a frame");
                }
                throw new EOFException("closed by the peer");
            }
        }
    }

    private ByteBuffer readBody(int length)
            throws IOException
    {
        ByteBuffer body = ByteBuffer.allocate(length);
        int buffered = Math.min(length, input.remaining());
        body.put(0, input, input.position(), buffered);
        body.position(buffered);
        input.position(input.position() + buffered);
        while (body.position() < length) {
            body.limit(Math.min(length, body.position() + READ_SLICE_BYTES));
            if (source.read(body) < 0) {
                throw new WireException("connection ends in the middle of a frame");
            }
        }
        return body.flip();
    }

    private void awaitRoomForAnswers()
            throws InterruptedException
    {
        lock.lock();
        try {
            while (answers.size() >= MAX_QUEUED_ANSWERS && !ended) {
                roomForAnswers.await();
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Runs the writer thread until the connection ends.
     */
    void writeAnswers()
    {
        List<Outgoing> batch = new ArrayList<>(MAX_GATHERED_ANSWERS);
        List<ByteBuffer> buffers = new ArrayList<>();
        try {
            while (takeAnswers(batch)) {
                try {
                    for (Outgoing answer : batch) {
                        answer.prepare(buffers);
                    }
                    write(buffers.toArray(new ByteBuffer[0]));
                }
                finally {
                    batch.forEach(Outgoing::close);
                    batch.clear();
                    buffers.clear();
                }
            }
        }
        catch (IOException e) {
            log.debug("Connection of %s ended: %s", peer, e);
        }
        catch (InterruptedException e) {
            log.debug("Connection of %s interrupted", peer);
        }
        catch (RuntimeException e) {
            server.logFailure(e, peer, "its answer could not be made");
        }
        finally {
            close();
        }
    }

    private boolean takeAnswers(List<Outgoing> batch)
            throws InterruptedException
    {
        lock.lock();
        try {
            writerWrites = false;
            while ((answers.isEmpty() || readerWrites) && !ended) {
                answersWaiting.await();
            }
            if (ended) {
                return false;
            }
            writerWrites = true;
            while (batch.size() < MAX_GATHERED_ANSWERS && !answers.isEmpty()) {
                batch.add(answers.removeFirst());
            }
            roomForAnswers.signal();
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    private void write(ByteBuffer... buffers)
            throws IOException
    {
        lastWriteProgressNanos = nonZero(System.nanoTime());
        try {
            int first = 0;
            while (true) {
                while (first < buffers.length && !buffers[first].hasRemaining()) {
                    first++;
                }
                if (first == buffers.length) {
                    return;
                }
                sink.write(buffers, first, buffers.length - first);
                lastWriteProgressNanos = nonZero(System.nanoTime());
            }
        }
        finally {
            lastWriteProgressNanos = 0;
        }
    }

    private static long nonZero(long nanos)
    {
        return nanos == 0 ? 1 : nanos;
    }

    /**
     * Returns whether the peer has read no byte of the current write for the given time.
     */
    boolean isStuck(long limitNanos)
    {
        long progress = lastWriteProgressNanos;
        return progress != 0 && System.nanoTime() - progress > limitNanos;
    }

    // sends the reason for closing the connection, while no writer is running
    private void sendError(String message)
    {
        if (session.isPresent()) {
            // the writer may be in the middle of a frame
            return;
        }
        try {
            write(new ControlMessage.Error(message).toFrame(0));
        }
        catch (IOException e) {
            log.debug("Cannot send %s the reason for closing its connection: %s", peer, e);
        }
    }

    String peer()
    {
        return peer;
    }

    /**
     * Ends the reader and the writer, and closes answers that were not sent. Closing twice has no effect.
     */
    void close()
    {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        List<Outgoing> unsent;
        lock.lock();
        try {
            ended = true;
            unsent = List.copyOf(answers);
            answers.clear();
            answersWaiting.signalAll();
            roomForAnswers.signalAll();
        }
        finally {
            lock.unlock();
        }
        try {
            channel.close();
        }
        catch (IOException e) {
            log.debug("Connection of %s could not be closed: %s", peer, e);
        }
        unsent.forEach(Outgoing::close);
        server.closed(this);
    }
}
