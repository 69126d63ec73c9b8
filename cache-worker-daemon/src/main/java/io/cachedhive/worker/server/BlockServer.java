package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.TlsContexts;
import io.cachedhive.transport.tls.TlsCredentials;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static java.util.Objects.requireNonNull;

/**
 * Serves the block protocol on the Unix socket and, with a shared secret, on TCP. A connection has two threads, which are
 * platform threads: the first TLS handshakes of a process initialize many classes, and virtual threads that wait for an
 * initialization keep their carriers (JDK-8369238), so that handshakes at the same time could stop all of them for ever.
 *
 * <p>An unauthenticated peer can use only one of a few connections (a new one closes the oldest of the host that has the
 * most), for a few seconds, with frames of a few KiB, and its host only some handshakes per second.
 */
public final class BlockServer
        implements AutoCloseable
{
    private static final Logger log = Logger.get(BlockServer.class);

    /**
     * Limits of the server.
     *
     * @param handshakeTimeout the maximum duration of a handshake
     * @param maxUnproven the maximum number of connections in their handshake, for each of the two sockets
     * @param stuckTimeout a connection is closed when its peer reads no byte of an answer for this long, or does not
     * complete a message in this time and another second for each MiB
     * @param bodyBytes the memory for the bodies of concurrent large requests, of which one peer may use a quarter
     * @param unprovenHandshakes the number of TLS handshakes that an address may begin at once without proving the secret
     * @param unprovenHandshakesPerSecond the number of TLS handshakes that it may begin per second after these
     */
    public record Limits(
            Duration handshakeTimeout,
            int maxUnproven,
            Duration stuckTimeout,
            int bodyBytes,
            int unprovenHandshakes,
            double unprovenHandshakesPerSecond)
    {
        public static final Limits DEFAULT = new Limits(Duration.ofSeconds(5), 64, Duration.ofSeconds(30), 64 << 20, 256, 64);
    }

    private static final long STACK_BYTES = 512 << 10;
    private static final String IDLE_THREAD = "block-server-idle";
    private static final int IDLE_THREAD_SECONDS = 1;
    private static final int PEERS_PER_BODY_BUDGET = 4;
    private static final long MIN_BODY_BYTES_PER_SECOND = 1 << 20;
    /**
     * The maximum number of connections with the role READER. The client of a catalog has one or two.
     */
    static final int MAX_READERS = 256;

    private final ListenSockets sockets;
    private final Secrets secrets;
    private final TlsMode tlsMode;
    private final SSLContext tlsContext = TlsContexts.selfSignedServer();
    private final Optional<Certificates> certificates;
    private final Limits limits;
    private final Welcomer welcomer;
    private final RequestHandler handler;
    private final PeerRefusals refusals;
    private final BodyBudget bodyBudget;
    private final HandshakeBudget handshakeBudget;
    private final LogLimit failures = new LogLimit();
    private final LogLimit failedAccepts = new LogLimit();
    private final LogLimit failedThreads = new LogLimit();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger readers = new AtomicInteger();
    // those of one socket do not displace those of the other; in the order of their arrival
    @GuardedBy("itself")
    private final Map<Transport, Map<Connection, ScheduledFuture<?>>> unproven = new EnumMap<>(Transport.class);
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, daemonThreadsNamed("block-server-timer"));
    // used again for a short time: each connection of a flood would create a thread otherwise
    private final ExecutorService threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_THREAD_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name(IDLE_THREAD).stackSize(STACK_BYTES).factory());
    private final List<Thread> acceptors = new ArrayList<>();
    private final LongAdder acceptedConnections = new LongAdder();
    private final LongAdder plainConnections = new LongAdder();
    private volatile boolean stopped;

    /**
     * @param secrets the secrets of which peers on TCP must know one
     * @param tlsMode whether peers on TCP must use TLS
     * @param certificates the certificates of the operator; empty for a self-signed one
     */
    public BlockServer(
            ListenSockets sockets,
            Secrets secrets,
            TlsMode tlsMode,
            Optional<Certificates> certificates,
            Limits limits,
            Welcomer welcomer,
            RequestHandler handler,
            PeerRefusals refusals)
    {
        this.certificates = requireNonNull(certificates, "certificates is null");
        this.sockets = requireNonNull(sockets, "sockets is null");
        this.secrets = requireNonNull(secrets, "secrets is null");
        this.tlsMode = requireNonNull(tlsMode, "tlsMode is null");
        this.limits = requireNonNull(limits, "limits is null");
        this.welcomer = requireNonNull(welcomer, "welcomer is null");
        this.handler = requireNonNull(handler, "handler is null");
        this.refusals = requireNonNull(refusals, "refusals is null");
        this.bodyBudget = new BodyBudget(limits.bodyBytes(), limits.bodyBytes() / PEERS_PER_BODY_BUDGET);
        this.handshakeBudget = new HandshakeBudget(limits.unprovenHandshakes(), limits.unprovenHandshakesPerSecond(), System::nanoTime);
        for (Transport transport : Transport.values()) {
            unproven.put(transport, new LinkedHashMap<>());
        }
        // the task of a finished handshake would hold its connection until the time-out
        scheduler.setRemoveOnCancelPolicy(true);
    }

    public void start()
    {
        acceptors.add(Thread.ofPlatform().daemon().name("block-server-unix").start(() -> accept(sockets.unix(), Transport.UNIX)));
        sockets.tcp().ifPresent(tcp -> acceptors.add(Thread.ofPlatform().daemon().name("block-server-tcp").start(() -> accept(tcp, Transport.TCP))));
        long period = Math.max(1, limits.stuckTimeout().toMillis() / 4);
        scheduler.scheduleWithFixedDelay(this::closeStuckConnections, period, period, TimeUnit.MILLISECONDS);
    }

    private void accept(ServerSocketChannel listener, Transport transport)
    {
        while (!stopped) {
            SocketChannel channel;
            try {
                channel = listener.accept();
            }
            catch (ClosedChannelException _) {
                return;
            }
            catch (IOException e) {
                // most likely out of file descriptors, until other connections close
                failedAccepts.add().ifPresent(count -> log.warn("Block server cannot accept a connection: %s (%s times since the last message)", e, count));
                pause();
                continue;
            }
            try {
                serve(channel, transport);
            }
            catch (IOException e) {
                log.debug("Connection ended before it was served: %s", e);
                closeQuietly(channel);
            }
            catch (RuntimeException e) {
                closeQuietly(channel);
                if (stopped) {
                    return;
                }
                // the next connection may be served
                failedAccepts.add().ifPresent(count -> log.error(e, "Block server cannot serve a connection (%s times since the last message)", count));
            }
        }
    }

    private static void pause()
    {
        try {
            Thread.sleep(Duration.ofSeconds(1));
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(SocketChannel channel, Transport transport)
            throws IOException
    {
        String peer;
        Optional<String> refusal = Optional.empty();
        if (transport == Transport.UNIX) {
            UserPrincipal user = SocketUsers.user(channel);
            peer = "a process of the user " + user.getName();
            refusal = sockets.users().admits(user) ? Optional.empty() : Optional.of(SocketUsers.refusal(user));
        }
        else {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            peer = channel.getRemoteAddress() instanceof InetSocketAddress address ? address.getAddress().getHostAddress() : "a disconnected peer";
        }
        Connection connection = new Connection(channel, transport, peer, this);
        if (refusal.isPresent()) {
            refusals.refused(peer, refusal.get());
            // fits into the buffer of the new socket
            connection.refuseAtOnce(refusal.get());
            return;
        }
        addUnproven(connection);
        if (!start("block-server-handshake", connection::serve) || stopped) {
            connection.close();
        }
    }

    /**
     * Starts the thread that sends the answers of a connection.
     *
     * @return whether there is one
     */
    boolean startWriter(Connection connection)
    {
        return start("block-server-write", connection::writeAnswers);
    }

    private boolean start(String name, Runnable task)
    {
        try {
            threads.execute(() -> {
                Thread.currentThread().setName(name);
                try {
                    task.run();
                }
                finally {
                    Thread.currentThread().setName(IDLE_THREAD);
                }
            });
            return true;
        }
        catch (RejectedExecutionException _) {
            // closed meanwhile
            return false;
        }
        catch (OutOfMemoryError e) {
            // not of the heap: the system gives this process no more threads, until other connections close
            failedThreads.add().ifPresent(count -> log.warn(
                    "Block server cannot start a thread: %s (%s times since the last message): raise the limit of threads of this process (TasksMax, pids.max, ulimit -u)",
                    e.getMessage(),
                    count));
            return false;
        }
    }

    private void addUnproven(Connection connection)
    {
        Optional<Connection> oldest = Optional.empty();
        ScheduledFuture<?> timeout = scheduler.schedule(
                () -> refuse(connection, "its handshake took longer than %s ms".formatted(limits.handshakeTimeout().toMillis())),
                limits.handshakeTimeout().toMillis(),
                TimeUnit.MILLISECONDS);
        synchronized (unproven) {
            Map<Connection, ScheduledFuture<?>> sameSocket = unproven.get(connection.transport());
            if (sameSocket.size() >= limits.maxUnproven()) {
                oldest = Optional.of(oldestOfMost(sameSocket.keySet()));
            }
            sameSocket.put(connection, timeout);
        }
        oldest.ifPresent(victim -> refuse(victim, "more than %s connections have not finished their handshake".formatted(limits.maxUnproven())));
    }

    /**
     * Returns the oldest connection of the peer that has the most, so that a flood of one host displaces its own.
     */
    private static Connection oldestOfMost(Set<Connection> connections)
    {
        Map<String, Integer> counts = new HashMap<>();
        connections.forEach(connection -> counts.merge(connection.peer(), 1, Integer::sum));
        int most = Collections.max(counts.values());
        return connections.stream().filter(connection -> counts.get(connection.peer()) == most).findFirst().orElseThrow();
    }

    private void refuse(Connection connection, String reason)
    {
        if (removeUnproven(connection)) {
            refusals.refused(connection.peer(), reason);
            connection.close();
        }
    }

    private boolean removeUnproven(Connection connection)
    {
        ScheduledFuture<?> timeout;
        synchronized (unproven) {
            timeout = unproven.get(connection.transport()).remove(connection);
        }
        if (timeout == null) {
            return false;
        }
        timeout.cancel(false);
        return true;
    }

    /**
     * Records that the handshake of a connection has completed.
     *
     * @return whether the connection may continue
     */
    boolean established(Connection connection)
    {
        if (!removeUnproven(connection)) {
            return false;
        }
        if (connection.role() == PeerRole.READER && readers.incrementAndGet() > MAX_READERS) {
            readers.decrementAndGet();
            refusals.refused(connection.peer(), "more than %s connections did not prove the shared secret: close some, or give their clients the secret".formatted(MAX_READERS));
            return false;
        }
        connections.add(connection);
        acceptedConnections.increment();
        if (stopped) {
            forget(connection);
            return false;
        }
        return true;
    }

    void closed(Connection connection)
    {
        removeUnproven(connection);
        forget(connection);
    }

    private void forget(Connection connection)
    {
        if (connections.remove(connection) && connection.role() == PeerRole.READER) {
            readers.decrementAndGet();
        }
    }

    private void closeStuckConnections()
    {
        // an exception would end the schedule
        try {
            findStuckConnections();
        }
        catch (RuntimeException | Error e) {
            log.error(e, "Cannot close connections that are stuck");
        }
    }

    private void findStuckConnections()
    {
        List<String> valid = secrets.valid();
        for (Connection connection : connections) {
            if (connection.isOnExpiredSecret(valid)) {
                log.debug("Closed the connection of %s, which proved a secret that is no longer valid", connection.peer());
                connection.close();
            }
        }
        for (Connection connection : connections) {
            if (connection.isStuck(limits.stuckTimeout().toNanos())) {
                refusals.refused(connection.peer(), "it read no byte of its replies for %s ms".formatted(limits.stuckTimeout().toMillis()));
                connection.close();
            }
            else if (connection.isFrameLate()) {
                refusals.refused(connection.peer(), "it began a message and did not complete it in time");
                connection.close();
            }
        }
    }

    /**
     * Returns the time for a peer to send a body of a length.
     */
    long bodyNanos(int length)
    {
        return limits.stuckTimeout().toNanos() + length * TimeUnit.SECONDS.toNanos(1) / MIN_BODY_BYTES_PER_SECOND;
    }

    HandshakeBudget handshakeBudget()
    {
        return handshakeBudget;
    }

    BodyBudget bodyBudget()
    {
        return bodyBudget;
    }

    /**
     * Logs an error in the code that serves a connection, at most once per minute because a peer may provoke it.
     */
    void logFailure(RuntimeException failure, String peer, String reason)
    {
        failures.add().ifPresent(count -> log.error(failure, "Connection of %s is closed: %s (%s closed since the last message)", peer, reason, count));
    }

    Secrets secrets()
    {
        return secrets;
    }

    TlsMode tlsMode()
    {
        return tlsMode;
    }

    /**
     * Returns the context with a self-signed certificate, for connections without {@link #credentials}.
     */
    SSLContext tlsContext()
    {
        return tlsContext;
    }

    /**
     * Returns the credentials of the operator for a new connection.
     */
    Optional<TlsCredentials> credentials()
    {
        return certificates.map(Certificates::current);
    }

    /**
     * Counts a TCP connection without TLS.
     */
    void plainConnection()
    {
        plainConnections.increment();
    }

    Welcomer welcomer()
    {
        return welcomer;
    }

    RequestHandler handler()
    {
        return handler;
    }

    PeerRefusals refusals()
    {
        return refusals;
    }

    /**
     * Returns the number of handshakes completed since the start.
     */
    public long acceptedConnections()
    {
        return acceptedConnections.sum();
    }

    /**
     * Returns the number of TCP connections without TLS since the start.
     */
    public long plainConnections()
    {
        return plainConnections.sum();
    }

    /**
     * Returns the number of open connections whose peers proved another secret than the preferred one.
     */
    public int formerSecretConnections()
    {
        List<String> valid = secrets.valid();
        return (int) connections.stream().filter(connection -> connection.isOnFormerSecret(valid)).count();
    }

    /**
     * Returns the number of connections in their handshake.
     */
    int unprovenCount()
    {
        synchronized (unproven) {
            return unproven.values().stream().mapToInt(Map::size).sum();
        }
    }

    /**
     * Returns the number of open connections that have completed their handshake.
     */
    public int connectionCount()
    {
        return connections.size();
    }

    private static void closeQuietly(SocketChannel channel)
    {
        try {
            channel.close();
        }
        catch (IOException _) {
            // the channel is discarded anyway
        }
    }

    @Override
    public void close()
    {
        stopped = true;
        sockets.close();
        List<Connection> unprovenConnections;
        synchronized (unproven) {
            unprovenConnections = unproven.values().stream().flatMap(handshakes -> handshakes.keySet().stream()).collect(toImmutableList());
        }
        unprovenConnections.forEach(Connection::close);
        connections.forEach(Connection::close);
        scheduler.shutdownNow();
        threads.shutdown();
        acceptors.forEach(Thread::interrupt);
    }
}
