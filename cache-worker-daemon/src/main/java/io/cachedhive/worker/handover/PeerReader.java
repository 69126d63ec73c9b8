package io.cachedhive.worker.handover;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.HandOverMessage;
import io.cachedhive.protocol.wire.HandOverMessage.DescribedBlock;
import io.cachedhive.protocol.wire.HandOverMessage.Description;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerException.Reason;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * Reads blocks from another cache worker into the store. It first asks which blocks the peer has, on which terms and
 * with which ETag, and then requests the bytes. The peer only looks up blocks.
 *
 * <p>If this store knows the ETag of a file version, it accepts only blocks with that ETag. Otherwise it binds the
 * peer's ETag, and later fetches from the origin must match it. Provisional versions are neither sent nor accepted.
 */
final class PeerReader
{
    private static final int MAX_BYTES_AT_ONCE = 8 << 20;
    private static final BlockClass[] CLASSES = BlockClass.values();

    private final BlockStore store;
    private final WorkerConnections connections;
    private final List<OriginId> origins;
    private final Duration silence;
    private final Predicate<FileVersion> allowed;
    private final Predicate<Peer> inStep;
    private final Predicate<FileVersion> beingFlushed;
    private final Predicate<FileVersion> unpinned;

    /**
     * @param origins in the order in which the connections name them
     * @param silence the maximum time for the peer to describe its blocks; twice as long for the bytes of each block
     * @param inStep whether a worker has applied all flushes that this one has applied
     * @param allowed whether this worker may keep blocks of a file
     * @param beingFlushed whether a flush of a file is in progress here, which {@code inStep} does not cover yet
     * @param unpinned whether a file is no longer pinned by name, which the peer may not know yet
     */
    PeerReader(
            BlockStore store,
            WorkerConnections connections,
            List<NamedOrigin> origins,
            Duration silence,
            Predicate<FileVersion> allowed,
            Predicate<Peer> inStep,
            Predicate<FileVersion> beingFlushed,
            Predicate<FileVersion> unpinned)
    {
        this.store = requireNonNull(store, "store is null");
        this.connections = requireNonNull(connections, "connections is null");
        this.origins = origins.stream().map(NamedOrigin::id).toList();
        this.silence = requireNonNull(silence, "silence is null");
        this.allowed = requireNonNull(allowed, "allowed is null");
        this.inStep = requireNonNull(inStep, "inStep is null");
        this.beingFlushed = requireNonNull(beingFlushed, "beingFlushed is null");
        this.unpinned = requireNonNull(unpinned, "unpinned is null");
    }

    /**
     * Receives all blocks that the peer has and for which there are frames. Blocks the calling thread.
     *
     * @param blocks indexes of blocks of the file
     * @param taken called for each block that has been stored; the block stays in RAM during the call
     * @return false if there were no frames for some blocks
     * @throws WorkerException if the peer does not answer, or sends invalid data
     */
    boolean read(Peer peer, FileVersion version, FileVersionId id, List<Integer> blocks, IntConsumer taken)
            throws WorkerException, InterruptedException
    {
        int origin = origins.indexOf(version.origin());
        if (blocks.isEmpty() || origin < 0 || !allowed.test(version) || store.file(id).map(FileMetadata::provisional).orElse(false)) {
            return true;
        }
        WorkerLink link = connections.peer(peer.address(), Optional.of(peer.id()));
        WorkerSession session = link.acquire();
        if (session.welcome().blockSizeBytes() != store.blockSizeBytes() || session.welcome().origins().get(origin) == OriginStatus.MISMATCH) {
            return true;
        }
        long flushes = store.flushes().count();
        if (beingFlushed.test(version) || !inStep.test(peer)) {
            return true;
        }
        TreeSet<Integer> left = new TreeSet<>(blocks);
        while (!left.isEmpty()) {
            int firstBlock = left.first();
            int blockCount = Math.min(left.last() - firstBlock + 1, HandOverMessage.Describe.MAX_BLOCKS);
            Set<Integer> asked = left.headSet(firstBlock + blockCount);
            Description description = describe(link, new HandOverMessage.Describe(id, firstBlock, blockCount));
            Map<Integer, BlockTerms> there = terms(description, unpinned.test(version));
            there.keySet().retainAll(asked);
            asked.clear();
            if (!description.known() || there.isEmpty()) {
                continue;
            }
            if (!store.bind(version, description.etag(), false, description.table())) {
                return true;
            }
            FileMetadata bound = store.file(id).orElse(null);
            if (bound == null || bound.provisional()) {
                return true;
            }
            PeerBlocksRead.PeerFile file = new PeerBlocksRead.PeerFile(origin, version, id, bound.etagDigest());
            for (Map<Integer, BlockTerms> run : runs(there)) {
                boolean all = new PeerBlocksRead(store, link, session, file, run, flushes, silence.multipliedBy(2)).run(taken);
                if (!all) {
                    return false;
                }
            }
        }
        return true;
    }

    private Description describe(WorkerLink link, HandOverMessage.Describe request)
            throws WorkerException, InterruptedException
    {
        try {
            Description description = connections.ask(link, request, Description.class, silence.toMillis()).get();
            link.answered();
            return description;
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof WorkerException failure) {
                if (failure.reason() == Reason.SILENT) {
                    link.silent();
                }
                throw failure;
            }
            throw new WorkerException(Reason.PROTOCOL, "cache worker at %s was not understood: %s".formatted(link.endpoint(), e.getCause()));
        }
    }

    private static Map<Integer, BlockTerms> terms(Description description, boolean unpinned)
    {
        Map<Integer, BlockTerms> terms = new TreeMap<>();
        for (DescribedBlock block : description.blocks()) {
            // an unknown class is one of a newer release
            BlockClass blockClass = block.blockClass() >= 0 && block.blockClass() < CLASSES.length ? CLASSES[block.blockClass()] : BlockClass.NORMAL;
            if (unpinned && blockClass == BlockClass.PINNED) {
                blockClass = BlockClass.NORMAL;
            }
            if (blockClass != BlockClass.GUEST) {
                terms.put(block.block(), new BlockTerms(blockClass, Math.clamp(block.expirySeconds(), 0, BlockTerms.NEVER)));
            }
        }
        return terms;
    }

    /**
     * Splits blocks into runs of adjacent blocks, each within the limit of bytes per request.
     */
    private List<Map<Integer, BlockTerms>> runs(Map<Integer, BlockTerms> blocks)
    {
        int maxBlocks = Math.max(1, MAX_BYTES_AT_ONCE / store.blockSizeBytes());
        List<Map<Integer, BlockTerms>> runs = new ArrayList<>();
        TreeMap<Integer, BlockTerms> run = new TreeMap<>();
        for (Map.Entry<Integer, BlockTerms> block : blocks.entrySet()) {
            if (!run.isEmpty() && (run.lastKey() + 1 != block.getKey() || run.size() == maxBlocks)) {
                runs.add(run);
                run = new TreeMap<>();
            }
            run.put(block.getKey(), block.getValue());
        }
        if (!run.isEmpty()) {
            runs.add(run);
        }
        return ImmutableList.copyOf(runs);
    }
}
