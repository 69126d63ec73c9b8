package io.cachedhive.transport.tls;

import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SocketChannel;

import static java.util.Objects.requireNonNull;

/**
 * TLS 1.3 over a socket channel, blocking or not.
 *
 * <p>One thread does the handshake. Afterwards one thread may read while another one writes, because an
 * {@link SSLEngine} decrypts and encrypts independently. The end of the stream is reported without a check for a
 * close_notify alert: every frame of the protocol has a length, so a truncated stream is detected there.
 */
public final class TlsConnection
        implements ByteChannel, GatheringByteChannel
{
    /**
     * The number of bytes that {@link #isTls} needs.
     */
    public static final int PREFIX_BYTES = 3;

    private static final byte RECORD_TYPE_HANDSHAKE = 0x16;
    private static final byte MAJOR_VERSION = 3;
    private static final String BINDING_LABEL = "EXPORTER-cachedhive-handshake";
    private static final int BINDING_BYTES = 32;
    private static final String PROTOCOL = "TLSv1.3";
    // several records per system call
    private static final int BULK_PLAIN_BYTES = 128 << 10;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    private final int recordBytes;
    private final int bulkBytes;
    // encrypted bytes that were received, ready to be read
    private ByteBuffer incoming;
    // encrypted bytes to be sent, ready to be read
    private ByteBuffer outgoing;
    // decrypted bytes that did not fit into the caller's buffer, ready to be read
    private ByteBuffer decrypted;
    private byte[] binding;

    private TlsConnection(SocketChannel channel, SSLEngine engine)
    {
        this.channel = requireNonNull(channel, "channel is null");
        this.engine = requireNonNull(engine, "engine is null");
        engine.setEnabledProtocols(new String[] {PROTOCOL});
        recordBytes = engine.getSession().getPacketBufferSize();
        // with room for the headers and tags of the records
        bulkBytes = BULK_PLAIN_BYTES + 2 * recordBytes;
        incoming = ByteBuffer.allocateDirect(recordBytes).flip();
        outgoing = ByteBuffer.allocateDirect(recordBytes).flip();
        decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).flip();
    }

    /**
     * Returns whether the first bytes of a connection are those of a TLS handshake. Otherwise they are the length of a
     * frame: the first frame of the block protocol is shorter than 64 KiB, so its third byte is zero, which is not the
     * minor version of a TLS record.
     *
     * @param received at least {@value PREFIX_BYTES} bytes
     */
    public static boolean isTls(ByteBuffer received)
    {
        int start = received.position();
        return received.get(start) == RECORD_TYPE_HANDSHAKE && received.get(start + 1) == MAJOR_VERSION && received.get(start + 2) != 0;
    }

    /**
     * Returns the client's end of a connection. The channel must be connected.
     */
    public static TlsConnection client(SocketChannel channel, SSLContext context)
    {
        // without the address of the peer, so that no session is resumed
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(true);
        return new TlsConnection(channel, engine);
    }

    /**
     * Returns the server's end of a connection.
     *
     * @param clientCertificate whether the client must present a certificate that the context trusts
     * @param received bytes that were read from the channel already
     */
    public static TlsConnection server(SocketChannel channel, SSLContext context, boolean clientCertificate, ByteBuffer received)
    {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setNeedClientAuth(clientCertificate);
        TlsConnection connection = new TlsConnection(channel, engine);
        if (received.remaining() > connection.incoming.capacity()) {
            throw new IllegalArgumentException("more than a record was received: " + received.remaining());
        }
        connection.incoming.clear().put(received).flip();
        return connection;
    }

    /**
     * Continues the handshake as far as the channel permits; to its end if the channel blocks.
     *
     * @return whether the handshake is complete and all of its bytes are sent
     * @throws SSLException if the peers do not agree
     * @throws EOFException if the peer ended the connection
     */
    public boolean handshake()
            throws IOException
    {
        try {
            return continueHandshake();
        }
        catch (SSLException e) {
            sendAlert();
            throw e;
        }
    }

    private boolean continueHandshake()
            throws IOException
    {
        while (true) {
            if (!flush()) {
                return false;
            }
            HandshakeStatus status = engine.getHandshakeStatus();
            if (status == HandshakeStatus.NOT_HANDSHAKING && binding == null && engine.getSession().getProtocol().equals("NONE")) {
                engine.beginHandshake();
                continue;
            }
            switch (status) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> wrapHandshake();
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (!unwrapHandshake()) {
                        return false;
                    }
                }
                case FINISHED, NOT_HANDSHAKING -> {
                    if (binding == null) {
                        binding = ((ExtendedSSLSession) engine.getSession()).exportKeyingMaterialData(BINDING_LABEL, null, BINDING_BYTES);
                    }
                    return true;
                }
            }
        }
    }

    private void runTasks()
    {
        Runnable task;
        while ((task = engine.getDelegatedTask()) != null) {
            task.run();
        }
    }

    private void wrapHandshake()
            throws IOException
    {
        outgoing.compact();
        try {
            SSLEngineResult result = engine.wrap(EMPTY, outgoing);
            if (result.getStatus() == SSLEngineResult.Status.CLOSED && result.bytesProduced() == 0) {
                throw new EOFException("the TLS handshake was ended");
            }
        }
        finally {
            outgoing.flip();
        }
    }

    private boolean unwrapHandshake()
            throws IOException
    {
        while (true) {
            decrypted.compact();
            SSLEngineResult result;
            try {
                result = engine.unwrap(incoming, decrypted);
            }
            finally {
                decrypted.flip();
            }
            switch (result.getStatus()) {
                case OK -> {
                    return true;
                }
                case BUFFER_UNDERFLOW -> {
                    int count = receive();
                    if (count < 0) {
                        throw new EOFException("the peer ended the connection in the TLS handshake");
                    }
                    if (count == 0) {
                        return false;
                    }
                }
                case BUFFER_OVERFLOW -> throw new SSLException("a handshake record does not fit into its buffer");
                case CLOSED -> throw new EOFException("the peer ended the TLS handshake");
            }
        }
    }

    /**
     * Sends the alert of a failed handshake, so that the peer can report the reason.
     */
    private void sendAlert()
    {
        try {
            while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && !engine.isOutboundDone()) {
                wrapHandshake();
                if (!flush()) {
                    return;
                }
            }
        }
        catch (IOException _) {
            // the exception of the handshake is thrown by the caller
        }
    }

    /**
     * Returns the key material that both ends, and no others, derive from this connection (RFC 8446, section 7.5).
     *
     * @return {@value BINDING_BYTES} bytes
     * @throws IllegalStateException before the handshake is complete
     */
    public byte[] binding()
    {
        if (binding == null) {
            throw new IllegalStateException("the TLS handshake is not complete");
        }
        return binding.clone();
    }

    /**
     * Returns the engine's session, for example for the certificates of the peer.
     */
    public ExtendedSSLSession session()
    {
        return (ExtendedSSLSession) engine.getSession();
    }

    /**
     * Reads decrypted bytes. Reads from the channel only if no complete record has arrived.
     *
     * @return the number of bytes; 0 if the channel has none at the moment; -1 at its end
     */
    @Override
    public int read(ByteBuffer target)
            throws IOException
    {
        int count = takeDecrypted(target);
        while (target.hasRemaining()) {
            int before = target.position();
            SSLEngineResult result = engine.unwrap(incoming, target);
            if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                decrypted.compact();
                try {
                    result = engine.unwrap(incoming, decrypted);
                }
                finally {
                    decrypted.flip();
                }
                takeDecrypted(target);
            }
            count += target.position() - before;
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                runTasks();
            }
            switch (result.getStatus()) {
                case OK -> {}
                case BUFFER_UNDERFLOW -> {
                    if (count > 0) {
                        return count;
                    }
                    int received = receive();
                    if (received <= 0) {
                        return received;
                    }
                }
                case BUFFER_OVERFLOW -> throw new SSLException("a record does not fit into its buffer");
                case CLOSED -> {
                    return count > 0 ? count : -1;
                }
            }
        }
        return count;
    }

    private int takeDecrypted(ByteBuffer target)
    {
        int count = Math.min(decrypted.remaining(), target.remaining());
        target.put(target.position(), decrypted, decrypted.position(), count);
        target.position(target.position() + count);
        decrypted.position(decrypted.position() + count);
        return count;
    }

    /**
     * Returns whether there are received bytes that {@link #read} has not returned, so that waiting for the channel
     * could wait for ever.
     */
    public boolean hasReceived()
    {
        return decrypted.hasRemaining() || incoming.hasRemaining();
    }

    private int receive()
            throws IOException
    {
        if (incoming.remaining() == incoming.capacity()) {
            // the engine asks for more although a whole record should fit
            throw new SSLException("a record is longer than %s bytes".formatted(incoming.capacity()));
        }
        if (binding != null && incoming.capacity() < bulkBytes && incoming.remaining() > 0) {
            // more than a record at a time: worth a larger buffer
            incoming = larger(incoming);
        }
        incoming.compact();
        try {
            return channel.read(incoming);
        }
        finally {
            incoming.flip();
        }
    }

    private ByteBuffer larger(ByteBuffer buffer)
    {
        return ByteBuffer.allocateDirect(bulkBytes).put(buffer).flip();
    }

    @Override
    public int write(ByteBuffer source)
            throws IOException
    {
        return (int) write(new ByteBuffer[] {source}, 0, 1);
    }

    @Override
    public long write(ByteBuffer[] sources)
            throws IOException
    {
        return write(sources, 0, sources.length);
    }

    /**
     * Encrypts and sends some bytes: none while encrypted bytes wait for the channel, else at least 128 KiB or all.
     *
     * @return the number of bytes that were encrypted. They may wait for the channel; see {@link #flush}
     */
    @Override
    public long write(ByteBuffer[] sources, int offset, int length)
            throws IOException
    {
        if (!flush()) {
            return 0;
        }
        if (outgoing.capacity() < bulkBytes && remaining(sources, offset, length) > recordBytes / 2) {
            outgoing = larger(outgoing);
        }
        long count = 0;
        outgoing.clear();
        try {
            while (outgoing.remaining() >= recordBytes && hasRemaining(sources, offset, length)) {
                SSLEngineResult result = engine.wrap(sources, offset, length, outgoing);
                count += result.bytesConsumed();
                if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                    throw new ClosedChannelException();
                }
            }
        }
        finally {
            outgoing.flip();
        }
        flush();
        return count;
    }

    private static boolean hasRemaining(ByteBuffer[] buffers, int offset, int length)
    {
        for (int i = offset; i < offset + length; i++) {
            if (buffers[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    private static long remaining(ByteBuffer[] buffers, int offset, int length)
    {
        long remaining = 0;
        for (int i = offset; i < offset + length; i++) {
            remaining += buffers[i].remaining();
        }
        return remaining;
    }

    /**
     * Sends encrypted bytes that wait for the channel.
     *
     * @return whether none wait any more
     */
    public boolean flush()
            throws IOException
    {
        while (outgoing.hasRemaining()) {
            if (channel.write(outgoing) == 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether no encrypted bytes wait for the channel.
     */
    public boolean isFlushed()
    {
        return !outgoing.hasRemaining();
    }

    @Override
    public boolean isOpen()
    {
        return channel.isOpen();
    }

    @Override
    public void close()
            throws IOException
    {
        channel.close();
    }
}
