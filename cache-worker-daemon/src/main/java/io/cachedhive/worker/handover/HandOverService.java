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
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Transfers blocks between this worker and others when the ring changes.
 *
 * <p>Hand-over is a pull. On a miss, the owner of a block asks the owners on the rings of the last hour, before the
 * origin ({@link FormerOwnerSource}). A draining worker names its blocks to their new owners, which read them
 * immediately ({@link Drain}, {@link HandOverRequests}). A read from another worker is a lookup there and never a fill
 * ({@link PeerReader}), so two workers cannot wait for each other.
 */
public final class HandOverService
        implements AutoCloseable
{
    private static final int IO_THREADS = 2;
    private static final int REQUESTS_PER_WORKER = 1024;
    // how long startup waits for tombstones, in multiples of the peer silence: 2 s by default
    private static final int START_SILENCES = 4;

    private final WorkerConnections connections;
    private final ChunkSizes chunkSizes = new ChunkSizes();
    private final HandOverCounters counters = new HandOverCounters();
    private final FormerOwnerSource formerOwners;
    private final HandOverRequests requests;
    private final Drain drain;
    private final FlushExchange flushExchange;

    /**
     * @param executor receives blocks of draining workers, a few at a time; rejects tasks when its queue is full
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
        ClientIdentity identity = new ClientIdentity("", "", store.workerId().value(), named, settings.secrets()).withCertificates(settings.certificates());
        Timeouts timeouts = new Timeouts(peerSilence.toMillis(), 10_000, 300, 1000);
        this.connections = new WorkerConnections("hand-over", identity, Optional.empty(), timeouts, IO_THREADS, REQUESTS_PER_WORKER, timer::nanoTime);
        FormerOwners owners = new FormerOwners(rings, store.workerId(), settings.zone(), timer::now);
        this.flushExchange = new FlushExchange(records, connections, rings, store.workerId(), peerSilence.multipliedBy(START_SILENCES));
        PeerReader reader = new PeerReader(
                store,
                connections,
                named,
                peerSilence,
                origins::permit,
                peer -> flushExchange.isInStep(peer.id(), peer.address()),
                records.flushes()::isBeingFlushed,
                records.pins()::isUnpinned);
        this.formerOwners = new FormerOwnerSource(owners, reader, counters, store.blockSizeBytes());
        this.drain = new Drain(store, rings, settings.zone(), connections, chunkSizes, counters, timer::nanoTime);
        this.requests = new HandOverRequests(store, owners, reader, counters, executor, drain::isLeaving);
    }

    public PeerSource peers()
    {
        return formerOwners;
    }

    public HandOverRequests requests()
    {
        return requests;
    }

    public Drain drain()
    {
        return drain;
    }

    /**
     * Returns the chunk sizes, which the client connections update.
     */
    public ChunkSizes chunkSizes()
    {
        return chunkSizes;
    }

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
