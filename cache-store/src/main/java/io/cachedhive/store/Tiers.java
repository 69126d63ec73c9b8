package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdTier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * The files, the RAM tier and the SSD tier, which all parts of a store share.
 *
 * <p>A single lock guards them and the state of the parts. Threads hold it for microseconds only, without I/O, copies
 * or checksums. Classes document which methods require the lock. After taking it, a caller first checks
 * {@link #isClosed}.
 */
final class Tiers
{
    /**
     * Number of entries processed per acquisition of the lock.
     */
    static final int ENTRIES_AT_ONCE = 256;

    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final int blockSizeBytes;
    private final boolean aboveSsd;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * @param aboveSsd whether SSD directories are configured, online or not
     */
    Tiers(ReentrantLock lock, FileTable files, RamTier ram, SsdTier ssd, int blockSizeBytes, boolean aboveSsd)
    {
        this.lock = requireNonNull(lock, "lock is null");
        this.files = requireNonNull(files, "files is null");
        this.ram = requireNonNull(ram, "ram is null");
        this.ssd = requireNonNull(ssd, "ssd is null");
        this.blockSizeBytes = blockSizeBytes;
        this.aboveSsd = aboveSsd;
    }

    ReentrantLock lock()
    {
        return lock;
    }

    FileTable files()
    {
        return files;
    }

    RamTier ram()
    {
        return ram;
    }

    SsdTier ssd()
    {
        return ssd;
    }

    int blockSizeBytes()
    {
        return blockSizeBytes;
    }

    /**
     * Returns whether RAM is above an SSD tier, which keeps pinned blocks.
     */
    boolean isAboveSsd()
    {
        return aboveSsd;
    }

    /**
     * The caller holds the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isClosed()
    {
        return closed;
    }

    /**
     * Closes the files and tiers to any further operation.
     *
     * @return false if they were closed already
     */
    boolean close()
    {
        lock.lock();
        try {
            boolean first = !closed;
            closed = true;
            return first;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the capacity of the tier that keeps blocks long-term. The caller holds the lock.
     */
    long capacityBytes()
    {
        return ssd.capacityBytes() > 0 ? ssd.capacityBytes() : ram.capacityBytes();
    }

    /**
     * Returns the matching files, except files known by guest blocks only. Callers must not hold the lock.
     *
     * @param wanted called under the lock
     */
    List<StoredFile> filesWith(Predicate<FileVersion> wanted)
    {
        return find(file -> !files.isForGuests(file) && wanted.test(file.version()));
    }

    /**
     * Returns the matching files. Callers must not hold the lock.
     *
     * @param wanted called under the lock
     */
    List<StoredFile> find(Predicate<StoredFile> wanted)
    {
        List<StoredFile> found = new ArrayList<>();
        forEachStep((first, end) -> {
            int limit = files.ordinalLimit();
            for (int ordinal = first; ordinal < Math.min(end, limit); ordinal++) {
                files.find(ordinal).filter(wanted).ifPresent(found::add);
            }
            return end < limit;
        });
        return found;
    }

    /**
     * Frees a frame whose fill was not published. Callers must not hold the lock.
     *
     * @param file file of the fill
     */
    void release(Frame frame, StoredFile file)
    {
        lock.lock();
        try {
            ram.release(frame);
            files.addFills(file, -1);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Removes the blocks of a dropped file from RAM. Callers must not hold the lock.
     */
    void removeDroppedFromRam(StoredFile file)
    {
        forEachStep((first, end) -> ram.removeDropped(file, first, end));
    }

    /**
     * Returns the number of entries, frames and files that were looked up or visited. For tests. The caller holds the
     * lock.
     */
    long visits()
    {
        return files.visits() + ram.visits() + ssd.visits();
    }

    /**
     * Runs a step over all entries of a table and takes the lock for each step separately.
     */
    void forEachStep(Step step)
    {
        int first = 0;
        while (runStep(first, step)) {
            first += ENTRIES_AT_ONCE;
        }
    }

    /**
     * Runs a step over {@link #ENTRIES_AT_ONCE} entries under the lock.
     *
     * @return whether there are entries after these
     */
    boolean runStep(int first, Step step)
    {
        boolean more;
        lock.lock();
        try {
            more = !closed && step.run(first, first + ENTRIES_AT_ONCE);
        }
        finally {
            lock.unlock();
        }
        LockYield.giveWay(lock);
        return more;
    }

    interface Step
    {
        /**
         * Processes a range of entries under the lock.
         *
         * @return whether there are entries after the range
         */
        boolean run(int first, int end);
    }
}
