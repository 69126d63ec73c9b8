package io.cachedhive.store.ssd;

import com.google.common.io.Closer;
import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.ByteSize;
import io.cachedhive.store.SsdDirectoryConfig;
import io.cachedhive.store.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.StoreException;
import io.cachedhive.store.disk.Disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The directories of the SSD tier as they were found, locked: what they say of the worker decides what becomes of them.
 */
public final class SsdCandidates
        implements Closeable
{
    private static final Logger log = Logger.get(SsdCandidates.class);

    private final List<DirectoryCandidate> directories;
    private final Closer closer;

    private SsdCandidates(List<DirectoryCandidate> directories, Closer closer)
    {
        this.directories = List.copyOf(directories);
        this.closer = requireNonNull(closer, "closer is null");
    }

    /**
     * Locks the directories and reads their superblocks.
     */
    public static SsdCandidates look(List<SsdDirectoryConfig> configs, int blockSizeBytes, Disk disk)
            throws StoreException
    {
        List<DirectoryCandidate> candidates = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        Closer closer = Closer.create();
        boolean success = false;
        try {
            for (SsdDirectoryConfig config : configs) {
                Path path = config.directory();
                if (!Files.exists(path)) {
                    throw new StoreException("SSD directory %s does not exist: make it, or take it out of cache.ssd.directories".formatted(path));
                }
                if (!Files.isDirectory(path)) {
                    throw new StoreException("%s in cache.ssd.directories is not a directory: name a directory".formatted(path));
                }
                if (!Files.isWritable(path)) {
                    throw new StoreException("SSD directory %s is not writable: let this user write there, or take it out of cache.ssd.directories".formatted(path));
                }
                try {
                    if (!seen.add(path.toRealPath())) {
                        throw new StoreException("SSD directory %s is listed twice: take it out of cache.ssd.directories once".formatted(path));
                    }
                    long capacityBytes = capacityBytes(config, disk);
                    DirectoryCandidate candidate = DirectoryCandidate.look(path, capacityBytes, blockSizeBytes, disk);
                    closer.register(candidate);
                    candidates.add(candidate);
                }
                catch (IOException e) {
                    throw new StoreException("SSD directory %s cannot be used (%s): mend the disk, or take it out of cache.ssd.directories".formatted(path, e.getMessage()), e);
                }
            }
            success = true;
            return new SsdCandidates(candidates, closer);
        }
        finally {
            if (!success) {
                closeQuietly(closer);
            }
        }
    }

    private static long capacityBytes(SsdDirectoryConfig config, Disk disk)
            throws IOException, StoreException
    {
        long total = disk.totalBytes(config.directory());
        return switch (config.capacity()) {
            case Capacity.Bytes(long bytes) -> {
                if (bytes > total) {
                    throw new StoreException("SSD directory %s is to hold %s, but its disk has %s: make its share in cache.ssd.max-sizes smaller".formatted(
                            config.directory(),
                            ByteSize.format(bytes),
                            ByteSize.format(total)));
                }
                yield bytes;
            }
            case Capacity.DiskPercentage(int percentage) -> total / 100 * percentage;
        };
    }

    private static void closeQuietly(Closeable closeable)
    {
        try {
            closeable.close();
        }
        catch (IOException | RuntimeException e) {
            log.warn("A part of the SSD tier did not close: %s", e.getMessage());
        }
    }

    List<DirectoryCandidate> directories()
    {
        return directories;
    }

    /**
     * The id in the first superblock that can be read.
     */
    public Optional<CacheWorkerId> workerId()
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .map(Superblock::workerId)
                .findFirst();
    }

    /**
     * The last run of the worker, as its directories know it; 0 without any.
     */
    public long lastRun(CacheWorkerId workerId)
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .filter(superblock -> superblock.workerId().equals(workerId))
                .mapToLong(Superblock::run)
                .max()
                .orElse(0);
    }

    @Override
    public void close()
            throws IOException
    {
        closer.close();
    }
}
