package io.cachedhive.worker.handover;

import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.store.BlockStore;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.worker.fetch.PeerSource;
import io.cachedhive.worker.flush.ExchangedRecords;
import io.cachedhive.worker.flush.FlushExchange;
import io.cachedhive.worker.origin.Origins;
import io.cachedhive.worker.ring.RingRegistry;
import io.cachedhive.worker.time.WorkerTimer;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * What this worker takes from other cache workers when the ring changes, and gives to them.
 *
 * <p>Hand-over is a pull. On a miss, the owner of a block asks those who owned it on the rings of the last hour, before the origin ({@link FormerOwnerSource}). A worker that
 * leaves names its blocks to their new owners, who read them at once ({@link Drain}, {@link HandOverRequests}). All reads from another worker are look-ups there and fill nothing
 * ({@link PeerReader}), so that two workers can never wait for each other.
 */
public final class HandOverService
        implements AutoCloseable
{
    private static final int IO_THREADS = 2;
    private static final int REQUESTS_PER_WORKER = 1024;
    // how many times the silence of a peer the start waits for tombstones: 2 s by default
    private static final int START_SILENCES = 4;

    private final WorkerConnections connections;
    private final ChunkSizes chunkSizes = new ChunkSizes();
    private final HandOverCounters counters = new HandOverCounters();
    private final FormerOwnerSource formerOwners;
    private final HandOverRequests requests;
    private final Drain drain;
    private final FlushExchange flushExchange;

    /**
     * @param executor takes blocks over from workers that leave, a few at a time; refuses when its queue is full
     */
    public HandOverService(
            BlockStore store,
            RingRegistry rings,
            Origins origins,
            PeerSettings settings,
            WorkerTimer timer,
            ExchangedRecords records,
            Executor executor)
    {
        Duration peerSilence = settings.silence();
        List<NamedOrigin> named = origins.all().stream()
                .map(origin -> new NamedOrigin(origin.name(), origin.id()))
                .toList();
        ClientIdentity identity = new ClientIdentity("", "", store.workerId().value(), named, settings.sharedSecret());
        Timeouts timeouts = new Timeouts(peerSilence.toMillis(), 10_000, 300, 1000);
        this.connections = new WorkerConnections("hand-over", identity, timeouts, IO_THREADS, REQUESTS_PER_WORKER, timer::nanoTime);
        FormerOwners owners = new FormerOwners(rings, store.workerId(), settings.zone(), timer::now);
        this.flushExchange = new FlushExchange(records, connections, rings, store.workerId(), peerSilence.multipliedBy(START_SILENCES));
        PeerReader reader = new PeerReader(
                store,
                connections,
                named,
                peerSilence,
                peer -> flushExchange.isInStep(peer.id(), peer.address()),
                records.flushes()::isBeingFlushed,
                records.pins()::isUnpinned);
        this.formerOwners = new FormerOwnerSource(owners, reader, counters, store.blockSizeBytes());
        this.drain = new Drain(store, rings, settings.zone(), connections, chunkSizes, counters, timer::nanoTime);
        this.requests = new HandOverRequests(store, owners, reader, counters, executor, drain::isLeaving);
    }

    /**
     * To be asked before the origins.
     */
    public PeerSource peers()
    {
        return formerOwners;
    }

    /**
     * Answers other cache workers.
     */
    public HandOverRequests requests()
    {
        return requests;
    }

    public Drain drain()
    {
        return drain;
    }

    /**
     * To be told by clients.
     */
    public ChunkSizes chunkSizes()
    {
        return chunkSizes;
    }

    /**
     * With the workers that blocks are taken from.
     */
    public FlushExchange flushExchange()
    {
        return flushExchange;
    }

    public HandOverCounters counters()
    {
        return counters;
    }

    @Override
    public void close()
    {
        flushExchange.close();
        drain.close();
        connections.close();
    }
}
