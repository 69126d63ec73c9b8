package io.cachedhive.client;

import io.airlift.log.Logger;
import io.cachedhive.client.MissListener.Miss;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ClientCounters.TableCounters;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.client.hedge.Hedge;
import io.cachedhive.client.local.LocalTier;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.transport.WorkerLink;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static java.util.Objects.checkFromIndexSize;
import static java.util.Objects.requireNonNull;

/**
 * A file that is read block by block: what is in shared memory from there, the rest by a {@link RangeRead}, and when that gives up, the whole
 * range from the origin.
 *
 * <p>The whole range, also when most of it is already there: bytes that come straight from the origin carry no ETag, so nobody can say whether
 * they are of the same state of the file as the blocks beside them. It is the one request that plain Hive would have made.
 */
final class BlockwiseFile
        implements CachedFile
{
    private static final Logger log = Logger.get(BlockwiseFile.class);

    private static final List<ReadSource> HITS = List.of(ReadSource.RAM_HIT, ReadSource.SSD_HIT, ReadSource.NON_LOCAL_HIT);

    private final ReadContext context;
    private final int origin;
    private final FileVersion file;
    private final long digestHigh;
    private final long digestLow;
    private final ReadScope scope;
    private final TableCounters counters;
    private final OriginInput input;
    private final MissListener listener;

    // who gave blocks, to be told when two of them do not fit together
    private final Set<WorkerLink> contributors = ConcurrentHashMap.newKeySet();
    // of no use to a file that is in shared memory, and as dear as the digest; 0 until it is known, and what is really 0 is computed again
    private volatile long locationHash;
    private final DeliveredState delivered;

    /**
     * @throws FileReplacedException if the split was given bytes of another version of the file
     */
    BlockwiseFile(ReadContext context, int origin, FileVersion file, ReadScope scope, TableCounters counters, OriginInput input, MissListener listener)
            throws FileReplacedException
    {
        this.context = requireNonNull(context, "context is null");
        this.origin = origin;
        this.file = requireNonNull(file, "file is null");
        this.scope = requireNonNull(scope, "scope is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.input = requireNonNull(input, "input is null");
        this.listener = requireNonNull(listener, "listener is null");
        Digest128 digest = file.id().digest();
        this.digestHigh = digest.high();
        this.digestLow = digest.low();
        this.delivered = scope.delivered().of(file);
    }

    int origin()
    {
        return origin;
    }

    FileVersion file()
    {
        return file;
    }

    ReadScope scope()
    {
        return scope;
    }

    OriginInput input()
    {
        return input;
    }

    ChunkKey chunk(long position)
    {
        long hash = locationHash;
        if (hash == 0) {
            hash = ChunkKey.locationHash(file.origin(), file.location());
            locationHash = hash;
        }
        return ChunkKey.at(hash, position, context.chunkSizeBytes());
    }

    long blockDigestHigh(int index)
    {
        return BlockKey.digestHigh(digestHigh, index);
    }

    long blockDigestLow(int index)
    {
        return BlockKey.digestLow(digestLow, index);
    }

    private void addContributor(WorkerLink link)
    {
        contributors.add(link);
    }

    /**
     * Checks that a block of a worker is of the same state of the file as all blocks before it.
     */
    void checkState(Owner owner, long etag)
            throws Bypass
    {
        addContributor(owner.link());
        switch (delivered.compare(etag)) {
            case SAME -> {}
            case DIFFERENT -> throw Bypass.ofTwoStates(file.location());
            case UNKNOWN -> throw new Bypass(BypassCause.ETAG_CHANGED, "blocks of %s with an ETag and without one".formatted(file.location()));
        }
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        checkFromIndexSize(offset, length, buffer.length);
        if (position < 0) {
            throw new EOFException(outOfRange(position, length));
        }
        if (length == 0) {
            return;
        }
        if (position > file.length() - length) {
            readBeyond(position, buffer, offset, length);
            return;
        }
        read(position, buffer, offset, length, 0);
    }

    /**
     * @param maxTailLength of a read of the end of the file, wherever the origin has it; 0 for any other range
     * @return the number of bytes read
     */
    private int read(long position, byte[] buffer, int offset, int length, int maxTailLength)
            throws IOException
    {
        Served served = verified(serveFromCache(position, buffer, offset, length, maxTailLength > 0), position, buffer, offset, length);
        int count = length;
        if (!mayBeGiven(served)) {
            long start = context.nanoTime();
            count = readOrigin(position, buffer, offset, length, maxTailLength);
            long nanos = context.nanoTime() - start;
            context.hedges().addOriginLatency(nanos);
            served = new Served(null, bypassCause(served), true, served.waitNanos() + nanos);
            deliverOrigin(false);
        }
        count(position, served, count);
        return count;
    }

    private int readOrigin(long position, byte[] buffer, int offset, int length, int maxTailLength)
            throws IOException
    {
        try {
            if (maxTailLength > 0) {
                return input.readTail(buffer, offset, maxTailLength);
            }
            input.readFully(position, buffer, offset, length);
            return length;
        }
        catch (IOException e) {
            throw explained(e);
        }
    }

    /**
     * Why bytes are not given to the reader: the cache did not serve, or what it served may not be given.
     */
    private BypassCause bypassCause(Served served)
    {
        return served.bypass() == null ? delivered.bypass().orElse(BypassCause.ORIGIN_FAILED) : served.bypass();
    }

    /**
     * A file that is shorter now, or gone, fails the read of the origin before its state is compared.
     */
    private IOException explained(IOException failure)
    {
        if (!delivered.hasCachedBytes() || Thread.currentThread().isInterrupted()) {
            return failure;
        }
        try {
            delivered.failIfReplaced(input);
        }
        catch (FileReplacedException e) {
            e.addSuppressed(failure);
            return e;
        }
        catch (IOException _) {
            // the origin fails both requests, and the reader's own says why
        }
        return failure;
    }

    /**
     * @see DeliveredState#deliverOrigin
     */
    private void deliverOrigin(boolean continued)
            throws IOException
    {
        try {
            delivered.deliverOrigin(input, continued);
        }
        catch (FileReplacedException e) {
            giveUp(BypassCause.VERSION_GONE, true);
            throw e;
        }
    }

    /**
     * @see DeliveredState#deliverCached
     */
    private boolean deliverCached()
            throws IOException
    {
        boolean mayBeGiven = delivered.deliverCached(input);
        if (!mayBeGiven && delivered.isReplaced()) {
            giveUp(BypassCause.VERSION_GONE, true);
        }
        return mayBeGiven;
    }

    /**
     * Reads beyond the length of the version. A footer of a new state names such places.
     */
    private void readBeyond(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        if (delivered.hasCachedBytes()) {
            throw new EOFException(outOfRange(position, length));
        }
        long start = context.nanoTime();
        input.readFully(position, buffer, offset, length);
        giveUp(BypassCause.VERSION_GONE, true);
        deliverOrigin(false);
        count(position, new Served(null, BypassCause.VERSION_GONE, true, context.nanoTime() - start), length);
    }

    private String outOfRange(long position, int length)
    {
        // as Trino's own inputs say it
        return "Read %s of %s requested bytes: %s".formatted(Math.clamp(file.length() - position, 0, length), length, file.location());
    }

    @Override
    public int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException
    {
        checkFromIndexSize(offset, maxLength, buffer.length);
        int length = (int) Math.min(file.length(), maxLength);
        if (length == 0) {
            return 0;
        }
        return read(file.length() - length, buffer, offset, length, maxLength);
    }

    /**
     * Whether the bytes are there, and may be given to the reader.
     */
    private boolean mayBeGiven(Served served)
            throws IOException
    {
        if (!served.complete()) {
            return false;
        }
        if (served.bypass() == null) {
            return deliverCached();
        }
        deliverOrigin(false);
        return true;
    }

    private void count(long position, Served served, int length)
    {
        if (served == Served.FROM_SHARED_MEMORY) {
            counters.addHit(scope.observer(), length);
        }
        else if (served.bypass() != null) {
            counters.addBypass(scope.observer(), served.bypass(), length, served.waitNanos());
            record(position, served, length, served.waitNanos());
        }
        else {
            counters.addRead(scope.observer(), served.bytesBySource(), served.waitNanos());
            record(position, served, length, served.waitNanos());
        }
    }

    private void record(long position, Served served, int length, long waitNanos)
    {
        if (listener == MissListener.NONE) {
            return;
        }
        if (served.bypass() != null) {
            listener.missed(new Miss(position, Map.of(ReadSource.BYPASS, (long) length), Optional.of(served.bypass()), waitNanos));
        }
        else if (served.bytesBySource() != null && served.bytesBySource()[ReadSource.REMOTE_READ.ordinal()] > 0) {
            Map<ReadSource, Long> bytes = new EnumMap<>(ReadSource.class);
            for (ReadSource source : ReadSource.values()) {
                if (served.bytesBySource()[source.ordinal()] > 0) {
                    bytes.put(source, served.bytesBySource()[source.ordinal()]);
                }
            }
            listener.missed(new Miss(position, bytes, Optional.empty(), waitNanos));
        }
    }

    @Override
    public StreamRead readAhead(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        checkRange(position, buffer, offset, length);
        return streamRead(position, serveFromCache(position, buffer, offset, length, false), buffer, offset, length, 0);
    }

    private void checkRange(long position, byte[] buffer, int offset, int length)
            throws EOFException
    {
        checkFromIndexSize(offset, length, buffer.length);
        checkRange(position, length);
    }

    private void checkRange(long position, int length)
            throws EOFException
    {
        if (position < 0 || position > file.length() - length) {
            throw new EOFException(outOfRange(position, length));
        }
        if (length == 0) {
            throw new IllegalArgumentException("nothing to read");
        }
    }

    /**
     * @param waitNanos how long the reader waited; 0 for as long as the read took
     */
    private StreamRead streamRead(long position, Served fromCache, byte[] buffer, int offset, int length, long waitNanos)
            throws IOException
    {
        Served served = verified(fromCache, position, buffer, offset, length);
        long nanos = waitNanos == 0 ? served.waitNanos() : waitNanos;
        if (!served.complete()) {
            return new StreamRead.Bypassed(served.bypass(), nanos);
        }
        if (served.bypass() != null) {
            // a request of its own, where plain Hive would have read on
            deliverOrigin(true);
        }
        else if (!deliverCached()) {
            return new StreamRead.Bypassed(bypassCause(served), nanos);
        }
        return new StreamRead.Served(readAhead(position, served, length, nanos));
    }

    @Override
    public ReadAhead deliverFromOrigin(long position, int length, BypassCause cause, long waitNanos, boolean continued)
            throws IOException
    {
        deliverOrigin(continued);
        record(position, new Served(null, cause, true, waitNanos), length, waitNanos);
        // one request, however many bytes are read of it
        return ReadAhead.ofBypass(counters, scope.observer(), cause, Long.MAX_VALUE, waitNanos);
    }

    private ReadAhead readAhead(long position, Served served, int length, long waitNanos)
    {
        record(position, served, length, waitNanos);
        if (served.bypass() != null) {
            return ReadAhead.ofBypass(counters, scope.observer(), served.bypass(), length, waitNanos);
        }
        long[] bytesBySource = served.bytesBySource();
        if (served == Served.FROM_SHARED_MEMORY) {
            bytesBySource = new long[ReadSource.values().length];
            bytesBySource[ReadSource.RAM_HIT.ordinal()] = length;
        }
        return new ReadAhead(counters, scope.observer(), bytesBySource, new long[BypassCause.values().length], waitNanos);
    }

    @Override
    public Optional<PendingReadAhead> beginReadAhead(long position, int length, Executor executor)
            throws EOFException
    {
        checkRange(position, length);
        if (!context.heap().tryReserveSpare(length)) {
            return Optional.empty();
        }
        Pending pending = new Pending(position, length);
        try {
            executor.execute(pending.task);
        }
        catch (RejectedExecutionException e) {
            pending.cancel();
            throw e;
        }
        catch (OutOfMemoryError _) {
            // not of the heap: the system gives this process no more threads, and the reader can do without
            pending.cancel();
            return Optional.empty();
        }
        return Optional.of(pending);
    }

    /**
     * Its memory is reserved until the reader has the bytes or wants them no more, and nobody writes them.
     */
    private final class Pending
            implements PendingReadAhead
    {
        private final long position;
        private final byte[] bytes;
        private final FutureTask<Served> task;
        // whether the task was begun, or will never be
        private final AtomicBoolean begun = new AtomicBoolean();
        // the reader and the task
        private final AtomicInteger users = new AtomicInteger(2);
        // the reader's thread only
        private boolean ended;

        private Pending(long position, int length)
        {
            this.position = position;
            this.bytes = new byte[length];
            this.task = new FutureTask<>(this::serve);
        }

        private Served serve()
                throws IOException
        {
            if (!begun.compareAndSet(false, true)) {
                throw new CancellationException();
            }
            try {
                return serveFromCache(position, bytes, 0, bytes.length, false);
            }
            finally {
                leave();
            }
        }

        private void leave()
        {
            if (users.decrementAndGet() == 0) {
                context.heap().release(bytes.length);
            }
        }

        @Override
        public long position()
        {
            return position;
        }

        @Override
        public byte[] bytes()
        {
            return bytes;
        }

        @Override
        public StreamRead finish()
                throws IOException
        {
            try {
                long start = context.nanoTime();
                Served served = await();
                if (served.bypass() == BypassCause.OVERLOADED && !served.complete()) {
                    // there was no room for more than readers ask for; now one asks
                    served = serveFromCache(position, bytes, 0, bytes.length, false);
                }
                return streamRead(position, served, bytes, 0, bytes.length, Math.max(1, context.nanoTime() - start));
            }
            finally {
                // where the wait was interrupted, the task is under way
                cancel();
            }
        }

        private Served await()
                throws IOException
        {
            try {
                return task.get();
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for the cache");
            }
            catch (ExecutionException e) {
                switch (e.getCause()) {
                    case IOException failure -> throw failure;
                    case RuntimeException failure -> throw failure;
                    case Error failure -> throw failure;
                    default -> throw new IOException(e.getCause());
                }
            }
        }

        @Override
        public void cancel()
        {
            if (ended) {
                return;
            }
            ended = true;
            task.cancel(true);
            if (begun.compareAndSet(false, true)) {
                leave();
            }
            leave();
        }
    }

    /**
     * @param bytesBySource by the source's ordinal; null if the cache did not serve, or served all from shared memory
     * @param bypass why the cache did not serve; null if it did
     * @param complete whether the bytes are there, from wherever they came
     */
    private record Served(long[] bytesBySource, BypassCause bypass, boolean complete, long waitNanos)
    {
        /**
         * All of it, and without waiting: the hot path, for which nothing is allocated.
         */
        static final Served FROM_SHARED_MEMORY = new Served(null, null, true, 0);

        boolean hasHits()
        {
            if (this == FROM_SHARED_MEMORY) {
                return true;
            }
            if (bytesBySource == null) {
                return false;
            }
            for (ReadSource source : HITS) {
                if (bytesBySource[source.ordinal()] > 0) {
                    return true;
                }
            }
            return false;
        }

        /**
         * The same bytes, after a wait.
         */
        Served later(long nanos)
        {
            return this == FROM_SHARED_MEMORY ? this : new Served(bytesBySource, bypass, complete, waitNanos + nanos);
        }
    }

    /**
     * Where the answer is not complete, nothing useful is in the buffer.
     *
     * @param tail whether the range is the end of the file, wherever the origin has it
     * @throws FileReplacedException if the file was replaced after bytes of it were delivered
     */
    private Served serveFromCache(long position, byte[] buffer, int offset, int length, boolean tail)
            throws IOException
    {
        Optional<BypassCause> bypass = delivered.bypass();
        if (bypass.isPresent()) {
            return new Served(null, bypass.get(), false, 0);
        }
        LocalTier.Mapping mapping = context.local().mapping();
        if (mapping == null) {
            return serveMissing(List.of(new ByteRange(position, position + length)), 0, 0, new ReadTarget(position, buffer, offset, tail), length);
        }

        List<ByteRange> missing = null;
        long hitBytes = 0;
        long aheadBytes = 0;
        BlockInfo info = new BlockInfo();
        int blockSize = mapping.blockSizeBytes();
        long end = position + length;
        long from = position;
        while (from < end) {
            int block = (int) (from / blockSize);
            int offsetInBlock = (int) (from - (long) block * blockSize);
            int wanted = (int) Math.min(blockSize - offsetInBlock, end - from);
            long high = blockDigestHigh(block);
            long low = blockDigestLow(block);
            if (mapping.memory().read(high, low, offsetInBlock, buffer, offset + (int) (from - position), wanted, info) == wanted) {
                DeliveredState.Comparison comparison = delivered.compare(info.etagDigest());
                if (comparison != DeliveredState.Comparison.SAME) {
                    giveUp(BypassCause.ETAG_CHANGED, comparison == DeliveredState.Comparison.DIFFERENT);
                    return new Served(null, BypassCause.ETAG_CHANGED, false, 0);
                }
                context.hits().add(high, low);
                if (scope.terms().fillClass().isPresent()) {
                    context.classHits().add(scope.terms().fillClass().get(), high, low);
                }
                if (info.fetchedAhead()) {
                    aheadBytes += wanted;
                }
                else {
                    hitBytes += wanted;
                }
            }
            else {
                missing = ByteRange.append(missing, from, from + wanted);
            }
            from += wanted;
        }
        if (aheadBytes > 0) {
            context.readFetchedAhead();
        }
        if (missing == null) {
            return aheadBytes == 0 ? Served.FROM_SHARED_MEMORY : new Served(bytesFromMemory(hitBytes, aheadBytes), null, true, 0);
        }
        return serveMissing(missing, hitBytes, aheadBytes, new ReadTarget(position, buffer, offset, tail), length);
    }

    /**
     * The worker asked the origin for what it fetched ahead of this read: that it was in time makes no hit of it.
     */
    private static long[] bytesFromMemory(long hitBytes, long aheadBytes)
    {
        long[] bytesBySource = new long[ReadSource.values().length];
        bytesBySource[ReadSource.RAM_HIT.ordinal()] = hitBytes;
        bytesBySource[ReadSource.REMOTE_READ.ordinal()] = aheadBytes;
        return bytesBySource;
    }

    private Served serveMissing(List<ByteRange> missing, long hitBytes, long aheadBytes, ReadTarget target, int length)
            throws IOException
    {
        long start = context.nanoTime();
        RangeRead read = new RangeRead(context, this, target, length);
        try {
            BypassCause cause;
            try {
                read.fetch(missing);
                if (read.crossZoneBytes() > 0) {
                    counters.addCrossZone(read.crossZoneBytes());
                }
                long[] bytesBySource = read.bytesBySource();
                bytesBySource[ReadSource.RAM_HIT.ordinal()] += hitBytes;
                bytesBySource[ReadSource.REMOTE_READ.ordinal()] += aheadBytes;
                return new Served(bytesBySource, null, true, context.nanoTime() - start);
            }
            catch (Bypass e) {
                cause = e.bypassCause();
                if (cause == BypassCause.ETAG_CHANGED || cause == BypassCause.VERSION_GONE) {
                    giveUp(cause, e.isReplaced());
                }
            }
            finally {
                // before anything is read from the origin: other readers want the memory
                read.close();
            }
            boolean complete = read.hedge().isPresent() && take(read.hedge().get(), target);
            return new Served(null, cause, complete, context.nanoTime() - start);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the cache");
        }
        finally {
            // what was not taken is not wanted; nothing happens to what was
            read.hedge().ifPresent(hedge -> {
                if (hedge.cancel()) {
                    counters.addHedge(hedge.length());
                }
            });
        }
    }

    /**
     * The origin is on its way with the range already: nobody asks it a second time.
     */
    private boolean take(Hedge hedge, ReadTarget target)
            throws InterruptedException
    {
        Optional<byte[]> bytes = hedge.await();
        bytes.ifPresent(found -> {
            System.arraycopy(found, 0, target.buffer(), target.offset(), found.length);
            counters.addHedge(0);
        });
        return bytes.isPresent();
    }

    /**
     * The cache is of no use for this file any more, since it has another state of it than the origin, or may have. The workers that gave blocks check theirs.
     *
     * @param replaced whether the file is known to have been replaced
     * @throws FileReplacedException if so, and bytes of the state before were delivered; otherwise the split reads the new state, as plain Hive does
     */
    private void giveUp(BypassCause cause, boolean replaced)
            throws FileReplacedException
    {
        if (delivered.giveUp(cause, replaced)) {
            revalidate();
        }
        delivered.failIfReplaced();
    }

    private void revalidate()
    {
        contributors.add(context.local().link());
        for (WorkerLink contributor : contributors) {
            if (contributor.session().isPresent()) {
                // nobody waits for it: the next readers profit
                context.connections().ask(contributor, new InvalidationMessage.Revalidate(origin, file), ControlMessage.Ack.class, context.fetchMillis());
            }
        }
    }

    /**
     * Compares a share of the hits with the origin. Where they differ, and the file is still the one that was asked for, the origin is right: the reader gets
     * its bytes, this input has done with the cache, and those who may have given the wrong ones drop the file. What cannot be compared is left as it is.
     */
    private Served verified(Served served, long position, byte[] buffer, int offset, int length)
    {
        if (served.bypass() != null || !served.hasHits() || !context.isToBeVerified() || !context.heap().tryReserve(length)) {
            return served;
        }
        long start = context.nanoTime();
        try {
            byte[] bytes = new byte[length];
            input.readFully(position, bytes, 0, length);
            if (Arrays.equals(bytes, 0, length, buffer, offset, offset + length)) {
                counters.addVerified(length, true);
                return served.later(context.nanoTime() - start);
            }
            FileState state = input.current();
            if (!file.matches(state.length(), state.lastModifiedMillis())) {
                // it was replaced, which is nobody's fault
                return served.later(context.nanoTime() - start);
            }
            counters.addVerified(length, false);
            log.error("Cached bytes differ from the origin in %s, %s bytes at %s; dropped the file and served this read from the origin",
                    file.location(), length, position);
            System.arraycopy(bytes, 0, buffer, offset, length);
            quarantine(position, length);
            return new Served(null, BypassCause.CORRUPT, true, served.waitNanos() + context.nanoTime() - start);
        }
        catch (IOException | RuntimeException e) {
            log.debug(e, "A hit in %s could not be compared with the origin", file.location());
            return served;
        }
        finally {
            context.heap().release(length);
        }
    }

    private void quarantine(long position, int length)
    {
        delivered.giveUp(BypassCause.CORRUPT, false);
        // a guest may have come from the owner just so
        owners(position, length).forEach(contributors::add);
        contributors.add(context.local().link());
        long silenceMillis = TimeUnit.NANOSECONDS.toMillis(context.silenceNanos());
        List<CompletableFuture<ControlMessage.Ack>> answers = contributors.stream()
                .filter(contributor -> contributor.session().isPresent())
                .map(contributor -> context.connections().ask(
                        contributor,
                        new InvalidationMessage.Quarantine(origin, file, position, length),
                        ControlMessage.Ack.class,
                        silenceMillis))
                .toList();
        // the next reader is not to be given the same; a worker that does not answer is asked nothing else meanwhile either
        for (CompletableFuture<ControlMessage.Ack> answer : answers) {
            try {
                answer.get();
            }
            catch (ExecutionException e) {
                log.warn("A cache worker did not drop %s (%s): it may serve bytes that the origin does not have", file.location(), e.getCause().getMessage());
            }
            catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private List<WorkerLink> owners(long position, int length)
    {
        Optional<PublishedRing> ring = context.local().ring(scope.epoch()).filter(known -> !known.ring().isEmpty());
        if (ring.isEmpty()) {
            return List.of();
        }
        Optional<CacheWorkerId> own = context.local().workerId();
        Optional<String> zone = context.crossZoneReads() ? Optional.empty() : own.flatMap(ring.get().ring()::member).flatMap(RingMember::zone);
        List<WorkerLink> links = new ArrayList<>();
        long chunkSize = context.chunkSizeBytes();
        for (long start = position; start < position + length; start = (start / chunkSize + 1) * chunkSize) {
            ring.get().ring().owner(chunk(start), zone)
                    .filter(owner -> !own.equals(Optional.of(owner)))
                    .ifPresent(owner -> ring.get().address(owner)
                            .ifPresent(address -> links.add(context.connections().peer(address, Optional.of(owner)))));
        }
        return links;
    }

    /**
     * @param start of the first byte
     * @param end after the last byte
     */
    record ByteRange(long start, long end)
    {
        /**
         * Joins neighbours: what is appended begins no sooner than the last one ends.
         */
        static List<ByteRange> append(List<ByteRange> ranges, long start, long end)
        {
            List<ByteRange> result = ranges == null ? new ArrayList<>() : ranges;
            if (!result.isEmpty() && result.getLast().end() == start) {
                result.set(result.size() - 1, new ByteRange(result.getLast().start(), end));
            }
            else {
                result.add(new ByteRange(start, end));
            }
            return result;
        }
    }
}
