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
 * Takes the blocks of files that were dropped out of a directory, and overwrites where they were if that is asked for. Takes the lock for some blocks at a time.
 *
 * <p>What cannot be overwritten stays out of use, is tried again when the directory takes writes, and is told of until then. A restart forgets it: what such an extent has is found
 * by nobody, and is there until another block takes the place.
 */
final class DirectoryDrops
{
    private static final int DROPPED_AT_ONCE = 1024;
    private static final int WIPED_AT_ONCE = 64;
    // a bad place of the disk would suspend the whole directory again and again
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
    // held by who overwrites what was left before; taken before the lock
    private final ReentrantLock again = new ReentrantLock();

    // extents that are out of use, and where to go on with them
    @GuardedBy("lock")
    private long unwiped;
    @GuardedBy("lock")
    private String failure = "it took nothing then";
    @GuardedBy("lock")
    private int nextSlab;
    @GuardedBy("lock")
    private int nextExtent;
    @GuardedBy("lock")
    private long nextTryNanos;
    @GuardedBy("lock")
    private long pauseNanos = MIN_PAUSE_NANOS;

    /**
     * @param remover removes the block with an entry; called under the lock
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
     * Removes the blocks of a dropped file. Without the lock, which is taken for some at a time.
     */
    void remove(StoredFile file)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        for (int first = 0; first < count; first += DROPPED_AT_ONCE) {
            lock.lock();
            try {
                // the ordinal is the file's own for as long as it has blocks
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
     * As {@link #remove}, and overwrites where the blocks were before anybody else may have the place; {@link #problem} tells whether something is left. Without the lock.
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
                    failure = health.problem().orElse("it takes nothing at present");
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
                // the others need not be tried before the directory takes writes again
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
     * An extent that was being written has bytes that nobody is to find, and could not be overwritten. With the lock.
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
     * What is not overwritten, and why. With the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    Optional<String> problem()
    {
        return unwiped == 0 ? Optional.empty() : Optional.of(failure);
    }

    /**
     * Overwrites what could not be before, if the directory takes writes and it is time to try again. Without the lock.
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
            // a checkpoint may be due meanwhile
            wipeLeft(WIPED_AT_ONCE);
        }
    }

    /**
     * Overwrites what could not be before, until all is or something fails again; {@link #problem} tells which. Without the lock.
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
            // somebody whose write hangs is not waited for
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
     * @return whether to go on
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
     * In turn, so that one that fails for ever keeps none of the others from being overwritten.
     */
    @GuardedBy("lock")
    private Place nextUnwiped()
    {
        SsdSlab[] slabs = contents.slabs();
        // once more the one in which it begins
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
     * Overwrites an extent that is being written. Without the lock.
     */
    void wipe(SsdSlab slab, int extent, ByteBuffer zeros)
            throws IOException
    {
        // the slab keeps its class for as long as something in it is being written
        int bytes = sizeClasses.units(slab.sizeClass) * Geometry.UNIT_BYTES;
        disk.write(slab.number, contents.position(slab.number, extent), zeros.duplicate().clear().limit(bytes));
        checkpoints.setUnsynced(slab.number);
    }

    /**
     * Each block that leaves is a record: of many, a checkpoint in between takes less room than the journal has. Without the lock.
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
