package io.cachedhive.client.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.UnsafeFileException;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.RingMessage;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * The cache worker of this host: the connection to it, its shared memory and the rings that it tells.
 *
 * <p>The memory is used while the connection stands, and for less than a second after it was lost: perhaps only the connection was. Then it is unmapped,
 * so that a dead worker's memory is the host's again.
 */
public final class LocalTier
        implements WorkerLink.Listener
{
    private static final long TICK_MILLIS = 200;
    private static final long ORPHAN_NANOS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerConnections connections;
    private final BlockMemory.Opener opener;
    private final long silenceMillis;
    private final KnownRings rings = new KnownRings();
    private final WorkerLink link;

    // null while there is none
    private volatile Mapping mapping;
    private volatile Optional<Welcome> lastWelcome = Optional.empty();
    private volatile Optional<String> memoryProblem = Optional.empty();

    @GuardedBy("this")
    private boolean connected;
    @GuardedBy("this")
    private long disconnectedNanos;
    @GuardedBy("this")
    private long mapAttemptNanos;
    @GuardedBy("this")
    private long ringsSequence;
    @GuardedBy("this")
    private long ringsAskedNanos;
    @GuardedBy("this")
    private boolean closed;

    /**
     * Connects at once.
     */
    public LocalTier(WorkerConnections connections, Path socket, BlockMemory.Opener opener, long silenceMillis)
    {
        this.connections = requireNonNull(connections, "connections is null");
        this.opener = requireNonNull(opener, "opener is null");
        this.silenceMillis = silenceMillis;
        this.ringsAskedNanos = connections.nanoTime() - ASK_NANOS;
        this.link = connections.local(socket, this);
        link.start();
        connections.every(TICK_MILLIS, this::tick);
    }

    /**
     * @param blockSizeBytes of the memory's own
     */
    public record Mapping(BlockMemory memory, Digest128 instance, int blockSizeBytes) {}

    public WorkerLink link()
    {
        return link;
    }

    /**
     * What may be read from without asking; null if there is nothing.
     */
    public Mapping mapping()
    {
        return mapping;
    }

    /**
     * The worker, the last one while it is away.
     */
    public Optional<CacheWorkerId> workerId()
    {
        return lastWelcome.map(Welcome::worker);
    }

    public Optional<Digest128> instance()
    {
        return lastWelcome.map(Welcome::instance);
    }

    /**
     * What is wrong, in one sentence with the remedy.
     */
    public Optional<String> problem()
    {
        return link.problem()
                .or(() -> link.session().flatMap(WorkerSession::originProblem))
                .or(() -> memoryProblem);
    }

    public KnownRings rings()
    {
        return rings;
    }

    /**
     * The ring of the epoch; the newest known if that one is unknown.
     */
    public Optional<PublishedRing> ring(Optional<RingEpoch> epoch)
    {
        if (epoch.isEmpty()) {
            return rings.newest();
        }
        Optional<PublishedRing> ring = rings.find(epoch.get());
        if (ring.isEmpty()) {
            // a split may be here before the worker's news of its ring
            listen();
            ring = rings.find(epoch.get());
            if (ring.isEmpty()) {
                // the memory has no room for the largest rings
                askForRings();
                ring = rings.newest();
            }
        }
        return ring;
    }

    @Override
    public void connected(WorkerSession session)
    {
        lastWelcome = Optional.of(session.welcome());
        synchronized (this) {
            connected = true;
            ringsAskedNanos = connections.nanoTime() - ASK_NANOS;
            map(session.welcome());
            listen();
        }
    }

    @Override
    public synchronized void disconnected(WorkerSession session)
    {
        connected = false;
        disconnectedNanos = connections.nanoTime();
    }

    @GuardedBy("this")
    private void map(Welcome welcome)
    {
        mapAttemptNanos = connections.nanoTime();
        Mapping current = mapping;
        if (current != null && current.instance().equals(welcome.instance()) && current.memory().state() == MemoryState.LIVE) {
            return;
        }
        unmap();
        if (welcome.memoryFile().isEmpty() || closed) {
            memoryProblem = Optional.empty();
            return;
        }
        try {
            BlockMemory memory = opener.open(Path.of(welcome.memoryFile()));
            if (memory.state() != MemoryState.LIVE || !memory.instance().equals(welcome.instance())) {
                // the worker's end has overtaken its welcome
                memory.close();
                return;
            }
            ringsSequence = 0;
            mapping = new Mapping(memory, memory.instance(), memory.blockSizeBytes());
            memoryProblem = Optional.empty();
        }
        catch (UnsafeFileException e) {
            memoryProblem = Optional.of(("shared memory %s is refused, and all bytes come over the socket, because %s: "
                    + "remove the file, let only the cache worker's user write to cache.ram.directory, and restart the cache worker").formatted(
                            welcome.memoryFile(),
                            e.getMessage()));
        }
        catch (IOException | RuntimeException e) {
            memoryProblem = Optional.of(("shared memory %s cannot be mapped, and all bytes come over the socket (%s): "
                    + "let Trino's user read the file, or, after an upgrade, restart Trino").formatted(welcome.memoryFile(), e));
        }
    }

    private void unmap()
    {
        Mapping current = mapping;
        if (current != null) {
            mapping = null;
            current.memory().close();
        }
    }

    private synchronized void tick()
    {
        Mapping current = mapping;
        if (current != null) {
            boolean orphaned = !connected && connections.nanoTime() - disconnectedNanos >= ORPHAN_NANOS;
            if (orphaned || current.memory().state() != MemoryState.LIVE) {
                unmap();
            }
        }
        if (connected && mapping == null && connections.nanoTime() - mapAttemptNanos >= ASK_NANOS) {
            lastWelcome.ifPresent(this::map);
        }
        listen();
    }

    /**
     * Hears of new rings: from the memory at once, over the connection a little later.
     */
    private synchronized void listen()
    {
        Mapping current = mapping;
        if (current != null) {
            long sequence = current.memory().ringsSequence();
            if (sequence != ringsSequence) {
                rings.add(current.memory().rings());
                ringsSequence = sequence;
            }
            return;
        }
        askForRings();
    }

    private synchronized void askForRings()
    {
        long now = connections.nanoTime();
        if (connected && now - ringsAskedNanos >= ASK_NANOS) {
            ringsAskedNanos = now;
            // not before the listener of the connection has returned
            connections.soon(() -> {
                if (link.session().isPresent()) {
                    connections.ask(link, new RingMessage.GetRings(), RingMessage.Rings.class, silenceMillis).thenAccept(answer -> rings.add(answer.rings()));
                }
            });
        }
    }

    /**
     * Unmaps the memory.
     */
    public synchronized void close()
    {
        closed = true;
        unmap();
    }
}
