package io.cachedhive.worker.request;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.HandOverMessage;
import io.cachedhive.protocol.wire.HandOverMessage.Describe;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.HandshakeMessage.ChunkSize;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Quarantine;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.InvalidationMessage.Revalidate;
import io.cachedhive.protocol.wire.ListingMessage;
import io.cachedhive.protocol.wire.ListingMessage.GetFiles;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.SetPins;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PolicyMessage.Reclassify;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.PreloadMessage;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.GetTables;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.ReportProblem;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.CachedFile;
import io.cachedhive.worker.fetch.BlockFetcher;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.fetch.FetchTarget;
import io.cachedhive.worker.fetch.KeptTerms;
import io.cachedhive.worker.fetch.OverloadCause;
import io.cachedhive.worker.flush.ExchangedRecords;
import io.cachedhive.worker.flush.FlushService;
import io.cachedhive.worker.handover.HandOverService;
import io.cachedhive.worker.lease.FillLeases;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.S3ObjectLocation;
import io.cachedhive.worker.pin.PinService;
import io.cachedhive.worker.ring.RingRegistry;
import io.cachedhive.worker.server.Connection;
import io.cachedhive.worker.server.LogLimit;
import io.cachedhive.worker.server.RequestHandler;
import io.cachedhive.worker.server.Session.SessionOrigin;
import io.cachedhive.worker.server.Transport;
import io.cachedhive.worker.status.WorkerStatus;
import io.cachedhive.worker.usage.UsageCounters.Account;
import io.cachedhive.worker.usage.UsageJournal;

import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

/**
 * Dispatches every request of every connection to the component that handles it.
 *
 * <p><b>The client decides which worker owns a block.</b> The chunk size is a property of its catalog. The worker
 * serves any block that it has and fetches any requested block. A client with another ring still gets correct bytes; at
 * worst two workers keep a block until one evicts it. The worker therefore ignores the epoch in a READ.
 */
public final class RequestDispatcher
        implements RequestHandler
{
    private static final Logger log = Logger.get(RequestDispatcher.class);

    static final int MAX_ACTIVE_REQUESTS = 16 << 10;

    private final BlockStore store;
    private final BlockFetcher fetcher;
    private final FetchAhead fetchAhead;
    private final FillLeases leases;
    private final UsageJournal usage;
    private final RingRegistry rings;
    private final HandOverService handOvers;
    private final FlushService flushes;
    private final PinService pins;
    private final WorkerStatus status;
    private final Executor background;
    private final ReadServices readServices;
    private final RequestValidator validator;
    private final Map<Connection, ActiveRequests> connections = new ConcurrentHashMap<>();
    private final LongAdder readsBegun = new LongAdder();
    private final LogLimit quarantines = new LogLimit();
    private volatile boolean stopping;

    /**
     * @param background runs slow tasks; rejects them when its queue is full
     * @param clock tells which rings, tombstones and pins are from the future
     */
    public RequestDispatcher(
            ReadServices reads,
            UsageJournal usage,
            RingRegistry rings,
            HandOverService handOvers,
            ExchangedRecords records,
            WorkerStatus status,
            Executor background,
            Clock clock)
    {
        this.readServices = requireNonNull(reads, "reads is null");
        this.store = reads.inFlight().store();
        this.fetcher = reads.fetcher();
        this.fetchAhead = reads.fetchAhead();
        this.leases = reads.leases();
        this.usage = requireNonNull(usage, "usage is null");
        this.rings = requireNonNull(rings, "rings is null");
        this.handOvers = requireNonNull(handOvers, "handOvers is null");
        this.flushes = records.flushes();
        this.pins = records.pins();
        this.status = requireNonNull(status, "status is null");
        this.background = requireNonNull(background, "background is null");
        this.validator = new RequestValidator(store.blockSizeBytes(), clock);
    }

    @Override
    public void handle(Connection connection, long requestId, Message request)
            throws WireException
    {
        Optional<String> contradiction = validator.contradiction(connection.session(), request);
        if (contradiction.isPresent()) {
            if (request instanceof OfferGuest) {
                // the message has no answer that could report the error
                throw new WireException(contradiction.get());
            }
            connection.refuse(requestId, contradiction.get());
            return;
        }
        if (connection.transport() == Transport.UNIX) {
            status.clientProblems().connected(account(connection), connection.session().node());
        }
        switch (request) {
            case Read read -> read(connection, requestId, read, FillTerms.UNSPECIFIED);
            case OnTerms(FillTerms terms, Read read) -> read(connection, requestId, read, terms);
            case OnTerms(FillTerms terms, PreloadMessage.FetchAhead ahead) -> fetchAhead(connection, requestId, ahead, terms);
            case Reclassify(FillClass fillClass, List<Digest128> blocks) -> blocks.forEach(block -> store.setClass(block, KeptTerms.blockClass(fillClass)));
            case TableQuota(String table, long bytes) -> store.quotas().setQuota(table, bytes == FillTerms.NO_QUOTA ? OptionalLong.empty() : OptionalLong.of(bytes));
            case Fill fill -> leases.fill(connection, fill)
                    .thenAccept(refusal -> connection.send(requestId, refusal.<Message>map(ControlMessage.Error::new).orElseGet(Ack::new)));
            case OfferGuest offer -> offerGuest(connection, offer);
            case ReleaseLease release -> leases.release(connection, release.lease());
            case Revalidate revalidate -> revalidate(connection, requestId, revalidate);
            case Quarantine quarantine -> quarantine(connection, requestId, quarantine);
            case ReleaseFiles release -> release(connection, requestId, release);
            case Cancel cancel -> requests(connection).take(cancel.request()).ifPresent(ActiveRequests.Active::cancel);
            case Usage batch -> count(connection, requestId, batch);
            case Ping _ -> connection.send(requestId, status.pong());
            case PublishRing ring -> {
                rings.publish(ring.ring());
                connection.send(requestId, new Ack());
            }
            case GetRings _ -> connection.send(requestId, new Rings(rings.rings()));
            case ReportProblem(String problem) -> {
                status.clientProblems().report(account(connection), connection.session().node(), problem);
                connection.send(requestId, new Ack());
            }
            case GetStats _ -> connection.send(requestId, status.stats(account(connection)));
            case GetTables tables -> inBackground(connection, requestId, () -> connection.send(requestId, usage.counters().page(account(connection), tables.after())));
            case Preload preload -> preload(connection, requestId, preload);
            case PreloadMessage.FetchAhead ahead -> fetchAhead(connection, requestId, ahead, FillTerms.UNSPECIFIED);
            case ChunkSize size -> setChunkSize(connection, size.bytes());
            case Describe describe -> connection.send(requestId, flushes.isReady() ? handOvers.requests().describe(describe) : HandOverMessage.Description.UNKNOWN);
            case Flush flush -> flush(connection, requestId, flush);
            case GetFiles slice -> inBackground(connection, requestId, () -> connection.send(requestId, files(connection, slice)));
            case GetTombstones tombstones -> connection.send(requestId, flushes.answer(tombstones));
            case SetPins(List<Pin> said) -> setPins(connection, requestId, said);
            case GetPins pinned when !pinned.usage() -> connection.send(requestId, pins.answer(pinned));
            case GetPins pinned -> inBackground(connection, requestId, () -> connection.send(requestId, pins.answer(pinned)));
            case HandOver handOver -> handOvers.requests().take(handOver, answer -> connection.send(requestId, answer));
            default -> throw new WireException("a client does not send " + request.type());
        }
    }

    private void setChunkSize(Connection connection, long bytes)
    {
        connection.setChunkSizeBytes(bytes);
        connection.session().origins().forEach(origin -> handOvers.chunkSizes().put(origin.id(), bytes));
    }

    private ActiveRequests requests(Connection connection)
    {
        return connections.computeIfAbsent(connection, _ -> new ActiveRequests());
    }

    private static Account account(Connection connection)
    {
        return new Account(connection.session().cluster(), connection.session().catalog());
    }

    private void read(Connection connection, long requestId, Read read, FillTerms terms)
            throws WireException
    {
        SessionOrigin origin = connection.session().origins().get(read.origin());
        ActiveRequests requests = requests(connection);
        Optional<NoCause> refusal = origin.refusal(read.file());
        if (refusal.isPresent()) {
            reportRefusal(origin, refusal.get(), read.file(), read.blockCount());
        }
        else if (stopping || !flushes.isReady()) {
            refusal = Optional.of(NoCause.UNAVAILABLE);
        }
        else if (requests.count() >= MAX_ACTIVE_REQUESTS) {
            refusal = Optional.of(NoCause.OVERLOADED);
            readServices.inFlight().counters().addOverloaded(OverloadCause.REQUESTS, read.blockCount());
        }
        if (refusal.isPresent()) {
            for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                connection.send(requestId, new BlockNo(block, refusal.get()));
            }
            return;
        }
        FileVersionId file = read.file().id();
        Optional<FetchTarget> target = target(connection, origin, read.file(), file, read.table(), terms);
        ClientRequest request = new ClientRequest(connection, requests, requestId);
        ReadTask task = new ReadTask(readServices, request, read, terms, file, target);
        request.begin(task);
        readsBegun.increment();
        task.start();
    }

    private static Optional<FetchTarget> target(Connection connection, SessionOrigin origin, FileVersion version, FileVersionId id, String table, FillTerms terms)
    {
        return origin.origin().filter(_ -> origin.refusal(version).isEmpty()).flatMap(known -> S3ObjectLocation.parse(version.location())
                .map(location -> new FetchTarget(known, location, version, id, table, connection.chunkSizeBytes(), terms)));
    }

    private void reportRefusal(SessionOrigin origin, NoCause cause, FileVersion file, long blocks)
    {
        if (cause == NoCause.LOCATION_NOT_ALLOWED) {
            readServices.inFlight().counters().addRefusedLocation(blocks);
            origin.origin().ifPresent(known -> known.health().refused(file.location()));
        }
    }

    private void revalidate(Connection connection, long requestId, Revalidate revalidate)
    {
        FileVersionId file = revalidate.file().id();
        // the worker that served them is asked to revalidate as well, and later reads get the blocks from it again
        store.dropGuests(file);
        Optional<FetchTarget> target = target(connection, connection.session().origins().get(revalidate.origin()), revalidate.file(), file, "", FillTerms.UNSPECIFIED);
        inBackground(connection, requestId, () -> {
            if (target.isEmpty()) {
                // this worker cannot ask the origin
                store.flushes().drop(file).thenRun(() -> connection.send(requestId, new Ack()));
                return;
            }
            try {
                fetcher.revalidate(target.get()).thenRun(() -> connection.send(requestId, new Ack()));
            }
            catch (ObjectSourceException e) {
                connection.send(requestId, new ControlMessage.Error("the origin did not return a version: " + e.getMessage()));
            }
        });
    }

    /**
     * Drops the whole file version: other blocks may have wrong bytes too. The next read binds the file again.
     */
    private void quarantine(Connection connection, long requestId, Quarantine quarantine)
    {
        FileVersionId file = quarantine.file().id();
        inBackground(connection, requestId, () -> {
            fetcher.distrustPeers(file);
            store.flushes().drop(file).thenAccept(known -> {
                // a second reader may have reported the same file already
                if (known) {
                    readServices.inFlight().counters().addQuarantinedFile();
                    quarantines.add().ifPresent(count -> log.error(
                            "Trino node %s found cached bytes that differ from the origin in %s, %s bytes at %s; dropped the file (%s files since the last message)",
                            LogLimit.line(connection.session().node()),
                            LogLimit.line(quarantine.file().location()),
                            quarantine.length(),
                            quarantine.position(),
                            count));
                }
                connection.send(requestId, new Ack());
            });
        });
    }

    /**
     * Drops all versions of files that a statement removed.
     */
    private void release(Connection connection, long requestId, ReleaseFiles release)
    {
        OriginId origin = connection.session().origins().get(release.origin()).id();
        LocationIndex<String> removed = new LocationIndex<>(_ -> origin, location -> location);
        release.locations().forEach(removed::add);
        inBackground(connection, requestId, () -> {
            readServices.inFlight().counters().addReleased(store.flushes().release(removed::covers));
            connection.send(requestId, new Ack());
        });
    }

    /**
     * Keeps or rejects a guest block; the client receives no answer.
     */
    private void offerGuest(Connection connection, OfferGuest offer)
    {
        // a flush that completes after this point rejects the block
        long flushesBefore = store.flushes().count();
        boolean mayKeep = !stopping && flushes.mayBeGuest(offer.file()) && connection.session().origins().get(offer.origin()).refusal(offer.file()).isEmpty();
        readServices.inFlight().counters().addGuest(
                mayKeep && store.offerGuest(offer.file(), offer.block(), offer.table(), offer.etagDigest(), offer.checksum(), offer.payload(), flushesBefore));
    }

    /**
     * Lists files of the origins that the connection named, so that a catalog sees only files of its own origins.
     */
    private ListingMessage.Files files(Connection connection, GetFiles slice)
    {
        Set<OriginId> origins = connection.session().origins().stream().map(SessionOrigin::id).collect(toImmutableSet());
        Optional<List<CachedFile>> found = store.contents().cachedFiles(slice.bits(), slice.prefix(), ListingMessage.Files.MAX_FILES);
        return new ListingMessage.Files(
                found.isPresent(),
                found.orElse(List.of()).stream()
                        .filter(file -> origins.contains(file.metadata().version().origin()))
                        .map(file -> new ListingMessage.ListedFile(
                                file.metadata().version(),
                                file.metadata().table(),
                                file.ramBytes(),
                                file.ssdBytes(),
                                file.cachedBytes(),
                                file.bestClass().ordinal(),
                                file.nextExpirySeconds()))
                        .toList());
    }

    private void flush(Connection connection, long requestId, Flush flush)
    {
        flushes.flush(flush.tombstones(), flush.requested()).whenComplete((flushed, failure) ->
                connection.send(requestId, failure == null ? flushed : new ControlMessage.Error(requireNonNullElse(failure.getMessage(), "the worker failed"))));
    }

    private void setPins(Connection connection, long requestId, List<Pin> said)
    {
        pins.set(said).whenComplete((_, failure) ->
                connection.send(requestId, failure == null ? new Ack() : new ControlMessage.Error(requireNonNullElse(failure.getMessage(), "the worker failed"))));
    }

    private void inBackground(Connection connection, long requestId, Runnable task)
    {
        try {
            background.execute(() -> {
                try {
                    task.run();
                }
                catch (RuntimeException e) {
                    log.error(e, "Request failed");
                    connection.send(requestId, new ControlMessage.Error("the worker failed"));
                }
            });
        }
        catch (RejectedExecutionException _) {
            connection.send(requestId, new ControlMessage.Error("cache worker is overloaded"));
        }
    }

    private void count(Connection connection, long requestId, Usage batch)
    {
        if (usage.add(account(connection), batch, () -> connection.send(requestId, new Ack()))) {
            for (Digest128 hit : batch.hits()) {
                store.recordHit(hit.high(), hit.low(), fetchAhead.clearPrefetched(hit));
            }
        }
    }

    private void preload(Connection connection, long requestId, Preload preload)
            throws WireException
    {
        FileVersion version = preload.file();
        int blockSize = store.blockSizeBytes();
        int firstBlock = (int) (preload.position() / blockSize);
        if (stopping || requests(connection).count() >= MAX_ACTIVE_REQUESTS) {
            // not an error, because the blocks can be loaded later
            connection.send(requestId, new BlockNo(firstBlock, stopping ? NoCause.UNAVAILABLE : NoCause.OVERLOADED));
            return;
        }
        SessionOrigin origin = connection.session().origins().get(preload.origin());
        FileVersionId file = version.id();
        Optional<FetchTarget> target = target(connection, origin, version, file, preload.table(), FillTerms.UNSPECIFIED);
        if (target.isEmpty()) {
            Optional<NoCause> refusal = origin.refusal(version);
            refusal.ifPresent(cause -> reportRefusal(origin, cause, version, Math.ceilDiv(preload.length(), (long) blockSize)));
            connection.send(requestId, new Preloaded(0, 0, preload.length(), Optional.of("this cache worker cannot fetch %s: %s".formatted(
                    version.location(),
                    switch (origin.status()) {
                        case KNOWN -> refusal.isPresent() ?
                                "the origin does not allow this location, add it to allowed-locations of its file in etc/origins" :
                                "it is not in an S3 object store";
                        case UNKNOWN -> "it has no such origin, add its file in etc/origins";
                        case MISMATCH -> "its origin of that name has another endpoint, region or isolation domain, correct its file in etc/origins";
                    }))));
            return;
        }
        int endBlock = (int) Math.ceilDiv(preload.position() + preload.length(), (long) blockSize);
        ClientRequest request = new ClientRequest(connection, requests(connection), requestId);
        PreloadTask task = new PreloadTask(store, fetcher, background, request, target.get(), firstBlock, Math.max(firstBlock, endBlock));
        request.begin(task);
        task.start();
    }

    private void fetchAhead(Connection connection, long requestId, PreloadMessage.FetchAhead ahead, FillTerms terms)
            throws WireException
    {
        ActiveRequests requests = requests(connection);
        if (ahead.files().isEmpty() || stopping || requests.count() >= MAX_ACTIVE_REQUESTS) {
            connection.send(requestId, new Ack());
            return;
        }
        SessionOrigin origin = connection.session().origins().get(ahead.origin());
        ClientRequest request = new ClientRequest(connection, requests, requestId);
        AheadTask task = new AheadTask(fetchAhead, request);
        request.begin(task);
        try {
            background.execute(() -> task.start(
                    ahead.scan(),
                    ahead.files().stream()
                            .flatMap(file -> target(connection, origin, file, file.id(), ahead.table(), terms).stream())
                            .toList()));
        }
        catch (RejectedExecutionException _) {
            // overloaded: the files are fetched when they are read
            request.end();
            connection.send(requestId, new Ack());
        }
    }

    @Override
    public void closed(Connection connection)
    {
        ActiveRequests requests = connections.remove(connection);
        if (requests != null) {
            requests.all().forEach(ActiveRequests.Active::cancel);
        }
        leases.closed(connection);
    }

    /**
     * Rejects reads from now on.
     */
    public void stop()
    {
        stopping = true;
    }

    /**
     * Returns the number of reads since the process started.
     */
    public long readsBegun()
    {
        return readsBegun.sum();
    }

    /**
     * Returns the number of reads, preloads and fetch-ahead requests that have not been answered yet.
     */
    public int activeRequests()
    {
        return connections.values().stream().mapToInt(ActiveRequests::count).sum();
    }
}
