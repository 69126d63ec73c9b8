package io.cachedhive.plugin.membership;

import io.airlift.log.Logger;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.event.EventType;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.time.ClockSkew;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.transport.StateLog;
import jakarta.annotation.PreDestroy;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Knows, on the coordinator, which cache workers there are, builds the ring and publishes it to them.
 *
 * <p>Once a second every Trino worker's host, and every other place, is asked whether its cache worker is there. All that is known is kept by
 * one thread, and what others ask for is a snapshot. Nothing waits for an answer.
 *
 * <p>A coordinator that starts takes over the newest ring that cache workers have, which is that of the coordinator before it. Afterwards it only publishes its own
 * rings. Cache workers keep the rings of several coordinators side by side.
 */
public final class ClusterMembership
        implements AutoCloseable
{
    private static final Logger log = Logger.get(ClusterMembership.class);
    private static final long PING_INTERVAL_MILLIS = 1_000;
    // answers come nearly at once: one look at all of them, and not one after each
    private static final long ADVANCE_DELAY_MILLIS = 50;

    private final ClusterNodes nodes;
    private final WorkerAdmin workerAdmin;
    private final long maxWeightBytes;
    private final CacheEvents events;
    private final StateLog stateLog = new StateLog(log, System::nanoTime);
    private final ScheduledExecutorService executor;

    // of the executor's thread only
    private final Places places;
    private final Set<WorkerAddress> pinging = new HashSet<>();
    private final Set<WorkerAddress> publishing = new HashSet<>();
    private final Set<WorkerAddress> adopting = new HashSet<>();
    private final RingDeliveries deliveries = new RingDeliveries();
    private boolean advancing;
    private Optional<PublishedRing> recorded = Optional.empty();

    private volatile Snapshot snapshot = new Snapshot(RingView.EMPTY, Optional.empty(), List.of());

    private record Snapshot(RingView view, Optional<PublishedRing> ring, List<Place> places) {}

    private ClusterMembership(String catalog, ClusterNodes nodes, WorkerAdmin workerAdmin, Places places, long maxWeightBytes, CacheEvents events)
    {
        this.nodes = requireNonNull(nodes, "nodes is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.places = requireNonNull(places, "places is null");
        this.maxWeightBytes = maxWeightBytes;
        this.events = requireNonNull(events, "events is null");
        this.executor = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("cachedhive-membership-" + catalog).daemon().factory());
    }

    /**
     * @param workerAdmin stays the caller's
     * @param events receives each change of the ring
     */
    public static ClusterMembership start(
            String catalog,
            ClusterNodes nodes,
            WorkerAdmin workerAdmin,
            int workerPort,
            long gracePeriodMillis,
            double minLiveShare,
            long maxWeightBytes,
            CacheEvents events)
    {
        Places places = new Places(workerPort, gracePeriodMillis, minLiveShare, maxWeightBytes);
        places.nodes(TrinoNodes.of(nodes.workers()), nowMillis());
        ClusterMembership membership = new ClusterMembership(catalog, nodes, workerAdmin, places, maxWeightBytes, events);
        // the first query after CREATE CATALOG sees all hosts, before any cache worker has answered
        membership.snapshot = new Snapshot(RingView.EMPTY, Optional.empty(), places.list(nowMillis()));
        membership.executor.scheduleWithFixedDelay(membership::tick, 0, PING_INTERVAL_MILLIS, MILLISECONDS);
        return membership;
    }

    /**
     * The ring to plan scans by.
     */
    public RingView view()
    {
        return snapshot.view();
    }

    /**
     * The ring with its members' addresses; empty before the first one.
     */
    public Optional<PublishedRing> ring()
    {
        return snapshot.ring();
    }

    /**
     * In the order of their addresses.
     */
    public List<Place> places()
    {
        return snapshot.places();
    }

    private void tick()
    {
        // an exception would end the schedule
        try {
            places.nodes(TrinoNodes.of(nodes.workers()), nowMillis());
            Set<WorkerAddress> addresses = places.addresses();
            deliveries.retain(addresses);
            addresses.forEach(this::ping);
            advanceSoon();
        }
        catch (RuntimeException | Error e) {
            log.error(e, "Cannot probe the cache workers");
        }
    }

    private void ping(WorkerAddress address)
    {
        if (!pinging.add(address)) {
            return;
        }
        onExecutor(workerAdmin.ping(address), (pong, failure) -> {
            pinging.remove(address);
            if (failure == null) {
                places.answered(address, pong, nowMillis());
                stateLog.update("weight of the cache worker on " + address, weightProblem(pong.weight()));
                exchangeRings(address, pong);
            }
            else {
                places.failed(address, WorkerProblems.describe(address, failure));
            }
            advanceSoon();
        });
    }

    private Optional<String> weightProblem(long weightBytes)
    {
        return weightBytes <= maxWeightBytes ?
                Optional.empty() :
                Optional.of("it declares %s bytes, limited to %s: if its capacity is right, raise cachedhive.worker.max-weight".formatted(weightBytes, maxWeightBytes));
    }

    private void advanceSoon()
    {
        if (advancing) {
            return;
        }
        try {
            executor.schedule(() -> handle(null, null, (_, _) -> advance()), ADVANCE_DELAY_MILLIS, MILLISECONDS);
            advancing = true;
        }
        catch (RejectedExecutionException _) {
            // closed meanwhile
        }
    }

    private void advance()
    {
        advancing = false;
        // the ring that is on its way may be the one to begin with
        if (places.ring().isPresent() || adopting.isEmpty()) {
            places.advance(nowMillis(), System.currentTimeMillis());
        }
        List<Place> list = places.list(nowMillis());
        snapshot = new Snapshot(places.view(), places.ring(), list);
        record(places.ring());
        list.forEach(place -> stateLog.update("cache worker on " + place.address(), place.problem()));
    }

    private void record(Optional<PublishedRing> ring)
    {
        if (ring.isEmpty() || ring.map(PublishedRing::epoch).equals(recorded.map(PublishedRing::epoch))) {
            return;
        }
        Optional<String> added = recorded.flatMap(former -> difference("added", ring.get(), former));
        Optional<String> removed = recorded.flatMap(former -> difference("removed", former, ring.get()));
        events.add(EventType.RING, "ring %s of %s cache workers%s%s".formatted(
                ring.get().epoch(),
                ring.get().ring().members().size(),
                added.orElse(""),
                removed.orElse("")));
        recorded = ring;
    }

    /**
     * Names the cache workers of a ring that another ring does not have.
     */
    private static Optional<String> difference(String verb, PublishedRing ring, PublishedRing other)
    {
        List<String> members = ring.ring().members().stream()
                .map(RingMember::id)
                .filter(id -> other.ring().member(id).isEmpty())
                .map(id -> ring.address(id).map(WorkerAddress::toString).orElse(id.toString()))
                .sorted()
                .toList();
        return members.isEmpty() ? Optional.empty() : Optional.of("; %s %s".formatted(verb, String.join(", ", members)));
    }

    private void exchangeRings(WorkerAddress address, Pong pong)
    {
        // a ring from the future would date all rings of this coordinator into the future, where cache workers refuse them
        long seenMillis = ClockSkew.isAhead(pong.newestRingPublishedMillis(), System.currentTimeMillis()) ? 0 : pong.newestRingPublishedMillis();
        places.seen(seenMillis);
        long publishedMillis = places.ring().map(PublishedRing::publishedMillis).orElse(0L);
        if (seenMillis > publishedMillis && places.mayAdopt(nowMillis())) {
            adopt(address);
        }
        else if (places.ring().isPresent() && deliveries.isDue(address, pong, places.ring().get())) {
            publish(address, pong, places.ring().get());
        }
    }

    private void adopt(WorkerAddress address)
    {
        if (!adopting.add(address)) {
            return;
        }
        onExecutor(workerAdmin.rings(address), (rings, failure) -> {
            adopting.remove(address);
            if (failure == null) {
                rings.stream()
                        .filter(ring -> !ClockSkew.isAhead(ring.publishedMillis(), System.currentTimeMillis()))
                        .findFirst()
                        .ifPresent(ring -> places.adopt(ring, nowMillis()));
            }
            advanceSoon();
        });
    }

    private void publish(WorkerAddress address, Pong pong, PublishedRing ring)
    {
        if (!publishing.add(address)) {
            return;
        }
        onExecutor(workerAdmin.publishRing(address, ring), (_, failure) -> {
            publishing.remove(address);
            // after a failure, the next answer leads here again
            if (failure == null) {
                deliveries.delivered(address, pong, ring);
            }
        });
    }

    private <T> void onExecutor(CompletableFuture<T> future, BiConsumer<T, Throwable> outcome)
    {
        future.whenComplete((result, failure) -> {
            try {
                executor.execute(() -> handle(result, failure, outcome));
            }
            catch (RejectedExecutionException _) {
                // closed meanwhile
            }
        });
    }

    private static <T> void handle(T result, Throwable failure, BiConsumer<T, Throwable> outcome)
    {
        try {
            outcome.accept(result, failure);
        }
        catch (RuntimeException e) {
            log.error(e, "Cannot probe the cache workers");
        }
    }

    private static long nowMillis()
    {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    @PreDestroy
    @Override
    public void close()
    {
        executor.shutdownNow();
    }
}
