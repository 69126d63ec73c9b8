package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.HotBlocks;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

import static com.google.common.base.Verify.verify;
import static java.util.Comparator.comparingInt;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * The SSD tier: blocks in one or more directories. The digest of a block selects its directory, in proportion to the
 * capacities. While that directory is offline, the block is not kept on SSD. Directories that failed to open are
 * retried and then added.
 *
 * <p>{@link SsdDirectory} and {@link DirectoryWriter} handle a single directory; this class combines them and runs
 * their threads and periodic tasks.
 *
 * <p>Callers hold the store's lock unless a method specifies otherwise.
 */
public final class SsdTier
{
    private static final Logger log = Logger.get(SsdTier.class);

    private static final long FLUSH_INTERVAL_MILLIS = 50;
    private static final long CHECKPOINT_CHECK_MILLIS = 200;
    private static final long EXPIRY_LOOK_MILLIS = 1000;
    private static final long CLOSE_MILLIS = 30_000;
    private static final int RESTORED_AT_ONCE = 1 << 16;

    // by number; replaced under the lock when a directory is added late
    private volatile List<SsdDirectory> directories;
    private volatile List<DirectoryWriter> writers;
    private volatile long totalCapacityBytes;
    private final AbsentDirectories absent;
    private final DirectoryProbe probe;
    private final DirectoryFormats formats;
    private final List<RecoveryOutcome> recovery;
    private final long openedRun;
    private final int configuredDirectories;
    // of each directory its own, so that one that hangs with all of them stops no other
    private final Map<Integer, AlignedBuffers> buffers = new ConcurrentHashMap<>();
    private final ReentrantLock lock;
    private final Duration checkpointInterval;
    // not guarded
    private final List<Thread> restorers = new ArrayList<>();
    private final ScheduledThreadPoolExecutor executor;
    private final Condition idle;
    private final DurableDrops durableDrops;
    private final DirectoryWriter.LateWrites lateWrites = new LateBlocks();
    private long maxQueuedBytes;
    private Predicate<Digest128> offerAgain;
    private boolean started;
    @GuardedBy("lock")
    private boolean stopped;

    /**
     * A block to write, in a frame that does not change until it is released.
     *
     * @param terms current terms, read under the store's lock
     * @param release called under the store's lock when the frame is no longer needed
     */
    public record Write(Digest128 digest, StoredFile file, int length, int checksum, Supplier<BlockTerms> terms, MemorySegment payload, Runnable release)
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
     * Opens and restores the directories; large ones restore the rest of their blocks after the start. Callers must not
     * hold the lock.
     *
     * @param blocksToRestore blocks to restore now, per directory
     * @param keptRun the last run of the worker according to its state directory
     */
    public static SsdTier open(
            SsdCandidates candidates,
            CacheWorkerId workerId,
            long keptRun,
            Duration checkpointInterval,
            long blocksToRestore,
            FileTable files,
            ReentrantLock lock,
            StoreEnvironment environment)
            throws StoreException
    {
        long lastRun = Math.max(keptRun, candidates.lastRun(workerId));
        long usedRun = Math.max(keptRun, candidates.usedRun(workerId));
        int newVersion = candidates.newVersion(workerId);
        AbsentDirectories.Opener opener = (candidate, runBefore) -> SsdDirectory.open(
                candidate,
                new OpeningRun(workerId, runBefore, usedRun, new Digest128(environment.random().nextLong(), environment.random().nextLong()), newVersion),
                files,
                lock,
                environment.clock(),
                environment.threads());
        List<SsdDirectory> directories = new ArrayList<>();
        List<AbsentDirectory> absent = new ArrayList<>(candidates.absent());
        long run = lastRun + 1;
        for (DirectoryCandidate candidate : candidates.directories()) {
            try {
                directories.add(opener.open(candidate, lastRun));
            }
            catch (DirectoryOutException e) {
                absent.add(candidates.giveUp(candidate, e));
                // its superblock may have this run already, though it will miss the run's drops: use a later run for
                // the other directories
                run = lastRun + 2;
            }
        }
        // before all directories have the run, nothing is dropped that one of them could miss
        if (run > lastRun + 1) {
            for (SsdDirectory directory : directories) {
                long later = run;
                write(directory, () -> directory.checkpoints().advanceRun(later));
            }
        }
        for (SsdDirectory directory : directories) {
            write(directory, directory::setUsed);
        }
        // only now, because a file that one directory released may belong to another as well
        directories.forEach(directory -> directory.restorer().restore(blocksToRestore));
        DirectoryProbe probe = candidates.directoryProbe();
        AbsentDirectories absentDirectories = new AbsentDirectories(absent, probe, opener, lock, environment.clock());
        return new SsdTier(directories, run, absentDirectories, probe, checkpointInterval, lock, environment);
    }

    private interface SuperblockWrite
    {
        void run()
                throws IOException;
    }

    private static void write(SsdDirectory directory, SuperblockWrite write)
            throws StoreException
    {
        try {
            write.run();
        }
        catch (IOException e) {
            throw new StoreException("SSD directory %s cannot be used (%s): let this user write there, or repair the disk".formatted(directory.path(), e.getMessage()), e);
        }
    }

    private SsdTier(
            List<SsdDirectory> directories,
            long run,
            AbsentDirectories absent,
            DirectoryProbe probe,
            Duration checkpointInterval,
            ReentrantLock lock,
            StoreEnvironment environment)
    {
        this.directories = List.copyOf(directories);
        this.absent = requireNonNull(absent, "absent is null");
        this.configuredDirectories = directories.size() + absent.count();
        this.probe = requireNonNull(probe, "probe is null");
        this.formats = new DirectoryFormats(() -> this.directories, probe.format().newest());
        this.checkpointInterval = requireNonNull(checkpointInterval, "checkpointInterval is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.idle = lock.newCondition();
        this.recovery = directories.stream()
                .flatMap(directory -> directory.outcomes().stream())
                .toList();
        this.openedRun = run;
        this.durableDrops = new DurableDrops(() -> this.directories, run, environment.clock(), environment.threads());
        this.totalCapacityBytes = directories.stream().mapToLong(SsdDirectory::capacityBytes).sum();
        this.writers = directories.stream()
                .map(directory -> new DirectoryWriter(directory, lateWrites, lock, idle))
                .toList();
        // a thread for checkpoints, which may take long, and one for the journal, per directory
        this.executor = new ScheduledThreadPoolExecutor(2 * Math.max(1, configuredDirectories), environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    }

    /**
     * May be called without the lock.
     */
    public DirectoryFormats formats()
    {
        return formats;
    }

    /**
     * Starts the threads. Callers must not hold the lock.
     *
     * @param maxQueuedBytes limit per directory on queued blocks, whose frames cannot be evicted
     * @param offerAgain {@link #offer offers} a block again that found the queue full, if it is still in RAM; called
     *         under the lock
     */
    public void start(long maxQueuedBytes, Predicate<Digest128> offerAgain, StoreEnvironment environment)
    {
        this.maxQueuedBytes = maxQueuedBytes;
        this.offerAgain = requireNonNull(offerAgain, "offerAgain is null");
        started = true;
        writers.forEach(writer -> start(writer, environment));
        for (int number : absent.numbers()) {
            // a task for each directory, so that a hung one blocks only itself
            executor.scheduleWithFixedDelay(() -> guarded(() -> takeIn(number, environment)), CHECKPOINT_CHECK_MILLIS, CHECKPOINT_CHECK_MILLIS, MILLISECONDS);
        }
    }

    private void takeIn(int number, StoreEnvironment environment)
    {
        Optional<SsdDirectory> found = absent.retry(number, durableDrops.lastRun() - 1);
        if (found.isEmpty()) {
            return;
        }
        SsdDirectory directory = found.get();
        try {
            directory.setUsed();
        }
        catch (IOException e) {
            log.warn("SSD directory %s cannot be used yet: %s", directory.path(), e.getMessage());
            closeQuietly(directory);
            return;
        }
        directory.outcomes().forEach(outcome -> log.info("Recovery: %s", outcome));
        DirectoryWriter writer = new DirectoryWriter(directory, lateWrites, lock, idle);
        lock.lock();
        try {
            if (!stopped) {
                absent.remove(number);
                directories = Stream.concat(directories.stream(), Stream.of(directory)).sorted(comparingInt(SsdDirectory::number)).toList();
                writers = Stream.concat(writers.stream(), Stream.of(writer)).sorted(comparingInt(each -> each.directory().number())).toList();
                // existing blocks stay where they are, because lookups search all directories
                totalCapacityBytes += directory.capacityBytes();
                start(writer, environment);
                // another run may have begun meanwhile
                directory.checkpoints().runs().setLast(durableDrops.lastRun());
                return;
            }
        }
        finally {
            lock.unlock();
        }
        closeQuietly(directory);
    }

    private void start(DirectoryWriter writer, StoreEnvironment environment)
    {
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
            // an exception would cancel the periodic task
            log.error(e, "A task of the SSD tier failed");
        }
    }

    public List<RecoveryOutcome> recovery()
    {
        return recovery;
    }

    /**
     * Returns the number of the run that this opening started.
     */
    public long run()
    {
        return openedRun;
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
     * Records a request for a block.
     *
     * @return whether the block is here
     */
    public boolean use(Digest128 digest)
    {
        for (SsdDirectory directory : directories) {
            if (directory.use(digest)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the numbers of the online directories, which stay the same when another is added. May be called without
     * the lock.
     */
    public List<Integer> directoryNumbers()
    {
        return directories.stream().map(SsdDirectory::number).toList();
    }

    /**
     * Collects the hottest blocks among a range of a directory's entries.
     *
     * @param directory its number
     * @param known selects blocks to skip
     * @return whether there are entries after the range
     */
    public boolean collect(int directory, int firstEntry, int endEntry, Predicate<Digest128> known, HotBlocks hottest)
    {
        return directory(directory).collect(firstEntry, endEntry, known, hottest);
    }

    /**
     * Evicts some blocks of a table that exceeds its quota.
     *
     * @return whether more blocks have to be evicted
     */
    public boolean shrink(StoredTable table, int maxCount)
    {
        int evicted = 0;
        for (BlockClass last : List.of(BlockClass.NORMAL, BlockClass.HIGH, BlockClass.PINNED)) {
            boolean found = true;
            while (found) {
                found = false;
                // one block of each directory in turn, for an even loss
                for (SsdDirectory directory : directories) {
                    if (table.hasSsdRoom(0)) {
                        return false;
                    }
                    if (evicted == maxCount) {
                        return true;
                    }
                    if (directory.evictOne(table, last)) {
                        evicted++;
                        found = true;
                    }
                }
            }
        }
        return false;
    }

    /**
     * Adds entries of a directory that are older than their table's quota to the table's queues.
     *
     * @param directory its number
     * @return whether there are entries after the range
     */
    public boolean order(int directory, int firstEntry, int endEntry)
    {
        return directory(directory).order(firstEntry, endEntry);
    }

    /**
     * Returns whether the queue of a directory is more than half full.
     */
    public boolean isBehindWriting()
    {
        return writers.stream().anyMatch(this::isBehind);
    }

    private boolean isBehind(DirectoryWriter writer)
    {
        return writer.queuedBytes() > maxQueuedBytes / 2;
    }

    private final class LateBlocks
            implements DirectoryWriter.LateWrites
    {
        @Override
        public boolean hasRoom(DirectoryWriter writer)
        {
            return !isBehind(writer);
        }

        @Override
        public boolean offer(DirectoryWriter writer, Digest128 digest)
        {
            // a directory added meanwhile may be responsible for the block now
            return writerFor(digest) == writer && offerAgain.test(digest);
        }
    }

    /**
     * Records a request for a block that is in RAM. Call it exactly once per request, instead of {@link #use}.
     *
     * @param first whether the block just entered the cache
     * @return true if the block is not on SSD but worth writing, so that the caller has to {@link #offer} it
     */
    public boolean request(Digest128 digest, StoredFile file, int length, BlockClass blockClass, boolean first)
    {
        return !use(digest) && !writers.isEmpty() && writerFor(digest).accepts(digest, file, length, blockClass, first, maxQueuedBytes);
    }

    /**
     * Queues a block that {@link #request} just accepted.
     */
    public void offer(Write write)
    {
        writerFor(write.digest).offer(write);
    }

    private DirectoryWriter writerFor(Digest128 digest)
    {
        // uses other bits than the index uses for its buckets
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
     * Reads a block directly into its destination and verifies it there. Drops a block that cannot be read or verified.
     * Callers must not hold the lock.
     *
     * @param target as long as the block, aligned for O_DIRECT, invisible to readers; undefined content if the result
     *         is empty
     * @return the checksums of the block's bytes; empty if the block is gone
     */
    public Optional<PieceChecksums> read(SsdBlock block, MemorySegment target)
    {
        SsdDirectory directory = directory(block.directory());
        AlignedBuffers pool = buffers.computeIfAbsent(block.directory(), _ ->
                ExtentBuffers.pool(probe.blockSizeBytes(), probe.operatorKey().isPresent(), configuredDirectories));
        ExtentBuffers acquired = pool.acquire();
        try {
            Optional<PieceChecksums> checksums = directory.read(block, target, acquired);
            if (checksums.isEmpty()) {
                lock.lock();
                try {
                    directory.dropCorrupt(block);
                }
                finally {
                    lock.unlock();
                }
            }
            return checksums;
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
            pool.release(acquired);
        }
    }

    /**
     * Reserves a load of a block, which then counts against the limit of its directory.
     *
     * @return empty if the directory loads too many blocks already, or does not answer in time
     */
    public Optional<SsdLoad> beginLoad(SsdBlock block)
    {
        return directory(block.directory()).loads().begin();
    }

    private SsdDirectory directory(int number)
    {
        for (SsdDirectory directory : directories) {
            if (directory.number() == number) {
                return directory;
            }
        }
        throw new IllegalArgumentException("there is no directory " + number);
    }

    /**
     * Returns whether the block may still be served.
     */
    public boolean isStillThere(SsdBlock block)
    {
        return directory(block.directory()).isStillThere(block);
    }

    /**
     * Changes the class of a block, if it is here.
     */
    public void setClass(Digest128 digest, BlockClass blockClass)
    {
        directories.forEach(directory -> directory.setClass(digest, blockClass));
    }

    public void confirm(StoredFile file)
    {
        directories.forEach(directory -> directory.confirm(file));
    }

    /**
     * Records the drop of a file. The caller then calls {@link #removeDropped} and {@link #makeDropsDurable}.
     */
    public void drop(StoredFile file)
    {
        durableDrops.add();
        directories.forEach(directory -> directory.drop(file));
    }

    /**
     * Frees the extents of a dropped file. Callers must not hold the lock.
     */
    public void removeDropped(StoredFile file)
    {
        directories.forEach(directory -> directory.removeDropped(file));
    }

    /**
     * Writes checkpoints of directories whose journal is full, so that it accepts the records of further drops. Callers
     * must not hold the lock.
     */
    public void makeJournalRoom()
    {
        directories.forEach(SsdDirectory::makeJournalRoom);
    }

    /**
     * Makes all earlier drops durable. Never waits for a disk, and may be called with or without the lock. A directory
     * that does not record the drops in time is outdated: it starts empty next time, until its next checkpoint.
     *
     * @return completes with false if a crash may bring dropped files back, or if the store is being closed, in which
     *         case its last checkpoints have the drops
     */
    public CompletableFuture<Boolean> makeDropsDurable(RunKeeper keeper)
    {
        return durableDrops.makeDurable(keeper);
    }

    /**
     * Outdates the directories that take too long to record a drop. Called periodically. Callers must not hold the
     * lock.
     */
    public void endLateDrops()
    {
        durableDrops.endLate();
    }

    /**
     * Persists the last run outside the SSD directories.
     */
    public interface RunKeeper
    {
        void keep(long run)
                throws StoreException;

        /**
         * Returns whether the store is being closed.
         */
        boolean isClosed();
    }

    public Optional<String> problem()
    {
        return absent.problem().or(() -> directories.stream()
                .flatMap(directory -> directory.problem().stream())
                .findFirst());
    }

    /**
     * Returns the number of directories with limited or no service.
     */
    public long directoriesOut()
    {
        return absent.count() + directories.stream().filter(directory -> directory.problem().isPresent()).count();
    }

    /**
     * Returns the mount points of the directories; offline ones keep their last known mount point. Callers must not
     * hold the lock.
     */
    public SsdMounts mounts()
    {
        return probe.mounts(directories.stream().map(SsdDirectory::path).toList(), absent.paths());
    }

    private long sum(ToLongFunction<SsdDirectory> figure)
    {
        return directories.stream().mapToLong(figure).sum();
    }

    /**
     * Returns the number of entries that were looked up or visited. Tests use it to bound the work under the lock.
     */
    public long visits()
    {
        return sum(SsdDirectory::visits);
    }

    public long capacityBytes()
    {
        return totalCapacityBytes;
    }

    public long pinnedBytes()
    {
        return sum(SsdDirectory::pinnedBytes);
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
        return absent.errors(cause) + sum(directory -> directory.errors(cause));
    }

    public long refusedWrites(SsdRefusalCause cause)
    {
        return writers.stream().mapToLong(writer -> writer.refused(cause)).sum();
    }

    /**
     * Waits until the queues are empty. Callers must not hold the lock.
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
     * Writes all appended records to the journals. For tests. Callers must not hold the lock.
     */
    public void flush()
    {
        directories.forEach(SsdDirectory::flush);
    }

    /**
     * Returns whether the disk of a directory may lack a drop, so that the directory is void until its next checkpoint. For
     * tests. May be called with or without the lock.
     */
    public boolean lacksDrops()
    {
        return directories.stream().anyMatch(directory -> directory.checkpoints().runs().isLacking());
    }

    /**
     * Runs the expiry scan that otherwise runs once a second. For tests. Callers must not hold the lock.
     */
    public void removeExpired()
    {
        directories.forEach(SsdDirectory::removeExpired);
    }

    /**
     * For tests. Callers must not hold the lock.
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
        Map<StoredTable, Long> tables = new IdentityHashMap<>();
        for (SsdDirectory directory : directories) {
            directory.checkInvariants();
            directory.addTableBytes(tables);
        }
        tables.forEach((table, bytes) -> verify(table.ssdBytes() == bytes, "a table has %s bytes on SSD, and %s are counted", bytes, table.ssdBytes()));
    }

    /**
     * Writes the queued blocks, then a checkpoint. Callers must not hold the lock.
     */
    public void close()
    {
        drain();
        if (started) {
            // an incomplete restore prevents the checkpoint
            awaitRestored(Duration.ofMillis(CLOSE_MILLIS));
        }
        stop();
        for (SsdDirectory directory : directories) {
            if (!directory.checkpoints().write(true)) {
                closeWithoutCheckpoint(directory);
                log.warn("Cannot write the index of %s; the next start uses the previous index and the journal", directory.path());
            }
            closeQuietly(directory);
        }
    }

    /**
     * Makes drops durable without the last checkpoint, on which drops during the closing rely.
     */
    private void closeWithoutCheckpoint(SsdDirectory directory)
    {
        if (durableDrops.areDurable()) {
            directory.flush();
        }
        else if (!directory.flushAndSeal() && !directory.checkpoints().invalidate()) {
            log.error("A dropped file is still in %s, which cannot be written: it may come back with the next start. Empty the directory before", directory.path());
        }
    }

    /**
     * Waits until all blocks found on SSD are restored. Callers must not hold the lock.
     *
     * @return false on timeout
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
     * Ends like a killed process. For tests. Callers must not hold the lock.
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
            stopped = true;
            for (DirectoryWriter writer : writers) {
                writer.close();
                writer.directory().restorer().stop();
                writer.directory().loads().stop();
                writer.directory().dropThread().stop();
            }
        }
        finally {
            lock.unlock();
        }
        durableDrops.stop();
        executor.shutdown();
        boolean interrupted = false;
        try {
            executor.awaitTermination(CLOSE_MILLIS, MILLISECONDS);
            for (SsdDirectory directory : directories) {
                directory.loads().join(CLOSE_MILLIS);
                directory.dropThread().join(CLOSE_MILLIS);
            }
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
