package io.cachedhive.plugin.ahead;

import io.cachedhive.plugin.ahead.ScanAnnouncements.Announcer;
import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;

import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Lets the owners of small files fetch them while the engine still hands their splits out.
 *
 * <p>A cache worker that has nothing but the reads themselves to go by asks the origin for a small file when it is read, and each reader waits for each of its files.
 * The coordinator knows all files of a scan before.
 */
public final class FetchAhead
{
    /**
     * The usual block size. What is larger is read in parts, and its reader reads ahead.
     */
    static final long MAX_FILE_BYTES = 1 << 20;

    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final Supplier<Optional<PublishedRing>> ring;
    private final Optional<Announcer> announcer;

    /**
     * @param ring at the moment
     * @param announcer empty if nothing is to be fetched ahead
     */
    public FetchAhead(FileOrigins origins, long chunkSizeBytes, Supplier<Optional<PublishedRing>> ring, Optional<Announcer> announcer)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.ring = requireNonNull(ring, "ring is null");
        this.announcer = requireNonNull(announcer, "announcer is null");
    }

    /**
     * Whom to tell of the files of a scan that begins now; empty if nobody is to be told.
     */
    public Optional<Announcer> announcer()
    {
        return ring.get().isPresent() ? announcer : Optional.empty();
    }

    /**
     * The file of a split that reads all of it at once, through the cache; empty for any other split.
     *
     * @param epoch of the ring by which the split was placed
     * @param prefersNodes whether there are nodes that it is to be read by
     */
    public Optional<SmallFile> smallFile(ScanFile split, CacheDecision decision, Optional<RingEpoch> epoch, boolean prefersNodes)
    {
        long length = split.fileLength();
        if (!decision.fill() || !split.isWholeFile() || length == 0 || length > MAX_FILE_BYTES) {
            return Optional.empty();
        }
        Optional<FileOrigin> origin = origins.find(split.location());
        Optional<PublishedRing> ring = this.ring.get();
        if (origin.isEmpty() || ring.isEmpty() || !FileOrigins.isS3(split.location())) {
            return Optional.empty();
        }
        if (!epoch.equals(Optional.of(ring.get().epoch())) || (ring.get().ring().hasZones() && !prefersNodes)) {
            // its reader asks the owner in the split's ring, or the one in the reader's own zone, which is not known yet
            return Optional.empty();
        }
        long locationHash = ChunkKey.locationHash(origin.get().id(), split.location());
        return ring.get().ring().owner(ChunkKey.at(locationHash, 0, chunkSizeBytes))
                .flatMap(ring.get()::address)
                .map(owner -> new SmallFile(
                        owner,
                        origin.get().index(),
                        new FileVersion(origin.get().id(), split.location(), length, split.modifiedMillis()),
                        decision.terms()));
    }
}
