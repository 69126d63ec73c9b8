package io.cachedhive.store.ssd;

import com.google.common.io.Closer;
import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;

import java.io.Closeable;
import java.io.IOException;
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

    private final List<SsdDirectoryConfig> configs;
    private final DirectoryProbe look;
    private final List<DirectoryCandidate> directories;
    private final List<AbsentDirectory> absent;
    private final Closer closer;

    private SsdCandidates(List<SsdDirectoryConfig> configs, DirectoryProbe look, List<DirectoryCandidate> directories, List<AbsentDirectory> absent, Closer closer)
    {
        this.configs = List.copyOf(configs);
        this.look = requireNonNull(look, "look is null");
        this.absent = List.copyOf(absent);
        this.directories = List.copyOf(directories);
        this.closer = requireNonNull(closer, "closer is null");
    }

    /**
     * Locks the directories and reads their superblocks.
     *
     * @param mounts where the directories were before
     * @param format what is read and written
     * @throws StoreException if one of them cannot be what it is configured to be
     */
    public static SsdCandidates look(List<SsdDirectoryConfig> configs, int blockSizeBytes, Disk disk, SsdMounts mounts, SsdFormat format)
            throws StoreException
    {
        DirectoryProbe look = new DirectoryProbe(blockSizeBytes, disk, mounts, format);
        List<DirectoryCandidate> candidates = new ArrayList<>();
        List<AbsentDirectory> absent = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        Closer closer = Closer.create();
        boolean success = false;
        try {
            for (int i = 0; i < configs.size(); i++) {
                Path path = configs.get(i).directory();
                // where it does not lead anywhere at present, as it is written
                if (!seen.add(realPath(path))) {
                    throw new StoreException("SSD directory %s is listed twice: take it out of cache.ssd.directories once".formatted(path));
                }
                try {
                    DirectoryCandidate candidate = look.look(i, configs.get(i), false);
                    closer.register(candidate);
                    candidates.add(candidate);
                }
                catch (DirectoryOutException e) {
                    absent.add(new AbsentDirectory(i, configs.get(i), e));
                }
            }
            success = true;
            return new SsdCandidates(configs, look, candidates, absent, closer);
        }
        finally {
            if (!success) {
                closeQuietly(closer);
            }
        }
    }

    private static Path realPath(Path path)
    {
        try {
            return path.toRealPath();
        }
        catch (IOException e) {
            return path.normalize();
        }
    }

    /**
     * Unlocks a directory that cannot be gone on with.
     */
    AbsentDirectory giveUp(DirectoryCandidate candidate, DirectoryOutException reason)
    {
        closeQuietly(candidate);
        return new AbsentDirectory(candidate.number(), configs.get(candidate.number()), reason);
    }

    DirectoryProbe directoryProbe()
    {
        return look;
    }

    /**
     * Those that have to be done without for now.
     */
    List<AbsentDirectory> absent()
    {
        return absent;
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

    /**
     * The last run in which the worker used its store, as its directories know it; 0 without any.
     */
    long usedRun(CacheWorkerId workerId)
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .filter(superblock -> superblock.workerId().equals(workerId))
                .mapToLong(Superblock::usedRun)
                .max()
                .orElse(0);
    }

    /**
     * The version for a directory that is made anew: that of the worker's others, which an older release may have to read again; without any, the newest.
     */
    int newVersion(CacheWorkerId workerId)
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .filter(superblock -> superblock.workerId().equals(workerId))
                .mapToInt(Superblock::version)
                .min()
                .orElse(look.format().newest());
    }

    @Override
    public void close()
            throws IOException
    {
        closer.close();
    }
}
