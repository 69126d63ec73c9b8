package io.cachedhive.plugin.release;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Notifies all cache workers of files that statements removed, so that they drop the blocks of these files.
 *
 * <p>A notification only frees space: a file that is written again is another file version. Statements therefore never wait, and no failure reaches them.
 * Each cache worker has a bounded queue of its own, so that one that hangs delays no other. What a cache worker does not take after some attempts is dropped and
 * counted; its blocks are evicted like all blocks that are not read any more.
 */
public final class FileReleases
{
    private static final Logger log = Logger.get(FileReleases.class);

    /**
     * Locations that wait for one cache worker.
     */
    static final int MAX_WAITING = 8192;
    static final int MAX_ATTEMPTS = 5;
    // a cache worker searches all its files for each message, so that messages are few
    static final long BATCH_MILLIS = 200;
    static final long RETRY_MILLIS = 1000;

    private final FileOrigins origins;
    private final Supplier<List<Place>> places;
    private final Sender sender;
    private final Delay delay;
    private final LongAdder dropped = new LongAdder();

    @GuardedBy("this")
    private final Set<Removed> removed = new LinkedHashSet<>();
    @GuardedBy("this")
    private boolean distributing;
    // only cache workers with something to do
    @GuardedBy("this")
    private final Map<WorkerAddress, Set<Removed>> waiting = new HashMap<>();

    private record Removed(int origin, String location) {}

    private record Batch(WorkerAddress worker, int origin, List<String> locations) {}

    /**
     * Sends one message.
     */
    public interface Sender
    {
        /**
         * @param origin the place of the files' origin among the catalog's
         * @return ends when the cache worker has dropped the blocks; never null
         */
        CompletableFuture<?> send(WorkerAddress worker, int origin, List<String> locations);
    }

    /**
     * Runs a task later, in another thread.
     */
    public interface Delay
    {
        /**
         * @throws RejectedExecutionException after the catalog was shut down
         */
        void after(long millis, Runnable task);
    }

    public FileReleases(FileOrigins origins, Supplier<List<Place>> places, Sender sender, Delay delay)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.places = requireNonNull(places, "places is null");
        this.sender = requireNonNull(sender, "sender is null");
        this.delay = requireNonNull(delay, "delay is null");
    }

    /**
     * Reports that a file was removed. Returns at once and never fails.
     */
    public void releaseFile(String location)
    {
        release(List.of(location));
    }

    /**
     * Reports that files were removed. Returns at once and never fails.
     */
    public void releaseFiles(Collection<String> locations)
    {
        release(locations);
    }

    /**
     * Reports that all files of a directory, and of directories in it, were removed. Returns at once and never fails.
     */
    public void releaseDirectory(String location)
    {
        release(List.of(location.endsWith("/") ? location : location + "/"));
    }

    private void release(Collection<String> locations)
    {
        try {
            add(locations);
        }
        catch (RejectedExecutionException _) {
            // the catalog is shut down, and the blocks will be evicted
        }
        catch (RuntimeException e) {
            log.error(e, "Cannot notify the cache workers of removed files");
        }
    }

    private synchronized void add(Collection<String> locations)
    {
        for (String location : locations) {
            Optional<FileOrigin> origin = origins.find(location);
            if (origin.isEmpty()) {
                // files of this kind are not cached
                continue;
            }
            addWithin(removed, new Removed(origin.get().index(), location));
        }
        if (!removed.isEmpty() && !distributing) {
            delay.after(BATCH_MILLIS, this::distribute);
            distributing = true;
        }
    }

    private void addWithin(Set<Removed> queue, Removed file)
    {
        if (queue.size() < MAX_WAITING || queue.contains(file)) {
            queue.add(file);
        }
        else {
            dropped.increment();
        }
    }

    private void distribute()
    {
        List<WorkerAddress> idle = new ArrayList<>();
        synchronized (this) {
            distributing = false;
            for (Place place : places.get()) {
                switch (place.state()) {
                    case ANSWERING, GRACE -> {
                        if (!waiting.containsKey(place.address())) {
                            waiting.put(place.address(), new LinkedHashSet<>());
                            idle.add(place.address());
                        }
                        Set<Removed> queue = waiting.get(place.address());
                        removed.forEach(file -> addWithin(queue, file));
                    }
                    case DEAD -> dropped.add(removed.size());
                    case UNSEEN -> {
                        // there may be no cache worker
                    }
                }
            }
            removed.clear();
        }
        idle.forEach(this::sendNext);
    }

    private void sendNext(WorkerAddress worker)
    {
        next(worker).ifPresent(batch -> send(batch, 1));
    }

    private synchronized Optional<Batch> next(WorkerAddress worker)
    {
        Set<Removed> queue = waiting.get(worker);
        if (queue.isEmpty()) {
            waiting.remove(worker);
            return Optional.empty();
        }
        int origin = queue.iterator().next().origin();
        List<String> locations = new ArrayList<>();
        for (Iterator<Removed> files = queue.iterator(); files.hasNext() && locations.size() < ReleaseFiles.MAX_LOCATIONS; ) {
            Removed file = files.next();
            if (file.origin() == origin) {
                locations.add(file.location());
                files.remove();
            }
        }
        return Optional.of(new Batch(worker, origin, locations));
    }

    private void send(Batch batch, int attempt)
    {
        CompletableFuture<?> answer;
        try {
            answer = sender.send(batch.worker(), batch.origin(), batch.locations());
        }
        catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        answer.whenComplete((_, failure) -> ended(batch, attempt, Optional.ofNullable(failure)));
    }

    private void ended(Batch batch, int attempt, Optional<Throwable> failure)
    {
        try {
            if (failure.isPresent() && attempt < MAX_ATTEMPTS && isLive(batch.worker())) {
                delay.after(RETRY_MILLIS << (attempt - 1), () -> send(batch, attempt + 1));
                return;
            }
            failure.ifPresent(cause -> {
                dropped.add(batch.locations().size());
                log.debug("Cache worker %s was not notified of %s removed files, and evicts their blocks later: %s", batch.worker(), batch.locations().size(), cause.getMessage());
            });
            delay.after(BATCH_MILLIS, () -> sendNext(batch.worker()));
        }
        catch (RejectedExecutionException _) {
            // the catalog is shut down, and the blocks will be evicted
        }
    }

    private boolean isLive(WorkerAddress worker)
    {
        return places.get().stream()
                .filter(place -> place.address().equals(worker))
                .anyMatch(place -> place.state().isLive());
    }

    /**
     * Notifications that were dropped since the catalog was loaded: one for each removed file or directory and each cache worker.
     */
    public long dropped()
    {
        return dropped.sum();
    }
}
