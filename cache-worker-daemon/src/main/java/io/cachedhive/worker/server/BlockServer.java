package io.cachedhive.worker.server;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.Executors.newSingleThreadScheduledExecutor;

/**
 * Serves the block protocol on the Unix socket and on TCP. A connection has two threads.
 *
 * <p>An unauthenticated peer can use only one of a few connections (a new one closes the oldest), for a few seconds,
 * with frames of a few KiB.
 */
public final class BlockServer
        implements AutoCloseable
{
    private static final Logger log = Logger.get(BlockServer.class);

    /**
     * Limits of the server.
     *
     * @param handshakeTimeout the maximum duration of a handshake
     * @param maxUnproven the maximum number of connections in their handshake
     * @param stuckTimeout a connection is closed when its peer reads no byte of an answer for this long
     * @param bodyBytes the memory for the bodies of concurrent large requests
     */
    public record Limits(Duration handshakeTimeout, int maxUnproven, Duration stuckTimeout, int bodyBytes)
    {
        public static final Limits DEFAULT = new Limits(Duration.ofSeconds(5), 64, Duration.ofSeconds(30), 64 << 20);
    }

    private static final int MAX_PLATFORM_READERS = 256;
    private static final long READER_STACK_BYTES = 512 << 10;

    private final ListenSockets sockets;
    private final Optional<String> secret;
    private final Limits limits;
    private final Welcomer welcomer;
    private final RequestHandler handler;
    private final PeerRefusals refusals;
    private final Semaphore bodyBytes;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    // in the order of their arrival
    @GuardedBy("itself")
    private final Map<Connection, ScheduledFuture<?>> unproven = new LinkedHashMap<>();
    private final ScheduledExecutorService scheduler = newSingleThreadScheduledExecutor(daemonThreadsNamed("block-server-timer"));
    private final List<Thread> acceptors = new ArrayList<>();
    private final LongAdder acceptedConnections = new LongAdder();
    private volatile boolean stopped;

    /**
     * @param secret the secret that peers on TCP must know
     */
    public BlockServer(ListenSockets sockets, Optional<String> secret, Limits limits, Welcomer welcomer, RequestHandler handler, PeerRefusals refusals)
    {
        this.sockets = requireNonNull(sockets, "sockets is null");
        this.secret = requireNonNull(secret, "secret is null");
        this.limits = requireNonNull(limits, "limits is null");
        this.welcomer = requireNonNull(welcomer, "welcomer is null");
        this.handler = requireNonNull(handler, "handler is null");
        this.refusals = requireNonNull(refusals, "refusals is null");
        this.bodyBytes = new Semaphore(limits.bodyBytes());
    }

    public void start()
    {
        acceptors.add(Thread.ofPlatform().daemon().name("block-server-unix").start(() -> accept(sockets.unix(), Transport.UNIX)));
        acceptors.add(Thread.ofPlatform().daemon().name("block-server-tcp").start(() -> accept(sockets.tcp(), Transport.TCP)));
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
                log.warn("Block server cannot accept a connection: %s", e);
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
        String peer = "a process on this host";
        if (transport == Transport.TCP) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            peer = channel.getRemoteAddress() instanceof InetSocketAddress address ? address.getAddress().getHostAddress() : "a disconnected peer";
        }
        Connection connection = new Connection(channel, transport, peer, this);
        addUnproven(connection);
        reader().start(connection::read);
    }

    /**
     * Returns a builder for reader threads. Waking a virtual thread that waits for a socket involves two other threads,
     * which takes as long as a sixth of a block. With more connections than the hosts of a typical cluster, the smaller
     * stack of a virtual thread matters more.
     */
    private Thread.Builder reader()
    {
        if (connections.size() < MAX_PLATFORM_READERS) {
            return Thread.ofPlatform().daemon().name("block-server-read").stackSize(READER_STACK_BYTES);
        }
        return Thread.ofVirtual().name("block-server-read");
    }

    private void addUnproven(Connection connection)
    {
        Optional<Connection> oldest = Optional.empty();
        ScheduledFuture<?> timeout = scheduler.schedule(
                () -> refuse(connection, "its handshake took longer than %s ms".formatted(limits.handshakeTimeout().toMillis())),
                limits.handshakeTimeout().toMillis(),
                TimeUnit.MILLISECONDS);
        synchronized (unproven) {
            if (unproven.size() >= limits.maxUnproven()) {
                oldest = Optional.of(unproven.keySet().iterator().next());
            }
            unproven.put(connection, timeout);
        }
        oldest.ifPresent(victim -> refuse(victim, "more than %s connections have not finished their handshake".formatted(limits.maxUnproven())));
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
            timeout = unproven.remove(connection);
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
        connections.add(connection);
        acceptedConnections.increment();
        if (stopped) {
            connections.remove(connection);
            return false;
        }
        return true;
    }

    void startWriter(Connection connection)
    {
        Thread.ofVirtual().name("block-server-write-", 0).start(connection::writeAnswers);
    }

    void closed(Connection connection)
    {
        removeUnproven(connection);
        connections.remove(connection);
    }

    private void closeStuckConnections()
    {
        for (Connection connection : connections) {
            if (connection.isStuck(limits.stuckTimeout().toNanos())) {
                refusals.refused(connection.peer(), "it read no byte of its replies for %s ms".formatted(limits.stuckTimeout().toMillis()));
                connection.close();
            }
        }
    }

    void acquireBodyBytes(int bytes)
            throws InterruptedException
    {
        bodyBytes.acquire(bytes);
    }

    void releaseBodyBytes(int bytes)
    {
        bodyBytes.release(bytes);
    }

    Optional<String> secret()
    {
        return secret;
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
            unprovenConnections = ImmutableList.copyOf(unproven.keySet());
        }
        unprovenConnections.forEach(Connection::close);
        connections.forEach(Connection::close);
        scheduler.shutdownNow();
        acceptors.forEach(Thread::interrupt);
    }
}
