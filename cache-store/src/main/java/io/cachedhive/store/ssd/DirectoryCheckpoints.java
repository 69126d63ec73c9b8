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
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;

import static io.cachedhive.store.ssd.DirectoryHealth.Part.INDEX;
import static java.util.Objects.requireNonNull;

/**
 * When the checkpoints of a directory are written, and what is written: slabs, blocks and files, in pieces, each under the store's lock, while blocks
 * come and go. What changes meanwhile is in the journal, which is replayed from where it was when the checkpoint began.
 *
 * <p>The superblock is here too, since it says which checkpoints count: {@link #invalidate} is the last resort for a drop that the journal did not
 * take.
 *
 * <p>Methods are called without the store's lock. Fields are guarded by this, so that checkpoints come one at a time, unless they say otherwise.
 */
final class DirectoryCheckpoints
{
    private static final Logger log = Logger.get(DirectoryCheckpoints.class);

    private static final int BLOCKS_PER_CHUNK = 4096;
    // while the lock is held, so that nobody waits for it for more than a fraction of a millisecond
    private static final int BLOCKS_AT_ONCE = 512;
    private static final int LOOKED_AT_ONCE = 1 << 13;
    private static final int ORDINALS_AT_ONCE = 128;
    private static final int FILES_CHUNK_BYTES = 64 << 10;

    private final Path directory;
    private final Geometry geometry;
    private final DirectoryFiles opened;
    private final DirectoryContents contents;
    private final DirectoryRestorer restorer;
    private final DirectoryHealth health;
    private final Journal journal;
    private final ReentrantLock lock;
    private final StoreClock clock;
    // not guarded
    private final AtomicIntegerArray unsyncedSlabs;

    // read without the lock for what it says of the directory
    private volatile Superblock superblock;
    // the superblock's; or a later one, which makes what is here outdated until there is a checkpoint that knows all
    @GuardedBy("this")
    private long run;
    // the highest run that a write of the superblock, even one that failed, may have left on disk
    @GuardedBy("this")
    private long attemptedRun;
    // nothing here tells of some drops
    @GuardedBy("this")
    private boolean lacksDrops;
    // nothing here counts until there is a checkpoint
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
        this.run = superblock.run();
        this.attemptedRun = superblock.run();
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
        this.unsyncedSlabs = new AtomicIntegerArray(geometry.slabCount());
        // a run that was killed did not sync what it wrote
        for (int slab = 0; slab < geometry.slabCount(); slab++) {
            setUnsynced(slab);
        }
        this.lastNanos = clock.nanoTime();
        this.failedNanos = clock.nanoTime() - DirectoryHealth.SUSPENSION_NANOS;
    }

    /**
     * Something was written into the slab.
     */
    void setUnsynced(int slab)
    {
        unsyncedSlabs.set(slab, 1);
    }

    /**
     * The run is going to be used: a directory that does not know of it is outdated from here on.
     */
    synchronized void setUsed()
            throws IOException
    {
        superblock = superblock.used().writeTo(opened.superblock());
    }

    /**
     * What is written from now on is of this version; durable on return. What is there stays as it is, and is read until it is replaced.
     *
     * @return false if it was so before
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
     * Waits for nobody.
     */
    int formatVersion()
    {
        return superblock.version();
    }

    /**
     * Declares everything that is durable here void.
     *
     * @return false if even that failed
     */
    synchronized boolean invalidate()
    {
        if (run > attemptedRun) {
            // it is known elsewhere that nothing here counts
            return true;
        }
        try {
            // beyond all that the journal may have
            long base = (journal.nextLsn() / geometry.journalBytes() + 2) * geometry.journalBytes();
            superblock = superblock.withBase(base, next).writeTo(opened.superblock());
            isVoid = true;
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot declare %s void: %s", directory, e.getMessage());
            lacksDrops = true;
            return false;
        }
    }

    /**
     * A further run begins, so that directories that do not know of it are outdated.
     *
     * @return whether it is durable here; not if this is a directory that has to be outdated
     */
    synchronized boolean beginRun(long run)
    {
        if (lacksDrops) {
            return false;
        }
        attemptedRun = Math.max(attemptedRun, run);
        try {
            superblock = superblock.withRun(run).used().writeTo(opened.superblock());
            this.run = run;
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot write the new run number to the superblock of %s: %s", directory, e.getMessage());
            return false;
        }
    }

    /**
     * The run that is being opened is a later one than the superblock has. The run is not used before {@link #setUsed}.
     */
    synchronized void advanceRun(long run)
            throws IOException
    {
        attemptedRun = Math.max(attemptedRun, run);
        superblock = superblock.withRun(run).writeTo(opened.superblock());
        this.run = run;
    }

    /**
     * Somebody else knows of a further run.
     */
    synchronized void setRun(long run)
    {
        this.run = run;
    }

    /**
     * Writes a checkpoint if there is reason to.
     *
     * @param interval between two, unless the journal becomes long
     */
    synchronized void writeIfDue(Duration interval)
    {
        long now = clock.nanoTime();
        boolean due;
        lock.lock();
        try {
            if (!restorer.isRestored()) {
                return;
            }
            boolean journalIsLong = journal.bytesSince(newestStartLsn) > geometry.journalBytes() / 4;
            due = isVoid || !journal.hasRoom() || health.hasProblem(INDEX) || (contents.isChanged() && (journalIsLong || now - lastNanos >= interval.toNanos()));
        }
        finally {
            lock.unlock();
        }
        if (due && now - failedNanos >= DirectoryHealth.SUSPENSION_NANOS) {
            write(false);
        }
    }

    /**
     * Writes a checkpoint.
     *
     * @param clean whether nothing will change any more
     * @return false if it failed, or if not everything is restored
     */
    synchronized boolean write(boolean clean)
    {
        FileTable files = contents.files();
        lock.lock();
        try {
            if (!restorer.isRestored()) {
                // the one that is being restored knows more
                return false;
            }
            files.holdOrdinals();
            contents.clearChanged();
        }
        finally {
            lock.unlock();
        }
        boolean success = false;
        try {
            long startLsn = journal.boundary();
            int slot = (int) (next % 2);
            // its old content is gone from here on, and with it the need for the journal before the other one
            Checkpoint.Writer writer = new Checkpoint.Writer(opened.checkpoints().get(slot), superblock.version(), geometry.checkpointBytes(), superblock.storeId(), next);
            if (newest > 0) {
                journal.setLiveLsn(newestStartLsnNow());
            }
            writeSlabs(writer);
            writePolicy(writer);
            long blockCount = writeBlocks(writer);
            writer.beginFiles();
            long fileCount = writeFiles(writer);
            syncSlabs();
            writer.finish(run, startLsn, clean, blockCount, fileCount);
            if (superblock.run() < run) {
                attemptedRun = Math.max(attemptedRun, run);
                superblock = superblock.withRun(run).used().writeTo(opened.superblock());
            }
            lacksDrops = false;
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
            lock.lock();
            try {
                files.releaseOrdinals();
                if (!success) {
                    contents.setChanged();
                    // it may be whole on disk all the same: the number is not used again, so that invalidate() rules
                    // this one out. The next one of this file's parity replaces it; the other file has the newest that
                    // is known to be whole
                    next += 2;
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * What the checkpoint names survives a loss of power as well; what is written later may have to be fetched again after one.
     */
    private void syncSlabs()
            throws IOException
    {
        for (int i = 0; i < unsyncedSlabs.length(); i++) {
            if (unsyncedSlabs.getAndSet(i, 0) != 0) {
                boolean success = false;
                try {
                    opened.slab(i).sync();
                    success = true;
                }
                finally {
                    if (!success) {
                        setUnsynced(i);
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
        WireWriter body = new WireWriter(slabs.length * 5);
        lock.lock();
        try {
            for (SsdSlab slab : slabs) {
                if (slab.sizeClass >= 0) {
                    body.putInt(slab.number).putByte(slab.sizeClass);
                }
            }
        }
        finally {
            lock.unlock();
        }
        writer.write(DirectoryRecovery.SLABS_CHUNK, body);
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
     * Those that were used last come first, and each once, also if it is used meanwhile: it is as old as it was or younger when it is looked at
     * next, and the last round takes all that are left.
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
        BitSet written = new BitSet();
        // one for all: what is written here would be the most garbage that the process ever makes
        WireWriter body = new WireWriter(BLOCKS_PER_CHUNK * DirectoryContents.BLOCK_RECORD_BYTES);
        int inBody = 0;
        for (int age = 0; age <= DirectoryPolicy.MAX_AGE; age++) {
            int next = 0;
            boolean more = true;
            while (more) {
                lock.lock();
                try {
                    int end = Math.min(index.limit(), next + LOOKED_AT_ONCE);
                    int enough = Math.min(BLOCKS_PER_CHUNK, inBody + BLOCKS_AT_ONCE);
                    for (; next < end && inBody < enough; next++) {
                        if (!written.get(next) && policy.age(next, now) <= age && isToBeWritten(next)) {
                            writeBlock(body, next);
                            written.set(next);
                            inBody++;
                        }
                    }
                    more = next < index.limit();
                }
                finally {
                    lock.unlock();
                }
                LockYield.giveWay(lock);
                if (inBody == BLOCKS_PER_CHUNK) {
                    writer.write(DirectoryRecovery.BLOCKS_CHUNK, body);
                    body.clear();
                    inBody = 0;
                }
            }
        }
        writer.write(DirectoryRecovery.BLOCKS_CHUNK, body);
        return written.cardinality();
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
                // a record is not longer than half of a chunk
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
