package io.cachedhive.store;

import com.google.common.collect.Maps;
import com.google.common.io.Closer;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.MemoryFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdCandidates;
import io.cachedhive.store.ssd.SsdTier;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * The blocks of one host: a RAM tier in shared memory and an SSD tier below it. Safe for use by any number of threads.
 *
 * <p>One lock guards files, frames and the SSD index, held for microseconds: nothing is read, written, copied or summed up under it.
 */
public final class BlockStore
        implements AutoCloseable
{
    private static final Logger log = Logger.get(BlockStore.class);

    private static final long HEARTBEAT_MILLIS = 200;
    private static final int EXPIRED_AT_ONCE = 256;
    private static final long MAX_QUEUED_BYTES = 64 << 20;
    // frames rest 100 ms: by then there is one, unless everything is pinned
    private static final long FRAME_WAIT_NANOS = 300_000_000;
    private static final long FRAME_PAUSE_NANOS = 2_000_000;
    private static final int LOAD_ATTEMPTS = 3;
    // a store that is not large is as warm when it opens as it was; for a large one nobody waits longer than this takes
    private static final long BLOCKS_RESTORED_FIRST = 1 << 18;
    private static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[64 << 10]);

    private final ReentrantLock lock;
    private final CacheWorkerId workerId;
    private final Digest128 instance;
    private final int blockSizeBytes;
    private final Duration ttl;
    private final MemoryFile memoryFile;
    private final List<RecoveryOutcome> recovery;
    private final StoreClock clock;
    private final ScheduledExecutorService heartbeat;
    private final Closer resources;

    // guarded by the lock
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final Map<Digest128, CompletableFuture<Boolean>> loads = new HashMap<>();
    private long refusedFills;
    private boolean closed;

    private BlockStore(
            CacheWorkerId workerId,
            Digest128 instance,
            int blockSizeBytes,
            Duration ttl,
            ReentrantLock lock,
            FileTable files,
            SsdTier ssd,
            MemoryFile memoryFile,
            List<RecoveryOutcome> recovery,
            StoreEnvironment environment,
            Closer resources)
    {
        this.workerId = requireNonNull(workerId, "workerId is null");
        this.instance = requireNonNull(instance, "instance is null");
        this.blockSizeBytes = blockSizeBytes;
        this.ttl = requireNonNull(ttl, "ttl is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.files = requireNonNull(files, "files is null");
        this.ssd = requireNonNull(ssd, "ssd is null");
        this.memoryFile = requireNonNull(memoryFile, "memoryFile is null");
        this.recovery = List.copyOf(recovery);
        this.clock = environment.clock();
        this.resources = requireNonNull(resources, "resources is null");
        this.ram = new RamTier(memoryFile, files, clock);
        // clients compare generations of one file only; that they differ between files too costs nothing
        ram.setFirstGeneration(Math.max(0, clock.currentTimeMillis()) << 20);
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        this.heartbeat = executor;
    }

    /**
     * Restores what the last run left on SSD (blocks of a large store go on coming while it is in use), gives back the memory that it left in RAM, and allocates this run's.
     *
     * @throws StoreException if the configuration cannot be had on this machine, or another worker uses the same directory
     */
    public static BlockStore open(StoreConfig config, StoreEnvironment environment)
            throws StoreException
    {
        return open(config, environment, BLOCKS_RESTORED_FIRST);
    }

    /**
     * @param blocksRestoredFirst of each SSD directory; the rest is restored while the store is in use
     */
    static BlockStore open(StoreConfig config, StoreEnvironment environment, long blocksRestoredFirst)
            throws StoreException
    {
        MemoryLayout layout;
        try {
            layout = MemoryLayout.forFileSize(config.ramMaxSizeBytes(), config.blockSizeBytes());
        }
        catch (IllegalArgumentException e) {
            throw new StoreException("cache.ram.max-size (%s) and cache.block-size (%s) do not go together: %s".formatted(
                    ByteSize.format(config.ramMaxSizeBytes()),
                    ByteSize.format(config.blockSizeBytes()),
                    e.getMessage()),
                    e);
        }
        if (!Files.isDirectory(config.ramDirectory())) {
            throw new StoreException("cache.ram.directory %s is not a directory: make it, or name one on tmpfs".formatted(config.ramDirectory()));
        }
        Closer resources = Closer.create();
        SsdTier ssd = null;
        boolean success = false;
        try {
            StateDirectory state = resources.register(StateDirectory.open(config.stateDirectory(), environment));
            SsdCandidates candidates = resources.register(SsdCandidates.look(config.ssdDirectories(), config.blockSizeBytes(), environment.disk()));
            CacheWorkerId workerId = workerId(state, candidates);
            List<RecoveryOutcome> recovery = new ArrayList<>(MemoryFile.reclaim(config.ramDirectory(), workerId));
            long lastRun = Math.max(state.lastRun(workerId), candidates.lastRun(workerId));

            ReentrantLock lock = new ReentrantLock();
            FileTable files = new FileTable();
            ssd = SsdTier.open(
                    candidates,
                    workerId,
                    lastRun,
                    config.blockSizeBytes(),
                    config.checkpointInterval(),
                    blocksRestoredFirst,
                    files,
                    BlockTerms.until(BlockClass.NORMAL, environment.clock().currentTimeMillis() + config.ttl().toMillis()),
                    lock,
                    environment);
            // after the directories: a crash in between must not make them look as if they had missed a run
            state.keepRun(workerId, lastRun + 1);
            recovery.addAll(ssd.recovery());

            Digest128 instance = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            MemoryFile memoryFile = MemoryFile.create(config.ramDirectory(), layout, instance, workerId, config.sharedGroup());
            resources.register(memoryFile::close);
            BlockStore store = new BlockStore(workerId, instance, config.blockSizeBytes(), config.ttl(), lock, files, ssd, memoryFile, recovery, environment, resources);
            for (RecoveryOutcome outcome : recovery) {
                if (outcome.finding().isDoubt()) {
                    log.warn("Recovery: %s", outcome);
                }
                else {
                    log.info("Recovery: %s", outcome);
                }
            }
            store.start(environment);
            success = true;
            return store;
        }
        finally {
            if (!success) {
                if (ssd != null) {
                    ssd.close();
                }
                closeQuietly(resources);
            }
        }
    }

    /**
     * The superblock's: whoever has the SSD is the worker. Without one, or without one that can be read, that of the state directory.
     */
    private static CacheWorkerId workerId(StateDirectory state, SsdCandidates candidates)
            throws StoreException
    {
        Optional<CacheWorkerId> found = candidates.workerId();
        if (found.isEmpty()) {
            found = state.findWorkerId();
            if (found.isPresent()) {
                return found.get();
            }
        }
        CacheWorkerId workerId = found.orElseGet(state::newWorkerId);
        state.keepWorkerId(workerId);
        return workerId;
    }

    private void start(StoreEnvironment environment)
    {
        ssd.start(Math.min(MAX_QUEUED_BYTES, ram.frameBytes() / 4), environment);
        beat();
        memoryFile.writer().setState(MemoryState.LIVE);
        memoryFile.useHugePages(environment.threads());
        heartbeat.scheduleAtFixedRate(this::beat, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::removeExpired, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
    }

    private void beat()
    {
        memoryFile.writer().setHeartbeat(clock.currentTimeMillis());
    }

    /**
     * Clients read shared memory without asking: what is expired has to go from there.
     */
    void removeExpired()
    {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = !closed && ram.removeExpired(EXPIRED_AT_ONCE);
            }
            catch (RuntimeException | Error e) {
                // an exception would end the repetition
                log.error(e, "Blocks that are expired could not be removed");
                return;
            }
            finally {
                lock.unlock();
            }
        }
    }

    public CacheWorkerId workerId()
    {
        return workerId;
    }

    /**
     * Names this run.
     */
    public Digest128 instance()
    {
        return instance;
    }

    public int blockSizeBytes()
    {
        return blockSizeBytes;
    }

    /**
     * The shared-memory file, absolute.
     */
    public Path memoryFile()
    {
        return memoryFile.path();
    }

    /**
     * What is known of a file version; empty if it was never bound, was dropped, or lost its last block long ago.
     */
    public Optional<FileMetadata> file(FileVersionId id)
    {
        lock.lock();
        try {
            return files.get(id).map(StoredFile::metadata);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Binds a file version to the ETag that the first answer of the origin carried. Persisted with the first block on SSD.
     *
     * @return whether the file version is bound to this ETag now: false if somebody else bound it to another, so that it has to be dropped
     */
    public boolean bind(FileVersion version, Optional<String> etag, boolean provisional, String table)
    {
        FileVersionId id = version.id();
        FileMetadata metadata = new FileMetadata(version, etag, provisional, table);
        lock.lock();
        try {
            Optional<StoredFile> bound = files.get(id);
            if (bound.isPresent()) {
                return bound.get().etagDigest() == metadata.etagDigest();
            }
            files.add(id, metadata);
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * The file version is no longer provisional. Nothing happens if it is not bound.
     */
    public void confirm(FileVersionId id)
    {
        lock.lock();
        try {
            files.get(id).ifPresent(file -> {
                files.confirm(file);
                ssd.confirm(file);
            });
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Forgets a file version and its blocks in both tiers, and the fills of it that have begun; durable when it returns.
     */
    public void dropFile(FileVersionId id)
    {
        Optional<StoredFile> dropped;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            dropped = files.get(id);
            dropped.ifPresent(file -> {
                files.drop(file);
                ram.drop(file);
                ssd.drop(file);
            });
        }
        finally {
            lock.unlock();
        }
        dropped.ifPresent(ssd::removeDropped);
        // also if somebody else dropped it just now: it is durable when either returns
        ssd.makeDropsDurable();
    }

    /**
     * The block, if it is in RAM now. Counts as a use of it.
     */
    public Optional<PinnedBlock> pin(BlockKey key)
    {
        lock.lock();
        try {
            if (closed) {
                return Optional.empty();
            }
            return pinLocked(key.digest(), BlockOrigin.RAM);
        }
        finally {
            lock.unlock();
        }
    }

    private Optional<PinnedBlock> pinLocked(Digest128 digest, BlockOrigin tier)
    {
        return ram.find(digest).map(frame -> {
            ram.pin(frame);
            ssd.use(digest);
            return new Pin(frame, frame.file().etagDigest(), tier);
        });
    }

    public boolean isOnSsd(BlockKey key)
    {
        lock.lock();
        try {
            return ssd.find(key.digest()).isPresent();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * The block from RAM, or from SSD into a frame, verified. Blocks on I/O (outside of Java: give it a platform thread); calls for the
     * same block share one read.
     *
     * @return empty if the block is in neither tier, or did not verify (then it was dropped and counted), or no frame could be had
     */
    public Optional<PinnedBlock> load(BlockKey key)
    {
        Digest128 digest = key.digest();
        BlockOrigin tier = BlockOrigin.RAM;
        for (int attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
            SsdBlock block = null;
            CompletableFuture<Boolean> load;
            lock.lock();
            try {
                if (closed) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = pinLocked(digest, tier);
                if (pinned.isPresent()) {
                    return pinned;
                }
                load = loads.get(digest);
                if (load == null) {
                    Optional<SsdBlock> found = ssd.find(digest);
                    if (found.isEmpty()) {
                        return Optional.empty();
                    }
                    block = found.get();
                    ssd.use(digest);
                    load = new CompletableFuture<>();
                    loads.put(digest, load);
                }
            }
            finally {
                lock.unlock();
            }
            if (block != null) {
                return load(block, load);
            }
            // somebody else's read; what it finds is in a frame then
            tier = BlockOrigin.SSD;
            if (!await(load)) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private Optional<PinnedBlock> load(SsdBlock block, CompletableFuture<Boolean> load)
    {
        boolean success = false;
        try {
            Optional<PinnedBlock> pinned = ssd.read(block, (payload, checksum) -> show(block, payload, checksum)).flatMap(shown -> shown);
            success = pinned.isPresent();
            return pinned;
        }
        finally {
            lock.lock();
            try {
                loads.remove(block.digest());
            }
            finally {
                lock.unlock();
            }
            load.complete(success);
        }
    }

    private static boolean await(CompletableFuture<Boolean> load)
    {
        try {
            return load.get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        catch (ExecutionException e) {
            throw new AssertionError("a load only ever completes with a value", e);
        }
    }

    /**
     * Copies a block that was read from SSD and verified into a frame.
     */
    private Optional<PinnedBlock> show(SsdBlock block, ByteBuffer payload, int checksum)
    {
        Frame frame = null;
        long start = System.nanoTime();
        while (frame == null) {
            lock.lock();
            try {
                if (closed || !ssd.isStillThere(block)) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = pinLocked(block.digest(), BlockOrigin.SSD);
                if (pinned.isPresent()) {
                    return pinned;
                }
                frame = ram.allocate(block.length(), block.terms()).orElse(null);
                if (frame != null) {
                    files.addFills(block.file(), 1);
                }
                else if (System.nanoTime() - start > FRAME_WAIT_NANOS || Thread.currentThread().isInterrupted()) {
                    refusedFills++;
                    return Optional.empty();
                }
            }
            finally {
                lock.unlock();
            }
            if (frame == null) {
                LockSupport.parkNanos(FRAME_PAUSE_NANOS);
            }
        }
        boolean copied = false;
        try {
            ram.payload(frame, block.length()).copyFrom(MemorySegment.ofBuffer(payload));
            copied = true;
        }
        finally {
            if (!copied) {
                lock.lock();
                try {
                    ram.release(frame);
                    files.addFills(block.file(), -1);
                }
                finally {
                    lock.unlock();
                }
            }
        }
        lock.lock();
        try {
            if (closed || block.file().isDropped() || ram.find(block.digest()).isPresent()) {
                ram.release(frame);
                return closed ? Optional.empty() : pinLocked(block.digest(), BlockOrigin.SSD);
            }
            ram.publish(frame, block.file(), block.digest(), block.length(), checksum);
            return Optional.of(new Pin(frame, block.file().etagDigest(), BlockOrigin.SSD));
        }
        finally {
            files.addFills(block.file(), -1);
            lock.unlock();
        }
    }

    /**
     * A frame to write a block into, which is kept as one of class normal for {@code cache.ttl}. The file has to be bound before.
     *
     * @param length bytes of the block, as {@link FileVersion#blockLength} tells them
     * @param etagDigest of the answer that the bytes come from
     * @return empty if no frame can be had now, or the file is not bound to this ETag; never waits
     * @throws IllegalArgumentException if the file has no such block, or one of another length
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest)
    {
        return beginFill(key, length, etagDigest, BlockTerms.until(BlockClass.NORMAL, clock.currentTimeMillis() + ttl.toMillis()));
    }

    /**
     * Likewise, on other terms.
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms)
    {
        lock.lock();
        try {
            if (closed) {
                return Optional.empty();
            }
            Optional<StoredFile> file = files.get(key.file());
            if (file.isEmpty() || file.get().etagDigest() != etagDigest) {
                return Optional.empty();
            }
            int expected = file.get().version().blockLength(key.index(), blockSizeBytes);
            if (length != expected) {
                throw new IllegalArgumentException("block %s of file %s has %s bytes, not %s".formatted(key.index(), key.file(), expected, length));
            }
            Optional<Frame> frame = ram.allocate(length, terms);
            if (frame.isEmpty()) {
                refusedFills++;
                return Optional.empty();
            }
            files.addFills(file.get(), 1);
            return Optional.of(new FrameFill(key.digest(), file.get(), frame.get(), length));
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * A client read the block from shared memory.
     */
    public void touch(long digestHigh, long digestLow)
    {
        lock.lock();
        try {
            if (!closed) {
                Digest128 digest = new Digest128(digestHigh, digestLow);
                ram.find(digest).ifPresent(ram::use);
                ssd.use(digest);
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Shows the rings to the clients on this host.
     *
     * @param newestFirst those beyond the sixteenth are left out
     */
    public void publishRings(List<PublishedRing> newestFirst)
    {
        lock.lock();
        try {
            if (!closed) {
                memoryFile.writer().publishRings(newestFirst);
            }
        }
        finally {
            lock.unlock();
        }
    }

    public StoreGauges gauges()
    {
        lock.lock();
        try {
            return new StoreGauges(
                    ram.capacityBytes(),
                    ram.usedBytes(),
                    ram.blocks(),
                    ssd.capacityBytes(),
                    ssd.usedBytes(),
                    ssd.blocks(),
                    files.size(),
                    ssd.restoredBlocks(),
                    ram.evictions(),
                    ssd.evictions(),
                    ram.expirations() + ssd.expirations(),
                    ssd.corruptBlocks(),
                    refusedFills,
                    ssd.refusedWrites(),
                    Maps.toMap(EnumSet.allOf(SsdErrorCause.class), ssd::errors));
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * One sentence with its remedy while a part of the store is out of service; empty when it is well.
     */
    public Optional<String> problem()
    {
        lock.lock();
        try {
            return ssd.problem();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all blocks that were found on SSD are restored; the store is in full use meanwhile.
     *
     * @return whether they are
     */
    public boolean awaitRestored(Duration timeout)
    {
        return ssd.awaitRestored(timeout);
    }

    /**
     * What was found when the store was opened.
     */
    public List<RecoveryOutcome> recovery()
    {
        return recovery;
    }

    /**
     * Writes what is queued and a checkpoint, gives the RAM back and removes the shared-memory file. Pinned blocks and fills that are still
     * open can be closed afterwards, but what they show is not the block's bytes any more.
     */
    @Override
    public void close()
    {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        }
        finally {
            lock.unlock();
        }
        heartbeat.shutdownNow();
        ssd.close();
        closeQuietly(resources);
    }

    /**
     * For tests: ends like a killed process, which leaves its files behind and its locks free.
     */
    void abandon()
    {
        lock.lock();
        try {
            closed = true;
        }
        finally {
            lock.unlock();
        }
        heartbeat.shutdownNow();
        ssd.abandon();
        memoryFile.abandon();
        closeQuietly(resources);
    }

    /**
     * For tests.
     */
    SsdTier ssd()
    {
        return ssd;
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        lock.lock();
        try {
            ram.checkInvariants();
            ssd.checkInvariants();
        }
        finally {
            lock.unlock();
        }
    }

    private static void closeQuietly(Closer resources)
    {
        try {
            resources.close();
        }
        catch (IOException | RuntimeException e) {
            log.warn(e, "A part of the store did not close: %s", e.getMessage());
        }
    }

    private final class FrameFill
            implements Fill
    {
        private final Digest128 digest;
        private final StoredFile file;
        private final Frame frame;
        private final int length;
        private final ByteBuffer buffer;
        // guarded by the lock
        private boolean done;

        FrameFill(Digest128 digest, StoredFile file, Frame frame, int length)
        {
            this.digest = requireNonNull(digest, "digest is null");
            this.file = requireNonNull(file, "file is null");
            this.frame = requireNonNull(frame, "frame is null");
            this.length = length;
            this.buffer = ram.payload(frame, length).asByteBuffer();
        }

        @Override
        public ByteBuffer buffer()
        {
            return buffer;
        }

        @Override
        public Optional<PinnedBlock> commit()
        {
            lock.lock();
            try {
                if (done) {
                    throw new IllegalStateException("fill of block %s is committed or closed already".formatted(digest));
                }
                done = true;
            }
            finally {
                lock.unlock();
            }
            int checksum = ram.checksum(frame, length, SCRATCH.get());
            lock.lock();
            try {
                return commitLocked(checksum);
            }
            finally {
                lock.unlock();
            }
        }

        private Optional<PinnedBlock> commitLocked(int checksum)
        {
            try {
                if (closed || file.isDropped()) {
                    ram.release(frame);
                    return Optional.empty();
                }
                if (ram.find(digest).isPresent()) {
                    ram.release(frame);
                    return pinLocked(digest, BlockOrigin.RAM);
                }
                ram.publish(frame, file, digest, length, checksum);
                if (ssd.find(digest).isEmpty() && ssd.offer(new SsdTier.Write(digest, file, length, checksum, frame.terms(), ram.payload(frame, length), () -> ram.unpin(frame)))) {
                    ram.hold(frame);
                }
                return Optional.of(new Pin(frame, file.etagDigest(), BlockOrigin.RAM));
            }
            finally {
                files.addFills(file, -1);
            }
        }

        @Override
        public void close()
        {
            lock.lock();
            try {
                if (!done) {
                    done = true;
                    ram.release(frame);
                    files.addFills(file, -1);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    private final class Pin
            implements PinnedBlock
    {
        private final Frame frame;
        private final long generation;
        private final int length;
        private final int checksum;
        private final long etagDigest;
        private final BlockOrigin tier;
        // guarded by the lock
        private boolean released;

        /**
         * Of a frame that was pinned for it.
         */
        Pin(Frame frame, long etagDigest, BlockOrigin tier)
        {
            this.frame = requireNonNull(frame, "frame is null");
            this.generation = frame.generation();
            this.length = frame.length();
            this.checksum = frame.checksum();
            this.etagDigest = etagDigest;
            this.tier = requireNonNull(tier, "tier is null");
        }

        @Override
        public int frame()
        {
            return frame.number();
        }

        @Override
        public long frameOffset()
        {
            return ram.frameOffset(frame);
        }

        @Override
        public long generation()
        {
            return generation;
        }

        @Override
        public int length()
        {
            return length;
        }

        @Override
        public long etagDigest()
        {
            return etagDigest;
        }

        @Override
        public int checksum()
        {
            return checksum;
        }

        @Override
        public ByteBuffer payload()
        {
            return ram.payload(frame, length).asByteBuffer().asReadOnlyBuffer();
        }

        @Override
        public BlockOrigin tier()
        {
            return tier;
        }

        @Override
        public void close()
        {
            lock.lock();
            try {
                if (!released) {
                    released = true;
                    ram.unpin(frame);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }
}
