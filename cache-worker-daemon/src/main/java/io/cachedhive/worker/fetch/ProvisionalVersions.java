package io.cachedhive.worker.fetch;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.ObjectState;
import io.cachedhive.worker.time.WorkerTimer;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.Objects.requireNonNull;

/**
 * File versions that were fetched so soon after they were written that an overwrite could go unnoticed.
 *
 * <p>An object can be overwritten with the same length within the second of its last-modified time. Until the origin's
 * clock is two seconds past that time, fetched blocks are returned only to the waiters of their fetch: their frames are
 * filled but not committed. After the two seconds, one HEAD request per file version decides whether all of them are
 * committed or discarded. A GET with the same ETag after the two seconds has the same effect.
 *
 * <p>This class also checks whether a response matches the file version, and drops changed file versions.
 *
 * <p>One lock guards the table. It is never held while waiting, or during requests to the origin or to disks.
 */
final class ProvisionalVersions
{
    private static final Logger log = Logger.get(ProvisionalVersions.class);

    /**
     * The time during which an overwrite can go unnoticed. Last-modified times have a resolution of one second, so an
     * overwrite in the same second ends within the next one.
     */
    static final Duration PROVISIONAL = Duration.ofSeconds(2);
    private static final Duration CONFIRMATION_MARGIN = Duration.ofMillis(100);
    private static final int MAX_CONFIRMATION_ATTEMPTS = 5;

    private final BlockStore store;
    private final WorkerCounters counters;
    private final WorkerTimer timer;
    private final Executor confirmationExecutor;
    private final int maxHeldBlocks;

    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Map<FileVersionId, ProvisionalFile> files = new HashMap<>();
    @GuardedBy("lock")
    private int heldBlocks;
    @GuardedBy("lock")
    private boolean stopped;

    private static final class ProvisionalFile
    {
        private final FetchTarget target;
        private final Optional<String> etag;
        private final Map<Integer, Fill> held = new HashMap<>();
        private final CompletableFuture<Boolean> confirmed = new CompletableFuture<>();
        private int attempts;

        private ProvisionalFile(FetchTarget target, Optional<String> etag)
        {
            this.target = target;
            this.etag = etag;
        }
    }

    /**
     * @param confirmationExecutor runs the HEAD requests, a few at a time
     * @param maxHeldBlocks the maximum number of frames of provisional versions
     */
    ProvisionalVersions(BlockStore store, WorkerCounters counters, WorkerTimer timer, Executor confirmationExecutor, int maxHeldBlocks)
    {
        this.store = requireNonNull(store, "store is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.confirmationExecutor = requireNonNull(confirmationExecutor, "confirmationExecutor is null");
        this.maxHeldBlocks = maxHeldBlocks;
    }

    static boolean isVersion(FileVersion version, ObjectState state)
    {
        if (version.isImmutable()) {
            return state.length() == version.length();
        }
        // a listing may have milliseconds, while response headers have only seconds
        Instant expected = Instant.ofEpochMilli(version.lastModifiedMillis()).truncatedTo(SECONDS);
        return state.length() == version.length()
                && state.lastModified().map(time -> time.truncatedTo(SECONDS).equals(expected)).orElse(true);
    }

    boolean isProvisional(FileVersion version, ObjectState state)
    {
        return state.answered().orElseGet(timer::now).isBefore(provisionalUntil(version));
    }

    private static Instant provisionalUntil(FileVersion version)
    {
        return Instant.ofEpochMilli(version.lastModifiedMillis()).truncatedTo(SECONDS).plus(PROVISIONAL);
    }

    /**
     * Drops the file version, because the object at the origin differs from it.
     *
     * @return completes when a crash can no longer bring the file version back
     */
    CompletableFuture<Void> versionChanged(FetchTarget target)
    {
        if (store.file(target.id()).isPresent()) {
            counters.addVersionChange();
        }
        CompletableFuture<Boolean> dropped = store.flushes().drop(target.id());
        drop(target.id());
        return dropped.thenRun(() -> {});
    }

    /**
     * Holds the frame of a provisional version until the version is confirmed.
     *
     * @return false if the frame cannot be held
     */
    boolean hold(FetchTarget target, ObjectState state, int block, Fill fill)
    {
        boolean first = false;
        ProvisionalFile file;
        lock.lock();
        try {
            file = files.get(target.id());
            if (stopped || heldBlocks >= maxHeldBlocks || (file != null && (!file.etag.equals(state.etag()) || file.held.containsKey(block)))) {
                return false;
            }
            if (file == null) {
                file = new ProvisionalFile(target, state.etag());
                files.put(target.id(), file);
                first = true;
            }
            file.held.put(block, fill);
            heldBlocks++;
        }
        finally {
            lock.unlock();
        }
        if (first) {
            // computed from the origin's clock, independently of this host's clock
            Instant answered = state.answered().orElseGet(timer::now);
            scheduleConfirmation(file, Duration.between(answered, provisionalUntil(target.version())).plus(CONFIRMATION_MARGIN));
        }
        return true;
    }

    private void scheduleConfirmation(ProvisionalFile file, Duration delay)
    {
        timer.schedule(delay, () -> {
            try {
                confirmationExecutor.execute(() -> confirm(file));
            }
            catch (RejectedExecutionException _) {
                release(file, false);
            }
        });
    }

    private void confirm(ProvisionalFile file)
    {
        if (file.confirmed.isDone()) {
            return;
        }
        FetchTarget target = file.target;
        try {
            ObjectState state = target.origin().source().head(target.location());
            target.origin().health().succeeded(target.location().bucket());
            if (!isVersion(target.version(), state) || !state.etag().equals(file.etag)) {
                versionChanged(target);
            }
            else if (isProvisional(target.version(), state)) {
                // the origin's clock is slower than this host's
                retryConfirmation(file, Duration.ofSeconds(1));
            }
            else {
                release(file, true);
            }
        }
        catch (ObjectSourceException e) {
            if (e.reason() == Reason.GONE) {
                versionChanged(target);
                return;
            }
            target.origin().health().failed(target.location().bucket(), "HEAD " + target.version().location(), e);
            retryConfirmation(file, Duration.ofSeconds(2));
        }
        catch (RuntimeException e) {
            log.error(e, "Confirmation of %s failed", target.version().location());
            release(file, false);
        }
    }

    private void retryConfirmation(ProvisionalFile file, Duration delay)
    {
        file.attempts++;
        if (file.attempts < MAX_CONFIRMATION_ATTEMPTS) {
            scheduleConfirmation(file, delay);
            return;
        }
        // the version is not known to be wrong, but it could not be confirmed
        release(file, false);
        store.flushes().drop(file.target.id());
    }

    /**
     * Confirms a version after a GET returned an ETag once the provisional time was over.
     */
    void confirmByGet(FetchTarget target, ObjectState state)
    {
        Optional<ProvisionalFile> file = find(target.id());
        if (file.isPresent() && file.get().etag.equals(state.etag())) {
            release(file.get(), true);
        }
        else if (store.file(target.id()).map(FileMetadata::provisional).orElse(false)) {
            store.confirm(target.id());
        }
    }

    private Optional<ProvisionalFile> find(FileVersionId id)
    {
        lock.lock();
        try {
            return Optional.ofNullable(files.get(id));
        }
        finally {
            lock.unlock();
        }
    }

    void drop(FileVersionId id)
    {
        find(id).ifPresent(file -> release(file, false));
    }

    /**
     * Commits or discards the held blocks.
     */
    private void release(ProvisionalFile file, boolean show)
    {
        lock.lock();
        try {
            if (!files.remove(file.target.id(), file)) {
                return;
            }
            heldBlocks -= file.held.size();
        }
        finally {
            lock.unlock();
        }
        if (show) {
            store.confirm(file.target.id());
        }
        for (Fill fill : file.held.values()) {
            try (fill) {
                if (show) {
                    fill.commit().ifPresent(PinnedBlock::close);
                }
            }
        }
        file.confirmed.complete(show);
    }

    /**
     * Returns the pending confirmation of a file version.
     *
     * @return completes with whether the version was confirmed; empty if no confirmation is pending
     */
    Optional<CompletableFuture<Boolean>> confirmation(FileVersionId id)
    {
        return find(id).map(file -> file.confirmed);
    }

    int heldBlocks()
    {
        lock.lock();
        try {
            return heldBlocks;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Discards all held blocks and stops holding further ones.
     */
    void stop()
    {
        List<ProvisionalFile> held;
        lock.lock();
        try {
            stopped = true;
            held = ImmutableList.copyOf(files.values());
        }
        finally {
            lock.unlock();
        }
        held.forEach(file -> release(file, false));
    }
}
