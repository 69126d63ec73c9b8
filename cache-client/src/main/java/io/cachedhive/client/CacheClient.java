package io.cachedhive.client;

import io.airlift.log.Logger;
import io.cachedhive.client.counters.ClassHits;
import io.cachedhive.client.counters.ClientCounters;
import io.cachedhive.client.counters.HitLog;
import io.cachedhive.client.counters.UsageBatches;
import io.cachedhive.client.local.BlockMemory;
import io.cachedhive.client.local.LocalTier;
import io.cachedhive.client.local.MappedBlockMemory;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.transport.StateLog;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Reads files through the cache: from the shared memory of this host's cache worker, from that worker, from the owner of the chunk on another
 * host, or, when all that fails, from the origin. One per catalog and JVM.
 *
 * <p>A worker that is away, wrong or silent costs time, never a read.
 */
public final class CacheClient
        implements AutoCloseable
{
    private static final Logger log = Logger.get(CacheClient.class);

    private static final long USAGE_MILLIS = 200;
    // what a worker has fetched ahead is a few times as much as is read meanwhile
    private static final long SOON_MILLIS = 10;
    private static final int HITS_PER_BATCH = 8192;
    private static final int MANY_TABLES = 100;
    private static final long WATCH_MILLIS = 500;
    private static final long LOCAL_PROBLEM_MILLIS = 5000;
    private static final long QUOTA_MILLIS = 10_000;
    private static final long FLUSH_MILLIS = 1000;
    private static final int MAX_HEDGES = 16;

    private final CacheClientConfig config;
    private final ClientCounters counters = new ClientCounters();
    private final HitLog hits = new HitLog(HITS_PER_BATCH);
    private final ClassHits classHits = new ClassHits(HITS_PER_BATCH);
    private final UsageBatches usage;
    private final WorkerConnections connections;
    private final LocalTier local;
    private final ExecutorService hedgeExecutor;
    private final ReadContext context;
    private final StateLog stateLog;
    private final Consumer<String> localProblems;
    private final AtomicBoolean reportingSoon = new AtomicBoolean();
    private volatile CompletableFuture<Ack> reporting = CompletableFuture.completedFuture(null);
    private volatile boolean closed;

    private CacheClient(CacheClientConfig config, BlockMemory.Opener memoryOpener, LongSupplier nanoTime, Consumer<String> localProblems)
    {
        this.localProblems = requireNonNull(localProblems, "localProblems is null");
        this.config = requireNonNull(config, "config is null");
        CacheClientConfig.Limits limits = config.limits();
        this.stateLog = new StateLog(log, nanoTime);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        this.usage = new UsageBatches(new Digest128(random.nextLong(), random.nextLong()), counters, hits);
        this.connections = new WorkerConnections(
                "cachedhive-" + config.identity().catalog(),
                config.identity(),
                Optional.of(config.socketPath()),
                config.timeouts(),
                limits.ioThreads(),
                limits.requestsPerWorker(),
                nanoTime);
        this.local = new LocalTier(connections, config.socketPath(), memoryOpener, config.timeouts().silenceMillis());
        this.hedgeExecutor = hedgeExecutor(config.identity().catalog());
        this.context = new ReadContext(config, connections, local, hits, classHits, hedgeExecutor, this::reportUsageSoon);
        connections.every(USAGE_MILLIS, this::reportUsage);
        connections.every(USAGE_MILLIS, this::reportClasses);
        connections.every(WATCH_MILLIS, this::watch);
        connections.every(LOCAL_PROBLEM_MILLIS, this::reportLocalProblem);
        connections.every(QUOTA_MILLIS, this::forgetSentQuotas);
    }

    private static ExecutorService hedgeExecutor(String catalog)
    {
        // no queue: what cannot begin at once is of no use
        return new ThreadPoolExecutor(
                0,
                MAX_HEDGES,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform().daemon().name("cachedhive-%s-hedge-".formatted(catalog), 0).factory());
    }

    /**
     * Begins to connect to the worker of this host, and returns at once.
     */
    public static CacheClient start(CacheClientConfig config)
    {
        return start(config, _ -> {});
    }

    /**
     * Begins to connect to the worker of this host, and returns at once.
     *
     * @param localProblems receives every few seconds why this client cannot connect to that worker, in one sentence with its fix; must not block
     */
    public static CacheClient start(CacheClientConfig config, Consumer<String> localProblems)
    {
        return new CacheClient(config, file -> MappedBlockMemory.open(file, config.verification().ram(), config.socketPath()), System::nanoTime, localProblems);
    }

    static CacheClient start(CacheClientConfig config, BlockMemory.Opener memoryOpener, LongSupplier nanoTime)
    {
        return new CacheClient(config, memoryOpener, nanoTime, _ -> {});
    }

    /**
     * Cheap: no I/O.
     *
     * @param origin the place of the file's origin in the identity's list
     * @param input used for whatever the cache does not serve
     * @throws FileReplacedException if the split was given bytes of another version of the file
     */
    public CachedFile open(int origin, FileVersion file, ReadScope scope, OriginInput input)
            throws FileReplacedException
    {
        return open(origin, file, scope, input, MissListener.NONE);
    }

    /**
     * As {@link #open(int, FileVersion, ReadScope, OriginInput)}.
     *
     * @param listener hears of the file's misses
     * @throws FileReplacedException if the split was given bytes of another version of the file
     */
    public CachedFile open(int origin, FileVersion file, ReadScope scope, OriginInput input, MissListener listener)
            throws FileReplacedException
    {
        if (origin < 0 || origin >= config.identity().origins().size()) {
            throw new IllegalArgumentException("origin is not in the list of %s: %s".formatted(config.identity().origins().size(), origin));
        }
        if (!config.identity().origins().get(origin).id().equals(file.origin())) {
            throw new IllegalArgumentException("file is of another origin than %s: %s".formatted(config.identity().origins().get(origin), file));
        }
        // reads of what is in shared memory ask nobody
        local.link().session().ifPresent(session -> session.sendQuota(scope.table(), scope.terms().tableQuotaBytes()));
        return new BlockwiseFile(context, origin, file, scope, counters.table(scope.table()), input, listener);
    }

    /**
     * For a file that is read without the cache while this host's worker shall hear which of its blocks are asked for.
     */
    public RequestedBlocks requestedBlocks(FileVersion file)
    {
        return new RequestedBlocks(file, hits, this::blockSizeBytes);
    }

    private OptionalInt blockSizeBytes()
    {
        return local.link().session()
                .map(session -> OptionalInt.of(session.welcome().blockSizeBytes()))
                .orElseGet(OptionalInt::empty);
    }

    /**
     * Totals since the start, for JMX.
     */
    public ClientCounters counters()
    {
        return counters;
    }

    public LocalWorker local()
    {
        return new LocalWorker(local.workerId(), local.instance(), local.link().session().isPresent(), local.problem());
    }

    /**
     * The rings that the local worker knows, the newest first.
     */
    public List<PublishedRing> rings()
    {
        return local.rings().newestFirst();
    }

    public Optional<PublishedRing> newestRing()
    {
        return local.rings().newest();
    }

    /**
     * What is on its way between workers and readers right now; all zero when nobody reads.
     */
    public InFlight inFlight()
    {
        long requests = connections.peers().stream()
                .map(WorkerLink::session)
                .flatMap(Optional::stream)
                .mapToLong(WorkerSession::pendingRequests)
                .sum();
        requests += local.link().session().map(WorkerSession::pendingRequests).orElse(0);
        return new InFlight(requests, context.heap().reservedBytes());
    }

    /**
     * @param requests that are not answered yet, those that tell counters among them
     * @param heapBytes heap that holds blocks on their way to a worker, ranges that are asked of the origin beside one, and what streams read ahead
     */
    public record InFlight(long requests, long heapBytes) {}

    private void reportUsageSoon()
    {
        if (!reportingSoon.get() && reportingSoon.compareAndSet(false, true)) {
            connections.after(SOON_MILLIS, () -> {
                reportingSoon.set(false);
                report(usage::nextHits);
            });
        }
    }

    private void reportUsage()
    {
        report(usage::next);
    }

    private void report(Supplier<Optional<Usage>> next)
    {
        if (!reporting.isDone() || local.link().session().isEmpty() || closed) {
            return;
        }
        next.get().ifPresent(this::report);
    }

    private void reportClasses()
    {
        local.link().session().ifPresent(session -> classHits.drain().forEach(session::sendOneWay));
    }

    private CompletableFuture<Ack> report(Usage batch)
    {
        CompletableFuture<Ack> answer = connections.ask(local.link(), batch, Ack.class, config.timeouts().silenceMillis());
        reporting = answer;
        return answer.whenComplete((_, failure) -> {
            if (failure == null) {
                usage.acknowledged(batch.batch());
                if (batch.counters().size() > MANY_TABLES) {
                    // what did not fit into the batch
                    connections.soon(this::reportUsage);
                }
            }
        });
    }

    private void forgetSentQuotas()
    {
        local.link().session().ifPresent(WorkerSession::forgetSentQuotas);
        for (WorkerLink peer : connections.peers()) {
            peer.session().ifPresent(WorkerSession::forgetSentQuotas);
        }
    }

    private void watch()
    {
        Set<String> topics = new HashSet<>();
        watch(local.link(), "cache worker of this host (%s)".formatted(local.link().endpoint()), local.problem(), topics);
        for (WorkerLink peer : connections.peers()) {
            watch(peer, "cache worker of another host (%s)".formatted(peer.endpoint()), peer.problem(), topics);
        }
        stateLog.retain(topics);
        stateLog.logChanges();
    }

    private void reportLocalProblem()
    {
        if (local.link().session().isEmpty() && !local.link().isConnecting()) {
            local.link().problem().ifPresent(localProblems);
        }
    }

    private void watch(WorkerLink link, String topic, Optional<String> problem, Set<String> topics)
    {
        topics.add(topic);
        if (!link.isConnecting()) {
            stateLog.update(topic, problem);
        }
    }

    /**
     * Sends what was counted and ends all connections and threads. Reads go on, from the origin.
     */
    @Override
    public void close()
    {
        if (closed) {
            return;
        }
        closed = true;
        flush();
        connections.close();
        local.close();
        hedgeExecutor.shutdownNow();
    }

    private void flush()
    {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FLUSH_MILLIS);
        try {
            reporting.handle((_, _) -> null).get(FLUSH_MILLIS, TimeUnit.MILLISECONDS);
            while (local.link().session().isPresent() && System.nanoTime() < deadline) {
                Optional<Usage> batch = usage.next();
                if (batch.isEmpty()) {
                    return;
                }
                report(batch.get()).get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException | TimeoutException e) {
            // a worker whose disk is slow replies late, and counts what it receives
            log.debug(e, "the last counters are sent without waiting for a reply");
            local.link().session().ifPresent(session -> usage.last().forEach(session::sendOneWay));
        }
    }
}
