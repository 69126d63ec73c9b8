package io.cachedhive.worker.service;

import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.StoreGauges;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.worker.fetch.BlockFetcher;
import io.cachedhive.worker.fetch.ByteBudget;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.fetch.FetchExecutors;
import io.cachedhive.worker.fetch.FetchLimits;
import io.cachedhive.worker.fetch.Pauses;
import io.cachedhive.worker.fetch.RequestLimits;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.flush.ExchangedRecords;
import io.cachedhive.worker.flush.FlushService;
import io.cachedhive.worker.handover.Drain;
import io.cachedhive.worker.handover.HandOverService;
import io.cachedhive.worker.handover.PeerSettings;
import io.cachedhive.worker.lease.FillLeases;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.Origins;
import io.cachedhive.worker.pin.PinService;
import io.cachedhive.worker.request.InFlight;
import io.cachedhive.worker.request.ReadServices;
import io.cachedhive.worker.request.RequestDispatcher;
import io.cachedhive.worker.ring.RingRegistry;
import io.cachedhive.worker.ring.RingShare;
import io.cachedhive.worker.server.BlockServer;
import io.cachedhive.worker.server.ListenSockets;
import io.cachedhive.worker.server.PeerRefusals;
import io.cachedhive.worker.server.Session;
import io.cachedhive.worker.server.Session.SessionOrigin;
import io.cachedhive.worker.server.Transport;
import io.cachedhive.worker.server.Welcomer;
import io.cachedhive.worker.startup.StartupException;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.status.WorkerStatus;
import io.cachedhive.worker.status.WorkerStatus.Activity;
import io.cachedhive.worker.storage.ControlGroupAllocator;
import io.cachedhive.worker.storage.ControlGroupMemory;
import io.cachedhive.worker.storage.PrivateDirectories;
import io.cachedhive.worker.storage.SwapSpace;
import io.cachedhive.worker.time.SystemTimer;
import io.cachedhive.worker.usage.UsageCounters;
import io.cachedhive.worker.usage.UsageJournal;
import jakarta.annotation.PreDestroy;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static java.util.concurrent.Executors.newCachedThreadPool;
import static java.util.concurrent.Executors.newSingleThreadScheduledExecutor;

/**
 * A cache worker: store, origins, block server and the components that connect them. The HTTP API is separate and only
 * reads its state.
 */
public final class CacheWorkerService
        implements AutoCloseable
{
    private static final Logger log = Logger.get(CacheWorkerService.class);

    private static final long HEAP_BYTES = 64 << 20;
    private static final long PINNED_BYTES = 64 << 20;
    private static final int BACKGROUND_THREADS = 8;
    private static final int CONFIRMATION_THREADS = 4;
    private static final int HAND_OVER_THREADS = 2;
    private static final int QUEUED_HAND_OVERS = 64;
    private static final int QUEUED_TASKS = 4096;
    // fraction of the RAM tier for frames of provisional versions
    private static final double MAX_HELD_SHARE = 0.25;
    // frames rest for 100 ms, so a longer wait fails only if all are in use
    private static final Duration FRAME_PATIENCE = Duration.ofMillis(300);
    // fraction of a bucket's requests for files that are fetched ahead
    private static final double AHEAD_SHARE = 0.5;

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private final ListenSockets sockets;
    private final BlockStore store;
    private final Origins origins;
    private final UsageCounters usage;
    private final RingRegistry rings;
    private final FlushService flushes;
    private final PinService pins;
    private final HandOverService handOver;
    private final WorkerStatus status;
    private final RequestDispatcher dispatcher;
    private final BlockServer server;

    private CacheWorkerService(WorkerSettings settings, StoreEnvironment environment, BlockServer.Limits serverLimits)
            throws StoreException
    {
        // resources are closed in the reverse order of their registration
        try {
            sockets = register(ListenSockets.bind(settings.tcpAddress(), settings.socketPath(), settings.socketAccess()));
            StateDirectory opened = StateDirectory.open(settings.store().stateDirectory(), environment.disk());
            WorkerCounters counters = new WorkerCounters();
            RequestLimits limits = new RequestLimits(settings.maxRequestsPerBucket(), System::nanoTime, counters);
            origins = register(Origins.load(settings.originsDirectory(), limits::observer, settings.store().encryptionKey().isPresent()));
            store = register(BlockStore.open(settings.store(), environment));
            // the store has its lock and its key
            StateDirectory state = opened.encrypted(store.stateCipher());

            rings = new RingRegistry(state, Clock.systemUTC(), pool("ring-writer-%s", 1, 1), shown -> {
                store.publishRings(shown);
                store.quotas().setRingShare(RingShare.of(shown, store.workerId()));
            });
            usage = new UsageCounters(Clock.systemUTC());
            ScheduledExecutorService saver = newSingleThreadScheduledExecutor(daemonThreadsNamed("counter-writer"));
            UsageJournal usageJournal = register(UsageJournal.open(usage, state, Clock.systemUTC(), saver));
            resources.push(() -> stop(saver));
            saver.scheduleWithFixedDelay(() -> {
                // an exception would end the schedule
                try {
                    usageJournal.maintain();
                }
                catch (RuntimeException | Error e) {
                    log.error(e, "Cannot maintain the counters");
                }
            }, 0, 1, TimeUnit.SECONDS);

            SystemTimer timer = register(new SystemTimer());
            ExecutorService background = pool("background-%s", BACKGROUND_THREADS, QUEUED_TASKS);
            ExecutorService confirmations = pool("origin-confirm-%s", CONFIRMATION_THREADS, Integer.MAX_VALUE);
            ExecutorService requests = newCachedThreadPool(daemonThreadsNamed("origin-get-%s"));
            resources.push(() -> stop(requests));
            ExecutorService handOvers = pool("hand-over-%s", HAND_OVER_THREADS, QUEUED_HAND_OVERS);
            // closes the connections to origins before waiting for the threads that read from them
            resources.push(origins);

            flushes = new FlushService(store, state, timer, pool("flush-%s", 1, QUEUED_TASKS));
            pins = new PinService(store, state, timer, pool("pins-%s", 1, QUEUED_TASKS));
            ExchangedRecords records = new ExchangedRecords(flushes, pins);
            handOver = register(new HandOverService(
                    store,
                    rings,
                    origins,
                    new PeerSettings(settings.zone(), settings.secrets(), settings.certificates(), settings.peerSilence()),
                    timer,
                    records,
                    handOvers));
            ByteBudget heap = new ByteBudget(HEAP_BYTES);
            int maxHeldBlocks = Math.max(1, (int) (settings.store().ramMaxSizeBytes() * MAX_HELD_SHARE / store.blockSizeBytes()));
            BlockFetcher fetcher = new BlockFetcher(
                    store,
                    new FetchLimits(limits, heap, settings.maxRangeBytes(), settings.maxPreloadRequests(), maxHeldBlocks, FRAME_PATIENCE),
                    counters,
                    timer,
                    new Pauses(() -> ThreadLocalRandom.current().nextDouble()),
                    new FetchExecutors(requests, confirmations),
                    handOver.peers());
            resources.push(fetcher::stop);
            FetchAhead fetchAhead = new FetchAhead(
                    store,
                    fetcher,
                    counters,
                    timer,
                    background,
                    Math.max(1, (int) (settings.maxRequestsPerBucket() * AHEAD_SHARE)),
                    settings.store().ramMaxSizeBytes());
            resources.push(fetchAhead::stop);
            FillLeases leases = new FillLeases(store, counters, timer, heap);
            PeerRefusals refusals = new PeerRefusals();
            status = new WorkerStatus(
                    store,
                    origins,
                    rings,
                    new WorkerStatus.Counters(usage, counters, refusals),
                    handOver,
                    new WorkerStatus.Node(settings.secrets(), settings.certificates(), settings.zone(), settings.version()));
            InFlight inFlight = new InFlight(store, new ByteBudget(PINNED_BYTES), counters);
            ReadServices reads = new ReadServices(inFlight, fetcher, fetchAhead, leases);
            dispatcher = new RequestDispatcher(reads, usageJournal, rings, handOver, records, status, background, Clock.systemUTC());
            handOver.drain().setReads(dispatcher::readsBegun, dispatcher::activeRequests);
            server = register(new BlockServer(
                    sockets,
                    settings.secrets(),
                    settings.tls(),
                    settings.certificates(),
                    serverLimits,
                    new HandshakeEnd(),
                    dispatcher,
                    refusals));
            status.setActivity(new Activity(
                    server::connectionCount,
                    server::acceptedConnections,
                    server::plainConnections,
                    server::formerSecretConnections,
                    dispatcher::activeRequests,
                    inFlight::referencedBlocks,
                    fetcher::buckets));
            resources.push(() -> {
                status.stop();
                dispatcher.stop();
            });
        }
        catch (StoreException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Opens sockets, memory and disks. The worker serves blocks after {@link #start}.
     *
     * @throws StartupException for any problem that the operator has to fix
     */
    public static CacheWorkerService open(WorkerSettings settings)
    {
        return open(settings, StoreEnvironment.system());
    }

    public static CacheWorkerService open(WorkerSettings settings, StoreEnvironment environment)
    {
        return open(settings, environment, BlockServer.Limits.DEFAULT);
    }

    public static CacheWorkerService open(WorkerSettings settings, StoreEnvironment environment, BlockServer.Limits limits)
    {
        WorkerSettings.requireSecretForStrangers(settings.bindAddress(), settings.secrets());
        Optional<ControlGroupMemory> group = ControlGroupMemory.ofThisProcess();
        group.ifPresent(memory -> memory.requireRoom(settings.store().ramMaxSizeBytes(), Runtime.getRuntime().maxMemory()));
        PrivateDirectories.prepare(settings.store(), settings.socketPath());
        SwapSpace.problem().ifPresent(problem -> log.warn("%s", problem));
        StoreEnvironment limited = group
                .map(memory -> environment.withMemory(new ControlGroupAllocator(memory, environment.memory())))
                .orElse(environment);
        try {
            return new CacheWorkerService(settings, limited, limits);
        }
        catch (StoreException e) {
            throw new StartupException(e.getMessage(), e);
        }
    }

    public void start()
    {
        flushes.resume();
        pins.resume();
        StoreGauges found = store.gauges();
        handOver.flushExchange().start(found.ssdBlocks() + found.files() == 0);
        server.start();
        log.info("Cache worker %s listens on %s and %s", store.workerId(), sockets.socketPath(), tcpAddress()
                .map(address -> "%s:%s".formatted(address.getAddress().getHostAddress(), address.getPort()))
                .orElse("no TCP port, because internal-communication.shared-secret is not set"));
    }

    private <T extends AutoCloseable> T register(T resource)
    {
        resources.push(resource);
        return resource;
    }

    private ExecutorService pool(String name, int threads, int queued)
    {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(queued), daemonThreadsNamed(name));
        pool.allowCoreThreadTimeOut(true);
        resources.push(() -> stop(pool));
        return pool;
    }

    private static void stop(ExecutorService executor)
            throws InterruptedException
    {
        executor.shutdownNow();
        if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
            log.warn("Threads are still busy: %s", executor);
        }
    }

    public BlockStore store()
    {
        return store;
    }

    public Origins origins()
    {
        return origins;
    }

    public RingRegistry rings()
    {
        return rings;
    }

    public UsageCounters usage()
    {
        return usage;
    }

    public WorkerStatus status()
    {
        return status;
    }

    public Drain drain()
    {
        return handOver.drain();
    }

    public RequestDispatcher dispatcher()
    {
        return dispatcher;
    }

    /**
     * Returns the address on which TCP connections are accepted; empty without a shared secret.
     */
    public Optional<InetSocketAddress> tcpAddress()
    {
        return sockets.tcpAddress();
    }

    public Path socketPath()
    {
        return sockets.socketPath();
    }

    /**
     * Ends connections and fetches, then writes the counters and a checkpoint. Closing twice has no effect.
     */
    @Override
    @PreDestroy
    public void close()
    {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        while (!resources.isEmpty()) {
            AutoCloseable resource = resources.pop();
            try {
                resource.close();
            }
            catch (Exception e) {
                log.error(e, "Stopping failed at %s", resource);
            }
        }
    }

    private final class HandshakeEnd
            implements Welcomer
    {
        @Override
        public CacheWorkerId worker()
        {
            return store.workerId();
        }

        @Override
        public Session session(Hello hello)
        {
            return new Session(
                    hello.cluster(),
                    hello.catalog(),
                    hello.node(),
                    hello.origins().stream().map(this::origin).collect(toImmutableList()));
        }

        private SessionOrigin origin(NamedOrigin named)
        {
            Optional<Origin> known = origins.find(named.name());
            if (known.isEmpty()) {
                return new SessionOrigin(named.id(), OriginStatus.UNKNOWN, Optional.empty());
            }
            if (!known.get().id().equals(named.id())) {
                return new SessionOrigin(named.id(), OriginStatus.MISMATCH, Optional.empty());
            }
            return new SessionOrigin(named.id(), OriginStatus.KNOWN, known);
        }

        @Override
        public Welcome welcome(Session session, Transport transport)
        {
            return new Welcome(
                    store.workerId(),
                    store.instance(),
                    store.blockSizeBytes(),
                    transport == Transport.UNIX ? store.memoryFile().toString() : "",
                    store.keepsGuests(),
                    session.origins().stream().map(SessionOrigin::status).collect(toImmutableList()));
        }
    }
}
