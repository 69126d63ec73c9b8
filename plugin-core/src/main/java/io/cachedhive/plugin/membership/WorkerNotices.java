package io.cachedhive.plugin.membership;

import com.google.common.collect.Lists;
import io.airlift.log.Logger;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.transport.WorkerException;
import jakarta.annotation.PreDestroy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

/**
 * Tells every cache worker something, those that answer while the caller waits, and the others when they are back: each until it has done it, has no
 * place any more, or has refused it for a quarter of an hour.
 */
public final class WorkerNotices
{
    private static final Logger log = Logger.get(WorkerNotices.class);

    private static final int ATTEMPTS = 3;
    private static final long RETRY_MILLIS = 2_000;
    // of one that does not answer pings
    private static final long AWAY_MILLIS = 2_000;
    // each holds what it says
    private static final int MAX_WAITING = 100;
    // a pause after a failure is twice the one before, up to so many times the first
    private static final long MAX_PAUSES = 64;
    // in a row, which takes a quarter of an hour
    private static final int MAX_REFUSALS = 12;

    private final Supplier<List<Place>> places;
    private final Supplier<WorkerAdmin> workerAdmin;
    private final long retryMillis;
    private final ScheduledThreadPoolExecutor executor;
    private final AtomicInteger waiting = new AtomicInteger();

    public WorkerNotices(String catalog, ClusterMembership membership, SharedWorkerAdmin workerAdmin)
    {
        this(catalog, membership::places, workerAdmin::get, RETRY_MILLIS);
    }

    WorkerNotices(String catalog, Supplier<List<Place>> places, Supplier<WorkerAdmin> workerAdmin, long retryMillis)
    {
        this.places = requireNonNull(places, "places is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.retryMillis = retryMillis;
        this.executor = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("cachedhive-%s-notices".formatted(catalog)).factory());
        executor.setKeepAliveTime(10, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setRemoveOnCancelPolicy(true);
    }

    /**
     * What is asked of a worker; fails with a sentence.
     */
    public interface Question<T>
    {
        CompletableFuture<T> ask(WorkerAdmin admin, WorkerAddress address, long timeoutMillis);
    }

    /**
     * @param failure why there is none, in a sentence
     * @param answers whether the worker answers pings by now
     */
    public record Answer<T>(WorkerAddress address, Optional<T> answer, Optional<String> failure, boolean answers)
    {
        public Answer
        {
            requireNonNull(address, "address is null");
            requireNonNull(answer, "answer is null");
            requireNonNull(failure, "failure is null");
        }
    }

    /**
     * Whether there is any cache worker to be told.
     */
    public boolean isAnyAnswering()
    {
        return places.get().stream().anyMatch(place -> place.state() == PlaceState.ANSWERING);
    }

    /**
     * Asks all workers. Those that answer pings, and not this, are asked again a few times; who has not done it by then is asked again and again when this has returned.
     *
     * @param what for the log: "the flush of sales.orders"
     * @param timeoutMillis of workers that answer pings
     * @return of each place
     */
    public <T> List<Answer<T>> notifyWorkers(String what, long timeoutMillis, Question<T> question)
            throws InterruptedException
    {
        Map<WorkerAddress, Answer<T>> answers = new LinkedHashMap<>();
        List<Place> left = places.get();
        for (int attempt = 0; attempt < ATTEMPTS && !left.isEmpty(); attempt++) {
            if (attempt > 0) {
                // by then it is known whether one that was lost a moment ago is away
                Thread.sleep(retryMillis);
            }
            ask(left, timeoutMillis, question).forEach(answer -> answers.put(answer.address(), answer));
            left = places.get().stream()
                    .filter(place -> place.state() == PlaceState.ANSWERING && answers.containsKey(place.address()) && answers.get(place.address()).failure().isPresent())
                    .toList();
        }
        List<WorkerAddress> answering = answering();
        List<Answer<T>> last = answers.values().stream()
                .map(answer -> new Answer<>(answer.address(), answer.answer(), answer.failure(), answering.contains(answer.address())))
                .toList();
        // nobody else can tell it to them if nobody knows it
        if (last.stream().anyMatch(answer -> answer.failure().isEmpty())) {
            // where no cache worker was ever seen there may be none
            Set<WorkerAddress> seen = places.get().stream().filter(place -> place.state() != PlaceState.UNSEEN).map(Place::address).collect(toSet());
            last.stream()
                    .filter(answer -> answer.failure().isPresent() && seen.contains(answer.address()))
                    .forEach(answer -> goOn(what, answer.address(), timeoutMillis, question));
        }
        return last;
    }

    /**
     * Flushes on all workers, as {@link #notifyWorkers} does.
     *
     * @return of each place; an answer is why the flush may be lost in a crash of the worker
     */
    public List<Answer<Optional<String>>> flush(String what, List<Tombstone> tombstones, long timeoutMillis)
            throws InterruptedException
    {
        return notifyWorkers(what, timeoutMillis, (admin, address, millis) -> {
            CompletableFuture<Optional<String>> flushed = CompletableFuture.completedFuture(Optional.empty());
            for (List<Tombstone> some : Lists.partition(tombstones, Flush.MAX_TOMBSTONES)) {
                flushed = flushed.thenCompose(before -> admin.flush(address, some, true, millis).thenApply(answer -> before.or(answer::problem)));
            }
            return flushed;
        });
    }

    private List<WorkerAddress> answering()
    {
        return places.get().stream().filter(place -> place.state() == PlaceState.ANSWERING).map(Place::address).toList();
    }

    private <T> List<Answer<T>> ask(List<Place> places, long timeoutMillis, Question<T> question)
            throws InterruptedException
    {
        Map<WorkerAddress, CompletableFuture<T>> asked = new LinkedHashMap<>();
        for (Place place : places) {
            long placeMillis = place.state() == PlaceState.ANSWERING ? timeoutMillis : Math.min(timeoutMillis, AWAY_MILLIS);
            asked.put(place.address(), question.ask(workerAdmin.get(), place.address(), placeMillis));
        }
        List<Answer<T>> answers = new ArrayList<>();
        for (Map.Entry<WorkerAddress, CompletableFuture<T>> each : asked.entrySet()) {
            try {
                answers.add(new Answer<>(each.getKey(), Optional.of(each.getValue().get()), Optional.empty(), true));
            }
            catch (ExecutionException e) {
                answers.add(new Answer<>(each.getKey(), Optional.empty(), Optional.of(sentence(e)), true));
            }
        }
        return answers;
    }

    private <T> void goOn(String what, WorkerAddress address, long timeoutMillis, Question<T> question)
    {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            log.warn("Notification queue for cache worker %s is full; it will learn of %s from its peers", address, what);
            return;
        }
        new Notice<>(what, address, timeoutMillis, question).later();
    }

    /**
     * What one worker is still to be told. One attempt after the other; takes a place among those that wait until {@link #end}.
     */
    private final class Notice<T>
    {
        private final String what;
        private final WorkerAddress address;
        private final long timeoutMillis;
        private final Question<T> question;

        private long pauseMillis = retryMillis;
        private int refusals;

        private Notice(String what, WorkerAddress address, long timeoutMillis, Question<T> question)
        {
            this.what = requireNonNull(what, "what is null");
            this.address = requireNonNull(address, "address is null");
            this.timeoutMillis = timeoutMillis;
            this.question = requireNonNull(question, "question is null");
        }

        private void later()
        {
            try {
                executor.schedule(this::attempt, pauseMillis, TimeUnit.MILLISECONDS);
            }
            catch (RejectedExecutionException _) {
                // the catalog is shut down; the other cache workers know it
                end();
            }
        }

        private void end()
        {
            waiting.decrementAndGet();
        }

        private void attempt()
        {
            CompletableFuture<T> asked;
            try {
                Optional<Place> place = places.get().stream().filter(candidate -> candidate.address().equals(address)).findFirst();
                if (place.isEmpty()) {
                    // if its worker comes back at another address, the others tell it
                    end();
                    return;
                }
                if (place.get().state() != PlaceState.ANSWERING) {
                    // to be told soon after it is back
                    pauseMillis = retryMillis;
                    later();
                    return;
                }
                asked = question.ask(workerAdmin.get(), address, timeoutMillis);
            }
            catch (IllegalStateException _) {
                // the catalog is shut down
                end();
                return;
            }
            catch (RuntimeException | Error e) {
                log.error(e, "Cannot notify cache worker %s of %s", address, what);
                end();
                return;
            }
            asked.whenComplete((_, failure) -> {
                if (failure == null) {
                    log.info("Notified cache worker %s, which was unreachable, of %s", address, what);
                    end();
                }
                else {
                    failed(failure);
                }
            });
        }

        private void failed(Throwable failure)
        {
            log.debug("Cannot notify cache worker %s of %s: %s", address, what, failure.getMessage());
            refusals = isRefusal(failure) ? refusals + 1 : 0;
            if (refusals >= MAX_REFUSALS) {
                log.warn("Cache worker %s rejected the notification of %s; it will learn of it from its peers: %s", address, what, sentence(failure));
                end();
                return;
            }
            // whoever could not do it now will not be able to the sooner
            pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSES * retryMillis);
            later();
        }
    }

    /**
     * Whether the worker heard it, and said no, rather than nothing.
     */
    private static boolean isRefusal(Throwable failure)
    {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof WorkerException worker && (worker.reason() == WorkerException.Reason.REFUSED || worker.reason() == WorkerException.Reason.PROTOCOL);
    }

    /**
     * For tests: how many are still to be told something.
     */
    int waiting()
    {
        return waiting.get();
    }

    private static String sentence(Throwable failure)
    {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    @PreDestroy
    public void close()
    {
        executor.shutdownNow();
    }
}
