package io.cachedhive.plugin.release;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;

import java.util.ArrayList;
import java.util.LinkedHashMap;
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
 * Flushes the files of dropped tables and partitions on all cache workers.
 *
 * <p>Statements never wait, and no failure reaches them. The directories wait in one queue of bounded length until at least one cache worker has recorded the flush;
 * the others learn of it from this one, also those that are offline now. What finds no place in the queue, or is refused by all cache workers, is counted.
 */
public final class DropFlushes
{
    private static final Logger log = Logger.get(DropFlushes.class);

    static final int MAX_WAITING = 8192;
    static final long BATCH_MILLIS = 200;
    static final long RETRY_MILLIS = 2_000;
    private static final long QUIET_MILLIS = 300_000;

    private final Tombstones tombstones;
    private final Supplier<List<Place>> places;
    private final Sender sender;
    private final FileReleases.Delay delay;
    private final LongAdder unrecorded = new LongAdder();

    // by location
    @GuardedBy("this")
    private final Map<String, Tombstone> waiting = new LinkedHashMap<>();
    @GuardedBy("this")
    private boolean sending;
    @GuardedBy("this")
    private long quietUntilMillis;

    /**
     * Sends one message.
     */
    public interface Sender
    {
        /**
         * @return ends when the cache worker has flushed; never null
         */
        CompletableFuture<Flushed> send(WorkerAddress worker, List<Tombstone> tombstones);
    }

    public DropFlushes(Tombstones tombstones, Supplier<List<Place>> places, Sender sender, FileReleases.Delay delay)
    {
        this.tombstones = requireNonNull(tombstones, "tombstones is null");
        this.places = requireNonNull(places, "places is null");
        this.sender = requireNonNull(sender, "sender is null");
        this.delay = requireNonNull(delay, "delay is null");
    }

    /**
     * Reports that a table or a partition was dropped with all files of its directory. Returns at once and never fails.
     */
    public void flushDirectory(String location)
    {
        try {
            tombstones.of(Set.of(location.endsWith("/") ? location : location + "/")).forEach(this::add);
        }
        catch (RejectedExecutionException _) {
            // the catalog is shut down
            unrecorded.increment();
        }
        catch (RuntimeException e) {
            unrecorded.increment();
            log.error(e, "Cannot flush files of a dropped table or partition");
        }
    }

    private synchronized void add(Tombstone tombstone)
    {
        // the newest covers what was cached since the one before
        waiting.remove(tombstone.location());
        if (waiting.size() == MAX_WAITING) {
            failed(1, "too many of them wait for a cache worker that answers");
            return;
        }
        waiting.put(tombstone.location(), tombstone);
        if (!sending) {
            delay.after(BATCH_MILLIS, this::send);
            sending = true;
        }
    }

    private void send()
    {
        try {
            sendNext();
        }
        catch (RuntimeException | Error e) {
            log.error(e, "Cannot flush files of dropped tables and partitions");
            later(RETRY_MILLIS);
        }
    }

    private void sendNext()
    {
        List<WorkerAddress> workers = places.get().stream()
                .filter(place -> place.state() == PlaceState.ANSWERING)
                .map(Place::address)
                .toList();
        if (workers.isEmpty()) {
            later(RETRY_MILLIS);
            return;
        }
        List<Tombstone> batch;
        synchronized (this) {
            batch = waiting.values().stream().limit(Flush.MAX_TOMBSTONES).toList();
        }
        List<CompletableFuture<Optional<Flushed>>> answers = new ArrayList<>();
        for (WorkerAddress worker : workers) {
            answers.add(ask(worker, batch));
        }
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).thenRun(() -> ended(batch, answers.stream()
                .flatMap(answer -> answer.join().stream())
                .toList()));
    }

    private CompletableFuture<Optional<Flushed>> ask(WorkerAddress worker, List<Tombstone> batch)
    {
        try {
            return sender.send(worker, batch)
                    .thenApply(Optional::of)
                    .exceptionally(failure -> {
                        log.debug("Cache worker %s did not flush %s dropped tables and partitions: %s", worker, batch.size(), failure.getMessage());
                        return Optional.empty();
                    });
        }
        catch (RuntimeException e) {
            log.debug("Cannot send flushes to cache worker %s: %s", worker, e.getMessage());
            return CompletableFuture.completedFuture(Optional.empty());
        }
    }

    private void ended(List<Tombstone> batch, List<Flushed> answers)
    {
        if (answers.isEmpty()) {
            later(RETRY_MILLIS);
            return;
        }
        synchronized (this) {
            // not one that was added again since
            batch.forEach(tombstone -> waiting.remove(tombstone.location(), tombstone));
            if (answers.stream().allMatch(answer -> answer.problem().isPresent())) {
                failed(batch.size(), answers.getFirst().problem().orElseThrow());
            }
        }
        later(BATCH_MILLIS);
    }

    private synchronized void later(long millis)
    {
        sending = false;
        if (waiting.isEmpty()) {
            return;
        }
        try {
            delay.after(millis, this::send);
            sending = true;
        }
        catch (RejectedExecutionException _) {
            // the catalog is shut down
            unrecorded.add(waiting.size());
            waiting.clear();
        }
    }

    @GuardedBy("this")
    private void failed(int count, String reason)
    {
        unrecorded.add(count);
        long now = System.currentTimeMillis();
        if (now >= quietUntilMillis) {
            quietUntilMillis = now + QUIET_MILLIS;
            log.warn("Flushes of dropped tables or partitions are not recorded (%s): a cache worker that is offline keeps their blocks, call flush_location", reason);
        }
    }

    /**
     * Dropped tables and partitions whose flush no cache worker recorded, since the catalog was loaded.
     */
    public long unrecorded()
    {
        return unrecorded.sum();
    }
}
