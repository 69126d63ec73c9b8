package io.cachedhive.client;

import io.cachedhive.client.BlockwiseFile.ByteRange;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.client.hedge.Hedge;
import io.cachedhive.client.local.LocalTier;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * One read of what was not in shared memory: asks the owners of the chunks, and copies what they answer. Used by one thread, once.
 *
 * <p>Ranges are cut into runs of blocks, one request each; a few runs of one owner are under way at once, so that frames are copied soon after they
 * were named. I/O threads put bytes where they belong as they come, and leave all other answers in the mailbox ({@link BlockRun}); the reading thread does
 * everything else: an interrupt, a time-out or a failure ends in {@link #close}, after which nothing of this read is in anybody's hands.
 */
final class RangeRead
        implements AutoCloseable
{
    private static final int RUNS_AT_ONCE = 2;
    private static final RingEpoch NO_RING = new RingEpoch(0);
    // leases of neighbouring blocks come one after another: a moment's patience makes one request to the origin of them
    private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final ReadContext context;
    private final BlockwiseFile file;
    private final FileVersion version;
    private final ReadTarget target;
    private final int length;

    private final Mailbox<BlockRun.Letter> mailbox = new Mailbox<>();
    private final List<Owner> owners = new ArrayList<>();
    private final List<BlockRun> underWay = new ArrayList<>();
    private final LeaseFills leases;
    private final long[] bytesBySource = new long[ReadSource.values().length];
    private long crossZoneBytes;
    private RingEpoch epoch = NO_RING;
    private long lastLeaseNanos;
    private boolean hedgeTried;
    private Optional<Hedge> hedge = Optional.empty();

    /**
     * @param length of the whole range, of which some may be there already
     */
    RangeRead(ReadContext context, BlockwiseFile file, ReadTarget target, int length)
    {
        this.context = requireNonNull(context, "context is null");
        this.file = requireNonNull(file, "file is null");
        this.version = file.file();
        this.target = requireNonNull(target, "target is null");
        this.length = length;
        this.leases = new LeaseFills(context, file, target, owners);
    }

    /**
     * By the ordinal of {@link ReadSource}.
     */
    long[] bytesBySource()
    {
        return bytesBySource;
    }

    /**
     * Those of them that came from workers of another zone.
     */
    long crossZoneBytes()
    {
        return crossZoneBytes;
    }

    /**
     * The same range on its way from the origin, if a worker was silent for so long. To be awaited or cancelled by the caller.
     */
    Optional<Hedge> hedge()
    {
        return hedge;
    }

    void fetch(List<ByteRange> missing)
            throws Bypass, InterruptedException, InterruptedIOException
    {
        context.hedges().addRead();
        plan(missing);
        sendWaiting();
        while (!underWay.isEmpty()) {
            BlockRun.Letter letter = mailbox.take(leases.isEmpty() ? nanosLeft() : GATHER_NANOS);
            if (letter != null) {
                open(letter);
            }
            else if (leases.isEmpty()) {
                checkDeadlines();
            }
            else if (context.nanoTime() - lastLeaseNanos >= GATHER_NANOS) {
                leases.fill();
            }
        }
        leases.fill();
        bytesBySource[ReadSource.REMOTE_READ.ordinal()] += leases.filledBytes();

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
        // empty for the owner, wherever it is
        Optional<String> zone = context.crossZoneReads() ? Optional.empty() : ring.flatMap(known -> known.ring().member(ownId)).flatMap(RingMember::zone);

        Map<CacheWorkerId, List<ByteRange>> rangesByOwner = new LinkedHashMap<>();
        long chunkSize = context.chunkSizeBytes();
        for (ByteRange range : missing) {
            long start = range.start();
            while (start < range.end()) {
                long end = Math.min(range.end(), (start / chunkSize + 1) * chunkSize);
                CacheWorkerId owner = ownId;
                if (ring.isPresent()) {
                    owner = ring.get().ring().owner(file.chunk(start), zone).orElse(ownId);
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
                owner = new Owner(localLink, ownSession, true, false, mapping, new ArrayDeque<>());
            }
            else {
                owner = peer(entry.getKey(), ring.orElseThrow(), isInOtherZone(entry.getKey(), ownId, ring.orElseThrow()));
            }
            entry.getValue().forEach(range -> cut(owner, range));
            owners.add(owner);
        }
    }

    private static boolean isInOtherZone(CacheWorkerId id, CacheWorkerId ownId, PublishedRing ring)
    {
        Optional<String> ownZone = ring.ring().member(ownId).flatMap(RingMember::zone);
        return ownZone.isPresent() && !ring.ring().member(id).flatMap(RingMember::zone).equals(ownZone);
    }

    private Owner peer(CacheWorkerId id, PublishedRing ring, boolean otherZone)
            throws Bypass, InterruptedException
    {
        WorkerAddress address = ring.address(id)
                .orElseThrow(() -> new Bypass(BypassCause.NO_ADDRESS, "cache worker %s has no address on ring %s".formatted(id, ring.epoch())));
        WorkerLink link = context.connections().peer(address, Optional.of(id));
        try {
            WorkerSession session = link.acquire();
            checkOrigin(session);
            return new Owner(link, session, false, otherZone, null, new ArrayDeque<>());
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
            owner.waiting().add(newRun(owner, new ByteRange(start, end), owner.mapping() == null, false));
            start = end;
        }
    }

    private BlockRun newRun(Owner owner, ByteRange range, boolean inline, boolean secondAttempt)
    {
        return new BlockRun(new BlockRun.Read(context, file, target, mailbox), owner, range, inline, secondAttempt);
    }

    // ---- asking

    private void sendWaiting()
            throws Bypass
    {
        for (Owner owner : owners) {
            while (!owner.waiting().isEmpty() && underWay.stream().filter(run -> run.owner() == owner).count() < RUNS_AT_ONCE) {
                BlockRun run = owner.waiting().remove();
                underWay.add(run);
                send(run);
            }
        }
    }

    private void send(BlockRun run)
            throws Bypass
    {
        boolean mayFill = file.scope().mayFill();
        run.sending();
        try {
            ReadMessage.Read read = new ReadMessage.Read(file.origin(), version, run.requestedRange(), run.inline(), mayFill, mayFill, epoch, file.scope().table());
            run.request = run.owner().session().send(onTerms(read, run.owner().session()), run);
        }
        catch (WorkerException e) {
            throw Bypass.of(e);
        }
    }

    private Message onTerms(ReadMessage.Read read, WorkerSession session)
    {
        session.sendQuota(read.table(), file.scope().terms().tableQuotaBytes());
        FillTerms terms = file.scope().terms().ofBlocks();
        return terms.equals(FillTerms.UNSPECIFIED) ? read : new OnTerms(terms, read);
    }

    private long nanosLeft()
    {
        long now = context.nanoTime();
        long left = Long.MAX_VALUE;
        for (BlockRun run : underWay) {
            left = Math.min(left, nanosLeft(run, now));
            if (mayHedge(run)) {
                left = Math.min(left, nanosToHedge(run, now));
            }
        }
        return left;
    }

    private long nanosLeft(BlockRun run, long now)
    {
        return run.lastSignNanos() + (run.isFetching() ? context.fetchNanos() : context.silenceNanos()) - now;
    }

    /**
     * The own worker is late when this host is busy, or its disk: that another request to the origin would not mend.
     */
    private boolean mayHedge(BlockRun run)
    {
        return !hedgeTried && !run.owner().own();
    }

    private long nanosToHedge(BlockRun run, long now)
    {
        return run.lastSignNanos() + context.hedges().patienceNanos(run.owner().link().hits(), run.isFetching()) - now;
    }

    /**
     * All of the range, not what is missing: bytes of the origin carry no ETag, so they cannot be put beside others.
     */
    private void hedge(BlockRun run)
    {
        hedgeTried = true;
        hedge = context.hedges().begin(
                length,
                this::readOrigin,
                () -> mailbox.put(new BlockRun.Letter(
                        run,
                        null,
                        false,
                        new Bypass(BypassCause.HEDGED, "the origin was faster than the cache worker at %s".formatted(run.owner().session().endpoint())))));
    }

    private void readOrigin(byte[] bytes)
            throws IOException
    {
        if (!target.tail()) {
            file.input().readApart(target.position(), bytes, 0, bytes.length);
        }
        else if (file.input().readTail(bytes, 0, bytes.length) != bytes.length) {
            throw new EOFException("%s is shorter than %s bytes".formatted(version.location(), bytes.length));
        }
    }

    private void checkDeadlines()
            throws Bypass
    {
        long now = context.nanoTime();
        for (BlockRun run : underWay) {
            if (mayHedge(run) && nanosToHedge(run, now) <= 0) {
                hedge(run);
            }
            if (nanosLeft(run, now) <= 0) {
                if (run.isFetching()) {
                    throw new Bypass(BypassCause.FETCH_TIMEOUT, "cache worker at %s is fetching for too long".formatted(run.owner().session().endpoint()));
                }
                run.owner().link().silent();
                throw new Bypass(BypassCause.TIMEOUT, "cache worker at %s does not answer".formatted(run.owner().session().endpoint()));
            }
        }
    }

    // ---- answers

    private void open(BlockRun.Letter letter)
            throws Bypass
    {
        if (letter.failure() != null) {
            throw letter.failure();
        }
        if (letter.message() instanceof ReadMessage.Fetching) {
            // no answer yet; the next wait is by the new deadline
            return;
        }
        BlockRun run = letter.run();
        switch (letter.message()) {
            case BlockFrame answer -> copyFrame(run, answer);
            case BlockBytes answer -> takeBytes(run, answer, letter.verified());
            case BlockLease answer -> {
                leases.add(run, answer.block(), answer.lease());
                lastLeaseNanos = context.nanoTime();
            }
            case BlockNo answer -> throw new Bypass(BypassCause.of(answer.cause()), "cache worker at %s declined the read".formatted(run.owner().session().endpoint()));
            default -> throw new IllegalStateException("not an answer to a read: " + letter.message());
        }
        run.unread--;
        if (run.unread == 0) {
            underWay.remove(run);
            sendWaiting();
        }
    }

    private void copyFrame(BlockRun run, BlockFrame answer)
            throws Bypass
    {
        int block = answer.block();
        ByteRange wanted = run.wanted(block);
        LocalTier.Mapping mapping = run.owner().mapping();
        boolean copied = mapping != null && answer.length() == run.blockLength(block) && mapping.memory().readFrame(
                answer.frame(),
                answer.frameOffset(),
                answer.generation(),
                file.blockDigestHigh(block),
                file.blockDigestLow(block),
                (int) (wanted.start() - run.blockStart(block)),
                target.buffer(),
                target.index(wanted.start()),
                (int) (wanted.end() - wanted.start()));
        if (!copied) {
            if (run.secondAttempt()) {
                throw new Bypass(BypassCause.CORRUPT, "a frame was named that does not hold the block, twice");
            }
            // this thread was too slow, or something is wrong with the memory: the bytes themselves
            run.owner().waiting().addFirst(newRun(run.owner(), wanted, true, true));
            return;
        }
        count(run, answer.source(), answer.etagDigest(), wanted);
    }

    private void takeBytes(BlockRun run, BlockBytes answer, boolean verified)
            throws Bypass
    {
        if (!verified) {
            throw new Bypass(BypassCause.CORRUPT, "a block of the cache worker at %s does not verify".formatted(run.owner().session().endpoint()));
        }
        count(run, answer.source(), answer.etagDigest(), run.wanted(answer.block()));
    }

    private void count(BlockRun run, Source source, long etagDigest, ByteRange wanted)
            throws Bypass
    {
        file.checkState(run.owner(), etagDigest);
        ReadSource counted = switch (source) {
            case RAM -> run.owner().own() ? ReadSource.RAM_HIT : ReadSource.NON_LOCAL_HIT;
            case SSD -> run.owner().own() ? ReadSource.SSD_HIT : ReadSource.NON_LOCAL_HIT;
            case REMOTE -> ReadSource.REMOTE_READ;
            // another host had it, whoever asked there
            case PEER -> ReadSource.NON_LOCAL_HIT;
        };
        bytesBySource[counted.ordinal()] += wanted.end() - wanted.start();
        if (run.owner().otherZone()) {
            crossZoneBytes += wanted.end() - wanted.start();
        }
    }

    /**
     * Takes everything back that is still under way. To be called in any case.
     */
    @Override
    public void close()
    {
        mailbox.close().forEach(letter -> letter.run().discard(letter.message()));
        for (BlockRun run : underWay) {
            run.close();
            if (run.request != 0) {
                run.owner().session().cancel(run.request);
            }
        }
        underWay.clear();
        leases.release();
    }
}
