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
 * Reads blocks from another cache worker into the store: asks what it has, on which terms and under which ETag, and then for the bytes. Nothing but a look-up happens there.
 *
 * <p>A file version whose ETag this store already knows takes blocks under that ETag only; of one that it does not know yet, the other's ETag is bound, and the origin is
 * held to it by everything that is fetched afterwards. What may still be overwritten unseen is neither given nor taken.
 */
final class PeerReader
{
    private static final int MAX_BYTES_AT_ONCE = 8 << 20;
    private static final BlockClass[] CLASSES = BlockClass.values();

    private final BlockStore store;
    private final WorkerConnections connections;
    private final List<OriginId> origins;
    private final Duration silence;
    private final Predicate<Peer> inStep;
    private final Predicate<FileVersion> beingFlushed;
    private final Predicate<FileVersion> unpinned;

    /**
     * @param origins in the order in which the connections name them
     * @param silence how long the other one may take to describe its blocks; for the bytes of each of them twice as long
     * @param inStep whether a worker has nothing any more that was flushed here
     * @param beingFlushed whether a file is flushed here at the moment: that is not among what the other one is compared with yet
     * @param unpinned whether a file is not pinned by name any more: the other one may not have heard of it
     */
    PeerReader(
            BlockStore store,
            WorkerConnections connections,
            List<NamedOrigin> origins,
            Duration silence,
            Predicate<Peer> inStep,
            Predicate<FileVersion> beingFlushed,
            Predicate<FileVersion> unpinned)
    {
        this.store = requireNonNull(store, "store is null");
        this.connections = requireNonNull(connections, "connections is null");
        this.origins = origins.stream().map(NamedOrigin::id).toList();
        this.silence = requireNonNull(silence, "silence is null");
        this.inStep = requireNonNull(inStep, "inStep is null");
        this.beingFlushed = requireNonNull(beingFlushed, "beingFlushed is null");
        this.unpinned = requireNonNull(unpinned, "unpinned is null");
    }

    /**
     * Returns when all was taken that the peer has and that there are frames for. Blocks the calling thread.
     *
     * @param blocks of the file
     * @param taken told of each block that is in the store now, which stays in RAM during the call
     * @return false if there were no frames for some of them
     * @throws WorkerException if the peer does not answer, or sends what is not the block
     */
    boolean read(Peer peer, FileVersion version, FileVersionId id, List<Integer> blocks, IntConsumer taken)
            throws WorkerException, InterruptedException
    {
        int origin = origins.indexOf(version.origin());
        if (blocks.isEmpty() || origin < 0 || store.file(id).map(FileMetadata::provisional).orElse(false)) {
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
            // a class that this version does not know is one of a newer version
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
     * Neighbours, as many as may be under way at once.
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
