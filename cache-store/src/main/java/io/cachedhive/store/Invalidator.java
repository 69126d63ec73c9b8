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
 * Removes what is no longer true or no longer wanted: single file versions, and by name (a flush), where the bytes are overwritten as well.
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
     * Forgets a file version and its blocks in both tiers, and the fills of it that have begun; durable when it returns.
     *
     * @return whether it was known
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
        // also if somebody else dropped it just now: it is durable when either returns
        if (!makeDurable() && !isClosed()) {
            log.error("A dropped file is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
        }
        return dropped.isPresent();
    }

    /**
     * @return false if what was dropped may come back after a crash
     */
    private boolean makeDurable()
    {
        // a store that closes makes its last drops durable itself, and its disks may be away already, which is no
        // reason to mistrust them
        return ssd.makeDropsDurable() || (!isClosed() && ssd.outdate(run -> state.keepRun(workerId, run)));
    }

    /**
     * Forgets file versions and their blocks in both tiers, and the fills of them that have begun, and overwrites where the blocks were. When it returns, nobody finds them,
     * which is durable, and their bytes are neither in the shared-memory file nor in the slabs. If something could not be overwritten, the result tells it, and that of each later
     * flush until it is, which is tried again and again; a restart forgets it. What was evicted or written in part before, and whose place on SSD nobody has taken since, is not
     * looked for. Blocks the calling thread: until all that was found on SSD is restored, until who reads from the frames has done so, and for as long as the writing takes.
     *
     * @param covered whether a file version is to go; called under the lock
     */
    public FlushResult flush(Predicate<FileVersion> covered)
    {
        // what is not restored yet has its bytes in places that are not known yet
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
            // fills of what was dropped gave their frames back, and what left before for want of space may still be seen in frames that nobody needed since
            wipeFreeFrames();
            success = true;
        }
        finally {
            giveBack(frames);
            if (!success) {
                // whatever failed, what was dropped stays dropped
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
        // its disks may be away already, and that is no reason to mistrust them
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
     * Waits until nobody reads or fills any more what was dropped, and overwrites the frames of it one after the other.
     *
     * @param frames those that are left, in the end
     * @return whether there are none, and the files are known no more
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
     * Gives back a frame that was being filled, and is shown to nobody: while it was, a flush could not overwrite what an earlier block had left in it. Without the lock.
     *
     * @param file of the block that it was filled with
     * @param flushesBefore as {@link #flushes} were when the frame was allocated
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
        // it is the caller's own until it is given back
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
     * How many times something was flushed in this run.
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
     * Overwrites and gives back those of the taken frames that nobody else reads any more.
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
