package io.cachedhive.plugin.ahead;

import io.cachedhive.plugin.ahead.ScanAnnouncements.Announcer;
import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.split.CachedHiveSplit;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.trino.filesystem.Location;
import io.trino.spi.connector.ConnectorSplitSource;

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
     * The same splits; owners hear of those that they will be asked for.
     */
    public ConnectorSplitSource announcing(ConnectorSplitSource splits)
    {
        return announcer.isPresent() && ring.get().isPresent() ? new AnnouncingSplitSource(splits, this, announcer.get()) : splits;
    }

    /**
     * The file of a split that reads all of it at once, through the cache; empty for any other split.
     */
    Optional<SmallFile> smallFile(CachedHiveSplit split)
    {
        long length = split.getEstimatedFileSize();
        if (!split.getDecision().fill() || split.getStart() != 0 || split.getLength() < length || length == 0 || length > MAX_FILE_BYTES) {
            return Optional.empty();
        }
        Location location = Location.of(split.getPath());
        Optional<FileOrigin> origin = origins.find(location);
        Optional<PublishedRing> ring = this.ring.get();
        if (origin.isEmpty() || ring.isEmpty() || !FileOrigins.isS3(location)) {
            return Optional.empty();
        }
        if (!split.ringEpoch().equals(Optional.of(ring.get().epoch())) || (ring.get().ring().hasZones() && !split.prefersNodes())) {
            // its reader asks the owner in the split's ring, or the one in the reader's own zone, which is not known yet
            return Optional.empty();
        }
        long locationHash = ChunkKey.locationHash(origin.get().id(), location.toString());
        return ring.get().ring().owner(ChunkKey.at(locationHash, 0, chunkSizeBytes))
                .flatMap(ring.get()::address)
                .map(owner -> new SmallFile(
                        owner,
                        origin.get().index(),
                        new FileVersion(origin.get().id(), location.toString(), length, split.getFileModifiedTime()),
                        split.getDecision().terms()));
    }
}
