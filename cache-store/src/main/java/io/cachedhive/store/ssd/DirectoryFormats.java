package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static java.util.Objects.requireNonNull;

/**
 * The format versions of the online SSD directories. Callers must not hold the store's lock.
 */
public final class DirectoryFormats
{
    private static final Logger log = Logger.get(DirectoryFormats.class);

    private final Supplier<List<SsdDirectory>> directories;
    private final int newest;

    DirectoryFormats(Supplier<List<SsdDirectory>> directories, int newest)
    {
        this.directories = requireNonNull(directories, "directories is null");
        this.newest = newest;
    }

    /**
     * Returns the version of each directory.
     */
    public Map<Path, Integer> versions()
    {
        return directories.get().stream().collect(toImmutableMap(SsdDirectory::path, directory -> directory.checkpoints().formatVersion()));
    }

    /**
     * Returns the newest version that this release writes.
     */
    public int newest()
    {
        return newest;
    }

    /**
     * Raises all directories to the newest version for future writes; durable on return. A release that cannot read
     * that version starts with empty directories from then on.
     *
     * @throws StoreException if a directory cannot be written; it keeps its version, and the other directories are
     *         raised
     */
    public void raise()
            throws StoreException
    {
        List<String> failures = new ArrayList<>();
        for (SsdDirectory directory : directories.get()) {
            try {
                if (directory.checkpoints().raiseFormat(newest)) {
                    log.info("From now on %s is written in version %s of its format", directory.path(), newest);
                }
            }
            catch (IOException e) {
                failures.add("SSD directory %s keeps version %s of its format, because its superblock cannot be written (%s): repair the disk and try again"
                        .formatted(directory.path(), directory.checkpoints().formatVersion(), e.getMessage()));
            }
        }
        if (!failures.isEmpty()) {
            throw new StoreException(String.join("; ", failures));
        }
    }
}
