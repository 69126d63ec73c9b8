package io.cachedhive.plugin.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.RingMember;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Finds the nodes for the splits of one scan, by one ring for all of them.
 *
 * <p>A split prefers the node of its chunk's owner, or, if no Trino worker is active there, of the next in the chunk's order that has one. The engine waits
 * for the node that a split prefers, so within a scan nobody may be preferred for much more than its share: a reader that had
 * {@code (1 + maxSkew) × its share of the bytes of the files listed so far + one chunk} passes splits on to the chunk's second, always the same one, and if that one had
 * as much, they run anywhere. The chunk of slack is there for scans of few large files: a share of little is less than one file. A reader that had nothing
 * yet takes a split of any length.
 *
 * <p>Which splits are passed on does not follow from the order in which they come, for that is another one in each scan, and the second would have to get other
 * blocks each time: a reader keeps its chunks of the files listed so far in the order of their paths until it has its share. Only where a file is listed late does a
 * split come to a reader that has its share already, and of scans of many files, in which hardly anybody gets more than its share, no order is kept.
 *
 * <p>On a ring with places whose cache workers do not live, most chunks are read from the origin, wherever that is done, and the few cache workers are not to
 * attract splits to their hosts. There a reader also takes no more splits than an even distribution would give it, rounded up, of those listed so far; what is
 * above goes to the chunk's second and then in turn to readers with room, of which there is always one. So nobody has more splits than the engine would give
 * to its busiest node.
 */
public final class ScanPlacement
{
    // the second, and those to whom a split may go that waits for it
    private static final int NEAREST_READERS = 4;
    // a younger file may be overwritten in the second of its modification time: owners do not show it to others before they looked again, and no other host may
    // keep it either; with room for clocks that differ
    private static final long MIN_AGE_MILLIS = Duration.ofMinutes(1).toMillis();

    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final NodeSelectionStrategy strategy;
    private final double maxSkew;
    private final RingView view;
    private final SplitQueues lines;

    // guarded by this
    private final Map<CacheWorkerId, Long> assignedBytes = new HashMap<>();
    private final Map<CacheWorkerId, Long> assignedSplits = new HashMap<>();
    // of the files listed so far; null once they are too many
    private OrderedChunks orderedChunks;
    // readers that had room for more splits when they were last looked at; used on partial rings
    private final ArrayDeque<CacheWorkerId> withRoom = new ArrayDeque<>();
    // of the splits, and of the files of which the first split was listed: Hive lists splits of a few files at a time, a split of each
    private long splitBytes;
    private long fileBytes;
    private long listedSplits;
    private boolean roomChanged;
    private long atOwner;
    private long overflowed;
    private long overflowedToAny;
    private long withoutOwner;

    /**
     * @param maxSkew by how much of its share a reader may be preferred above it
     */
    public ScanPlacement(FileOrigins origins, long chunkSizeBytes, NodeSelectionStrategy strategy, double maxSkew, RingView view)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.strategy = requireNonNull(strategy, "strategy is null");
        this.maxSkew = maxSkew;
        this.view = requireNonNull(view, "view is null");
        this.lines = new SplitQueues(view.nodes());
        // on a ring with dead places who has room takes the next split
        this.orderedChunks = strategy == NodeSelectionStrategy.SOFT_AFFINITY && !view.isPartial() ? new OrderedChunks() : null;
    }

    /**
     * Tells of a batch of splits before the first of them is placed: the more of a scan is known, the better is known what a share is.
     */
    public synchronized void list(Collection<ScanFile> splits)
    {
        for (ScanFile split : splits) {
            splitBytes += split.length();
            if (split.start() == 0) {
                long length = Math.max(split.length(), split.fileLength());
                fileBytes += length;
                order(split, length);
            }
        }
        listedSplits += splits.size();
        roomChanged = true;
        lines.beginBatch();
    }

    /**
     * @param split one that was told of
     */
    public synchronized NodePreference place(ScanFile split)
    {
        Optional<ChunkKey> found = strategy == NodeSelectionStrategy.NO_PREFERENCE ? Optional.empty() : chunk(split);
        Optional<CacheWorkerId> preferred = found.flatMap(view.readers()::owner);
        if (preferred.isEmpty()) {
            withoutOwner++;
            return NodePreference.ANY;
        }
        CacheWorkerId reader = preferred.get();
        ChunkKey chunk = found.get();
        if (strategy == NodeSelectionStrategy.HARD_AFFINITY) {
            countPreferred(chunk, reader);
            return NodePreference.always(nodes(reader));
        }
        if (isWithinShare(split, chunk, reader) && takes(reader, split.length())) {
            countPreferred(chunk, reader);
            return NodePreference.waiting(join(chunk, reader));
        }
        overflowed++;
        Optional<CacheWorkerId> second = view.readers().second(chunk).filter(candidate -> takes(candidate, split.length()));
        if (second.isPresent()) {
            return NodePreference.passedOn(join(chunk, second.get()));
        }
        overflowedToAny++;
        return view.isPartial() ? inTurn(split.length()) : NodePreference.ANY;
    }

    /**
     * Whether the node fills its own cache: who is passed the split on reads it again in the next scan.
     */
    public static boolean keepsFills(ScanFile split, NodePreference nodes, long nowMillis)
    {
        return nodes.isPassedOn() && split.modifiedMillis() <= nowMillis - MIN_AGE_MILLIS;
    }

    /**
     * A split that is read without the cache runs anywhere.
     */
    public synchronized void addBypassed()
    {
        withoutOwner++;
    }

    /**
     * The next reader that has room. Left to the engine, the split might go to one that others have yet to prefer.
     */
    private NodePreference inTurn(long bytes)
    {
        if (roomChanged) {
            roomChanged = false;
            Set<CacheWorkerId> known = new HashSet<>(withRoom);
            view.readers().members().stream()
                    .map(RingMember::id)
                    .filter(reader -> hasRoom(reader) && !known.contains(reader))
                    .forEach(withRoom::add);
        }
        while (!withRoom.isEmpty()) {
            CacheWorkerId reader = withRoom.remove();
            if (hasRoom(reader)) {
                assign(reader, bytes);
                withRoom.add(reader);
                return NodePreference.waiting(lines.join(reader, List::of));
            }
        }
        return NodePreference.ANY;
    }

    /**
     * The one with most of the split's bytes, in which most likely its row groups or stripes start.
     */
    private Optional<ChunkKey> chunk(ScanFile split)
    {
        return origins.find(split.location())
                .map(FileOrigin::id)
                .map(origin -> ChunkKey.at(ChunkKey.locationHash(origin, split.location()), split.start() + split.length() / 2, chunkSizeBytes));
    }

    private void order(ScanFile first, long fileLength)
    {
        if (orderedChunks == null) {
            return;
        }
        Optional<FileOrigin> origin = origins.find(first.location());
        if (origin.isEmpty()) {
            return;
        }
        long hash = ChunkKey.locationHash(origin.get().id(), first.location());
        if (first.length() == fileLength) {
            // is not cut: all of it goes where its middle is
            long index = fileLength / 2 / chunkSizeBytes;
            view.readers().owner(new ChunkKey(hash, index)).ifPresent(reader -> orderedChunks.add(first.location(), index, reader, fileLength));
        }
        else {
            for (long index = 0; index * chunkSizeBytes < fileLength && orderedChunks.hasRoom(); index++) {
                long chunkIndex = index;
                long bytes = Math.min(chunkSizeBytes, fileLength - index * chunkSizeBytes);
                view.readers().owner(new ChunkKey(hash, index)).ifPresent(reader -> orderedChunks.add(first.location(), chunkIndex, reader, bytes));
            }
        }
        if (!orderedChunks.hasRoom()) {
            orderedChunks = null;
        }
    }

    private boolean isWithinShare(ScanFile split, ChunkKey chunk, CacheWorkerId reader)
    {
        if (orderedChunks == null) {
            return true;
        }
        long before = orderedChunks.bytesBefore(split.location(), chunk.index(), reader);
        long inChunk = split.start() + split.length() - chunk.index() * chunkSizeBytes;
        // what comes first it takes, of whatever length
        return before == 0 || before + inChunk <= mostBytes(reader);
    }

    private double mostBytes(CacheWorkerId reader)
    {
        return (1 + maxSkew) * view.readers().share(reader) * listedBytes() + chunkSizeBytes;
    }

    private boolean takes(CacheWorkerId reader, long bytes)
    {
        long assigned = assignedBytes.getOrDefault(reader, 0L);
        boolean takes = assigned == 0 || assigned + bytes <= mostBytes(reader);
        if (!takes || (view.isPartial() && !hasRoom(reader))) {
            return false;
        }
        assign(reader, bytes);
        return true;
    }

    /**
     * Whether the reader has fewer splits than an even distribution of those listed gives to somebody.
     */
    private boolean hasRoom(CacheWorkerId reader)
    {
        return assignedSplits.getOrDefault(reader, 0L) < Math.ceilDiv(listedSplits * nodes(reader).size(), view.nodeCount());
    }

    private void assign(CacheWorkerId reader, long bytes)
    {
        assignedBytes.merge(reader, bytes, Long::sum);
        assignedSplits.merge(reader, 1L, Long::sum);
    }

    private long listedBytes()
    {
        // splits of files that begin elsewhere are in the first only
        return Math.max(splitBytes, fileBytes);
    }

    private void countPreferred(ChunkKey chunk, CacheWorkerId reader)
    {
        // with a Trino worker beside every cache worker the first reader is the owner
        if (view.readers() == view.ring() || view.ring().owner(chunk).filter(reader::equals).isPresent()) {
            atOwner++;
        }
        else {
            withoutOwner++;
        }
    }

    private SplitQueues.Split join(ChunkKey chunk, CacheWorkerId reader)
    {
        RingView view = this.view;
        return lines.join(reader, () -> {
            // those after it: who is before it had its share
            List<CacheWorkerId> nearest = view.readers().nearest(chunk, NEAREST_READERS);
            return nearest.subList(nearest.indexOf(reader) + 1, nearest.size());
        });
    }

    private List<HostAndPort> nodes(CacheWorkerId reader)
    {
        return view.nodes().get(reader);
    }

    public synchronized PlacementCounts counts()
    {
        return new PlacementCounts(atOwner, overflowed, overflowedToAny, withoutOwner);
    }
}
