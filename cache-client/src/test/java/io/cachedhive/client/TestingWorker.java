package io.cachedhive.client;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.ChunkSize;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.InvalidationMessage.Revalidate;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.MessageType;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PolicyMessage.Reclassify;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.GetTables;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.tls.TlsConnection;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;

import static io.cachedhive.protocol.security.HandshakeProof.Side.CLIENT;
import static io.cachedhive.protocol.security.HandshakeProof.Side.SERVER;

/**
 * A cache worker that speaks the protocol, well or badly as the test wants: {@link #reads} decides how reads are answered.
 */
public final class TestingWorker
        implements AutoCloseable
{
    public static final long ETAG = 42;

    private final CacheWorkerId id;
    private final int blockSizeBytes;
    private static final SSLContext TLS = TlsContexts.selfSignedServer();

    volatile Optional<String> secret;
    volatile Optional<String> formerSecret = Optional.empty();
    private final Map<FileVersion, byte[]> files = new ConcurrentHashMap<>();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicLong leases = new AtomicLong();
    private final Map<Digest128, Long> lastBatches = new ConcurrentHashMap<>();
    private final AtomicInteger instances = new AtomicInteger();

    private final List<Thread> acceptors = new ArrayList<>();
    private ServerSocketChannel unixServer;
    private ServerSocketChannel tcpServer;
    private int tcpPort;

    public final Queue<Read> readRequests = new ConcurrentLinkedQueue<>();
    // of the reads that say how blocks are to be kept
    final Queue<FillTerms> terms = new ConcurrentLinkedQueue<>();
    final Queue<Reclassify> reclassifications = new ConcurrentLinkedQueue<>();
    final Queue<TableQuota> quotas = new ConcurrentLinkedQueue<>();
    final Queue<Fill> fills = new ConcurrentLinkedQueue<>();
    final Queue<OfferGuest> guests = new ConcurrentLinkedQueue<>();
    final Queue<Long> releasedLeases = new ConcurrentLinkedQueue<>();
    final Queue<Long> cancelled = new ConcurrentLinkedQueue<>();
    final Queue<Revalidate> revalidations = new ConcurrentLinkedQueue<>();
    final Queue<Usage> usages = new ConcurrentLinkedQueue<>();
    final Queue<Digest128> hits = new ConcurrentLinkedQueue<>();
    final Map<String, Map<String, Long>> usage = new ConcurrentHashMap<>();
    final AtomicInteger pings = new AtomicInteger();

    public volatile Reads reads = Exchange::answerAll;
    volatile Function<Preload, Message> preloads = preload -> new Preloaded(preload.length(), 0, 0, Optional.empty());
    volatile Function<GetTables, Message> tables = _ -> new Tables(List.of(), false);
    volatile Source source = Source.RAM;
    volatile long etagDigest = ETAG;
    volatile int version = Message.MAX_VERSION;
    volatile OriginStatus originStatus = OriginStatus.KNOWN;
    volatile boolean proves = true;
    volatile boolean keepsGuests;
    volatile boolean answersUsage = true;
    volatile boolean answersPings = true;
    volatile boolean answersHello = true;
    volatile List<PublishedRing> rings = List.of();
    volatile InMemoryBlocks memory;
    public volatile boolean sharesMemory = true;
    volatile boolean wantsGuests = true;
    volatile String memoryFile;
    /**
     * While it has a count, connections stand and nothing is read from them.
     */
    volatile CountDownLatch frozen = new CountDownLatch(0);

    public TestingWorker(String id, int blockSizeBytes, Optional<String> secret)
    {
        this.id = new CacheWorkerId(id);
        this.blockSizeBytes = blockSizeBytes;
        this.secret = secret;
        this.memory = newMemory();
        this.memoryFile = "/dev/shm/" + id;
    }

    public interface Reads
    {
        /**
         * On a thread of its own.
         */
        void answer(Exchange exchange, Read read)
                throws IOException, InterruptedException;
    }

    private InMemoryBlocks newMemory()
    {
        return new InMemoryBlocks(new Digest128(id.hashCode(), instances.incrementAndGet()), blockSizeBytes);
    }

    CacheWorkerId id()
    {
        return id;
    }

    int acceptedConnections()
    {
        return accepted.get();
    }

    public int openConnections()
    {
        return connections.size();
    }

    public void addFile(FileVersion version, byte[] bytes)
    {
        files.put(version, bytes);
    }

    public byte[] block(FileVersion version, int block)
    {
        byte[] bytes = new byte[version.blockLength(block, blockSizeBytes)];
        System.arraycopy(files.get(version), block * blockSizeBytes, bytes, 0, bytes.length);
        return bytes;
    }

    /**
     * Puts blocks where clients see them without asking.
     */
    void share(FileVersion version, int... blocks)
    {
        for (int block : blocks) {
            memory.put(version.id().block(block), block(version, block), etagDigest);
        }
    }

    void setRings(List<PublishedRing> rings)
    {
        this.rings = rings;
        memory.setRings(rings);
    }

    public void listen(Path socket)
            throws IOException
    {
        Files.deleteIfExists(socket);
        unixServer = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        unixServer.bind(UnixDomainSocketAddress.of(socket));
        accept(unixServer, true);
    }

    /**
     * On the same port after each {@link #stop}.
     */
    public WorkerAddress listenTcp()
            throws IOException
    {
        tcpServer = ServerSocketChannel.open();
        tcpServer.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        tcpServer.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), tcpPort));
        tcpPort = ((InetSocketAddress) tcpServer.getLocalAddress()).getPort();
        accept(tcpServer, false);
        return new WorkerAddress("127.0.0.1", tcpPort);
    }

    private void accept(ServerSocketChannel server, boolean local)
    {
        acceptors.add(Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    Connection connection = new Connection(server.accept(), local);
                    synchronized (connections) {
                        if (!server.isOpen()) {
                            connection.channel.close();
                            return;
                        }
                        accepted.incrementAndGet();
                        connections.add(connection);
                    }
                    Thread.ofPlatform().daemon().start(connection::serve);
                }
            }
            catch (IOException e) {
                // stopped
            }
        }));
    }

    /**
     * As kill -9 does it: connections end in the midst of what they did, and the memory stays behind.
     */
    public void stop()
            throws IOException
    {
        synchronized (connections) {
            if (unixServer != null) {
                unixServer.close();
            }
            if (tcpServer != null) {
                tcpServer.close();
            }
            disconnectAll();
        }
        // the port is free when nobody accepts on it any more
        for (Thread acceptor : acceptors) {
            Await.until("stopped", () -> !acceptor.isAlive());
        }
        acceptors.clear();
        memory = newMemory();
        memory.setRings(rings);
    }

    void disconnectAll()
            throws IOException
    {
        for (Connection connection : connections) {
            connection.channel.close();
        }
    }

    @Override
    public void close()
            throws IOException
    {
        stop();
    }

    private final class Connection
    {
        private final SocketChannel channel;
        private final boolean local;

        // the channel, or the TLS connection over it
        private ByteChannel bytes;
        private byte[] binding = new byte[0];
        // received before it was known whether the client speaks TLS
        private final ByteBuffer prefix = ByteBuffer.allocate(TlsConnection.PREFIX_BYTES).limit(0);

        Connection(SocketChannel channel, boolean local)
        {
            this.channel = channel;
            this.bytes = channel;
            this.local = local;
        }

        private void startTls()
                throws IOException
        {
            prefix.clear();
            while (prefix.hasRemaining()) {
                if (channel.read(prefix) < 0) {
                    throw new EOFException();
                }
            }
            if (TlsConnection.isTls(prefix.flip())) {
                TlsConnection tls = TlsConnection.server(channel, TLS, false, prefix);
                tls.handshake();
                bytes = tls;
                binding = tls.binding();
            }
        }

        void serve()
        {
            try {
                if (!local) {
                    startTls();
                }
                if (shakeHands()) {
                    while (true) {
                        frozen.await();
                        FrameHeader header = readHeader(FrameHeader.MAX_BODY_BYTES);
                        answer(header.requestId(), readBody(header));
                    }
                }
            }
            catch (IOException | InterruptedException e) {
                // the client left, or the test stopped this worker
            }
            finally {
                connections.remove(this);
                try {
                    channel.close();
                }
                catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        private boolean shakeHands()
                throws IOException
        {
            Hello hello = (Hello) readBody(readHeader(FrameHeader.MAX_HANDSHAKE_BODY_BYTES));
            if (!answersHello) {
                readHeader(FrameHeader.MAX_HANDSHAKE_BODY_BYTES);
                return false;
            }
            byte[] nonce = new byte[HandshakeProof.NONCE_BYTES];
            nonce[0] = 7;
            boolean proofRequired = !local && secret.isPresent();
            List<String> secrets = Stream.concat(secret.stream(), formerSecret.stream()).toList();
            Transcript transcript = new Transcript(hello, version, nonce, id, binding);
            send(0, new Challenge(version, proofRequired, nonce, id, proves ? HandshakeProof.proveAll(secrets, SERVER, transcript) : List.of(new byte[32])));
            Proof answer = (Proof) readBody(readHeader(FrameHeader.MAX_HANDSHAKE_BODY_BYTES));
            if (proofRequired && HandshakeProof.verify(secrets, CLIENT, transcript, List.of(answer.proof())).isEmpty()) {
                send(0, new ControlMessage.Error("wrong shared secret"));
                return false;
            }
            send(0, new Welcome(
                    id,
                    memory.instance(),
                    blockSizeBytes,
                    local && sharesMemory ? memoryFile : "",
                    wantsGuests,
                    hello.origins().stream().map(_ -> originStatus).toList()));
            return true;
        }

        private void answer(long request, Message message)
                throws IOException
        {
            switch (message) {
                case Read read -> {
                    readRequests.add(read);
                    Reads answering = reads;
                    Thread.ofPlatform().daemon().start(() -> {
                        try {
                            answering.answer(new Exchange(this, request, read), read);
                        }
                        catch (IOException | InterruptedException e) {
                            // the client left, or the test stopped this worker
                        }
                    });
                }
                case OnTerms onTerms -> {
                    terms.add(onTerms.terms());
                    answer(request, onTerms.request());
                }
                case Reclassify reclassify -> reclassifications.add(reclassify);
                case TableQuota quota -> quotas.add(quota);
                case Cancel cancel -> cancelled.add(cancel.request());
                case Fill fill -> {
                    ByteBuffer copy = ByteBuffer.allocate(fill.payload().remaining()).put(fill.payload().duplicate()).flip();
                    fills.add(new Fill(fill.lease(), fill.observedLength(), fill.observedLastModifiedMillis(), fill.checksum(), copy));
                    send(request, new ControlMessage.Ack());
                }
                case OfferGuest offer -> {
                    ByteBuffer copy = ByteBuffer.allocate(offer.payload().remaining()).put(offer.payload().duplicate()).flip();
                    if (keepsGuests) {
                        memory.put(offer.file().id().block(offer.block()), copy.array(), offer.etagDigest());
                    }
                    // what tests wait for, and then see it in the memory
                    guests.add(new OfferGuest(offer.origin(), offer.file(), offer.block(), offer.table(), offer.etagDigest(), offer.checksum(), copy));
                }
                case ReleaseLease release -> releasedLeases.add(release.lease());
                case Revalidate revalidate -> {
                    revalidations.add(revalidate);
                    send(request, new ControlMessage.Ack());
                }
                case Usage batch -> {
                    boolean answers = answersUsage;
                    usages.add(batch);
                    if (answers) {
                        count(batch);
                        send(request, new ControlMessage.Ack());
                    }
                }
                // of no meaning to a worker that fetches nothing
                case ChunkSize _ -> {}
                case Ping _ -> {
                    pings.incrementAndGet();
                    if (answersPings) {
                        send(request, pong());
                    }
                }
                case GetRings _ -> send(request, new Rings(rings));
                case PublishRing publish -> {
                    setRings(List.of(publish.ring()));
                    send(request, new ControlMessage.Ack());
                }
                case GetStats _ -> send(request, new Stats(pong(), 1, Optional.of("a problem"), totals(), Map.of("ram_used_bytes", 5L)));
                case GetTables tables -> send(request, TestingWorker.this.tables.apply(tables));
                case Preload preload -> send(request, preloads.apply(preload));
                default -> throw new IOException("unexpected: " + message);
            }
        }

        private Pong pong()
        {
            return new Pong(id, new Digest128(1, 2), "test", "RUNNING", 100, Optional.empty(), 3, 4, new RingEpoch(0), 0);
        }

        private FrameHeader readHeader(int maxBodyBytes)
                throws IOException
        {
            ByteBuffer buffer = ByteBuffer.allocate(FrameHeader.BYTES);
            fill(buffer);
            return FrameHeader.readFrom(buffer.flip(), maxBodyBytes);
        }

        private Message readBody(FrameHeader header)
                throws IOException
        {
            ByteBuffer buffer = ByteBuffer.allocate(header.bodyLength());
            fill(buffer);
            return Message.read(header.type(), buffer.flip());
        }

        private void fill(ByteBuffer buffer)
                throws IOException
        {
            while (buffer.hasRemaining()) {
                if (prefix.hasRemaining()) {
                    buffer.put(prefix.get());
                }
                else if (bytes.read(buffer) < 0) {
                    throw new EOFException();
                }
            }
        }

        void send(long request, Message message)
                throws IOException
        {
            write(message.toFrame(request));
        }

        synchronized void write(ByteBuffer frame)
                throws IOException
        {
            while (frame.hasRemaining()) {
                bytes.write(frame);
            }
        }
    }

    /**
     * The sums over all tables.
     */
    synchronized Map<String, Long> totals()
    {
        Map<String, Long> totals = new HashMap<>();
        usage.values().forEach(table -> table.forEach((name, value) -> totals.merge(name, value, Long::sum)));
        return totals;
    }

    private synchronized void count(Usage batch)
    {
        if (batch.batch() <= lastBatches.getOrDefault(batch.client(), 0L)) {
            return;
        }
        lastBatches.put(batch.client(), batch.batch());
        hits.addAll(batch.hits());
        batch.counters().forEach((table, counters) -> counters.forEach((name, value) ->
                usage.computeIfAbsent(table, _ -> new ConcurrentHashMap<>()).merge(name, value, Long::sum)));
    }

    /**
     * A read that is being answered.
     */
    public final class Exchange
    {
        private final Connection connection;
        private final long request;
        private final Read read;

        private Exchange(Connection connection, long request, Read read)
        {
            this.connection = connection;
            this.request = request;
            this.read = read;
        }

        public void answerAll(Read ignored)
                throws IOException
        {
            for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                answer(block);
            }
        }

        /**
         * As the read wants it: in a frame or with its bytes.
         */
        public void answer(int block)
                throws IOException
        {
            answer(block, etagDigest);
        }

        public void answer(int block, long etag)
                throws IOException
        {
            answer(block, source, etag);
        }

        void answerWithBytes(int block, Source source)
                throws IOException
        {
            sendBytes(block, source, etagDigest, block(read.file(), block));
        }

        private void sendBytes(int block, Source source, long etag, byte[] bytes)
                throws IOException
        {
            send(part(block, source, etag, bytes, read.range().offset(block), read.range().length(block, bytes.length)));
        }

        /**
         * @param bytes all of the block
         */
        BlockBytes part(int block, Source source, long etag, byte[] bytes, int offset, int length)
        {
            MemorySegment memory = MemorySegment.ofArray(bytes);
            PieceChecksums checksums = MemoryChecksums.ofPart(memory, MemoryChecksums.compute(memory)::value, offset, length).orElseThrow();
            return new BlockBytes(block, source, etag, checksums, ByteBuffer.wrap(bytes, offset, length).slice());
        }

        /**
         * A range of the block, whatever the read wants.
         */
        void sendPart(int block, int offset, int length)
                throws IOException
        {
            send(part(block, source, etagDigest, block(read.file(), block), offset, length));
        }

        /**
         * What the read wants of the block, with one bit flipped on the way.
         */
        public void answerFlipped(int block, int byteInPart)
                throws IOException
        {
            byte[] bytes = block(read.file(), block);
            BlockBytes answer = part(block, source, etagDigest, bytes, read.range().offset(block), read.range().length(block, bytes.length));
            bytes[answer.checksums().offset() + byteInPart] ^= 1;
            send(answer);
        }

        public void answer(int block, Source source, long etag)
                throws IOException
        {
            BlockKey key = read.file().id().block(block);
            byte[] bytes = block(read.file(), block);
            if (read.inline()) {
                sendBytes(block, source, etag, bytes);
            }
            else {
                InMemoryBlocks.Frame frame = memory.frame(key, bytes, etag);
                send(new BlockFrame(block, source, etag, bytes.length, frame.number(), 0, frame.generation()));
            }
        }

        public void fetching()
                throws IOException
        {
            send(new ReadMessage.Fetching());
        }

        public void no(int block, NoCause cause)
                throws IOException
        {
            send(new BlockNo(block, cause));
        }

        public void lease(int block)
                throws IOException
        {
            send(new BlockLease(block, leases.incrementAndGet()));
        }

        public void send(Message message)
                throws IOException
        {
            connection.send(request, message);
        }

        ByteBuffer frame(Message message)
        {
            return message.toFrame(request);
        }

        public void write(byte[] bytes)
                throws IOException
        {
            connection.write(ByteBuffer.wrap(bytes));
        }

        /**
         * A frame of zeros.
         */
        void writeFrame(MessageType type, int bodyLength)
                throws IOException
        {
            ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + bodyLength);
            new FrameHeader(bodyLength, type, request).writeTo(frame);
            connection.write(frame.rewind());
        }

        /**
         * The header of a frame whose body does not follow.
         */
        void writeHeader(MessageType type, int bodyLength)
                throws IOException
        {
            ByteBuffer header = ByteBuffer.allocate(FrameHeader.BYTES);
            new FrameHeader(bodyLength, type, request).writeTo(header);
            connection.write(header.flip());
        }

        public void disconnect()
                throws IOException
        {
            connection.channel.close();
        }
    }
}
