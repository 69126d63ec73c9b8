package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.BlockTerms;
import io.cachedhive.store.RecoveryOutcome;
import io.cachedhive.store.SsdErrorCause;
import io.cachedhive.store.StoreEnvironment;
import io.cachedhive.store.StoreException;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * The blocks on SSD, in one or more directories. A block has its place in one of them, chosen by its digest in proportion to their
 * capacities; while that one is out of service, it is not kept on SSD. What is done with one directory is the matter of {@link SsdDirectory} and, for
 * what is queued to be written into it, {@link DirectoryWriter}; here they are made one, with the threads and the times at which they work.
 *
 * <p>Methods are called under the store's lock unless they say otherwise.
 */
public final class SsdTier
{
    private static final Logger log = Logger.get(SsdTier.class);

    private static final long FLUSH_INTERVAL_MILLIS = 50;
    private static final long CHECKPOINT_CHECK_MILLIS = 200;
    private static final long EXPIRY_LOOK_MILLIS = 1000;
    private static final long CLOSE_MILLIS = 30_000;
    private static final int RESTORED_AT_ONCE = 1 << 16;

    private final List<SsdDirectory> directories;
    private final List<RecoveryOutcome> recovery;
    private final StagingBuffers staging;
    private final ReentrantLock lock;
    private final Duration checkpointInterval;
    private final long totalCapacityBytes;
    private final List<DirectoryWriter> writers = new ArrayList<>();
    // not guarded
    private final List<Thread> restorers = new ArrayList<>();
    private final ScheduledThreadPoolExecutor executor;
    private final Condition idle;
    private long maxQueuedBytes;
    private boolean started;

    /**
     * A block that is to be written, in a frame that stays as it is until it was.
     *
     * @param release called under the store's lock when the frame is needed no longer
     */
    public record Write(Digest128 digest, StoredFile file, int length, int checksum, BlockTerms terms, MemorySegment payload, Runnable release)
    {
        public Write
        {
            requireNonNull(digest, "digest is null");
            requireNonNull(file, "file is null");
            requireNonNull(terms, "terms is null");
            requireNonNull(payload, "payload is null");
            requireNonNull(release, "release is null");
        }
    }

    /**
     * Restores the directories, but for the blocks of large ones, which come when the tier is started. Without the lock.
     *
     * @param blocksToRestore of each directory now
     * @param lastRun of the worker, in any of its directories or beside them
     * @param oldTerms of blocks that were written by the version before, without any
     */
    public static SsdTier open(
            SsdCandidates candidates,
            CacheWorkerId workerId,
            long lastRun,
            int blockSizeBytes,
            Duration checkpointInterval,
            long blocksToRestore,
            FileTable files,
            BlockTerms oldTerms,
            ReentrantLock lock,
            StoreEnvironment environment)
            throws StoreException
    {
        StagingBuffers staging = new StagingBuffers(Geometry.largestExtentUnits(blockSizeBytes) * Geometry.UNIT_BYTES);
        List<SsdDirectory> directories = new ArrayList<>();
        for (DirectoryCandidate candidate : candidates.directories()) {
            Digest128 newStoreId = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            directories.add(SsdDirectory.open(
                    directories.size(),
                    candidate,
                    workerId,
                    lastRun,
                    newStoreId,
                    files,
                    oldTerms,
                    lock,
                    environment.clock(),
                    environment.threads()));
        }
        // only when all are there: a file that one of them gave up may be another's as well
        directories.forEach(directory -> directory.restorer().restore(blocksToRestore));
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
            writers.add(new DirectoryWriter(directory, staging, lock, idle));
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
        for (DirectoryWriter writer : writers) {
            SsdDirectory directory = writer.directory();
            executor.scheduleWithFixedDelay(() -> guarded(directory::flush), FLUSH_INTERVAL_MILLIS, FLUSH_INTERVAL_MILLIS, MILLISECONDS);
            executor.scheduleWithFixedDelay(
                    () -> guarded(() -> {
                        directory.probe();
                        directory.checkpoints().writeIfDue(checkpointInterval);
                    }),
                    CHECKPOINT_CHECK_MILLIS,
                    CHECKPOINT_CHECK_MILLIS,
                    MILLISECONDS);
            executor.scheduleWithFixedDelay(() -> guarded(directory::removeExpired), EXPIRY_LOOK_MILLIS, EXPIRY_LOOK_MILLIS, MILLISECONDS);
            writer.start(environment.threads());
            if (!isRestored(directory)) {
                Thread restorer = environment.threads().newThread(() -> guarded(() -> restoreAll(directory)));
                restorers.add(restorer);
                restorer.start();
            }
        }
    }

    private boolean isRestored(SsdDirectory directory)
    {
        lock.lock();
        try {
            return directory.restorer().isRestored();
        }
        finally {
            lock.unlock();
        }
    }

    private static void restoreAll(SsdDirectory directory)
    {
        while (directory.restorer().restore(RESTORED_AT_ONCE)) {
            // until the end
        }
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
        return !writers.isEmpty() && writerFor(write.digest).offer(write, maxQueuedBytes);
    }

    private DirectoryWriter writerFor(Digest128 digest)
    {
        // other bits than those that choose the bucket
        long point = Math.unsignedMultiplyHigh(digest.high(), totalCapacityBytes);
        for (DirectoryWriter writer : writers) {
            point -= writer.directory().capacityBytes();
            if (point < 0) {
                return writer;
            }
        }
        return writers.getLast();
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
            if (!directory.flushAndSeal() && !directory.checkpoints().invalidate()) {
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

    public long expirations()
    {
        return sum(SsdDirectory::expirations);
    }

    public long corruptBlocks()
    {
        return sum(SsdDirectory::corruptBlocks);
    }

    public long errors(SsdErrorCause cause)
    {
        return sum(directory -> directory.errors(cause));
    }

    public long refusedWrites()
    {
        return writers.stream().mapToLong(DirectoryWriter::refused).sum();
    }

    /**
     * Waits until nothing is queued. Without the lock.
     */
    public void drain()
    {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
            while (left > 0 && !writers.stream().allMatch(DirectoryWriter::isIdle)) {
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
     * For tests: what happens once a second. Without the lock.
     */
    public void removeExpired()
    {
        directories.forEach(SsdDirectory::removeExpired);
    }

    /**
     * For tests. Without the lock.
     */
    public void checkpoint()
    {
        directories.forEach(directory -> directory.checkpoints().write(false));
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
            if (!directory.checkpoints().write(true)) {
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
                restored &= directory.restorer().awaitRestored(Duration.ofNanos(deadline - System.nanoTime()));
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
            writers.forEach(DirectoryWriter::abandon);
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
            for (DirectoryWriter writer : writers) {
                writer.close();
                writer.directory().restorer().stop();
            }
        }
        finally {
            lock.unlock();
        }
        executor.shutdown();
        boolean interrupted = false;
        try {
            executor.awaitTermination(CLOSE_MILLIS, MILLISECONDS);
            for (DirectoryWriter writer : writers) {
                writer.join(CLOSE_MILLIS);
            }
            for (Thread restorer : restorers) {
                restorer.join(CLOSE_MILLIS);
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
