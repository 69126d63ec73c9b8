package io.cachedhive.worker.flush;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Tombstones;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.PinState;
import io.cachedhive.protocol.wire.PinMessage.Pins;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerException.Reason;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.worker.pin.PinService;
import io.cachedhive.worker.ring.RingRegistry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static java.util.Objects.requireNonNull;

/**
 * Asks other cache workers for flushes and pins that this worker missed. It asks some of the ring's members before it
 * serves blocks, and then one member at a time in turn. Replies are usually empty, because requests contain a digest of
 * the known records.
 */
public final class FlushExchange
        implements AutoCloseable
{
    private static final Logger log = Logger.get(FlushExchange.class);

    private static final long SILENCE_MILLIS = 1_000;
    private static final long INTERVAL_MILLIS = 2_000;
    // a process that was suspended for this long may have missed flushes
    private static final long STOPPED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int ASKED_AT_START = 8;
    private static final long START_PAUSE_MILLIS = 100;
    private static final long PIN_WARNING_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final Digest128 ZERO = new Digest128(0, 0);

    private final FlushService flushes;
    private final PinService pins;
    private final WorkerConnections connections;
    private final RingRegistry rings;
    private final CacheWorkerId self;
    private final Duration startWait;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(daemonThreadsNamed("flush-exchange"));
    private final ExecutorService askers = Executors.newFixedThreadPool(ASKED_AT_START, daemonThreadsNamed("flush-exchange-start-%s"));
    // the XOR of the flushes of this worker when the peer was last known to have applied all of them
    private final Map<CacheWorkerId, Digest128> inStep = new ConcurrentHashMap<>();
    private final AtomicLong nextPinWarningNanos;
    // used only by the executor's thread
    private int nextPeer;
    private long lastNanos;
    private long aliveNanos;

    private record Peer(CacheWorkerId id, WorkerAddress address) {}

    /**
     * @param startWait the maximum time that startup waits for replies before this worker serves blocks
     */
    public FlushExchange(ExchangedRecords records, WorkerConnections connections, RingRegistry rings, CacheWorkerId self, Duration startWait)
    {
        this.flushes = records.flushes();
        this.pins = records.pins();
        this.connections = requireNonNull(connections, "connections is null");
        this.rings = requireNonNull(rings, "rings is null");
        this.self = requireNonNull(self, "self is null");
        this.startWait = requireNonNull(startWait, "startWait is null");
        this.nextPinWarningNanos = new AtomicLong(connections.nanoTime());
    }

    /**
     * Permits serving blocks when members of the last ring have replied, or when the wait is over. Members that do not
     * reply are asked again until another one has replied, because they may be starting too.
     *
     * @param empty whether the store is empty, so that no block could have been flushed
     */
    public void start(boolean empty)
    {
        lastNanos = connections.nanoTime();
        aliveNanos = lastNanos;
        if (empty || peers().isEmpty()) {
            flushes.setReady(true);
        }
        else {
            executor.execute(this::askBeforeServing);
        }
        executor.scheduleWithFixedDelay(this::tick, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private List<Peer> peers()
    {
        Optional<PublishedRing> ring = rings.newest();
        List<Peer> peers = new ArrayList<>();
        ring.ifPresent(published -> published.ring().members().forEach(member -> published.address(member.id())
                .filter(_ -> !member.id().equals(self))
                .ifPresent(address -> peers.add(new Peer(member.id(), address)))));
        return peers;
    }

    private void askBeforeServing()
    {
        flushes.setReady(false);
        try {
            List<Peer> peers = peers();
            Collections.shuffle(peers);
            List<Peer> asked = peers.subList(0, Math.min(ASKED_AT_START, peers.size()));
            CountDownLatch answers = new CountDownLatch(asked.size());
            AtomicInteger heard = new AtomicInteger();
            long deadline = System.nanoTime() + startWait.toNanos();
            for (Peer peer : asked) {
                askers.execute(() -> {
                    try {
                        Outcome outcome = exchange(peer, true);
                        while (outcome == Outcome.SILENT && heard.get() == 0 && System.nanoTime() - deadline < 0) {
                            Thread.sleep(START_PAUSE_MILLIS);
                            outcome = exchange(peer, true);
                        }
                        if (outcome != Outcome.SILENT) {
                            heard.incrementAndGet();
                        }
                    }
                    catch (InterruptedException _) {
                        Thread.currentThread().interrupt();
                    }
                    finally {
                        answers.countDown();
                    }
                    // startup does not wait for pins
                    learnPins(peer);
                });
            }
            if (!answers.await(startWait.toNanos(), TimeUnit.NANOSECONDS)) {
                log.warn("Not all of %s peers answered in time; serving now, missed flushes are applied as they arrive", asked.size());
            }
            // wait until the received flushes are applied, regardless of the time limit
            flushes.awaitMerged();
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        catch (RuntimeException e) {
            log.error(e, "Cannot read missed flushes from peers");
        }
        finally {
            flushes.setReady(true);
            lastNanos = connections.nanoTime();
        }
    }

    private void tick()
    {
        try {
            long now = connections.nanoTime();
            boolean stopped = now - lastNanos > STOPPED_NANOS;
            if (now - aliveNanos > FlushService.keepAliveInterval().toNanos()) {
                aliveNanos = now;
                flushes.keepAlive();
                pins.keepAlive();
            }
            if (stopped) {
                log.info("This process was suspended: reading missed flushes from peers");
                askBeforeServing();
                return;
            }
            List<Peer> peers = peers();
            if (!peers.isEmpty()) {
                nextPeer = (nextPeer + 1) % peers.size();
                exchange(peers.get(nextPeer), true);
                learnPins(peers.get(nextPeer));
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would cancel the periodic task
            log.error(e, "Cannot read flushes from peers");
        }
        finally {
            // do not mistake the duration of this run for a suspension of the process
            lastNanos = connections.nanoTime();
        }
    }

    /**
     * Returns whether another worker has applied all flushes that this one has applied, so that its blocks may be
     * received. If this is unknown, the method waits for a reply, but not for applying the flushes in it.
     */
    public boolean isInStep(CacheWorkerId id, WorkerAddress address)
    {
        Digest128 own = flushes.doneXor();
        return own.equals(ZERO) || own.equals(inStep.get(id)) || exchange(new Peer(id, address), false) == Outcome.IN_STEP;
    }

    private enum Outcome
    {
        /**
         * The worker did not answer.
         */
        SILENT,
        BEHIND,
        /**
         * The worker has applied all flushes of this one.
         */
        IN_STEP,
    }

    /**
     * Exchanges flushes with another worker and merges those that it knows.
     *
     * @param untilDone whether to return only when its flushes have been applied here
     */
    private Outcome exchange(Peer peer, boolean untilDone)
    {
        try {
            WorkerLink link = connections.peer(peer.address(), Optional.of(peer.id()));
            Digest128 own = flushes.doneXor();
            Set<Digest128> ownIds = flushes.doneIds();
            List<Tombstone> theirs = new ArrayList<>();
            Digest128 after = ZERO;
            while (true) {
                Tombstones page = connections.ask(link, new GetTombstones(own, after), Tombstones.class, SILENCE_MILLIS).get();
                theirs.addAll(page.tombstones());
                if (page.all().equals(own)) {
                    inStep.put(peer.id(), own);
                    return Outcome.IN_STEP;
                }
                if (page.tombstones().size() < InvalidationMessage.Flush.MAX_TOMBSTONES) {
                    break;
                }
                after = page.tombstones().getLast().id();
            }
            Set<Digest128> theirIds = new HashSet<>();
            theirs.forEach(tombstone -> theirIds.add(tombstone.id()));
            boolean all = theirIds.containsAll(ownIds);
            if (all) {
                inStep.put(peer.id(), own);
            }
            theirs.removeIf(tombstone -> ownIds.contains(tombstone.id()));
            if (!theirs.isEmpty()) {
                CompletableFuture<InvalidationMessage.Flushed> merged = flushes.merge(theirs);
                if (untilDone) {
                    merged.get();
                }
            }
            return all ? Outcome.IN_STEP : Outcome.BEHIND;
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof WorkerException failure && failure.reason() == Reason.CLOSED) {
                return Outcome.SILENT;
            }
            log.debug("Cache worker %s did not return its flushes: %s", peer, e.getMessage());
        }
        return Outcome.SILENT;
    }

    /**
     * Adds the pins that another worker knows.
     */
    private void learnPins(Peer peer)
    {
        try {
            WorkerLink link = connections.peer(peer.address(), Optional.of(peer.id()));
            Digest128 own = pins.xor();
            Digest128 after = ZERO;
            while (true) {
                Pins page = connections.ask(link, new GetPins(own, after, false), Pins.class, SILENCE_MILLIS).get();
                if (!page.pins().isEmpty()) {
                    pins.set(page.pins().stream().map(PinState::pin).toList())
                            .exceptionally(failure -> {
                                warnOfPins(peer, failure);
                                return null;
                            });
                }
                if (page.pins().size() < PinMessage.SetPins.MAX_PINS) {
                    return;
                }
                after = page.pins().getLast().pin().id();
            }
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException e) {
            log.debug("Cache worker %s did not return its pins: %s", peer, e.getMessage());
        }
    }

    private void warnOfPins(Peer peer, Throwable failure)
    {
        long now = connections.nanoTime();
        long next = nextPinWarningNanos.get();
        // limits the warnings, because pins are exchanged every 2 s
        if (now - next >= 0 && nextPinWarningNanos.compareAndSet(next, now + PIN_WARNING_NANOS)) {
            log.warn("Cannot apply the pins of cache worker %s: %s", peer, failure.getMessage());
        }
    }

    @Override
    public void close()
    {
        executor.shutdownNow();
        askers.shutdownNow();
    }
}
