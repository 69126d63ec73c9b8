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
import java.util.SplittableRandom;

import static java.util.Objects.requireNonNull;

/**
 * Finds the nodes for the splits of one scan, by one ring for all of them.
 *
 * <p>A split prefers the node of its chunk's owner, or, if no Trino worker is active there, of the next in the chunk's order that has one. The engine waits
 * for the node that a split prefers, so no reader may be preferred for much more than its share of all that the running queries of the catalog have listed: a
 * reader has its share of them and, above it, {@code maxSkew} of its share of this scan. Of small scans a share is less than a file, so there the reader has
 * as much again above it, but no more than a chunk; and a few splits in any case. A reader that was given nothing yet takes a split of any length.
 *
 * <p>Other splits are passed on to the first with room of a few readers, in an order that is always the same for a split and differs between the splits of a
 * chunk: a hot chunk is spread over many readers, and later scans find the copies that these have kept (after consistent hashing with bounded loads:
 * Mirrokni, Thorup and Zadimoghaddam, 2018). If none of them has room, the split runs anywhere.
 *
 * <p>Which splits stay does not follow from the order in which they come, for that is another one in each scan, and others would have to get other blocks each
 * time: if a reader owns more of the files listed so far than it may have, the hashes of its splits decide.
 *
 * <p>On a ring with places whose cache workers do not live, most chunks are read from the origin, wherever that is done, and the few cache workers are not to
 * attract splits to their hosts. There a reader also takes no more splits than an even distribution would give it, rounded up, of those listed so far; what is
 * above goes to those few readers and then in turn to readers with room, of which there is always one. So no node has more splits than the engine would give
 * to its busiest node.
 */
public final class ScanPlacement
{
    // the second, and those to whom a split may go that waits for it
    private static final int NEAREST_READERS = 4;
    // to which a split may be passed on
    private static final int OTHER_READERS = 4;
    // two splits at the start of a scan, by Trino's default
    private static final long FEW_SPLITS_BYTES = 64L << 20;
    // of scans with more, hardly any reader owns more than it may have
    private static final int MOST_OWNED_CHUNKS = 256;
    // a younger file may be overwritten in the second of its modification time: owners do not show it to others before they looked again, and no other host may
    // keep it either; with room for clocks that differ
    private static final long MIN_AGE_MILLIS = Duration.ofMinutes(1).toMillis();

    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final NodeSelectionStrategy strategy;
    private final double maxSkew;
    private final RingView view;
    private final RecentLoad.Query load;
    private final SplitQueues lines;

    // guarded by this
    private final Map<CacheWorkerId, Long> assignedSplits = new HashMap<>();
    // in the files listed so far; null once they are too many
    private Map<CacheWorkerId, Long> ownedBytes;
    private int ownedChunks;
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
     * @param load of the query of this scan
     */
    public ScanPlacement(FileOrigins origins, long chunkSizeBytes, NodeSelectionStrategy strategy, double maxSkew, RingView view, RecentLoad.Query load)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.strategy = requireNonNull(strategy, "strategy is null");
        this.maxSkew = maxSkew;
        this.view = requireNonNull(view, "view is null");
        this.load = requireNonNull(load, "load is null");
        this.lines = new SplitQueues(view.nodes());
        // on a ring with dead places who has room takes the next split
        this.ownedBytes = strategy == NodeSelectionStrategy.SOFT_AFFINITY && !view.isPartial() ? new HashMap<>() : null;
    }

    /**
     * Tells of a batch of splits before the first of them is placed: the more of a scan is known, the better is known what a share is.
     */
    public synchronized void list(Collection<ScanFile> splits)
    {
        long before = listedBytes();
        for (ScanFile split : splits) {
            splitBytes += split.length();
            if (split.isFirst()) {
                long length = Math.max(split.length(), split.fileLength());
                fileBytes += length;
                addOwned(split, length);
            }
        }
        load.list(listedBytes() - before);
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
        boolean stays = stays(split, chunk, reader);
        if (stays && takes(reader, split.length())) {
            countPreferred(chunk, reader);
            return NodePreference.waiting(join(chunk, reader));
        }
        for (CacheWorkerId other : others(reader, chunk, split)) {
            if (!other.equals(reader) && takes(other, split.length())) {
                overflowed++;
                return NodePreference.passedOn(lines.join(other, List::of));
            }
        }
        if (!stays && takes(reader, split.length())) {
            countPreferred(chunk, reader);
            return NodePreference.waiting(join(chunk, reader));
        }
        overflowed++;
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

    /**
     * The readers to which the split may be passed on, in the owner's zone: for each split of a chunk others.
     */
    private List<CacheWorkerId> others(CacheWorkerId reader, ChunkKey chunk, ScanFile split)
    {
        // as if the split were a chunk
        return view.readers().inZoneOf(reader, new ChunkKey(chunk.locationHash(), split.start()), OTHER_READERS);
    }

    /**
     * @param first of the file
     */
    private void addOwned(ScanFile first, long fileLength)
    {
        Optional<FileOrigin> origin = origins.find(first.location());
        if (ownedBytes == null || origin.isEmpty()) {
            return;
        }
        long hash = ChunkKey.locationHash(origin.get().id(), first.location());
        boolean cut = first.length() < fileLength;
        for (long start = 0; start < fileLength; start += cut ? chunkSizeBytes : fileLength) {
            if (++ownedChunks > MOST_OWNED_CHUNKS) {
                ownedBytes = null;
                return;
            }
            long length = cut ? Math.min(chunkSizeBytes, fileLength - start) : fileLength;
            view.readers().owner(ChunkKey.at(hash, start + length / 2, chunkSizeBytes)).ifPresent(reader -> ownedBytes.merge(reader, length, Long::sum));
        }
    }

    private boolean stays(ScanFile split, ChunkKey chunk, CacheWorkerId reader)
    {
        if (ownedBytes == null) {
            return true;
        }
        double share = view.readers().share(reader) * listedBytes();
        long others = ownedBytes.getOrDefault(reader, 0L) - split.length();
        double hash = new SplittableRandom(chunk.locationHash() + split.start()).nextDouble();
        return hash * (double) others <= share + bytesAbove(share);
    }

    private boolean takes(CacheWorkerId reader, long bytes)
    {
        double given = load.givenBytes(reader);
        double share = view.readers().share(reader);
        if ((given >= 1 && given + bytes > share * load.listedBytes() + bytesAbove(share * listedBytes())) || (view.isPartial() && !hasRoom(reader))) {
            return false;
        }
        assign(reader, bytes);
        return true;
    }

    /**
     * What a reader may have above its share.
     */
    private double bytesAbove(double shareOfThisScan)
    {
        return Math.max(maxSkew * shareOfThisScan, Math.min((double) chunkSizeBytes, Math.max(shareOfThisScan, FEW_SPLITS_BYTES)));
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
        load.give(reader, bytes);
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
