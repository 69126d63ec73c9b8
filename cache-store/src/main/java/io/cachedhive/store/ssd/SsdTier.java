package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
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
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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
 * The blocks on SSD, in one or more directories. A block has its place in one of them, chosen by its digest in proportion to their
 * capacities; while that one is out of service, it is not kept on SSD. What could not be
 * taken when the tier was opened is tried again, and takes part when it can. What is done with one directory is the matter of {@link SsdDirectory} and, for
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

    // by number; replaced, under the lock, when one is taken in late
    private volatile List<SsdDirectory> directories;
    private volatile List<DirectoryWriter> writers;
    private volatile long totalCapacityBytes;
    private final AbsentDirectories absent;
    private final DirectoryProbe look;
    private final DirectoryFormats formats;
    private final List<RecoveryOutcome> recovery;
    private final long openedRun;
    private final int stagingBytes;
    private final StagingBuffers tails;
    private final ReentrantLock lock;
    private final Duration checkpointInterval;
    // not guarded
    private final List<Thread> restorers = new ArrayList<>();
    private final ScheduledThreadPoolExecutor executor;
    private final Condition idle;
    private final DirectoryWriter.LateWrites lateWrites = new LateBlocks();
    @GuardedBy("this")
    private long lastRun;
    // the highest run that a directory may know of, even if its superblock could not be written
    @GuardedBy("this")
    private long attemptedRun;
    private long maxQueuedBytes;
    private Predicate<Digest128> offerAgain;
    private boolean started;
    @GuardedBy("lock")
    private boolean stopped;
    // how many times files were dropped, and how many of these drops, the first ones, were reported durable
    @GuardedBy("lock")
    private long drops;
    @GuardedBy("lock")
    private long durableDrops;

    /**
     * A block that is to be written, in a frame that stays as it is until it was.
     *
     * @param terms as they are at the moment, under the store's lock
     * @param release called under the store's lock when the frame is needed no longer
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
     * Restores the directories, but for the blocks of large ones, which come when the tier is started. Without the lock.
     *
     * @param blocksToRestore of each directory now
     * @param keptRun the last run of the worker that is known beside its directories
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
                // its superblock may have the run already, in which it takes no part and learns of no drop: the others
                // use a later one
                run = lastRun + 2;
            }
        }
        // only when all know of the run: until then nothing is dropped that one of them could not know of
        if (run > lastRun + 1) {
            for (SsdDirectory directory : directories) {
                long later = run;
                write(directory, () -> directory.checkpoints().advanceRun(later));
            }
        }
        for (SsdDirectory directory : directories) {
            write(directory, directory::setUsed);
        }
        // also only now: a file that one of them gave up may be another's as well
        directories.forEach(directory -> directory.restorer().restore(blocksToRestore));
        DirectoryProbe look = candidates.directoryProbe();
        AbsentDirectories absentDirectories = new AbsentDirectories(absent, look, opener, lock, environment.clock());
        return new SsdTier(directories, run, absentDirectories, look, checkpointInterval, lock, environment);
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
            DirectoryProbe look,
            Duration checkpointInterval,
            ReentrantLock lock,
            StoreEnvironment environment)
    {
        this.directories = List.copyOf(directories);
        this.absent = requireNonNull(absent, "absent is null");
        this.look = requireNonNull(look, "look is null");
        this.formats = new DirectoryFormats(() -> this.directories, look.format().newest());
        this.stagingBytes = Geometry.largestExtentUnits(look.blockSizeBytes()) * Geometry.UNIT_BYTES;
        this.tails = new StagingBuffers(Extent.MAX_TAIL_BYTES);
        this.checkpointInterval = requireNonNull(checkpointInterval, "checkpointInterval is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.idle = lock.newCondition();
        this.recovery = directories.stream()
                .flatMap(directory -> directory.outcomes().stream())
                .toList();
        this.openedRun = run;
        this.lastRun = run;
        this.attemptedRun = run;
        this.totalCapacityBytes = directories.stream().mapToLong(SsdDirectory::capacityBytes).sum();
        this.writers = directories.stream()
                .map(directory -> new DirectoryWriter(directory, stagingBytes, lateWrites, lock, idle))
                .toList();
        // a checkpoint may take long; the journals go on meanwhile
        this.executor = new ScheduledThreadPoolExecutor(2 * Math.max(1, directories.size() + absent.count()), environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    }

    /**
     * Without the lock.
     */
    public DirectoryFormats formats()
    {
        return formats;
    }

    /**
     * Begins to write. Without the lock.
     *
     * @param maxQueuedBytes of blocks that wait to be written, in frames that cannot be evicted meanwhile
     * @param offerAgain {@link #offer offers} a block that was not, because too many waited, if it is still there; called under the lock
     */
    public void start(long maxQueuedBytes, Predicate<Digest128> offerAgain, StoreEnvironment environment)
    {
        this.maxQueuedBytes = maxQueuedBytes;
        this.offerAgain = requireNonNull(offerAgain, "offerAgain is null");
        started = true;
        writers.forEach(writer -> start(writer, environment));
        for (int number : absent.numbers()) {
            // a directory that hangs holds up none but itself
            executor.scheduleWithFixedDelay(() -> guarded(() -> takeIn(number, environment)), CHECKPOINT_CHECK_MILLIS, CHECKPOINT_CHECK_MILLIS, MILLISECONDS);
        }
    }

    private synchronized long lastRun()
    {
        return lastRun;
    }

    private void takeIn(int number, StoreEnvironment environment)
    {
        Optional<SsdDirectory> found = absent.retry(number, lastRun() - 1);
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
        DirectoryWriter writer = new DirectoryWriter(directory, stagingBytes, lateWrites, lock, idle);
        lock.lock();
        try {
            if (!stopped) {
                absent.remove(number);
                directories = Stream.concat(directories.stream(), Stream.of(directory)).sorted(comparingInt(SsdDirectory::number)).toList();
                writers = Stream.concat(writers.stream(), Stream.of(writer)).sorted(comparingInt(each -> each.directory().number())).toList();
                // blocks whose place it is now are found where they are
                totalCapacityBytes += directory.capacityBytes();
                start(writer, environment);
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
                    directory.wipeLeftIfDue();
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
     * A block was asked for.
     *
     * @return whether it is here
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
     * The numbers of the directories that take part: they go on saying the same of each when one is taken in between them. Without the lock.
     */
    public List<Integer> directoryNumbers()
    {
        return directories.stream().map(SsdDirectory::number).toList();
    }

    /**
     * Adds the blocks of a directory with such entries.
     *
     * @param directory its number
     * @param known blocks to be left out
     * @return whether there are entries beyond
     */
    public boolean collect(int directory, int firstEntry, int endEntry, Predicate<Digest128> known, HotBlocks hottest)
    {
        return directory(directory).collect(firstEntry, endEntry, known, hottest);
    }

    /**
     * Evicts some of what a table has beyond its quota, which became smaller.
     *
     * @return whether there is more to be evicted
     */
    public boolean shrink(StoredTable table, int maxCount)
    {
        int evicted = 0;
        for (BlockClass last : List.of(BlockClass.NORMAL, BlockClass.HIGH, BlockClass.PINNED)) {
            boolean found = true;
            while (found) {
                found = false;
                // one of each, so that all of them lose alike
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
     * Puts blocks of a directory with such entries in order that came before their tables had quotas.
     *
     * @param directory its number
     * @return whether there are entries beyond
     */
    public boolean order(int directory, int firstEntry, int endEntry)
    {
        return directory(directory).order(firstEntry, endEntry);
    }

    /**
     * Whether the queue of a directory is more than half full.
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
            // its place is another directory since one was taken in
            return writerFor(digest) == writer && offerAgain.test(digest);
        }
    }

    /**
     * A block that is in RAM was asked for. To be called once for each time, in place of {@link #use}.
     *
     * @param first whether it just came into the cache
     * @return whether it is not here, and worth being written: then it should be {@link #offer offered}
     */
    public boolean request(Digest128 digest, StoredFile file, int length, BlockClass blockClass, boolean first)
    {
        return !use(digest) && !writers.isEmpty() && writerFor(digest).wants(digest, file, length, blockClass, first, maxQueuedBytes);
    }

    /**
     * Queues a block to be written for which {@link #request} just said so.
     */
    public void offer(Write write)
    {
        writerFor(write.digest).offer(write);
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
     * Reads a block to where it is wanted, and verifies it there. A block that cannot be read, or is not what it should be, is dropped. Without the lock.
     *
     * @param target as long as the block, aligned for O_DIRECT; nobody else sees it before this returns. It has any bytes if the block does not verify
     * @param scratch checksums are made of copies on the heap
     * @return CRC32C of the block's bytes; empty if there is no such block any more
     */
    public OptionalInt read(SsdBlock block, MemorySegment target, byte[] scratch)
    {
        SsdDirectory directory = directory(block.directory());
        ByteBuffer tail = tails.acquire();
        try {
            OptionalInt checksum = directory.read(block, target, tail, scratch);
            if (checksum.isEmpty()) {
                lock.lock();
                try {
                    directory.dropCorrupt(block);
                }
                finally {
                    lock.unlock();
                }
            }
            return checksum;
        }
        catch (IOException e) {
            lock.lock();
            try {
                directory.dropUnreadable(block, e);
            }
            finally {
                lock.unlock();
            }
            return OptionalInt.empty();
        }
        finally {
            tails.release(tail);
        }
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
     * Whether the block may still be shown.
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
     * The file was dropped; to be followed by {@link #removeDropped} and {@link #makeDropsDurable}.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    public void drop(StoredFile file)
    {
        drops++;
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
     * Frees what dropped files had, and overwrites it, and what could not be overwritten before; what cannot be now is {@link #unwiped}. Without the lock.
     */
    public void wipeDropped(List<StoredFile> dropped)
    {
        directories.forEach(SsdDirectory::wipeLeft);
        if (dropped.isEmpty() || directories.isEmpty()) {
            return;
        }
        ByteBuffer zeros = StagingBuffers.allocate(stagingBytes);
        for (SsdDirectory directory : directories) {
            dropped.forEach(file -> directory.wipeDropped(file, zeros));
        }
    }

    /**
     * What was to be overwritten and could not be yet, in this run, and why; it is tried again. Without the lock.
     */
    public Optional<String> unwiped()
    {
        lock.lock();
        try {
            return directories.stream()
                    .flatMap(directory -> directory.unwiped().stream())
                    .findFirst();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns when what was dropped before cannot come back, whatever happens. Without the lock.
     *
     * @return false if the disk of a directory takes nothing: until it does, {@link #outdate} has to help; or if the tier was closed meanwhile, whose last checkpoint has it
     */
    public boolean makeDropsDurable()
    {
        long count = dropCount();
        boolean durable = true;
        for (SsdDirectory directory : directories) {
            // also where the file had no blocks: the records of their eviction may not be durable yet
            durable &= directory.flushAndSeal() || (!isStopped() && directory.checkpoints().invalidate());
        }
        if (durable) {
            setDurable(count);
        }
        return durable;
    }

    private long dropCount()
    {
        lock.lock();
        try {
            return drops;
        }
        finally {
            lock.unlock();
        }
    }

    private void setDurable(long count)
    {
        lock.lock();
        try {
            durableDrops = Math.max(durableDrops, count);
        }
        finally {
            lock.unlock();
        }
    }

    private boolean areDropsDurable()
    {
        lock.lock();
        try {
            return durableDrops == drops;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Whether files may be closed, of which nothing can be concluded then.
     */
    private boolean isStopped()
    {
        lock.lock();
        try {
            return stopped;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Keeps beside the directories which run is the last.
     */
    public interface RunKeeper
    {
        void keep(long run)
                throws StoreException;
    }

    /**
     * Makes directories start empty that lack drops and cannot be written: a further run begins, of which all others know. Without the lock.
     *
     * @return false if nobody else takes it either
     */
    public synchronized boolean outdate(RunKeeper keeper)
    {
        // a number that was tried before may be on the disk of a directory that lacks drops now
        long further = Math.max(lastRun, attemptedRun) + 1;
        attemptedRun = further;
        boolean known = false;
        for (SsdDirectory directory : directories) {
            known |= directory.checkpoints().beginRun(further);
        }
        try {
            keeper.keep(further);
            known = true;
        }
        catch (StoreException e) {
            log.warn("%s", e.getMessage());
        }
        if (known) {
            lastRun = further;
            directories.forEach(directory -> directory.checkpoints().setRun(further));
        }
        return known;
    }

    public Optional<String> problem()
    {
        return absent.problem().or(() -> directories.stream()
                .flatMap(directory -> directory.problem().stream())
                .findFirst());
    }

    /**
     * How many directories do not do all that they should at present.
     */
    public long directoriesOut()
    {
        return absent.count() + directories.stream().filter(directory -> directory.problem().isPresent()).count();
    }

    /**
     * Where the directories are mounted; as before for those that are not there. Without the lock.
     */
    public SsdMounts mounts()
    {
        return look.mounts(directories.stream().map(SsdDirectory::path).toList(), absent.paths());
    }

    private long sum(ToLongFunction<SsdDirectory> figure)
    {
        return directories.stream().mapToLong(figure).sum();
    }

    public long capacityBytes()
    {
        return totalCapacityBytes;
    }

    /**
     * Bytes of blocks of class PINNED.
     */
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
        Map<StoredTable, Long> tables = new IdentityHashMap<>();
        for (SsdDirectory directory : directories) {
            directory.checkInvariants();
            directory.addTableBytes(tables);
        }
        tables.forEach((table, bytes) -> verify(table.ssdBytes() == bytes, "a table has %s bytes on SSD, and %s are counted", bytes, table.ssdBytes()));
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
                closeWithoutCheckpoint(directory);
                log.warn("The index of %s is not written; the next start takes the one before and the journal", directory.path());
            }
            closeQuietly(directory);
        }
    }

    /**
     * A drop that is made while the tier closes counts on the last checkpoint, which failed.
     */
    private void closeWithoutCheckpoint(SsdDirectory directory)
    {
        if (areDropsDurable()) {
            directory.flush();
        }
        else if (!directory.flushAndSeal() && !directory.checkpoints().invalidate()) {
            log.error("A dropped file is still in %s, which cannot be written: it may come back with the next start. Empty the directory before", directory.path());
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
            stopped = true;
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
