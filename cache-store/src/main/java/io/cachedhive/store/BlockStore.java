package io.cachedhive.store;

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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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
    private static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[64 << 10]);

    private final ReentrantLock lock = new ReentrantLock();
    private final CacheWorkerId workerId;
    private final Digest128 instance;
    private final int blockSizeBytes;
    private final MemoryFile memoryFile;
    private final List<RecoveryOutcome> recovery;
    private final StoreClock clock;
    private final ScheduledExecutorService heartbeat;
    private final Closer resources;

    // guarded by the lock
    private final FileTable files;
    private final RamTier ram;
    private long refusedFills;
    private boolean closed;

    private BlockStore(
            CacheWorkerId workerId,
            Digest128 instance,
            int blockSizeBytes,
            FileTable files,
            MemoryFile memoryFile,
            List<RecoveryOutcome> recovery,
            StoreEnvironment environment,
            Closer resources)
    {
        this.workerId = requireNonNull(workerId, "workerId is null");
        this.instance = requireNonNull(instance, "instance is null");
        this.blockSizeBytes = blockSizeBytes;
        this.files = requireNonNull(files, "files is null");
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
     * Restores what the last run left on SSD, gives back the memory that it left in RAM, and allocates this run's.
     *
     * @throws StoreException if the configuration cannot be had on this machine, or another worker uses the same directory
     */
    public static BlockStore open(StoreConfig config, StoreEnvironment environment)
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
        boolean success = false;
        try {
            if (!config.ssdDirectories().isEmpty()) {
                log.warn("The SSD tier is not built yet: %s are not used", config.ssdDirectories());
            }
            StateDirectory state = StateDirectory.open(config.stateDirectory(), environment);
            resources.register(state);
            CacheWorkerId workerId = state.workerId();
            List<RecoveryOutcome> recovery = new ArrayList<>(MemoryFile.reclaim(config.ramDirectory(), workerId));
            Digest128 instance = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            MemoryFile memoryFile = MemoryFile.create(config.ramDirectory(), layout, instance, workerId, config.sharedGroup());
            resources.register(memoryFile::close);
            BlockStore store = new BlockStore(workerId, instance, config.blockSizeBytes(), new FileTable(), memoryFile, recovery, environment, resources);
            for (RecoveryOutcome outcome : recovery) {
                log.info("Recovery: %s", outcome);
            }
            store.start();
            success = true;
            return store;
        }
        finally {
            if (!success) {
                closeQuietly(resources);
            }
        }
    }

    private void start()
    {
        beat();
        memoryFile.writer().setState(MemoryState.LIVE);
        heartbeat.scheduleAtFixedRate(this::beat, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
    }

    private void beat()
    {
        memoryFile.writer().setHeartbeat(clock.currentTimeMillis());
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
            files.get(id).ifPresent(files::confirm);
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
        lock.lock();
        try {
            files.get(id).ifPresent(file -> {
                files.drop(file);
                ram.drop(file);
            });
        }
        finally {
            lock.unlock();
        }
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
            return pinLocked(key.digest());
        }
        finally {
            lock.unlock();
        }
    }

    private Optional<PinnedBlock> pinLocked(Digest128 digest)
    {
        return ram.find(digest).map(frame -> {
            ram.pin(frame);
            return new Pin(frame, frame.file().etagDigest(), BlockOrigin.RAM);
        });
    }

    public boolean isOnSsd(BlockKey key)
    {
        return false;
    }

    /**
     * The block from RAM, or from SSD into a frame, verified. Blocks on I/O (outside of Java: give it a platform thread); calls for the
     * same block share one read.
     *
     * @return empty if the block is in neither tier, or did not verify (then it was dropped and counted), or no frame could be had
     */
    public Optional<PinnedBlock> load(BlockKey key)
    {
        return pin(key);
    }

    /**
     * A frame to write a block into. The file has to be bound before.
     *
     * @param length bytes of the block, as {@link FileVersion#blockLength} tells them
     * @param etagDigest of the answer that the bytes come from
     * @return empty if no frame can be had now, or the file is not bound to this ETag; never waits
     * @throws IllegalArgumentException if the file has no such block, or one of another length
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest)
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
            Optional<Frame> frame = ram.allocate(length);
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
            ram.find(new Digest128(digestHigh, digestLow)).ifPresent(ram::use);
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
                    0,
                    0,
                    0,
                    files.size(),
                    0,
                    ram.evictions(),
                    0,
                    0,
                    refusedFills,
                    0,
                    0);
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
        return Optional.empty();
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
        memoryFile.abandon();
        closeQuietly(resources);
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        lock.lock();
        try {
            ram.checkInvariants();
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
                    return pinLocked(digest);
                }
                ram.publish(frame, file, digest, length, checksum);
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
