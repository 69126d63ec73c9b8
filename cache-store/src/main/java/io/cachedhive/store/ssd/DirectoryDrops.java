package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

/**
 * Removes the blocks of dropped files from a directory and, for a flush, overwrites them. Takes the lock for a few
 * blocks at a time.
 *
 * <p>An extent that cannot be overwritten stays unused, and {@link #problem} reports it. Retries follow while the
 * directory is writable. A restart forgets such extents: no index entry refers to them, and their bytes remain until
 * another block replaces them.
 */
final class DirectoryDrops
{
    private static final int DROPPED_AT_ONCE = 1024;
    private static final int WIPED_AT_ONCE = 64;
    // a bad sector would otherwise suspend the whole directory repeatedly
    private static final long MIN_PAUSE_NANOS = DirectoryHealth.SUSPENSION_NANOS;
    private static final long MAX_PAUSE_NANOS = Duration.ofHours(1).toNanos();

    private final Geometry geometry;
    private final SizeClasses sizeClasses;
    private final DirectoryContents contents;
    private final SsdIndex index;
    private final DirectoryPolicy policy;
    private final DirectoryHealth health;
    private final Journal journal;
    private final WatchedDisk disk;
    private final DirectoryCheckpoints checkpoints;
    private final IntConsumer remover;
    private final ReentrantLock lock;
    private final StoreClock clock;
    // held while failed extents are overwritten; acquired before the lock
    private final ReentrantLock again = new ReentrantLock();

    // number of failed extents, and the next one to retry
    @GuardedBy("lock")
    private long unwiped;
    @GuardedBy("lock")
    private String failure = "it accepted no writes then";
    @GuardedBy("lock")
    private int nextSlab;
    @GuardedBy("lock")
    private int nextExtent;
    @GuardedBy("lock")
    private long nextTryNanos;
    @GuardedBy("lock")
    private long pauseNanos = MIN_PAUSE_NANOS;

    /**
     * @param remover removes the block of an entry; called under the lock
     */
    DirectoryDrops(DirectoryContext context, Journal journal, WatchedDisk disk, DirectoryCheckpoints checkpoints, IntConsumer remover)
    {
        this.geometry = context.geometry();
        this.sizeClasses = geometry.sizeClasses();
        this.contents = context.contents();
        this.index = contents.index();
        this.policy = contents.policy();
        this.health = context.health();
        this.journal = requireNonNull(journal, "journal is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.checkpoints = requireNonNull(checkpoints, "checkpoints is null");
        this.remover = requireNonNull(remover, "remover is null");
        this.lock = context.lock();
        this.clock = context.clock();
    }

    private record Place(SsdSlab slab, int extent) {}

    /**
     * Removes the blocks of a dropped file. Callers must not hold the lock.
     */
    void remove(StoredFile file)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        for (int first = 0; first < count; first += DROPPED_AT_ONCE) {
            lock.lock();
            try {
                // the file keeps its ordinal while it has blocks
                if (file.ssdBlocks() == 0 || !contents.contains(file)) {
                    return;
                }
                count = file.version().blockCount(geometry.blockSizeBytes());
                for (int i = first; i < Math.min(count, first + DROPPED_AT_ONCE); i++) {
                    int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
                    if (entry != SsdIndex.NONE && index.file(entry) == ordinal) {
                        remover.accept(entry);
                        if (file.ssdBlocks() == 0) {
                            return;
                        }
                    }
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Removes the blocks of a dropped file and overwrites their extents before they are reused. {@link #problem}
     * reports failures. Callers must not hold the lock.
     *
     * @param zeros as long as the largest extent
     */
    void wipe(StoredFile file, ByteBuffer zeros)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        List<Place> places = new ArrayList<>();
        BitSet wiped = new BitSet();
        for (int first = 0; first < count; first += WIPED_AT_ONCE) {
            places.clear();
            wiped.clear();
            boolean writable;
            lock.lock();
            try {
                if (file.ssdBlocks() == 0 || !contents.contains(file)) {
                    return;
                }
                writable = health.isWritable();
                if (!writable) {
                    failure = health.problem().orElse("it accepts no writes now");
                }
                count = file.version().blockCount(geometry.blockSizeBytes());
                for (int i = first; i < Math.min(count, first + WIPED_AT_ONCE) && file.ssdBlocks() > 0; i++) {
                    int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
                    if (entry != SsdIndex.NONE && index.file(entry) == ordinal) {
                        Place place = new Place(policy.slab(entry), index.extent(entry));
                        remover.accept(entry);
                        place.slab().take(place.extent());
                        places.add(place);
                    }
                }
            }
            finally {
                lock.unlock();
            }
            try {
                if (writable) {
                    makeJournalRoom();
                    for (int i = 0; i < places.size(); i++) {
                        wipe(places.get(i).slab(), places.get(i).extent(), zeros);
                        wiped.set(i);
                    }
                }
            }
            catch (IOException e) {
                // the other extents follow once the directory is writable again
                setFailure(e);
            }
            finally {
                lock.lock();
                try {
                    for (int i = 0; i < places.size(); i++) {
                        Place place = places.get(i);
                        if (wiped.get(i)) {
                            place.slab().written(place.extent(), SsdSlab.FREE);
                        }
                        else {
                            keepUnwiped(place.slab(), place.extent());
                        }
                    }
                }
                finally {
                    lock.unlock();
                }
            }
        }
    }

    private void setFailure(IOException e)
    {
        lock.lock();
        try {
            failure = String.valueOf(e.getMessage());
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Keeps an extent unused whose bytes could not be overwritten. The caller holds the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void keepUnwiped(SsdSlab slab, int extent)
    {
        slab.keepUnwiped(extent);
        unwiped++;
        if (unwiped == 1) {
            nextTryNanos = clock.nanoTime();
            pauseNanos = MIN_PAUSE_NANOS;
        }
    }

    /**
     * Returns why some extents are not overwritten. The caller holds the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    Optional<String> problem()
    {
        return unwiped == 0 ? Optional.empty() : Optional.of(failure);
    }

    /**
     * Retries failed extents if the directory is writable and the pause has passed. Callers must not hold the lock.
     */
    void wipeLeftIfDue()
    {
        boolean due;
        lock.lock();
        try {
            due = unwiped > 0 && health.isWritable() && clock.nanoTime() - nextTryNanos >= 0;
        }
        finally {
            lock.unlock();
        }
        if (due) {
            // a batch only, because a checkpoint may be due meanwhile
            wipeLeft(WIPED_AT_ONCE);
        }
    }

    /**
     * Retries all failed extents until one fails again; see {@link #problem}. Callers must not hold the lock.
     */
    void wipeLeft()
    {
        wipeLeft(Long.MAX_VALUE);
    }

    private void wipeLeft(long maxCount)
    {
        if (!hasUnwiped()) {
            return;
        }
        try {
            // limits the wait for a thread whose write hangs
            if (!again.tryLock(DirectoryHealth.HUNG_NANOS, NANOSECONDS)) {
                return;
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            ByteBuffer zeros = StagingBuffers.allocate(Geometry.largestExtentUnits(geometry.blockSizeBytes()) * Geometry.UNIT_BYTES);
            boolean more = true;
            for (long count = 0; more && count < maxCount; count++) {
                more = wipeNextLeft(zeros);
            }
        }
        finally {
            again.unlock();
        }
    }

    private boolean hasUnwiped()
    {
        lock.lock();
        try {
            return unwiped > 0;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * @return whether to continue
     */
    private boolean wipeNextLeft(ByteBuffer zeros)
    {
        Place place;
        lock.lock();
        try {
            if (unwiped == 0 || !health.isWritable()) {
                return false;
            }
            place = nextUnwiped();
        }
        finally {
            lock.unlock();
        }
        boolean success = false;
        try {
            wipe(place.slab(), place.extent(), zeros);
            success = true;
        }
        catch (IOException e) {
            setFailure(e);
        }
        finally {
            lock.lock();
            try {
                if (success) {
                    place.slab().wiped(place.extent());
                    unwiped--;
                    pauseNanos = MIN_PAUSE_NANOS;
                }
                else {
                    nextTryNanos = clock.nanoTime() + pauseNanos;
                    pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
                }
            }
            finally {
                lock.unlock();
            }
        }
        return success;
    }

    /**
     * Returns the next failed extent in turn, so that a permanently bad one does not block the rest.
     */
    @GuardedBy("lock")
    private Place nextUnwiped()
    {
        SsdSlab[] slabs = contents.slabs();
        // visits the first slab twice, because the search starts in its middle
        for (int i = 0; i <= slabs.length; i++) {
            int extent = slabs[nextSlab].nextUnwiped(nextExtent);
            if (extent != SsdSlab.NONE) {
                nextExtent = extent + 1;
                return new Place(slabs[nextSlab], extent);
            }
            nextSlab = nextSlab + 1 == slabs.length ? 0 : nextSlab + 1;
            nextExtent = 0;
        }
        throw new IllegalStateException("%s extents are to be overwritten, and none is found".formatted(unwiped));
    }

    /**
     * Overwrites an extent being written. Callers must not hold the lock.
     */
    void wipe(SsdSlab slab, int extent, ByteBuffer zeros)
            throws IOException
    {
        // the slab keeps its size class while one of its extents is being written
        int bytes = sizeClasses.units(slab.sizeClass) * Geometry.UNIT_BYTES;
        disk.write(slab.number, contents.position(slab.number, extent), zeros.duplicate().clear().limit(bytes));
        checkpoints.setUnsynced(slab.number);
    }

    /**
     * Writes a checkpoint if the journal is full, because each removal is a record. Callers must not hold the lock.
     */
    private void makeJournalRoom()
    {
        boolean room;
        lock.lock();
        try {
            room = journal.hasRoom();
        }
        finally {
            lock.unlock();
        }
        if (!room) {
            checkpoints.write(false);
        }
    }
}
