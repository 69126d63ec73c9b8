package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdTier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * What all parts of a store work on: its files, its RAM tier in shared memory and its SSD tier below it.
 *
 * <p>One lock guards them, and what the parts keep beside them; it is held for microseconds: nothing is read, written, copied or summed up under it. What needs the lock
 * to be held says so in its class; whatever takes it finds out first whether the store was closed meanwhile.
 */
final class Tiers
{
    /**
     * How many entries are looked at while the lock is held.
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
     * @param aboveSsd whether there are SSD directories, in service or not
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
     * Whether RAM is above an SSD tier, which keeps the blocks that are to stay.
     */
    boolean isAboveSsd()
    {
        return aboveSsd;
    }

    /**
     * To be asked with the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isClosed()
    {
        return closed;
    }

    /**
     * From now on nothing is done to files and tiers any more.
     *
     * @return false if that was so before
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
     * Of the tier that keeps blocks for long. With the lock.
     */
    long capacityBytes()
    {
        return ssd.capacityBytes() > 0 ? ssd.capacityBytes() : ram.capacityBytes();
    }

    /**
     * The files of which there is more than guests. Without the lock.
     *
     * @param wanted called under the lock
     */
    List<StoredFile> filesWith(Predicate<FileVersion> wanted)
    {
        List<StoredFile> found = new ArrayList<>();
        forEachStep((first, end) -> {
            int limit = files.ordinalLimit();
            for (int ordinal = first; ordinal < Math.min(end, limit); ordinal++) {
                files.find(ordinal).filter(file -> !files.isForGuests(file) && wanted.test(file.version())).ifPresent(found::add);
            }
            return end < limit;
        });
        return found;
    }

    /**
     * Does something with all entries of a table, for which it takes the lock for some of them at a time.
     */
    void forEachStep(Step step)
    {
        boolean more = true;
        for (int first = 0; more; first += ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                more = !closed && step.run(first, first + ENTRIES_AT_ONCE);
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
    }

    interface Step
    {
        /**
         * Called under the lock.
         *
         * @return whether there are entries beyond
         */
        boolean run(int first, int end);
    }
}
