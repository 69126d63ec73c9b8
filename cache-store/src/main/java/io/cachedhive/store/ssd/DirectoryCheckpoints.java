package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.file.FileImage;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;

import static io.cachedhive.store.ssd.DirectoryHealth.Part.INDEX;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Writes the checkpoints of a directory: slabs, blocks and files, in pieces, each under the store's lock. Blocks may
 * change meanwhile, because recovery replays the journal from the start of the checkpoint.
 *
 * <p>Also owns the superblock, which determines the valid checkpoints. {@link #invalidate} is the last resort for a
 * drop that the journal did not accept.
 *
 * <p>Callers must not hold the store's lock. The monitor serializes checkpoints and guards the fields, with marked
 * exceptions.
 */
final class DirectoryCheckpoints
{
    private static final Logger log = Logger.get(DirectoryCheckpoints.class);

    private static final int SLABS_AT_ONCE = 4096;
    private static final int BLOCKS_PER_CHUNK = 4096;
    // per acquisition of the lock, to hold it for a fraction of a millisecond only
    private static final int BLOCKS_AT_ONCE = 512;
    private static final int SWEPT_AT_ONCE = 1 << 11;
    private static final int ORDINALS_AT_ONCE = 128;
    private static final int FILES_CHUNK_BYTES = 64 << 10;
    private static final int FIRST_BODY_BYTES = 4 << 10;
    // a store that hardly changes writes its image at this rate: less than half a gigabyte per hour
    private static final long IDLE_BYTES_PER_SECOND = 128 << 10;

    private final Path directory;
    private final Geometry geometry;
    private final DirectoryFiles opened;
    private final DirectoryContents contents;
    private final DirectoryRestorer restorer;
    private final DirectoryHealth health;
    private final Journal journal;
    private final ReentrantLock lock;
    private final StoreClock clock;
    // atomic, not guarded
    private final AtomicIntegerArray unsyncedSlabFiles;

    // the format version is read without the lock
    private volatile Superblock superblock;
    // not guarded
    private final DirectoryRuns runs;
    // nothing on disk is valid until the next checkpoint
    @GuardedBy("this")
    private boolean isVoid;
    @GuardedBy("this")
    private long newest;
    @GuardedBy("this")
    private long next;
    @GuardedBy("this")
    private long lastNanos;
    @GuardedBy("this")
    private long failedNanos;
    @GuardedBy("lock")
    private long newestStartLsn;

    DirectoryCheckpoints(DirectoryContext context, DirectoryOpening opening, DirectoryRestorer restorer, Journal journal)
    {
        DirectoryRecovery.Result result = opening.result();
        this.directory = context.path();
        this.superblock = opening.superblock();
        this.runs = new DirectoryRuns(superblock.run());
        this.newest = result.newestCheckpoint();
        this.newestStartLsn = result.newestStartLsn();
        this.next = result.nextCheckpoint();
        this.geometry = context.geometry();
        this.opened = context.opened();
        this.contents = context.contents();
        this.restorer = requireNonNull(restorer, "restorer is null");
        this.health = context.health();
        this.journal = requireNonNull(journal, "journal is null");
        this.lock = context.lock();
        this.clock = context.clock();
        this.unsyncedSlabFiles = new AtomicIntegerArray(geometry.slabFileCount());
        // a killed run did not sync its writes
        for (int file = 0; file < geometry.slabFileCount(); file++) {
            unsyncedSlabFiles.set(file, 1);
        }
        this.lastNanos = clock.nanoTime();
        this.failedNanos = clock.nanoTime() - DirectoryHealth.SUSPENSION_NANOS;
    }

    /**
     * Returns the runs of this directory, without locking.
     */
    DirectoryRuns runs()
    {
        return runs;
    }

    /**
     * Marks that the slab has unsynced writes.
     */
    void setUnsynced(int slab)
    {
        unsyncedSlabFiles.set(geometry.slabFile(slab), 1);
    }

    /**
     * Marks the run as used; directories without this run are outdated from now on.
     */
    synchronized void setUsed()
            throws IOException
    {
        superblock = superblock.used().writeTo(opened.superblock());
    }

    /**
     * Raises the format version of future writes, durably. Data in the old version stays readable until it is replaced.
     *
     * @return false if the version is not higher
     */
    synchronized boolean raiseFormat(int version)
            throws IOException
    {
        if (superblock.version() >= version) {
            return false;
        }
        superblock = superblock.withVersion(version).writeTo(opened.superblock());
        return true;
    }

    /**
     * Returns the format version without locking.
     */
    int formatVersion()
    {
        return superblock.version();
    }

    /**
     * Invalidates everything durable in this directory.
     *
     * @return false if that failed too
     */
    synchronized boolean invalidate()
    {
        if (runs.lackIfOutdated()) {
            return true;
        }
        try {
            // beyond every LSN that the journal may contain
            long base = (journal.nextLsn() / geometry.journalBytes() + 2) * geometry.journalBytes();
            superblock = superblock.withBase(base, next).writeTo(opened.superblock());
            isVoid = true;
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot declare %s void: %s", directory, e.getMessage());
            runs.lack();
            return false;
        }
    }

    /**
     * Starts another run, which outdates the directories that miss it.
     *
     * @return whether the run is durable here; false if this directory has to become outdated
     */
    synchronized boolean beginRun(long run)
    {
        if (superblock.run() >= run) {
            // a checkpoint was faster
            return true;
        }
        if (!runs.attempt(run)) {
            return false;
        }
        try {
            superblock = superblock.withRun(run).used().writeTo(opened.superblock());
            runs.setLast(run);
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot write the new run number to the superblock of %s: %s", directory, e.getMessage());
            return false;
        }
    }

    /**
     * Writes the number of the run being opened, which the superblock does not have yet. {@link #setUsed} marks it as
     * used.
     */
    synchronized void advanceRun(long run)
            throws IOException
    {
        runs.attempt(run);
        superblock = superblock.withRun(run).writeTo(opened.superblock());
        runs.setLast(run);
    }

    /**
     * Writes a checkpoint if one is due: when the journal since the last one is a quarter of its size, so that a
     * restart replays little, or after an interval in proportion to the size of the checkpoint.
     *
     * @param minInterval between checkpoints while the journal is short
     */
    synchronized void writeIfDue(Duration minInterval)
    {
        long now = clock.nanoTime();
        boolean due;
        lock.lock();
        try {
            if (!restorer.isRestored()) {
                return;
            }
            boolean journalIsLong = journal.bytesSince(newestStartLsn) > geometry.journalBytes() / 4;
            boolean worthless = isVoid || runs.isOutdated();
            due = worthless || !journal.hasRoom() || health.hasProblem(INDEX) || (contents.isChanged() && (journalIsLong || now - lastNanos >= intervalNanos(minInterval)));
        }
        finally {
            lock.unlock();
        }
        if (due && now - failedNanos >= DirectoryHealth.SUSPENSION_NANOS) {
            write(false);
        }
    }

    @GuardedBy("lock")
    private long intervalNanos(Duration minInterval)
    {
        return Math.max(minInterval.toNanos(), SECONDS.toNanos(contents.checkpointBytes() / IDLE_BYTES_PER_SECOND));
    }

    /**
     * Writes a checkpoint.
     *
     * @param clean whether no change follows it
     * @return false if it failed, or the restore is incomplete
     */
    synchronized boolean write(boolean clean)
    {
        FileTable files = contents.files();
        lock.lock();
        try {
            if (!restorer.isRestored()) {
                // the checkpoint being restored is more complete
                return false;
            }
            files.holdOrdinals();
            contents.clearChanged();
        }
        finally {
            lock.unlock();
        }
        Optional<DirectoryRuns.CheckpointRun> begun = Optional.empty();
        boolean runAttempted = false;
        boolean success = false;
        try {
            // first, as it waits for a journal that hangs: until then, an outdated directory stays so
            long startLsn = journal.boundary();
            DirectoryRuns.CheckpointRun run = runs.beginCheckpoint();
            begun = Optional.of(run);
            int slot = (int) (next % 2);
            // this erases the old checkpoint of the slot, so the journal before the start of the other checkpoint is
            // obsolete
            Checkpoint.Writer writer = new Checkpoint.Writer(
                    opened.checkpoints().get(slot),
                    superblock.version(),
                    geometry.checkpointBytes(),
                    superblock.storeId(),
                    next,
                    opened.cipher());
            if (newest > 0) {
                journal.setLiveLsn(newestStartLsnNow());
            }
            writeSlabs(writer);
            writePolicy(writer);
            long blockCount = writeBlocks(writer);
            writer.beginFiles();
            long fileCount = writeFiles(writer);
            syncSlabs();
            writer.finish(run.run(), startLsn, clean, blockCount, fileCount);
            if (superblock.run() < run.run()) {
                runAttempted = true;
                superblock = superblock.withRun(run.run()).used().writeTo(opened.superblock());
            }
            runs.checkpointed(run);
            isVoid = false;
            newest = next;
            next++;
            lastNanos = clock.nanoTime();
            lock.lock();
            try {
                newestStartLsn = startLsn;
                if (!journal.isBroken()) {
                    health.resume(INDEX);
                }
            }
            finally {
                lock.unlock();
            }
            success = true;
            return true;
        }
        catch (IOException e) {
            failedNanos = clock.nanoTime();
            lock.lock();
            try {
                health.failed(INDEX, e);
            }
            finally {
                lock.unlock();
            }
            return false;
        }
        finally {
            if (!success && !runAttempted) {
                begun.ifPresent(runs::checkpointFailed);
            }
            lock.lock();
            try {
                files.releaseOrdinals();
                if (!success) {
                    contents.setChanged();
                    // the failed checkpoint may be complete on disk all the same: skipping its number lets invalidate()
                    // rule it out. The next checkpoint replaces it in the same file; the other file keeps the newest
                    // checkpoint known to be complete
                    next += 2;
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Syncs the blocks that the checkpoint names, so that they survive a power failure. Later blocks may not.
     */
    private void syncSlabs()
            throws IOException
    {
        for (int i = 0; i < unsyncedSlabFiles.length(); i++) {
            if (unsyncedSlabFiles.getAndSet(i, 0) != 0) {
                boolean success = false;
                try {
                    opened.slabFile(i).sync();
                    success = true;
                }
                finally {
                    if (!success) {
                        unsyncedSlabFiles.set(i, 1);
                    }
                }
            }
        }
    }

    private long newestStartLsnNow()
    {
        lock.lock();
        try {
            return newestStartLsn;
        }
        finally {
            lock.unlock();
        }
    }

    private void writeSlabs(Checkpoint.Writer writer)
            throws IOException
    {
        SsdSlab[] slabs = contents.slabs();
        WireWriter body = new WireWriter(SLABS_AT_ONCE * DirectoryContents.SLAB_RECORD_BYTES);
        for (int first = 0; first < slabs.length; first += SLABS_AT_ONCE) {
            lock.lock();
            try {
                for (int i = first; i < Math.min(slabs.length, first + SLABS_AT_ONCE); i++) {
                    if (slabs[i].sizeClass >= 0) {
                        body.putInt(slabs[i].number).putByte(slabs[i].sizeClass);
                    }
                }
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
            writer.write(DirectoryRecovery.SLABS_CHUNK, body);
            body.clear();
        }
    }

    private void writePolicy(Checkpoint.Writer writer)
            throws IOException
    {
        int classCount = geometry.sizeClasses().count();
        WireWriter body = new WireWriter(classCount * DirectoryContents.POLICY_RECORD_BYTES);
        lock.lock();
        try {
            for (int sizeClass = 0; sizeClass < classCount; sizeClass++) {
                body.putByte(sizeClass).putByte(contents.policy().findings(sizeClass));
            }
        }
        finally {
            lock.unlock();
        }
        writer.write(DirectoryRecovery.POLICY_CHUNK, body);
    }

    /**
     * Writes all blocks in one pass over the entries. A chunk has blocks of one age, so that a restore can read the
     * most recently used ones first. A use during the pass is harmless: it makes the block no older.
     */
    private long writeBlocks(Checkpoint.Writer writer)
            throws IOException
    {
        SsdIndex index = contents.index();
        DirectoryPolicy policy = contents.policy();
        byte now;
        lock.lock();
        try {
            now = policy.time();
        }
        finally {
            lock.unlock();
        }
        AgedBlocks[] ages = new AgedBlocks[DirectoryPolicy.MAX_AGE + 1];
        Arrays.setAll(ages, AgedBlocks::new);
        long count = 0;
        int next = 0;
        boolean more = true;
        while (more) {
            Optional<AgedBlocks> full = Optional.empty();
            lock.lock();
            try {
                int end = Math.min(index.limit(), next + SWEPT_AT_ONCE);
                for (int written = 0; next < end && written < BLOCKS_AT_ONCE && full.isEmpty(); next++) {
                    if (isToBeWritten(next)) {
                        AgedBlocks blocks = ages[policy.age(next, now)];
                        writeBlock(blocks.body, next);
                        blocks.count++;
                        written++;
                        full = blocks.count == BLOCKS_PER_CHUNK ? Optional.of(blocks) : Optional.empty();
                    }
                }
                more = next < index.limit();
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
            if (full.isPresent()) {
                count += full.get().writeTo(writer);
            }
        }
        for (AgedBlocks blocks : ages) {
            count += blocks.writeTo(writer);
        }
        return count;
    }

    /**
     * The next chunk with blocks of an age. Its memory is reused, because a new one for each chunk would be the largest
     * source of garbage in the process.
     */
    private static final class AgedBlocks
    {
        final int age;
        final WireWriter body = new WireWriter(FIRST_BODY_BYTES);
        int count;

        AgedBlocks(int age)
        {
            this.age = age;
            clear();
        }

        private void clear()
        {
            body.clear();
            body.putByte(age);
            count = 0;
        }

        /**
         * @return number of blocks written
         */
        int writeTo(Checkpoint.Writer writer)
                throws IOException
        {
            int written = count;
            if (written > 0) {
                writer.write(DirectoryRecovery.BLOCKS_CHUNK, body);
                clear();
            }
            return written;
        }
    }

    private boolean isToBeWritten(int entry)
    {
        return contents.index().isUsed(entry) && !contents.files().isDropped(contents.index().file(entry));
    }

    private void writeBlock(WireWriter body, int entry)
    {
        SsdIndex index = contents.index();
        int slab = index.slab(entry);
        body.putLong(index.digestHigh(entry))
                .putLong(index.digestLow(entry))
                .putLong(index.sequence(entry))
                .putInt(slab)
                .putByte(contents.slabs()[slab].sizeClass)
                .putInt(index.extent(entry))
                .putInt(index.length(entry))
                .putInt(index.file(entry))
                .putByte(contents.policy().heat(entry))
                .putByte(index.blockClass(entry).ordinal())
                .putInt((int) index.expirySeconds(entry));
    }

    private long writeFiles(Checkpoint.Writer writer)
            throws IOException
    {
        FileTable files = contents.files();
        FileImage.Writer image = new FileImage.Writer(files);
        long count = 0;
        int ordinal = 0;
        boolean more = true;
        WireWriter texts = new WireWriter(FILES_CHUNK_BYTES);
        WireWriter body = new WireWriter(FILES_CHUNK_BYTES);
        while (more) {
            lock.lock();
            try {
                int end = Math.min(contents.ordinalLimit(), ordinal + ORDINALS_AT_ONCE);
                // a record is at most half as long as a chunk
                for (; ordinal < end && texts.length() + body.length() < FILES_CHUNK_BYTES; ordinal++) {
                    if (contents.blocksOf(ordinal) > 0) {
                        Optional<StoredFile> file = files.find(ordinal);
                        if (file.isPresent()) {
                            image.write(file.get(), texts, body);
                            count++;
                        }
                    }
                }
                more = ordinal < contents.ordinalLimit();
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
            if (more && texts.length() + body.length() < FILES_CHUNK_BYTES) {
                continue;
            }
            if (texts.length() > 0) {
                writer.write(DirectoryRecovery.TEXTS_CHUNK, texts);
                texts.clear();
            }
            if (body.length() > 0) {
                writer.write(DirectoryRecovery.FILES_CHUNK, body);
                body.clear();
            }
        }
        return count;
    }
}
