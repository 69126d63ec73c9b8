package io.cachedhive.client;

import io.airlift.log.Logger;
import io.cachedhive.client.BlockwiseFile.ByteRange;
import io.cachedhive.client.connection.AnswerHandler;
import io.cachedhive.client.connection.WorkerException;
import io.cachedhive.client.connection.WorkerLink;
import io.cachedhive.client.connection.WorkerSession;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.client.local.LocalTier;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.Message.BlockBytes;
import io.cachedhive.protocol.wire.Message.BlockFrame;
import io.cachedhive.protocol.wire.Message.BlockLease;
import io.cachedhive.protocol.wire.Message.BlockNo;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.Source;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * One read of what was not in shared memory: asks the owners of the chunks, and copies what they answer. Used by one thread, once.
 *
 * <p>Ranges are cut into runs of blocks, one request each; a few runs of one owner are under way at once, so that frames are copied soon after they
 * were named. I/O threads put bytes where they belong as they come, and leave all other answers in the mailbox; the reading thread does
 * everything else: an interrupt, a time-out or a failure ends in {@link #close}, after which nothing of this read is in anybody's hands.
 */
final class RangeRead
        implements AutoCloseable
{
    private static final Logger log = Logger.get(RangeRead.class);

    private static final int RUNS_AT_ONCE = 2;
    private static final RingEpoch NO_RING = new RingEpoch(0);
    // leases of neighbouring blocks come one after another: a moment's patience makes one request to the origin of them
    private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final ReadContext context;
    private final BlockwiseFile file;
    private final FileVersion version;
    private final long position;
    private final byte[] buffer;
    private final int offset;

    private final Mailbox<Letter> mailbox = new Mailbox<>();
    private final List<Owner> owners = new ArrayList<>();
    private final List<Run> underWay = new ArrayList<>();
    private final List<Lease> leases = new ArrayList<>();
    private final long[] bytesBySource = new long[ReadSource.values().length];
    private RingEpoch epoch = NO_RING;

    RangeRead(ReadContext context, BlockwiseFile file, long position, byte[] buffer, int offset)
    {
        this.context = requireNonNull(context, "context is null");
        this.file = requireNonNull(file, "file is null");
        this.version = file.file();
        this.position = position;
        this.buffer = requireNonNull(buffer, "buffer is null");
        this.offset = offset;
    }

    /**
     * @param verified of bytes: that they are the block's
     * @param failure in place of a message; null otherwise
     */
    private record Letter(Run run, Message message, boolean verified, Bypass failure) {}

    private record Lease(Run run, int block, long lease) {}

    /**
     * A worker that owns some of the chunks.
     *
     * @param mapping this host's shared memory if that is where the worker's frames are; null otherwise
     */
    private record Owner(WorkerLink link, WorkerSession session, boolean own, LocalTier.Mapping mapping, Deque<Run> waiting)
    {
        int blockSizeBytes()
        {
            return session.welcome().blockSizeBytes();
        }
    }

    /**
     * One request: neighbouring blocks, of which a range of bytes is wanted.
     */
    private final class Run
            implements AnswerHandler
    {
        private final Owner owner;
        private final int firstBlock;
        private final int blockCount;
        private final ByteRange range;
        private final boolean inline;
        private final boolean secondAttempt;

        // the reading thread only
        private long request;
        private int unread;

        // I/O threads only, one after another
        private final BitSet answered = new BitSet();
        private final CRC32C checksum = new CRC32C();
        private int arrivedBytes;

        // guarded by this
        private boolean closed;

        private volatile long lastSignNanos;
        private volatile boolean fetching;

        Run(Owner owner, ByteRange range, boolean inline, boolean secondAttempt)
        {
            this.owner = owner;
            this.range = range;
            this.firstBlock = (int) (range.start() / owner.blockSizeBytes());
            this.blockCount = (int) ((range.end() - 1) / owner.blockSizeBytes()) - firstBlock + 1;
            this.inline = inline;
            this.secondAttempt = secondAttempt;
            this.unread = blockCount;
        }

        long blockStart(int block)
        {
            return (long) block * owner.blockSizeBytes();
        }

        int blockLength(int block)
        {
            return version.blockLength(block, owner.blockSizeBytes());
        }

        /**
         * What is wanted of a block, as positions in the file.
         */
        ByteRange wanted(int block)
        {
            long start = blockStart(block);
            return new ByteRange(Math.max(range.start(), start), Math.min(range.end(), start + blockLength(block)));
        }

        @Override
        public int maxPayloadBytes()
        {
            return owner.blockSizeBytes();
        }

        private boolean isExpected(int block)
        {
            return block >= firstBlock && block < firstBlock + blockCount && !answered.get(block - firstBlock);
        }

        @Override
        public void arrived(BlockBytes block, int offset, ByteBuffer bytes)
        {
            if (!isExpected(block.block())) {
                return;
            }
            if (offset == 0) {
                // the first bytes of a block are a sign, later ones are not: who sends them in drops is as good as silent
                lastSignNanos = context.nanoTime();
                checksum.reset();
                arrivedBytes = 0;
            }
            arrivedBytes += bytes.remaining();
            checksum.update(bytes.duplicate());
            ByteRange wanted = wanted(block.block());
            long first = blockStart(block.block()) + offset;
            long start = Math.max(wanted.start(), first);
            int length = (int) Math.min(wanted.end() - start, first + bytes.remaining() - start);
            if (length > 0) {
                copy(bytes, (int) (start - first), start, length);
            }
        }

        /**
         * Into the reader's buffer, as long as it is the reader's. What turns out to be wrong is read again from the origin, or the read fails:
         * nobody looks at it before it was verified.
         */
        private synchronized void copy(ByteBuffer bytes, int skip, long start, int length)
        {
            if (!closed) {
                bytes.get(bytes.position() + skip, buffer, target(start), length);
            }
        }

        /**
         * The reader's buffer is left alone from now on.
         */
        synchronized void close()
        {
            closed = true;
        }

        @Override
        public boolean answered(Message message)
        {
            lastSignNanos = context.nanoTime();
            owner.link().answered();
            if (message instanceof Message.Fetching) {
                fetching = true;
                return false;
            }
            int block = switch (message) {
                case BlockFrame answer -> answer.block();
                case BlockBytes answer -> answer.block();
                case BlockLease answer -> answer.block();
                case BlockNo answer -> answer.block();
                default -> -1;
            };
            if (!isExpected(block)) {
                String problem = message instanceof Message.Error error ? error.message() : "unexpected answer to a read: " + message.type();
                mailbox.put(new Letter(this, null, false, new Bypass(BypassCause.PROTOCOL_ERROR, problem)));
                return true;
            }
            answered.set(block - firstBlock);
            boolean verified = message instanceof BlockBytes bytes && arrivedBytes == blockLength(block) && (int) checksum.getValue() == bytes.checksum();
            if (!mailbox.put(new Letter(this, message, verified, null))) {
                discard(this, message);
            }
            return answered.cardinality() == blockCount;
        }

        @Override
        public void failed(WorkerException reason)
        {
            mailbox.put(new Letter(this, null, false, Bypass.of(reason)));
        }
    }

    private static void discard(Run run, Message message)
    {
        if (message instanceof BlockLease lease) {
            run.owner.session().tell(new Message.ReleaseLease(lease.lease()));
        }
    }

    /**
     * By the ordinal of {@link ReadSource}.
     */
    long[] bytesBySource()
    {
        return bytesBySource;
    }

    void fetch(List<ByteRange> missing)
            throws Bypass, InterruptedException, InterruptedIOException
    {
        plan(missing);
        sendWaiting();
        while (!underWay.isEmpty()) {
            Letter letter = mailbox.take(leases.isEmpty() ? nanosLeft() : GATHER_NANOS);
            if (letter != null) {
                open(letter);
            }
            else if (!leases.isEmpty()) {
                fillLeases();
            }
            else {
                checkDeadlines();
            }
        }
        fillLeases();

        long wanted = missing.stream().mapToLong(range -> range.end() - range.start()).sum();
        long got = 0;
        for (long bytes : bytesBySource) {
            got += bytes;
        }
        if (got != wanted) {
            throw new IllegalStateException("read %s bytes of %s instead of %s".formatted(got, version.location(), wanted));
        }
    }

    // ---- whom to ask

    private void plan(List<ByteRange> missing)
            throws Bypass, InterruptedException
    {
        WorkerLink localLink = context.local().link();
        Optional<WorkerException> ownProblem = Optional.empty();
        WorkerSession ownSession;
        try {
            ownSession = localLink.acquire();
        }
        catch (WorkerException e) {
            ownSession = localLink.session().orElse(null);
            if (e.reason() != WorkerException.Reason.BREAKER_OPEN || ownSession == null) {
                throw new Bypass(e.reason() == WorkerException.Reason.CLOSED ? BypassCause.CLOSED : BypassCause.NO_WORKER, e.getMessage());
            }
            // a worker that is silent says no less about who owns what
            ownProblem = Optional.of(e);
        }
        checkOrigin(ownSession);

        CacheWorkerId ownId = ownSession.welcome().worker();
        Optional<PublishedRing> ring = context.local().ring(file.scope().epoch()).filter(candidate -> !candidate.ring().isEmpty());
        epoch = ring.map(PublishedRing::epoch).orElse(NO_RING);

        Map<CacheWorkerId, List<ByteRange>> rangesByOwner = new LinkedHashMap<>();
        long chunkSize = context.chunkSizeBytes();
        for (ByteRange range : missing) {
            long start = range.start();
            while (start < range.end()) {
                long end = Math.min(range.end(), (start / chunkSize + 1) * chunkSize);
                CacheWorkerId owner = ownId;
                if (ring.isPresent()) {
                    owner = ring.get().ring().owner(file.chunk(start)).orElse(ownId);
                }
                ByteRange.append(rangesByOwner.computeIfAbsent(owner, _ -> new ArrayList<>()), start, end);
                start = end;
            }
        }

        for (Map.Entry<CacheWorkerId, List<ByteRange>> entry : rangesByOwner.entrySet()) {
            Owner owner;
            if (entry.getKey().equals(ownId)) {
                if (ownProblem.isPresent()) {
                    throw Bypass.of(ownProblem.get());
                }
                LocalTier.Mapping mapping = context.local().mapping();
                if (mapping != null && !mapping.instance().equals(ownSession.welcome().instance())) {
                    mapping = null;
                }
                owner = new Owner(localLink, ownSession, true, mapping, new ArrayDeque<>());
            }
            else {
                owner = peer(entry.getKey(), ring.orElseThrow());
            }
            entry.getValue().forEach(range -> cut(owner, range));
            owners.add(owner);
        }
    }

    private Owner peer(CacheWorkerId id, PublishedRing ring)
            throws Bypass, InterruptedException
    {
        WorkerAddress address = ring.address(id)
                .orElseThrow(() -> new Bypass(BypassCause.NO_ADDRESS, "cache worker %s has no address on ring %s".formatted(id, ring.epoch())));
        WorkerLink link = context.connections().peer(address, Optional.of(id));
        try {
            WorkerSession session = link.acquire();
            checkOrigin(session);
            return new Owner(link, session, false, null, new ArrayDeque<>());
        }
        catch (WorkerException e) {
            throw Bypass.of(e);
        }
    }

    private void checkOrigin(WorkerSession session)
            throws Bypass
    {
        if (session.welcome().origins().get(file.origin()) == OriginStatus.MISMATCH) {
            throw new Bypass(BypassCause.ORIGIN_MISMATCH, "cache worker at %s has another origin of that name".formatted(session.endpoint()));
        }
    }

    private void cut(Owner owner, ByteRange range)
    {
        long blockSize = owner.blockSizeBytes();
        long runBytes = Math.max(1, context.requestBytes() / blockSize) * blockSize;
        long start = range.start();
        while (start < range.end()) {
            // all runs but the first begin with a block
            long end = Math.min(range.end(), start / blockSize * blockSize + runBytes);
            owner.waiting().add(new Run(owner, new ByteRange(start, end), owner.mapping() == null, false));
            start = end;
        }
    }

    // ---- asking

    private void sendWaiting()
            throws Bypass
    {
        for (Owner owner : owners) {
            while (!owner.waiting().isEmpty() && underWay.stream().filter(run -> run.owner == owner).count() < RUNS_AT_ONCE) {
                Run run = owner.waiting().remove();
                underWay.add(run);
                send(run);
            }
        }
    }

    private void send(Run run)
            throws Bypass
    {
        boolean mayFill = file.scope().mayFill();
        run.lastSignNanos = context.nanoTime();
        try {
            run.request = run.owner.session().send(
                    new Message.Read(file.origin(), version, run.firstBlock, run.blockCount, run.inline, mayFill, mayFill, epoch, file.scope().table()),
                    run);
        }
        catch (WorkerException e) {
            throw Bypass.of(e);
        }
    }

    private long nanosLeft()
    {
        long now = context.nanoTime();
        long left = Long.MAX_VALUE;
        for (Run run : underWay) {
            left = Math.min(left, nanosLeft(run, now));
        }
        return left;
    }

    private long nanosLeft(Run run, long now)
    {
        return run.lastSignNanos + (run.fetching ? context.fetchNanos() : context.silenceNanos()) - now;
    }

    private void checkDeadlines()
            throws Bypass
    {
        long now = context.nanoTime();
        for (Run run : underWay) {
            if (nanosLeft(run, now) <= 0) {
                if (run.fetching) {
                    throw new Bypass(BypassCause.FETCH_TIMEOUT, "cache worker at %s is fetching for too long".formatted(run.owner.session().endpoint()));
                }
                run.owner.link().silent();
                throw new Bypass(BypassCause.TIMEOUT, "cache worker at %s does not answer".formatted(run.owner.session().endpoint()));
            }
        }
    }

    // ---- answers

    private void open(Letter letter)
            throws Bypass
    {
        if (letter.failure() != null) {
            throw letter.failure();
        }
        Run run = letter.run();
        switch (letter.message()) {
            case BlockFrame answer -> copyFrame(run, answer);
            case BlockBytes answer -> takeBytes(run, answer, letter.verified());
            case BlockLease answer -> leases.add(new Lease(run, answer.block(), answer.lease()));
            case BlockNo answer -> throw new Bypass(BypassCause.of(answer.cause()), "cache worker at %s says no".formatted(run.owner.session().endpoint()));
            default -> throw new IllegalStateException("not an answer to a read: " + letter.message());
        }
        run.unread--;
        if (run.unread == 0) {
            underWay.remove(run);
            sendWaiting();
        }
    }

    private void copyFrame(Run run, BlockFrame answer)
            throws Bypass
    {
        int block = answer.block();
        ByteRange wanted = run.wanted(block);
        LocalTier.Mapping mapping = run.owner.mapping();
        boolean copied = mapping != null && answer.length() == run.blockLength(block) && mapping.memory().readFrame(
                answer.frame(),
                answer.frameOffset(),
                answer.generation(),
                file.blockDigestHigh(block),
                file.blockDigestLow(block),
                (int) (wanted.start() - run.blockStart(block)),
                buffer,
                target(wanted.start()),
                (int) (wanted.end() - wanted.start()));
        if (!copied) {
            if (run.secondAttempt) {
                throw new Bypass(BypassCause.CORRUPT, "a frame was named that does not hold the block, twice");
            }
            // this thread was too slow, or something is wrong with the memory: the bytes themselves
            run.owner.waiting().addFirst(new Run(run.owner, wanted, true, true));
            return;
        }
        count(run, answer.source(), answer.etagDigest(), wanted);
    }

    private void takeBytes(Run run, BlockBytes answer, boolean verified)
            throws Bypass
    {
        if (!verified) {
            throw new Bypass(BypassCause.CORRUPT, "a block of the cache worker at %s does not verify".formatted(run.owner.session().endpoint()));
        }
        count(run, answer.source(), answer.etagDigest(), run.wanted(answer.block()));
    }

    private int target(long start)
    {
        return offset + (int) (start - position);
    }

    private void count(Run run, Source source, long etagDigest, ByteRange wanted)
            throws Bypass
    {
        checkState(run, etagDigest);
        ReadSource counted = switch (source) {
            case RAM -> run.owner.own() ? ReadSource.RAM_HIT : ReadSource.NON_LOCAL_HIT;
            case SSD -> run.owner.own() ? ReadSource.SSD_HIT : ReadSource.NON_LOCAL_HIT;
            case REMOTE -> ReadSource.REMOTE_READ;
        };
        bytesBySource[counted.ordinal()] += wanted.end() - wanted.start();
    }

    private void checkState(Run run, long etagDigest)
            throws Bypass
    {
        file.addGiver(run.owner.link());
        if (!file.isSameState(etagDigest)) {
            throw new Bypass(BypassCause.ETAG_CHANGED, "blocks of two states of %s".formatted(version.location()));
        }
    }

    // ---- blocks that the worker cannot fetch

    private void fillLeases()
            throws Bypass, InterruptedIOException
    {
        leases.sort(Comparator.comparingInt((Lease lease) -> owners.indexOf(lease.run().owner)).thenComparingInt(Lease::block));
        while (!leases.isEmpty()) {
            List<Lease> neighbours = new ArrayList<>();
            long bytes = 0;
            for (Lease lease : leases) {
                int length = lease.run().blockLength(lease.block());
                if (!neighbours.isEmpty()) {
                    Lease last = neighbours.getLast();
                    if (lease.run().owner != last.run().owner || lease.block() != last.block() + 1 || bytes + length > context.requestBytes()) {
                        break;
                    }
                }
                neighbours.add(lease);
                bytes += length;
            }
            fill(neighbours, (int) bytes);
        }
    }

    private void fill(List<Lease> neighbours, int length)
            throws Bypass, InterruptedIOException
    {
        if (!context.fillMemory().tryReserve(length)) {
            throw new Bypass(BypassCause.OVERLOADED, "memory for blocks on their way to workers is full");
        }
        int unsentBytes = length;
        try {
            byte[] bytes = new byte[length];
            Lease first = neighbours.getFirst();
            long start = first.run().blockStart(first.block());
            FileState state = readWhole(start, bytes);
            if (state.length() != version.length() || state.lastModifiedMillis() != version.lastModifiedMillis()) {
                throw new Bypass(BypassCause.VERSION_GONE, "%s was replaced".formatted(version.location()));
            }
            int blockOffset = 0;
            for (Lease lease : neighbours) {
                Run run = lease.run();
                // nobody but the origin vouches for these bytes: only for blocks that came the same way they are of the same state
                checkState(run, ETags.NONE);
                ByteRange wanted = run.wanted(lease.block());
                int wantedBytes = (int) (wanted.end() - wanted.start());
                System.arraycopy(bytes, (int) (wanted.start() - start), buffer, target(wanted.start()), wantedBytes);
                bytesBySource[ReadSource.REMOTE_READ.ordinal()] += wantedBytes;

                int blockLength = run.blockLength(lease.block());
                leases.remove(lease);
                if (offer(lease, state, ByteBuffer.wrap(bytes, blockOffset, blockLength).slice())) {
                    unsentBytes -= blockLength;
                }
                blockOffset += blockLength;
            }
        }
        finally {
            context.fillMemory().release(unsentBytes);
        }
    }

    private FileState readWhole(long start, byte[] bytes)
            throws Bypass, InterruptedIOException
    {
        try {
            file.input().readFully(start, bytes, 0, bytes.length);
            return file.input().current();
        }
        catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while reading from the origin: " + e.getMessage());
            }
            // the read of the range alone says how it fails, if it does
            throw new Bypass(BypassCause.ORIGIN_FAILED, "cannot read %s: %s".formatted(version.location(), e.getMessage()));
        }
    }

    /**
     * @return whether the memory is released by whoever sends the bytes
     */
    private boolean offer(Lease lease, FileState state, ByteBuffer bytes)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate());
        int length = bytes.remaining();
        WorkerSession session = lease.run().owner.session();
        FillMemory memory = context.fillMemory();
        try {
            // the bytes are in hand already: nobody waits for the answer
            long request = session.sendFill(
                    new Message.Fill(lease.lease(), state.length(), state.lastModifiedMillis(), (int) checksum.getValue(), bytes),
                    new FillAnswer("block %s of %s".formatted(lease.block(), version.location())),
                    () -> memory.release(length));
            context.connections().after(context.fetchMillis(), () -> session.cancel(request));
            return true;
        }
        catch (WorkerException e) {
            return false;
        }
    }

    private record FillAnswer(String block)
            implements AnswerHandler
    {
        @Override
        public int maxPayloadBytes()
        {
            return 0;
        }

        @Override
        public boolean answered(Message message)
        {
            if (message instanceof Message.Error error) {
                log.debug("%s is not taken by its cache worker: %s", block, error.message());
            }
            return true;
        }

        @Override
        public void failed(WorkerException reason) {}
    }

    /**
     * Takes everything back that is still under way. To be called in any case.
     */
    @Override
    public void close()
    {
        mailbox.close().forEach(letter -> discard(letter.run(), letter.message()));
        for (Run run : underWay) {
            run.close();
            if (run.request != 0) {
                run.owner.session().cancel(run.request);
            }
        }
        underWay.clear();
        leases.forEach(lease -> lease.run().owner.session().tell(new Message.ReleaseLease(lease.lease())));
        leases.clear();
    }
}
