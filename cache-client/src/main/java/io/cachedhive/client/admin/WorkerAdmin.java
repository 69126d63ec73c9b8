package io.cachedhive.client.admin;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.ListingMessage;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PreloadMessage;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.RingMessage;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerSession;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Talks to any worker over TCP, for a coordinator. Nothing blocks; every future ends within its time-out, and fails with a {@link WorkerException},
 * whose message is one sentence.
 *
 * <p>Keeps one connection to each worker that was asked in the last minutes.
 */
public final class WorkerAdmin
        implements AutoCloseable
{
    private static final int IO_THREADS = 1;
    private static final int REQUESTS_PER_WORKER = 1024;
    // announcements wait for up to a minute, on the connection by which workers are pinged and told of rings and flushes
    private static final int ANNOUNCEMENTS_PER_WORKER = 256;
    private static final long QUOTA_MILLIS = 10_000;

    private final Timeouts timeouts;
    private final WorkerConnections connections;

    private WorkerAdmin(ClientIdentity identity, Optional<Path> ownSocket, Timeouts timeouts)
    {
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
        this.connections = new WorkerConnections(
                "cachedhive-admin-" + identity.catalog(),
                identity,
                ownSocket,
                timeouts,
                IO_THREADS,
                REQUESTS_PER_WORKER,
                System::nanoTime);
        connections.every(QUOTA_MILLIS, this::forgetSentQuotas);
    }

    private void forgetSentQuotas()
    {
        connections.peers().forEach(peer -> peer.session().ifPresent(WorkerSession::forgetSentQuotas));
    }

    /**
     * @param ownSocket the Unix socket of this host's worker, over which a client without a secret reaches it; such a client reaches no other worker
     */
    public static WorkerAdmin start(ClientIdentity identity, Optional<Path> ownSocket, Timeouts timeouts)
    {
        return new WorkerAdmin(identity, ownSocket, timeouts);
    }

    public CompletableFuture<Pong> ping(WorkerAddress address)
    {
        return ask(address, new StatusMessage.Ping(), Pong.class, timeouts.silenceMillis());
    }

    /**
     * Ends when the worker has taken the ring.
     */
    public CompletableFuture<Void> publishRing(WorkerAddress address, PublishedRing ring)
    {
        return ask(address, new RingMessage.PublishRing(ring), ControlMessage.Ack.class, timeouts.silenceMillis()).thenApply(_ -> null);
    }

    /**
     * The newest first.
     */
    public CompletableFuture<List<PublishedRing>> rings(WorkerAddress address)
    {
        return ask(address, new RingMessage.GetRings(), RingMessage.Rings.class, timeouts.silenceMillis()).thenApply(RingMessage.Rings::rings);
    }

    /**
     * Returns the sums of the counters of the identity's cluster and catalog, and the gauges of the worker.
     */
    public CompletableFuture<Stats> stats(WorkerAddress address)
    {
        return ask(address, new StatusMessage.GetStats(), Stats.class, timeouts.silenceMillis());
    }

    /**
     * Reports to a worker why a client of its host cannot connect to its Unix socket.
     *
     * @param problem one sentence with its fix
     */
    public CompletableFuture<ControlMessage.Ack> reportProblem(WorkerAddress address, String problem)
    {
        return ask(address, new StatusMessage.ReportProblem(problem), ControlMessage.Ack.class, timeouts.silenceMillis());
    }

    /**
     * Returns a page of the counters by table of the identity's cluster and catalog.
     *
     * @param after only tables whose names sort after this one; empty for the first page
     */
    public CompletableFuture<Tables> tables(WorkerAddress address, String after)
    {
        return ask(address, new StatusMessage.GetTables(after), Tables.class, timeouts.silenceMillis());
    }

    /**
     * What is wrong with the origins that the worker last said to have, in one sentence with its remedy; empty while it is not connected.
     */
    public Optional<String> originProblem(WorkerAddress address)
    {
        return connections.peer(address, Optional.empty()).session().flatMap(WorkerSession::originProblem);
    }

    /**
     * @param origin the place of the file's origin in the identity's list
     * @param timeoutMillis for all of the range
     */
    public CompletableFuture<Preloaded> preload(WorkerAddress address, int origin, FileVersion file, long position, long length, RingEpoch epoch, String table, long timeoutMillis)
    {
        return ask(address, new PreloadMessage.Preload(origin, file, position, length, epoch, table), Preloaded.class, timeoutMillis);
    }

    /**
     * Reads the block that has a position of a file, if the worker has it: nothing is fetched for it, and nothing is counted.
     *
     * @param origin the place of the file's origin in the identity's list
     * @param position bytes from the start of the file
     */
    public CompletableFuture<CachedBlock> readBlock(WorkerAddress address, int origin, FileVersion file, long position, RingEpoch epoch, String table, long timeoutMillis)
    {
        return connections.askBlock(connections.peer(address, Optional.empty()), origin, file, position, epoch, table, timeoutMillis);
    }

    /**
     * Has what a worker has of some files removed, to the last byte.
     *
     * @param tombstones at most {@link InvalidationMessage.Flush#MAX_TOMBSTONES}
     * @param timeoutMillis for all of it, which is as much as is written to disks
     * @return fails at once if the worker is of a release that cannot do it
     */
    public CompletableFuture<InvalidationMessage.Flushed> flush(WorkerAddress address, List<Tombstone> tombstones, boolean requested, long timeoutMillis)
    {
        return ask(address, new InvalidationMessage.Flush(tombstones, requested), InvalidationMessage.Flushed.class, timeoutMillis);
    }

    /**
     * Reports files that were removed from an origin to a worker, which drops what it has of them.
     *
     * @param origin the place of the files' origin in the identity's list
     * @param locations at most {@link InvalidationMessage.ReleaseFiles#MAX_LOCATIONS}, prefixes if they end in {@code /}
     * @return ends when the blocks are dropped
     */
    public CompletableFuture<ControlMessage.Ack> releaseFiles(WorkerAddress address, int origin, List<String> locations, long timeoutMillis)
    {
        return ask(address, new InvalidationMessage.ReleaseFiles(origin, locations), ControlMessage.Ack.class, timeoutMillis);
    }

    /**
     * Says which places are pinned by name, or not any more.
     *
     * @param pins at most {@link PinMessage.SetPins#MAX_PINS}
     * @return ends when blocks that are there are so; fails at once if the worker is of a release that cannot do it
     */
    public CompletableFuture<ControlMessage.Ack> setPins(WorkerAddress address, List<Pin> pins, long timeoutMillis)
    {
        return ask(address, new PinMessage.SetPins(pins), ControlMessage.Ack.class, timeoutMillis);
    }

    /**
     * What a worker knows to be pinned by name, or not to be any more.
     *
     * @param after only ids beyond this one
     * @param usage whether to say what there is of each
     */
    public CompletableFuture<PinMessage.Pins> pins(WorkerAddress address, Digest128 after, boolean usage, long timeoutMillis)
    {
        return ask(address, new PinMessage.GetPins(new Digest128(0, 0), after, usage), PinMessage.Pins.class, timeoutMillis);
    }

    /**
     * What a worker has of the files of the identity's origins whose ids begin with some bits.
     */
    public CompletableFuture<ListingMessage.Files> files(WorkerAddress address, int bits, long prefix, long timeoutMillis)
    {
        return ask(address, new ListingMessage.GetFiles(bits, prefix), ListingMessage.Files.class, timeoutMillis);
    }

    /**
     * Tells a worker what a scan is about to read of it; completing or cancelling the answer takes it back. Not told, and the answer fails at once, while there is no connection
     * to the worker, or while much else is under way to it.
     *
     * @param origin the place of the files' origin in the identity's list
     * @param scan the same for all lists of one scan, another one for each scan
     * @param files at most {@link PreloadMessage.FetchAhead#MAX_FILES}, in the order in which they are likely to be read
     * @param terms on which the files are to be kept; a worker of the release before keeps them on its own
     * @param timeoutMillis after which nothing of the list is fetched any more
     * @return ends when nothing of the list waits any more
     */
    public CompletableFuture<ControlMessage.Ack> fetchAhead(
            WorkerAddress address,
            int origin,
            Digest128 scan,
            String table,
            List<FileVersion> files,
            FillTerms terms,
            long timeoutMillis)
    {
        FetchAhead ahead = new FetchAhead(origin, scan, table, files);
        Optional<WorkerSession> session = connections.peer(address, Optional.empty()).session();
        if (session.isEmpty() || !session.get().hasRoom(ANNOUNCEMENTS_PER_WORKER)) {
            // without a connection it is not known either whether the worker understands the terms
            return CompletableFuture.failedFuture(new WorkerException(WorkerException.Reason.OVERLOADED, "announcement to cache worker at %s was dropped".formatted(address)));
        }
        session.get().sendQuota(table, terms.tableQuotaBytes());
        boolean withTerms = !terms.ofBlocks().equals(FillTerms.UNSPECIFIED);
        return ask(address, withTerms ? new OnTerms(terms, ahead) : ahead, ControlMessage.Ack.class, timeoutMillis);
    }

    private <T extends Message> CompletableFuture<T> ask(WorkerAddress address, Message request, Class<T> answer, long timeoutMillis)
    {
        return connections.ask(connections.peer(address, Optional.empty()), request, answer, timeoutMillis);
    }

    /**
     * Fails what is under way, ends all connections and threads.
     */
    @Override
    public void close()
    {
        connections.close();
    }
}
