package io.cachedhive.plugin.origin;

import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Creates the tombstones of a catalog's flushes.
 */
public final class Tombstones
{
    private final FileOrigins origins;
    private final SecureRandom random = new SecureRandom();

    public Tombstones(FileOrigins origins)
    {
        this.origins = requireNonNull(origins, "origins is null");
    }

    /**
     * Creates as few tombstones as cover these files.
     *
     * @param locations of files, or prefixes if they end in {@code /}
     * @return empty if files of these locations are not cached
     */
    public List<Tombstone> of(Collection<String> locations)
    {
        long now = System.currentTimeMillis();
        List<Tombstone> tombstones = new ArrayList<>();
        // a prefix comes before the locations that it covers
        for (String location : locations.stream().distinct().sorted().toList()) {
            Optional<FileOrigin> origin = origins.find(location);
            if (origin.isEmpty()) {
                continue;
            }
            Tombstone tombstone = new Tombstone(new Digest128(random.nextLong(), random.nextLong()), origin.get().id(), location, now);
            if (tombstones.isEmpty() || !tombstones.getLast().covers(tombstone)) {
                tombstones.add(tombstone);
            }
        }
        return tombstones;
    }
}
