package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.FileMetadata;
import io.cachedhive.store.StoreClock;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

    private static final int BLOCKS_AT_ONCE = 4096;
    private static final int FILES_AT_ONCE = 256;
    private static final int FILES_CHUNK_BYTES = 32 << 10;

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

    private Superblock superblock;
    private long newest;
    private long next;
    private long lastNanos;
    private long failedNanos;
    // guarded by the store's lock
    private long newestStartLsn;

    /**
     * @param newest number of the newest checkpoint that counts, 0 without any
     * @param newestStartLsn from where the journal has to be replayed after it
     * @param next number of the next one
     */
    DirectoryCheckpoints(
            Path directory,
            Superblock superblock,
            long newest,
            long newestStartLsn,
            long next,
            DirectoryFiles opened,
            DirectoryContents contents,
            DirectoryRestorer restorer,
            DirectoryHealth health,
            Journal journal,
            ReentrantLock lock,
            StoreClock clock)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.superblock = requireNonNull(superblock, "superblock is null");
        this.newest = newest;
        this.newestStartLsn = newestStartLsn;
        this.next = next;
        this.geometry = superblock.geometry();
        this.opened = requireNonNull(opened, "opened is null");
        this.contents = requireNonNull(contents, "contents is null");
        this.restorer = requireNonNull(restorer, "restorer is null");
        this.health = requireNonNull(health, "health is null");
        this.journal = requireNonNull(journal, "journal is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.clock = requireNonNull(clock, "clock is null");
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
     * Declares everything that is durable here void.
     *
     * @return false if even that failed
     */
    synchronized boolean invalidate()
    {
        try {
            // beyond all that the journal may have
            long base = (journal.nextLsn() / geometry.journalBytes() + 2) * geometry.journalBytes();
            superblock = superblock.withBase(base, next).writeTo(opened.superblock());
            return true;
        }
        catch (IOException e) {
            log.warn("Cannot declare %s void: %s", directory, e.getMessage());
            return false;
        }
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
            due = !journal.hasRoom() || health.hasProblem(INDEX) || (contents.isChanged() && (journalIsLong || now - lastNanos >= interval.toNanos()));
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
            Checkpoint.Writer writer = new Checkpoint.Writer(opened.checkpoints().get(slot), geometry.checkpointBytes(), superblock.storeId(), next);
            if (newest > 0) {
                journal.setLiveLsn(newestStartLsnNow());
            }
            writeSlabs(writer);
            long blockCount = writeBlocks(writer);
            long fileCount = writeFiles(writer);
            syncSlabs();
            writer.finish(superblock.run(), startLsn, clean, blockCount, fileCount);
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

    private long writeBlocks(Checkpoint.Writer writer)
            throws IOException
    {
        SsdIndex index = contents.index();
        SsdSlab[] slabs = contents.slabs();
        FileTable files = contents.files();
        long count = 0;
        for (int first = 0; ; first += BLOCKS_AT_ONCE) {
            WireWriter body = new WireWriter(BLOCKS_AT_ONCE * DirectoryContents.BLOCK_RECORD_BYTES);
            lock.lock();
            try {
                if (first >= index.limit()) {
                    return count;
                }
                for (int entry = first; entry < Math.min(index.limit(), first + BLOCKS_AT_ONCE); entry++) {
                    if (index.isUsed(entry) && !files.isDropped(index.file(entry))) {
                        int slab = index.slab(entry);
                        body.putLong(index.digestHigh(entry))
                                .putLong(index.digestLow(entry))
                                .putLong(index.sequence(entry))
                                .putInt(slab)
                                .putByte(slabs[slab].sizeClass)
                                .putInt(index.extent(entry))
                                .putInt(index.length(entry))
                                .putInt(index.file(entry))
                                .putByte(index.frequency(entry))
                                .putByte(index.blockClass(entry).ordinal())
                                .putInt((int) index.expirySeconds(entry));
                        count++;
                    }
                }
            }
            finally {
                lock.unlock();
            }
            writer.write(DirectoryRecovery.BLOCKS_CHUNK, body);
        }
    }

    private long writeFiles(Checkpoint.Writer writer)
            throws IOException
    {
        FileTable files = contents.files();
        long count = 0;
        WireWriter body = new WireWriter(2 * FILES_CHUNK_BYTES);
        for (int first = 0; ; first += FILES_AT_ONCE) {
            List<StoredFile> some = new ArrayList<>();
            List<FileMetadata> metadata = new ArrayList<>();
            lock.lock();
            try {
                if (first >= contents.ordinalLimit()) {
                    break;
                }
                for (int ordinal = first; ordinal < Math.min(contents.ordinalLimit(), first + FILES_AT_ONCE); ordinal++) {
                    if (contents.blocksOf(ordinal) > 0) {
                        files.find(ordinal).ifPresent(file -> {
                            some.add(file);
                            metadata.add(file.metadata());
                        });
                    }
                }
            }
            finally {
                lock.unlock();
            }
            for (int i = 0; i < some.size(); i++) {
                body.putInt(some.get(i).ordinal());
                JournalEntry.writeFile(body, some.get(i).id(), metadata.get(i));
                count++;
                if (body.length() > FILES_CHUNK_BYTES) {
                    writer.write(DirectoryRecovery.FILES_CHUNK, body);
                    body = new WireWriter(2 * FILES_CHUNK_BYTES);
                }
            }
        }
        writer.write(DirectoryRecovery.FILES_CHUNK, body);
        return count;
    }
}
