package io.cachedhive.worker.status;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.security.SecretKeys;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.StoreGauges;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.worker.fetch.BlockFetcher.BucketState;
import io.cachedhive.worker.fetch.OverloadCause;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.handover.HandOverService;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.Origins;
import io.cachedhive.worker.ring.RingRegistry;
import io.cachedhive.worker.server.PeerRefusals;
import io.cachedhive.worker.usage.UsageCounters;
import io.cachedhive.worker.usage.UsageCounters.Account;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * The state, the problem and the gauges of the worker, for coordinators, operators and metrics.
 */
public final class WorkerStatus
{
    private static final String RUNNING = "RUNNING";
    private static final String DRAINING = "DRAINING";
    private static final String STOPPING = "STOPPING";

    /**
     * All states.
     */
    public static final List<String> STATES = List.of(RUNNING, DRAINING, STOPPING);

    private final BlockStore store;
    private final Origins origins;
    private final RingRegistry rings;
    private final UsageCounters usage;
    private final WorkerCounters counters;
    private final HandOverService handOver;
    private final PeerRefusals refusals;
    private final Secrets secrets;
    private final Optional<Certificates> certificates;
    private final Optional<String> zone;
    private final String version;
    private final ClientProblems clientProblems = new ClientProblems(System::nanoTime);
    private final long startedNanos = System.nanoTime();
    private volatile Activity activity = Activity.NONE;
    private volatile boolean stopping;

    /**
     * The counters of a cache worker.
     *
     * @param usage counters of clients
     * @param worker counters of the worker's own work
     * @param refusals rejected connections
     */
    public record Counters(UsageCounters usage, WorkerCounters worker, PeerRefusals refusals)
    {
        public Counters
        {
            requireNonNull(usage, "usage is null");
            requireNonNull(worker, "worker is null");
            requireNonNull(refusals, "refusals is null");
        }
    }

    public WorkerStatus(BlockStore store, Origins origins, RingRegistry rings, Counters counters, HandOverService handOver, Node node)
    {
        this.store = requireNonNull(store, "store is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.rings = requireNonNull(rings, "rings is null");
        this.usage = counters.usage();
        this.counters = counters.worker();
        this.handOver = requireNonNull(handOver, "handOver is null");
        this.refusals = counters.refusals();
        this.secrets = node.secrets();
        this.certificates = node.certificates();
        this.zone = node.zone();
        this.version = node.version();
    }

    /**
     * The settings of the cache worker that its status reports.
     *
     * @param secrets the shared secrets, of which only fingerprints and a problem are reported
     * @param certificates the certificates of the operator, if there are any
     */
    public record Node(Secrets secrets, Optional<Certificates> certificates, Optional<String> zone, String version)
    {
        public Node
        {
            requireNonNull(secrets, "secrets is null");
            requireNonNull(certificates, "certificates is null");
            requireNonNull(zone, "zone is null");
            requireNonNull(version, "version is null");
        }
    }

    /**
     * The current activity of the server.
     *
     * @param connections connections that have completed their handshake
     * @param acceptedConnections connections accepted since the start
     * @param plainConnections TCP connections accepted without TLS since the start
     * @param formerSecretConnections open connections of peers that use another secret than the preferred one
     * @param activeRequests unanswered requests
     * @param referencedBlocks blocks that are being sent
     * @param buckets buckets from which blocks are fetched
     */
    public record Activity(
            LongSupplier connections,
            LongSupplier acceptedConnections,
            LongSupplier plainConnections,
            LongSupplier formerSecretConnections,
            LongSupplier activeRequests,
            LongSupplier referencedBlocks,
            Supplier<List<BucketState>> buckets)
    {
        private static final Activity NONE = new Activity(() -> 0, () -> 0, () -> 0, () -> 0, () -> 0, () -> 0, ImmutableList::of);

        public Activity
        {
            requireNonNull(connections, "connections is null");
            requireNonNull(acceptedConnections, "acceptedConnections is null");
            requireNonNull(plainConnections, "plainConnections is null");
            requireNonNull(formerSecretConnections, "formerSecretConnections is null");
            requireNonNull(activeRequests, "activeRequests is null");
            requireNonNull(referencedBlocks, "referencedBlocks is null");
            requireNonNull(buckets, "buckets is null");
        }
    }

    /**
     * Sets the activity. It is set later because the server, which answers with this status, is created after it.
     */
    public void setActivity(Activity activity)
    {
        this.activity = requireNonNull(activity, "activity is null");
    }

    /**
     * Changes the state to STOPPING. The process may soon return, so no other worker takes its place on the ring.
     */
    public void stop()
    {
        stopping = true;
    }

    private String state()
    {
        if (handOver.drain().isLeaving()) {
            return DRAINING;
        }
        return stopping ? STOPPING : RUNNING;
    }

    public Pong pong()
    {
        StoreGauges gauges = store.gauges();
        Optional<PublishedRing> newest = rings.newest();
        return new Pong(
                store.workerId(),
                store.instance(),
                version,
                state(),
                gauges.ssdCapacityBytes() > 0 ? gauges.ssdCapacityBytes() : gauges.ramCapacityBytes(),
                zone,
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos),
                gauges.restoredBlocks(),
                newest.map(PublishedRing::epoch).orElse(new RingEpoch(0)),
                newest.map(PublishedRing::publishedMillis).orElse(0L));
    }

    public Stats stats(Account account)
    {
        return new Stats(pong(), usage.sinceMillis(), problem().or(() -> clientProblems.problem(account)), usage.totals(account), gauges());
    }

    /**
     * Returns the Trino nodes that cannot connect to the Unix socket.
     */
    public ClientProblems clientProblems()
    {
        return clientProblems;
    }

    /**
     * Returns the current problem and its fix, or empty if the worker is healthy.
     */
    public Optional<String> problem()
    {
        return store.problem().or(secrets::problem).or(this::certificateProblem).or(() -> origins.all().stream()
                .map(Origin::health)
                .flatMap(health -> health.problem().stream())
                .findFirst());
    }

    private Optional<String> certificateProblem()
    {
        return certificates.flatMap(files -> files.problem(store.workerId()));
    }

    /**
     * Returns the fingerprints of the valid secrets, the preferred one first.
     */
    public List<String> secretFingerprints()
    {
        return secrets.valid().stream().map(SecretKeys::fingerprint).toList();
    }

    /**
     * Returns the buckets from which blocks were fetched since the start.
     */
    public List<BucketState> buckets()
    {
        return activity.buckets().get();
    }

    /**
     * Returns the gauges by their names in {@link CounterNames}.
     */
    public Map<String, Long> gauges()
    {
        StoreGauges gauges = store.gauges();
        List<BucketState> buckets = buckets();
        // read once, so that the sum of the two is right
        long keptGuests = counters.keptGuests();
        long refusedGuests = counters.refusedGuests();
        ImmutableMap.Builder<String, Long> named = ImmutableMap.<String, Long>builder()
                .put(CounterNames.RAM_CAPACITY_BYTES, gauges.ramCapacityBytes())
                .put(CounterNames.RAM_ALLOCATED_BYTES, gauges.ramAllocatedBytes())
                .put(CounterNames.RAM_USED_BYTES, gauges.ramUsedBytes())
                .put(CounterNames.RAM_BLOCKS, gauges.ramBlocks())
                .put(CounterNames.GUEST_BYTES, gauges.guestBytes())
                .put(CounterNames.PINNED_BYTES, gauges.pinnedBytes())
                .put(CounterNames.PINNED_MAX_BYTES, gauges.pinnedMaxBytes())
                .put(CounterNames.REJECTED_PINS, gauges.rejectedPins())
                .put(CounterNames.GUEST_BLOCKS_OFFERED, keptGuests + refusedGuests)
                .put(CounterNames.GUEST_BLOCKS_ACCEPTED, keptGuests)
                .put(CounterNames.GUEST_BLOCKS_REJECTED, refusedGuests)
                .put(CounterNames.RAM_EVICTIONS, gauges.ramEvictions())
                .put(CounterNames.FILLS_REJECTED, gauges.refusedFills())
                .put(CounterNames.SSD_CAPACITY_BYTES, gauges.ssdCapacityBytes())
                .put(CounterNames.SSD_USED_BYTES, gauges.ssdUsedBytes())
                .put(CounterNames.SSD_BLOCKS, gauges.ssdBlocks())
                .put(CounterNames.SSD_EVICTIONS, gauges.ssdEvictions())
                .put(CounterNames.RESTORED_BLOCKS, gauges.restoredBlocks())
                .put(CounterNames.EXPIRED_BLOCKS, gauges.expiredBlocks())
                .put(CounterNames.CORRUPT_BLOCKS, gauges.corruptBlocks())
                .put(CounterNames.QUARANTINED_FILES, counters.quarantinedFiles())
                .put(CounterNames.RELEASED_FILES, counters.releasedFiles())
                .put(CounterNames.RELEASED_BLOCKS, counters.releasedBlocks())
                .put(CounterNames.RELEASED_BYTES, counters.releasedBytes())
                .put(CounterNames.SSD_DIRECTORIES_OFFLINE, gauges.ssdDirectoriesOffline())
                .put(CounterNames.SSD_ERRORS_NO_SPACE, gauges.ssdErrors().get(SsdErrorCause.NO_SPACE))
                .put(CounterNames.SSD_ERRORS_READ_ONLY, gauges.ssdErrors().get(SsdErrorCause.READ_ONLY))
                .put(CounterNames.SSD_ERRORS_IO_ERROR, gauges.ssdErrors().get(SsdErrorCause.IO_ERROR))
                .put(CounterNames.SSD_ERRORS_SLOW, gauges.ssdErrors().get(SsdErrorCause.SLOW))
                .put(CounterNames.SSD_ERRORS_OTHER, gauges.ssdErrors().get(SsdErrorCause.OTHER))
                .put(CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED, gauges.refusedSsdWrites().get(SsdRefusalCause.NOT_ADMITTED))
                .put(CounterNames.SSD_WRITES_REJECTED_QUEUE_FULL, gauges.refusedSsdWrites().get(SsdRefusalCause.QUEUE_FULL))
                .put(CounterNames.SSD_WRITES_REJECTED_OFFLINE, gauges.refusedSsdWrites().get(SsdRefusalCause.OUT_OF_SERVICE))
                .put(CounterNames.SSD_WRITES_REJECTED_NO_SPACE, gauges.refusedSsdWrites().get(SsdRefusalCause.NO_ROOM))
                .put(CounterNames.ORIGIN_GETS, counters.originGets())
                .put(CounterNames.ORIGIN_HEADS, counters.originHeads())
                .put(CounterNames.ORIGIN_BYTES, counters.originBytes())
                .put(CounterNames.ORIGIN_ERRORS, counters.originErrors())
                .put(CounterNames.ORIGIN_THROTTLED, counters.originThrottled())
                .put(CounterNames.ORIGIN_RETRIES, counters.originRetries())
                .put(CounterNames.ORIGIN_LOCATIONS_REFUSED, counters.refusedLocations())
                .put(CounterNames.FETCH_REQUESTS, buckets.stream().mapToLong(BucketState::requests).sum())
                .put(CounterNames.FETCH_QUEUED_BLOCKS, buckets.stream().mapToLong(bucket -> bucket.queuedReads() + bucket.queuedPreloads()).sum())
                .put(CounterNames.FETCH_REQUEST_LIMIT, buckets.stream().mapToLong(BucketState::limit).min().orElse(0))
                .put(CounterNames.PROBLEMS, problem().isPresent() ? 1L : 0L)
                .put(CounterNames.EXTRA_BYTES, counters.extraBytes())
                .put(CounterNames.SENT_BYTES, counters.sentBytes())
                .put(CounterNames.VERSION_CHANGES, counters.versionChanges())
                .put(CounterNames.HANDOVER_BLOCKS_RECEIVED, handOver.counters().takenBlocks())
                .put(CounterNames.HANDOVER_BYTES_RECEIVED, handOver.counters().takenBytes())
                .put(CounterNames.HANDOVER_FAILURES, handOver.counters().failedReads())
                .put(CounterNames.HANDOVER_BLOCKS_SENT, handOver.counters().givenBlocks())
                .put(CounterNames.REJECTED_CONNECTIONS, refusals.count())
                .put(CounterNames.REJECTED_REQUESTS, refusals.requestCount())
                .put(CounterNames.PLAIN_CONNECTIONS, activity.plainConnections().getAsLong())
                .put(CounterNames.FORMER_SECRET_CONNECTIONS, activity.formerSecretConnections().getAsLong())
                .put(CounterNames.CONNECTIONS, activity.connections().getAsLong())
                .put(CounterNames.ACCEPTED_CONNECTIONS, activity.acceptedConnections().getAsLong())
                .put(CounterNames.ACTIVE_REQUESTS, activity.activeRequests().getAsLong())
                .put(CounterNames.REFERENCED_BLOCKS, activity.referencedBlocks().getAsLong());
        certificates.ifPresent(files -> named.put(CounterNames.CERTIFICATE_EXPIRY_SECONDS, files.remaining().toSeconds()));
        CacheSizer.Prediction prediction = store.sizer().prediction();
        named.put(CounterNames.SIZING_CAPACITY_BYTES, prediction.capacityBytes())
                .put(CounterNames.SIZING_REQUESTED_BYTES, prediction.requestedBytes())
                .put(CounterNames.SIZING_DISTINCT_BYTES, prediction.distinctBytes());
        for (int i = 0; i < CacheSizer.PERCENTS.size(); i++) {
            named.put(CounterNames.sizingHitBytes(CacheSizer.PERCENTS.get(i)), prediction.hitBytes().get(i));
        }
        for (OverloadCause cause : OverloadCause.values()) {
            named.put(cause.counter(), counters.overloaded(cause));
        }
        return named.buildOrThrow();
    }
}
