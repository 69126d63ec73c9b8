package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdTier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * Removes outdated or unwanted file versions: single ones (a drop), or all that match (a flush, which overwrites the
 * bytes).
 */
public final class Invalidator
{
    private static final Logger log = Logger.get(Invalidator.class);

    private static final Duration FLUSH_WAIT = Duration.ofMinutes(1);
    private static final long FRAME_PAUSE_NANOS = 2_000_000;
    private static final int FRAMES_WIPED_AT_ONCE = 16;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final StateDirectory state;
    private final CacheWorkerId workerId;

    // changed under the lock
    private volatile long flushes;

    Invalidator(Tiers tiers, StateDirectory state, CacheWorkerId workerId)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.state = requireNonNull(state, "state is null");
        this.workerId = requireNonNull(workerId, "workerId is null");
    }

    /**
     * Removes a file version, its blocks in both tiers and its open fills. The removal is durable when this method
     * returns.
     *
     * @return whether the file version was known
     */
    public boolean dropFile(FileVersionId id)
    {
        Optional<StoredFile> dropped;
        lock.lock();
        try {
            if (tiers.isClosed()) {
                return false;
            }
            dropped = files.get(id);
            dropped.ifPresent(file -> {
                files.drop(file);
                ram.drop(file);
                ssd.drop(file);
            });
        }
        finally {
            lock.unlock();
        }
        dropped.ifPresent(ssd::removeDropped);
        // also after a concurrent drop of the same file, because it has to be durable when either call returns
        if (!makeDurable() && !isClosed()) {
            log.error("A dropped file is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
        }
        return dropped.isPresent();
    }

    /**
     * @return false if a crash may bring dropped files back
     */
    private boolean makeDurable()
    {
        // a closing store makes its last drops durable itself, and its disks may be gone, which must not outdate them
        return ssd.makeDropsDurable() || (!isClosed() && ssd.outdate(run -> state.keepRun(workerId, run)));
    }

    /**
     * Removes the selected file versions, their blocks in both tiers and their open fills, and overwrites their bytes.
     * The removal is durable when this method returns. Blocks the calling thread until all blocks on SSD are restored,
     * readers have released the frames, and the bytes in shared memory and slabs are overwritten.
     *
     * <p>If some bytes cannot be overwritten, this result and later ones report it while the store keeps retrying. A
     * restart forgets such places. Places on SSD of blocks evicted or partly written earlier are not overwritten.
     *
     * @param covered selects the file versions to remove; called under the lock
     */
    public FlushResult flush(Predicate<FileVersion> covered)
    {
        // blocks not restored yet have unknown places
        boolean restored = ssd.awaitRestored(FLUSH_WAIT);
        List<StoredFile> dropped = new ArrayList<>();
        List<Frame> frames = new ArrayList<>();
        lock.lock();
        try {
            flushes++;
        }
        finally {
            lock.unlock();
        }
        boolean ended;
        boolean success = false;
        try {
            tiers.forEachStep((first, end) -> dropCovered(first, end, covered, dropped, frames));
            wipeFrames(frames);
            ssd.wipeDropped(dropped);
            ended = awaitEnd(dropped, frames);
            // covers frames that fills of dropped files returned, and frames of blocks evicted earlier
            wipeFreeFrames();
            success = true;
        }
        finally {
            giveBack(frames);
            if (!success) {
                // dropped files stay dropped, whatever failed
                try {
                    dropped.forEach(ssd::removeDropped);
                }
                finally {
                    makeDurable();
                }
            }
        }
        Optional<String> problem = ssd.unwiped();
        if (!ended) {
            problem = problem.or(() -> Optional.of("blocks that were flushed are still being read or filled, and were not overwritten: flush again"));
        }
        if (!restored) {
            problem = problem.or(() -> Optional.of(
                    "not all blocks on SSD are restored yet, and some flushed blocks may not be overwritten (they are never served): flush again later"));
        }
        // the disks of a closed store may be gone, which must not outdate them
        boolean durable = !isClosed() && makeDurable();
        if (isClosed()) {
            return new FlushResult(dropped.size(), false, Optional.of("the store was closed before all was overwritten"));
        }
        if (!durable) {
            problem = Optional.of("what was flushed is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
        }
        return new FlushResult(dropped.size(), durable, problem);
    }

    /**
     * Waits for readers and fills of the dropped files, and overwrites each frame once it is released.
     *
     * @param frames frames still to overwrite; empty in the end on success
     * @return whether all frames are overwritten and all files are forgotten
     */
    private boolean awaitEnd(List<StoredFile> dropped, List<Frame> frames)
    {
        long deadline = System.nanoTime() + FLUSH_WAIT.toNanos();
        List<StoredFile> left = new ArrayList<>(dropped);
        left.removeIf(file -> !isKnown(file));
        while (!frames.isEmpty() || !left.isEmpty()) {
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(FRAME_PAUSE_NANOS);
            wipeFrames(frames);
            left.removeIf(file -> !isKnown(file));
        }
        return true;
    }

    /**
     * Frees a frame whose fill was not published. Overwrites it first if a flush ran during the fill, because that
     * flush could not overwrite the earlier block in it. Callers must not hold the lock.
     *
     * @param file file of the fill
     * @param flushesBefore value of {@link #flushes} when the frame was allocated
     */
    void release(Frame frame, StoredFile file, long flushesBefore)
    {
        lock.lock();
        try {
            if (flushes == flushesBefore) {
                releaseLocked(frame, file);
                return;
            }
        }
        finally {
            lock.unlock();
        }
        // no other thread uses the frame until it is released
        ram.wipe(frame);
        lock.lock();
        try {
            releaseLocked(frame, file);
        }
        finally {
            lock.unlock();
        }
    }

    private void releaseLocked(Frame frame, StoredFile file)
    {
        ram.release(frame);
        files.addFills(file, -1);
    }
    /**
     * Returns the number of flushes in this run.
     */
    public long count()
    {
        return flushes;
    }

    private boolean isClosed()
    {
        lock.lock();
        try {
            return tiers.isClosed();
        }
        finally {
            lock.unlock();
        }
    }

    private boolean isKnown(StoredFile file)
    {
        lock.lock();
        try {
            return file.isKnown();
        }
        finally {
            lock.unlock();
        }
    }

    private boolean dropCovered(int firstOrdinal, int endOrdinal, Predicate<FileVersion> covered, List<StoredFile> dropped, List<Frame> frames)
    {
        int limit = files.ordinalLimit();
        for (int ordinal = firstOrdinal; ordinal < Math.min(endOrdinal, limit); ordinal++) {
            Optional<StoredFile> file = files.find(ordinal).filter(candidate -> covered.test(candidate.version()));
            if (file.isPresent()) {
                files.drop(file.get());
                ram.take(file.get(), frames);
                ssd.drop(file.get());
                dropped.add(file.get());
            }
        }
        return endOrdinal < limit;
    }

    /**
     * Overwrites and frees the taken frames that have no other reader.
     */
    private void wipeFrames(List<Frame> frames)
    {
        List<Frame> alone = new ArrayList<>();
        lock.lock();
        try {
            frames.removeIf(frame -> ram.isTakenAlone(frame) && alone.add(frame));
        }
        finally {
            lock.unlock();
        }
        for (Frame frame : alone) {
            ram.wipe(frame);
            giveBack(List.of(frame));
        }
    }

    private void giveBack(List<Frame> frames)
    {
        lock.lock();
        try {
            frames.forEach(ram::giveBackTaken);
        }
        finally {
            lock.unlock();
        }
    }

    private void wipeFreeFrames()
    {
        boolean more = true;
        List<Frame> taken = new ArrayList<>();
        for (int first = 0; more; first += FRAMES_WIPED_AT_ONCE) {
            lock.lock();
            try {
                more = !tiers.isClosed() && ram.takeFree(first, first + FRAMES_WIPED_AT_ONCE, taken);
            }
            finally {
                lock.unlock();
            }
            wipeFrames(taken);
            LockYield.giveWay(lock);
        }
    }
}
