package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Makes drops durable in all directories, each on its own {@link DropThread}.
 *
 * <p>A directory that cannot do so, or not within {@link #TIMEOUT_NANOS}, becomes outdated: the state directory and the
 * other directories get a later run number than that directory has, so nothing is restored from it until its next
 * checkpoint, which has the drops.
 *
 * <p>No method waits for a disk.
 */
final class DurableDrops
{
    private static final Logger log = Logger.get(DurableDrops.class);

    /**
     * The time after which the directory is considered hung for its other uses, too.
     */
    static final long TIMEOUT_NANOS = DirectoryHealth.HUNG_NANOS;

    private final Supplier<List<SsdDirectory>> directories;
    private final StoreClock clock;
    private final DropThread keeperThread;
    @GuardedBy("this")
    private final Set<Attempt> attempts = new LinkedHashSet<>();
    // the number of drops, and how many of the first ones were reported durable
    @GuardedBy("this")
    private long drops;
    @GuardedBy("this")
    private long durable;
    @GuardedBy("this")
    private long lastRun;
    // the highest run that may be on disk, even if the write of the superblock failed
    @GuardedBy("this")
    private long attemptedRun;
    @GuardedBy("this")
    private boolean stopped;

    /**
     * A disk operation with a time-out.
     *
     * @param late returns the result after the time-out
     */
    private record Attempt(CompletableFuture<Boolean> result, long startNanos, BooleanSupplier late) {}

    /**
     * @param run of all directories
     */
    DurableDrops(Supplier<List<SsdDirectory>> directories, long run, StoreClock clock, ThreadFactory threads)
    {
        this.directories = requireNonNull(directories, "directories is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.keeperThread = new DropThread(threads);
        this.lastRun = run;
        this.attemptedRun = run;
    }

    /**
     * Counts a drop.
     */
    synchronized void add()
    {
        drops++;
    }

    synchronized long lastRun()
    {
        return lastRun;
    }

    /**
     * Returns whether all drops were reported durable without outdating a directory.
     */
    synchronized boolean areDurable()
    {
        return durable == drops;
    }

    private synchronized long count()
    {
        return drops;
    }

    private synchronized void setDurable(long count)
    {
        durable = Math.max(durable, count);
    }

    /**
     * Makes all earlier drops durable.
     *
     * @return completes with false if a crash may bring dropped files back, or if the store is being closed, in which
     *         case its last checkpoints have the drops
     */
    CompletableFuture<Boolean> makeDurable(SsdTier.RunKeeper keeper)
    {
        long count = count();
        // includes directories without blocks of the file, because the records of evicted blocks may not be durable yet
        List<CompletableFuture<Boolean>> results = directories.get().stream()
                .map(this::makeDurable)
                .toList();
        return whenAll(results).thenCompose(_ -> {
            if (results.stream().allMatch(CompletableFuture::join)) {
                setDurable(count);
                return CompletableFuture.completedFuture(true);
            }
            // the disks of a closed store may be gone, which must not outdate them
            return isStopped() || keeper.isClosed() ? CompletableFuture.completedFuture(false) : outdate(keeper);
        });
    }

    private CompletableFuture<Boolean> makeDurable(SsdDirectory directory)
    {
        DirectoryCheckpoints checkpoints = directory.checkpoints();
        if (checkpoints.runs().lackIfOutdated()) {
            return CompletableFuture.completedFuture(true);
        }
        return within(directory.dropThread().run(() -> directory.flushAndSeal() || (!isStopped() && checkpoints.invalidate())), () -> {
            log.warn(
                    "SSD directory %s did not record a dropped file within %s s: it would start empty after a crash, until it has a new checkpoint. Repair the disk",
                    directory.path(),
                    Duration.ofNanos(TIMEOUT_NANOS).toSeconds());
            return checkpoints.runs().lack();
        });
    }

    private static CompletableFuture<Void> whenAll(List<CompletableFuture<Boolean>> results)
    {
        return CompletableFuture.allOf(results.toArray(new CompletableFuture<?>[0]));
    }

    /**
     * Starts another run, which outdates directories that lack drops.
     *
     * @return completes with false if no place could record the run
     */
    private CompletableFuture<Boolean> outdate(SsdTier.RunKeeper keeper)
    {
        long run;
        synchronized (this) {
            // the disk of a directory that lacks drops may already have an attempted number
            run = Math.max(lastRun, attemptedRun) + 1;
            attemptedRun = run;
        }
        List<CompletableFuture<Boolean>> results = new ArrayList<>();
        for (SsdDirectory directory : directories.get()) {
            // a directory that lacks drops must not get the run, and its thread may hang
            if (!directory.checkpoints().runs().isLacking()) {
                results.add(within(directory.dropThread().run(() -> directory.checkpoints().beginRun(run)), () -> false));
            }
        }
        results.add(within(keeperThread.run(() -> keep(keeper, run)), () -> false));
        return whenAll(results).thenApply(_ -> {
            if (results.stream().noneMatch(CompletableFuture::join)) {
                return false;
            }
            synchronized (this) {
                lastRun = Math.max(lastRun, run);
            }
            directories.get().forEach(directory -> directory.checkpoints().runs().setLast(run));
            return true;
        });
    }

    private static boolean keep(SsdTier.RunKeeper keeper, long run)
    {
        try {
            keeper.keep(run);
            return true;
        }
        catch (StoreException e) {
            log.warn("%s", e.getMessage());
            return false;
        }
    }

    private CompletableFuture<Boolean> within(CompletableFuture<Boolean> operation, BooleanSupplier late)
    {
        Attempt attempt = new Attempt(new CompletableFuture<>(), clock.stopwatchNanos(), late);
        boolean refused;
        synchronized (this) {
            refused = stopped;
            if (!refused) {
                attempts.add(attempt);
            }
        }
        if (refused) {
            attempt.result.complete(false);
        }
        operation.thenAccept(success -> {
            if (remove(attempt)) {
                attempt.result.complete(success);
            }
        });
        return attempt.result;
    }

    private synchronized boolean remove(Attempt attempt)
    {
        return attempts.remove(attempt);
    }

    /**
     * Outdates the directories that take too long. Called periodically.
     */
    void endLate()
    {
        List<Attempt> late = new ArrayList<>();
        synchronized (this) {
            long now = clock.stopwatchNanos();
            for (Attempt attempt : attempts) {
                if (now - attempt.startNanos >= TIMEOUT_NANOS) {
                    late.add(attempt);
                }
            }
            late.forEach(attempts::remove);
        }
        late.forEach(attempt -> attempt.result.complete(attempt.late.getAsBoolean()));
    }

    private synchronized boolean isStopped()
    {
        return stopped;
    }

    /**
     * Ends all operations that wait: from now on, the files of the directories may be closed, so that failures prove
     * nothing.
     */
    void stop()
    {
        List<Attempt> left;
        synchronized (this) {
            stopped = true;
            left = List.copyOf(attempts);
            attempts.clear();
        }
        keeperThread.stop();
        left.forEach(attempt -> attempt.result.complete(false));
    }
}
