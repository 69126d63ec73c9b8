package io.cachedhive.store.ssd;

import com.google.common.io.Closer;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.ByteSize;
import io.cachedhive.store.RecoveryOutcome;
import io.cachedhive.store.SsdDirectoryConfig;
import io.cachedhive.store.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.StoreEnvironment;
import io.cachedhive.store.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * The blocks on SSD, in one or more directories. A block has its place in one of them, chosen by its digest in proportion to their
 * capacities; while that one is out of service, it is not kept on SSD.
 *
 * <p>Methods are called under the store's lock unless they say otherwise.
 */
public final class SsdTier
{
    private static final Logger log = Logger.get(SsdTier.class);

    private static final long FLUSH_INTERVAL_MILLIS = 50;
    private static final long CHECKPOINT_CHECK_MILLIS = 200;
    private static final long CLOSE_MILLIS = 30_000;
    private static final int RESTORED_AT_ONCE = 1 << 16;

    private final List<SsdDirectory> directories;
    private final List<RecoveryOutcome> recovery;
    private final StagingBuffers staging;
    private final ReentrantLock lock;
    private final Duration checkpointInterval;
    private final long totalCapacityBytes;
    private final List<WriteQueue> queues = new ArrayList<>();
    private final ScheduledThreadPoolExecutor executor;
    private final Condition idle;
    private long maxQueuedBytes;
    private long refusedWrites;
    private boolean started;

    /**
     * A block that is to be written, in a frame that stays as it is until it was.
     *
     * @param release called under the store's lock when the frame is needed no longer
     */
    public record Write(Digest128 digest, StoredFile file, int length, int checksum, MemorySegment payload, Runnable release)
    {
        public Write
        {
            requireNonNull(digest, "digest is null");
            requireNonNull(file, "file is null");
            requireNonNull(payload, "payload is null");
            requireNonNull(release, "release is null");
        }
    }

    private static final class WriteQueue
    {
        final SsdDirectory directory;
        final Condition changed;
        final ArrayDeque<Write> writes = new ArrayDeque<>();
        final Set<Digest128> digests = new HashSet<>();
        long bytes;
        boolean closed;
        Thread thread;
        Thread restorer;

        WriteQueue(SsdDirectory directory, Condition changed)
        {
            this.directory = requireNonNull(directory, "directory is null");
            this.changed = requireNonNull(changed, "changed is null");
        }
    }

    /**
     * The directories as they were found, locked.
     */
    public static final class Candidates
            implements Closeable
    {
        private final List<SsdDirectory.Candidate> directories;
        private final Closer closer;

        private Candidates(List<SsdDirectory.Candidate> directories, Closer closer)
        {
            this.directories = List.copyOf(directories);
            this.closer = requireNonNull(closer, "closer is null");
        }

        /**
         * The id in the first superblock that can be read.
         */
        public Optional<CacheWorkerId> workerId()
        {
            return directories.stream()
                    .flatMap(candidate -> candidate.superblock().stream())
                    .map(Superblock::workerId)
                    .findFirst();
        }

        /**
         * The last run of the worker, as its directories know it; 0 without any.
         */
        public long lastRun(CacheWorkerId workerId)
        {
            return directories.stream()
                    .flatMap(candidate -> candidate.superblock().stream())
                    .filter(superblock -> superblock.workerId().equals(workerId))
                    .mapToLong(Superblock::run)
                    .max()
                    .orElse(0);
        }

        @Override
        public void close()
                throws IOException
        {
            closer.close();
        }
    }

    /**
     * Locks the directories and reads their superblocks.
     */
    public static Candidates look(List<SsdDirectoryConfig> configs, int blockSizeBytes, Disk disk)
            throws StoreException
    {
        List<SsdDirectory.Candidate> candidates = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        Closer closer = Closer.create();
        boolean success = false;
        try {
            for (SsdDirectoryConfig config : configs) {
                Path path = config.directory();
                if (!Files.exists(path)) {
                    throw new StoreException("SSD directory %s does not exist: make it, or take it out of cache.ssd.directories".formatted(path));
                }
                if (!Files.isDirectory(path)) {
                    throw new StoreException("%s in cache.ssd.directories is not a directory: name a directory".formatted(path));
                }
                if (!Files.isWritable(path)) {
                    throw new StoreException("SSD directory %s is not writable: let this user write there, or take it out of cache.ssd.directories".formatted(path));
                }
                try {
                    if (!seen.add(path.toRealPath())) {
                        throw new StoreException("SSD directory %s is listed twice: take it out of cache.ssd.directories once".formatted(path));
                    }
                    long capacityBytes = capacityBytes(config, disk);
                    SsdDirectory.Candidate candidate = SsdDirectory.look(path, capacityBytes, blockSizeBytes, disk);
                    closer.register(candidate);
                    candidates.add(candidate);
                }
                catch (IOException e) {
                    throw new StoreException("SSD directory %s cannot be used (%s): mend the disk, or take it out of cache.ssd.directories".formatted(path, e.getMessage()), e);
                }
            }
            success = true;
            return new Candidates(candidates, closer);
        }
        finally {
            if (!success) {
                closeQuietly(closer);
            }
        }
    }

    private static long capacityBytes(SsdDirectoryConfig config, Disk disk)
            throws IOException, StoreException
    {
        long total = disk.totalBytes(config.directory());
        return switch (config.capacity()) {
            case Capacity.Bytes(long bytes) -> {
                if (bytes > total) {
                    throw new StoreException("SSD directory %s is to hold %s, but its disk has %s: make its share in cache.ssd.max-sizes smaller".formatted(
                            config.directory(),
                            ByteSize.format(bytes),
                            ByteSize.format(total)));
                }
                yield bytes;
            }
            case Capacity.DiskPercentage(int percentage) -> total / 100 * percentage;
        };
    }

    private static void closeQuietly(Closeable closeable)
    {
        try {
            closeable.close();
        }
        catch (IOException | RuntimeException e) {
            log.warn("A part of the SSD tier did not close: %s", e.getMessage());
        }
    }

    /**
     * Restores the directories, but for the blocks of large ones, which come when the tier is started. Without the lock.
     *
     * @param blocksToRestore of each directory now
     * @param lastRun of the worker, in any of its directories or beside them
     */
    public static SsdTier open(
            Candidates candidates,
            CacheWorkerId workerId,
            long lastRun,
            int blockSizeBytes,
            Duration checkpointInterval,
            long blocksToRestore,
            FileTable files,
            ReentrantLock lock,
            StoreEnvironment environment)
            throws StoreException
    {
        StagingBuffers staging = new StagingBuffers(Geometry.largestExtentUnits(blockSizeBytes) * Geometry.UNIT_BYTES);
        List<SsdDirectory> directories = new ArrayList<>();
        for (SsdDirectory.Candidate candidate : candidates.directories) {
            Digest128 newStoreId = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            directories.add(SsdDirectory.open(directories.size(), candidate, workerId, lastRun, newStoreId, files, lock, environment.clock()));
        }
        // only when all are there: a file that one of them gave up may be another's as well
        directories.forEach(directory -> directory.restore(blocksToRestore));
        return new SsdTier(directories, staging, checkpointInterval, lock, environment);
    }

    private SsdTier(
            List<SsdDirectory> directories,
            StagingBuffers staging,
            Duration checkpointInterval,
            ReentrantLock lock,
            StoreEnvironment environment)
    {
        this.directories = List.copyOf(directories);
        this.staging = requireNonNull(staging, "staging is null");
        this.checkpointInterval = requireNonNull(checkpointInterval, "checkpointInterval is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.idle = lock.newCondition();
        this.recovery = directories.stream()
                .flatMap(directory -> directory.outcomes().stream())
                .toList();
        this.totalCapacityBytes = directories.stream().mapToLong(SsdDirectory::capacityBytes).sum();
        for (SsdDirectory directory : directories) {
            queues.add(new WriteQueue(directory, lock.newCondition()));
        }
        // a checkpoint may take long; the journals go on meanwhile
        this.executor = new ScheduledThreadPoolExecutor(2 * Math.max(1, directories.size()), environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    }

    /**
     * Begins to write. Without the lock.
     *
     * @param maxQueuedBytes of blocks that wait to be written, in frames that cannot be evicted meanwhile
     */
    public void start(long maxQueuedBytes, StoreEnvironment environment)
    {
        this.maxQueuedBytes = maxQueuedBytes;
        started = true;
        for (WriteQueue queue : queues) {
            executor.scheduleWithFixedDelay(() -> guarded(queue.directory::flush), FLUSH_INTERVAL_MILLIS, FLUSH_INTERVAL_MILLIS, MILLISECONDS);
            executor.scheduleWithFixedDelay(
                    () -> guarded(() -> queue.directory.checkpointIfDue(checkpointInterval)),
                    CHECKPOINT_CHECK_MILLIS,
                    CHECKPOINT_CHECK_MILLIS,
                    MILLISECONDS);
            queue.thread = environment.threads().newThread(() -> writeAll(queue));
            queue.thread.start();
            if (!isRestored(queue.directory)) {
                queue.restorer = environment.threads().newThread(() -> guarded(() -> restoreAll(queue.directory)));
                queue.restorer.start();
            }
        }
    }

    private boolean isRestored(SsdDirectory directory)
    {
        lock.lock();
        try {
            return directory.isRestored();
        }
        finally {
            lock.unlock();
        }
    }

    private static void restoreAll(SsdDirectory directory)
    {
        while (directory.restore(RESTORED_AT_ONCE)) {
            // until the end
        }
    }

    private static void guarded(Runnable task)
    {
        try {
            task.run();
        }
        catch (RuntimeException | Error e) {
            // an exception would end the repetition
            log.error(e, "A task of the SSD tier failed");
        }
    }

    public List<RecoveryOutcome> recovery()
    {
        return recovery;
    }

    /**
     * The run that began with the opening.
     */
    public long run()
    {
        return directories.stream().mapToLong(SsdDirectory::run).max().orElse(0);
    }

    public Optional<SsdBlock> find(Digest128 digest)
    {
        for (SsdDirectory directory : directories) {
            Optional<SsdBlock> block = directory.find(digest);
            if (block.isPresent()) {
                return block;
            }
        }
        return Optional.empty();
    }

    /**
     * The block was asked for.
     */
    public void use(Digest128 digest)
    {
        for (SsdDirectory directory : directories) {
            directory.use(digest);
        }
    }

    /**
     * Queues a block to be written, if there is room in the queue.
     *
     * @return whether {@code release} will be called
     */
    public boolean offer(Write write)
    {
        if (queues.isEmpty()) {
            return false;
        }
        WriteQueue queue = queueFor(write.digest);
        if (queue.closed || !queue.directory.isInService() || queue.bytes + write.length > maxQueuedBytes || !queue.digests.add(write.digest)) {
            refusedWrites++;
            return false;
        }
        queue.writes.add(write);
        queue.bytes += write.length;
        queue.changed.signal();
        return true;
    }

    private WriteQueue queueFor(Digest128 digest)
    {
        // other bits than those that choose the bucket
        long point = Math.unsignedMultiplyHigh(digest.high(), totalCapacityBytes);
        for (WriteQueue queue : queues) {
            point -= queue.directory.capacityBytes();
            if (point < 0) {
                return queue;
            }
        }
        return queues.getLast();
    }

    private void writeAll(WriteQueue queue)
    {
        ByteBuffer buffer = staging.allocateOne();
        while (true) {
            Write write;
            lock.lock();
            try {
                while (queue.writes.isEmpty()) {
                    idle.signalAll();
                    if (queue.closed) {
                        return;
                    }
                    queue.changed.awaitUninterruptibly();
                }
                write = queue.writes.peek();
            }
            finally {
                lock.unlock();
            }
            try {
                write(queue.directory, write, buffer);
            }
            catch (RuntimeException | Error e) {
                log.error(e, "A block could not be written to %s", queue.directory.path());
            }
            finally {
                lock.lock();
                try {
                    queue.writes.remove();
                    queue.digests.remove(write.digest);
                    queue.bytes -= write.length;
                    write.release.run();
                }
                finally {
                    lock.unlock();
                }
            }
        }
    }

    private void write(SsdDirectory directory, Write write, ByteBuffer buffer)
    {
        SsdDirectory.Reservation reservation;
        lock.lock();
        try {
            if (write.file.isDropped() || directory.find(write.digest).isPresent()) {
                return;
            }
            Optional<SsdDirectory.Reservation> reserved = directory.isInService() ? directory.reserve(write.file, write.length) : Optional.empty();
            if (reserved.isEmpty()) {
                refusedWrites++;
                return;
            }
            reservation = reserved.get();
        }
        finally {
            lock.unlock();
        }
        boolean written = false;
        try {
            buffer.clear();
            MemorySegment.ofBuffer(buffer).copyFrom(write.payload);
            Extent.complete(buffer, write.digest, reservation.sequence(), write.file.etagDigest(), write.length, write.checksum, directory.storeId());
            directory.write(reservation, buffer);
            written = true;
        }
        catch (IOException e) {
            lock.lock();
            try {
                directory.suspend(e);
            }
            finally {
                lock.unlock();
            }
        }
        finally {
            lock.lock();
            try {
                if (written && !write.file.isDropped()) {
                    directory.add(reservation, write.file, write.digest, write.length);
                    directory.resume();
                }
                else {
                    directory.cancel(reservation);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Takes the bytes of a block that was read.
     */
    public interface Sink<T>
    {
        /**
         * Without the lock.
         *
         * @param payload the block's bytes, verified
         * @param checksum CRC32C of them
         */
        T accept(ByteBuffer payload, int checksum);
    }

    /**
     * Reads and verifies a block. A block that cannot be read, or is not what it should be, is dropped. Without the lock.
     *
     * @return what the sink made of it; empty if there is no such block any more
     */
    public <T> Optional<T> read(SsdBlock block, Sink<T> sink)
    {
        SsdDirectory directory = directories.get(block.directory());
        ByteBuffer buffer = staging.acquire();
        try {
            if (directory.read(block, buffer)) {
                return Optional.of(sink.accept(buffer.slice(0, block.length()), Extent.payloadChecksum(buffer, block.length())));
            }
            lock.lock();
            try {
                directory.dropCorrupt(block);
            }
            finally {
                lock.unlock();
            }
            return Optional.empty();
        }
        catch (IOException e) {
            lock.lock();
            try {
                directory.dropUnreadable(block, e);
            }
            finally {
                lock.unlock();
            }
            return Optional.empty();
        }
        finally {
            staging.release(buffer);
        }
    }

    /**
     * Whether the block may still be shown.
     */
    public boolean isStillThere(SsdBlock block)
    {
        return directories.get(block.directory()).isStillThere(block);
    }

    public void confirm(StoredFile file)
    {
        directories.forEach(directory -> directory.confirm(file));
    }

    /**
     * The file was dropped; to be followed by {@link #removeDropped} and {@link #makeDropsDurable}.
     */
    public void drop(StoredFile file)
    {
        directories.forEach(directory -> directory.drop(file));
    }

    /**
     * Frees what a dropped file had. Without the lock.
     */
    public void removeDropped(StoredFile file)
    {
        directories.forEach(directory -> directory.removeDropped(file));
    }

    /**
     * Returns when what was dropped before cannot come back, whatever happens. Without the lock.
     */
    public void makeDropsDurable()
    {
        for (SsdDirectory directory : directories) {
            // also where the file had no blocks: the records of their eviction may not be durable yet
            if (!directory.flushAndSeal() && !directory.invalidate()) {
                log.error("A dropped file is still in %s, which cannot be written: after a crash it may come back", directory.path());
            }
        }
    }

    public Optional<String> problem()
    {
        return directories.stream()
                .flatMap(directory -> directory.problem().stream())
                .findFirst();
    }

    private long sum(ToLongFunction<SsdDirectory> figure)
    {
        return directories.stream().mapToLong(figure).sum();
    }

    public long capacityBytes()
    {
        return totalCapacityBytes;
    }

    public long usedBytes()
    {
        return sum(SsdDirectory::usedBytes);
    }

    public long blocks()
    {
        return sum(SsdDirectory::blocks);
    }

    public long restoredBlocks()
    {
        return sum(SsdDirectory::restoredBlocks);
    }

    public long evictions()
    {
        return sum(SsdDirectory::evictions);
    }

    public long corruptBlocks()
    {
        return sum(SsdDirectory::corruptBlocks);
    }

    public long errors()
    {
        return sum(SsdDirectory::errors);
    }

    public long refusedWrites()
    {
        return refusedWrites;
    }

    /**
     * Waits until nothing is queued. Without the lock.
     */
    public void drain()
    {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
            while (left > 0 && queues.stream().anyMatch(queue -> !queue.writes.isEmpty())) {
                try {
                    left = idle.awaitNanos(left);
                }
                catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * For tests: everything that was written is in the journal. Without the lock.
     */
    public void flush()
    {
        directories.forEach(SsdDirectory::flush);
    }

    /**
     * For tests. Without the lock.
     */
    public void checkpoint()
    {
        directories.forEach(directory -> directory.checkpoint(false));
    }

    /**
     * For tests.
     */
    public void checkInvariants()
    {
        directories.forEach(SsdDirectory::checkInvariants);
    }

    /**
     * Writes what is queued, then a checkpoint. Without the lock.
     */
    public void close()
    {
        drain();
        if (started) {
            // so that there is something to be written
            awaitRestored(Duration.ofMillis(CLOSE_MILLIS));
        }
        stop();
        for (SsdDirectory directory : directories) {
            if (!directory.checkpoint(true)) {
                directory.flush();
                log.warn("The index of %s is not written; the next start takes the one before and the journal", directory.path());
            }
            closeQuietly(directory);
        }
    }

    /**
     * Waits until all blocks that were found are restored. Without the lock.
     *
     * @return whether they are
     */
    public boolean awaitRestored(Duration timeout)
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        boolean restored = true;
        for (SsdDirectory directory : directories) {
            try {
                restored &= directory.awaitRestored(Duration.ofNanos(deadline - System.nanoTime()));
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return restored;
    }

    /**
     * For tests: ends like a killed process. Without the lock.
     */
    public void abandon()
    {
        lock.lock();
        try {
            for (WriteQueue queue : queues) {
                queue.closed = true;
                Write writing = queue.writes.peek();
                queue.writes.clear();
                if (writing != null) {
                    queue.writes.add(writing);
                }
            }
        }
        finally {
            lock.unlock();
        }
        stop();
        directories.forEach(SsdTier::closeQuietly);
    }

    private void stop()
    {
        lock.lock();
        try {
            for (WriteQueue queue : queues) {
                queue.closed = true;
                queue.changed.signalAll();
                queue.directory.stopRestoring();
            }
        }
        finally {
            lock.unlock();
        }
        executor.shutdown();
        boolean interrupted = false;
        try {
            executor.awaitTermination(CLOSE_MILLIS, MILLISECONDS);
            for (WriteQueue queue : queues) {
                if (queue.thread != null) {
                    queue.thread.join(CLOSE_MILLIS);
                }
                if (queue.restorer != null) {
                    queue.restorer.join(CLOSE_MILLIS);
                }
            }
        }
        catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
