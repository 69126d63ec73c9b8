package io.cachedhive.transport;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.transport.WorkerException.Reason;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * All connections of one client, and the threads that serve them: some for I/O, one for time, and now and then one to look up names of hosts.
 */
public final class WorkerConnections
        implements AutoCloseable
{
    private static final Logger log = Logger.get(WorkerConnections.class);

    private static final long TICK_MILLIS = 100;
    private static final long CERTIFICATE_CHECK_MILLIS = 10_000;
    private static final int RESOLVERS = 4;
    private static final int MAX_LOOK_UPS = 256;
    private static final long CLOSE_SECONDS = 5;
    private static final long UNUSED_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final ClientIdentity identity;
    private final Optional<Path> ownSocket;
    private final Timeouts timeouts;
    private final int requestsPerWorker;
    private final LongSupplier nanoTime;
    private final SecureRandom random = new SecureRandom();
    private final SSLContext tls = TlsContexts.secretClient();
    private final List<IoLoop> loops = new ArrayList<>();
    private final AtomicInteger nextLoop = new AtomicInteger();
    private final ScheduledThreadPoolExecutor timer;
    private final ThreadPoolExecutor resolver;
    private final Map<Endpoint, WorkerLink> peers = new ConcurrentHashMap<>();
    private final List<WorkerLink> locals = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    /**
     * @param name of the threads
     * @param ownSocket the Unix socket of this host's worker, over which a client without a secret reaches it; such a client reaches no other worker
     */
    public WorkerConnections(
            String name,
            ClientIdentity identity,
            Optional<Path> ownSocket,
            Timeouts timeouts,
            int ioThreads,
            int requestsPerWorker,
            LongSupplier nanoTime)
    {
        this.identity = requireNonNull(identity, "identity is null");
        this.ownSocket = requireNonNull(ownSocket, "ownSocket is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
        this.requestsPerWorker = requestsPerWorker;
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        for (int i = 0; i < ioThreads; i++) {
            loops.add(new IoLoop("%s-io-%s".formatted(name, i)));
        }
        this.timer = new ScheduledThreadPoolExecutor(1, threads(name + "-timer"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.resolver = new ThreadPoolExecutor(RESOLVERS, RESOLVERS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_LOOK_UPS), threads(name + "-names"));
        resolver.allowCoreThreadTimeOut(true);
        every(TICK_MILLIS, this::tick);
        // reports that they expire also while no connection is opened
        identity.certificates().ifPresent(certificates -> every(CERTIFICATE_CHECK_MILLIS, certificates::current));
    }

    private static ThreadFactory threads(String name)
    {
        return Thread.ofPlatform().daemon().name(name).factory();
    }

    /**
     * The worker of this host. From {@link WorkerLink#start} on it is looked for for good.
     */
    public WorkerLink local(Path socket, WorkerLink.Listener listener)
    {
        WorkerLink link = new WorkerLink(this, new Endpoint.UnixSocket(socket), identity, timeouts, true, listener);
        locals.add(link);
        return link;
    }

    /**
     * A worker of another host. Connects when it is asked for something.
     *
     * @param worker who has to answer there; empty for whoever does
     */
    public WorkerLink peer(WorkerAddress address, Optional<CacheWorkerId> worker)
    {
        Endpoint endpoint = new Endpoint.Tcp(address, worker);
        WorkerLink link = peers.get(endpoint);
        if (link == null) {
            link = peers.computeIfAbsent(endpoint, _ -> new WorkerLink(this, endpoint, identity, timeouts, false, WorkerLink.Listener.NONE));
            if (closed) {
                link.close();
            }
        }
        return link;
    }

    public List<WorkerLink> peers()
    {
        return List.copyOf(peers.values());
    }

    public long nanoTime()
    {
        return nanoTime.getAsLong();
    }

    /**
     * Runs the task on the thread for time, again and again. It must not block for long; what it throws is logged.
     */
    public void every(long millis, Runnable task)
    {
        timer.scheduleWithFixedDelay(guarded(task), millis, millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Runs the task on the thread for time; not at all on a closed client.
     */
    public void soon(Runnable task)
    {
        try {
            timer.execute(guarded(task));
        }
        catch (RejectedExecutionException e) {
            log.debug("closed: a task is not run");
        }
    }

    /**
     * Runs the task once, on the thread for time; on a closed client at once.
     */
    public Future<?> after(long millis, Runnable task)
    {
        try {
            return timer.schedule(guarded(task), millis, TimeUnit.MILLISECONDS);
        }
        catch (RejectedExecutionException e) {
            task.run();
            return CompletableFuture.completedFuture(null);
        }
    }

    private static Runnable guarded(Runnable task)
    {
        return () -> {
            try {
                task.run();
            }
            catch (RuntimeException | Error e) {
                log.error(e, "task failed");
            }
        };
    }

    private void tick()
    {
        locals.forEach(WorkerLink::tick);
        peers.values().forEach(WorkerLink::tick);
        peers.values().removeIf(link -> {
            boolean unused = link.isUnusedFor(UNUSED_NANOS);
            if (unused) {
                link.close();
            }
            return unused;
        });
    }

    WorkerSession newSession(Endpoint endpoint, ClientIdentity identity, WorkerSession.Events events)
    {
        byte[] nonce = new byte[HandshakeProof.NONCE_BYTES];
        random.nextBytes(nonce);
        IoLoop loop = loops.get(Math.floorMod(nextLoop.getAndIncrement(), loops.size()));
        return new WorkerSession(endpoint, identity, ownSocket, nonce, tls, loop, requestsPerWorker, events);
    }

    void start(WorkerSession session)
    {
        if (closed) {
            session.close(new WorkerException(Reason.CLOSED, "this client is closed"));
            return;
        }
        after(timeouts.silenceMillis(), () -> {
            if (!session.isEstablished()) {
                session.close(new WorkerException(Reason.SILENT, "cache worker at %s did not finish the handshake in time".formatted(session.endpoint())));
            }
        });
        switch (session.endpoint()) {
            case Endpoint.UnixSocket _ -> session.start(Optional.empty());
            case Endpoint.Tcp(var address, _) -> startTcp(session, address.host());
        }
    }

    private void startTcp(WorkerSession session, String host)
    {
        try {
            session.start(Optional.of(InetAddress.ofLiteral(host)));
            return;
        }
        catch (IllegalArgumentException e) {
            // a name
        }
        try {
            resolver.execute(() -> {
                if (!session.isOpen()) {
                    // others' names took too long
                    return;
                }
                try {
                    session.start(Optional.of(InetAddress.getByName(host)));
                }
                catch (UnknownHostException e) {
                    session.close(new WorkerException(Reason.UNREACHABLE, "the name of the cache worker's host is not known: %s".formatted(host)));
                }
            });
        }
        catch (RejectedExecutionException e) {
            session.close(closed ?
                    new WorkerException(Reason.CLOSED, "this client is closed") :
                    new WorkerException(Reason.UNREACHABLE, "too many host names wait for DNS: did not look up %s".formatted(host)));
        }
        catch (OutOfMemoryError e) {
            // not of the heap
            session.close(new WorkerException(Reason.UNREACHABLE, "the system gives this process no more threads to look up %s: %s".formatted(host, e.getMessage())));
        }
    }

    /**
     * Asks one question and waits for nothing.
     *
     * @return fails with a {@link WorkerException} after the time at the latest
     */
    public <T extends Message> CompletableFuture<T> ask(WorkerLink link, Message request, Class<T> answer, long timeoutMillis)
    {
        return new Question<>(link, answer, timeoutMillis).ask(this, request);
    }

    /**
     * Asks for the block that has a position of a file, if the worker has it.
     *
     * @param origin the place of the file's origin in the identity's list
     * @param position bytes from the start of the file
     * @return fails with a {@link WorkerException} after the time at the latest, and if the worker does not have the block
     */
    public CompletableFuture<CachedBlock> askBlock(WorkerLink link, int origin, FileVersion file, long position, RingEpoch epoch, String table, long timeoutMillis)
    {
        return new BlockQuestion(link, origin, file, position, epoch, table, timeoutMillis).ask(this);
    }

    /**
     * Ends all connections and threads, and returns when they have ended, but for a look-up of a name, which cannot be stopped.
     */
    @Override
    public void close()
    {
        closed = true;
        locals.forEach(WorkerLink::close);
        peers.values().forEach(WorkerLink::close);
        timer.shutdownNow();
        resolver.shutdownNow();
        loops.forEach(IoLoop::close);
        try {
            if (!timer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn("timer thread did not stop");
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
