package io.cachedhive.store.ssd;

import com.google.common.io.Closer;
import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.encryption.OperatorKey;

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
 * The locked and probed directories of the SSD tier, before they are restored or formatted.
 */
public final class SsdCandidates
        implements Closeable
{
    private static final Logger log = Logger.get(SsdCandidates.class);

    private final List<SsdDirectoryConfig> configs;
    private final DirectoryProbe probe;
    private final List<DirectoryCandidate> directories;
    private final List<AbsentDirectory> absent;
    private final Closer closer;

    private SsdCandidates(List<SsdDirectoryConfig> configs, DirectoryProbe probe, List<DirectoryCandidate> directories, List<AbsentDirectory> absent, Closer closer)
    {
        this.configs = List.copyOf(configs);
        this.probe = requireNonNull(probe, "probe is null");
        this.absent = List.copyOf(absent);
        this.directories = List.copyOf(directories);
        this.closer = requireNonNull(closer, "closer is null");
    }

    /**
     * Locks the directories and reads their superblocks.
     *
     * @param operatorKey encrypts the directories
     * @param mounts earlier mount points of the directories
     * @param format versions to read and write
     * @throws StoreException if a directory contradicts its configuration
     */
    public static SsdCandidates probe(List<SsdDirectoryConfig> configs, int blockSizeBytes, Disk disk, Optional<OperatorKey> operatorKey, SsdMounts mounts, SsdFormat format)
            throws StoreException
    {
        DirectoryProbe probe = new DirectoryProbe(blockSizeBytes, disk, operatorKey, mounts, format);
        List<DirectoryCandidate> candidates = new ArrayList<>();
        List<AbsentDirectory> absent = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        Closer closer = Closer.create();
        boolean success = false;
        try {
            for (int i = 0; i < configs.size(); i++) {
                Path path = configs.get(i).directory();
                // as written if the path does not exist at present
                if (!seen.add(realPath(path))) {
                    throw new StoreException("SSD directory %s is listed twice: remove one of its entries from cache.ssd.directories".formatted(path));
                }
                try {
                    DirectoryCandidate candidate = probe.probe(i, configs.get(i), false);
                    closer.register(candidate);
                    candidates.add(candidate);
                }
                catch (DirectoryOutException e) {
                    absent.add(new AbsentDirectory(i, configs.get(i), e));
                }
            }
            success = true;
            return new SsdCandidates(configs, probe, candidates, absent, closer);
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
     * Unlocks a directory that cannot be used.
     */
    AbsentDirectory giveUp(DirectoryCandidate candidate, DirectoryOutException reason)
    {
        closeQuietly(candidate);
        return new AbsentDirectory(candidate.number(), configs.get(candidate.number()), reason);
    }

    DirectoryProbe directoryProbe()
    {
        return probe;
    }

    /**
     * Returns the directories that are offline for now.
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
     * Returns the id in the first readable superblock.
     */
    public Optional<CacheWorkerId> workerId()
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .map(Superblock::workerId)
                .findFirst();
    }

    /**
     * Returns the last run of the worker in the superblocks; 0 without any.
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
     * Returns the last run of the worker that used its store, according to the superblocks; 0 without any.
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
     * Returns the format version for a new directory: the lowest of the worker's other directories, which an older
     * release may have to read again, or the newest without any.
     */
    int newVersion(CacheWorkerId workerId)
    {
        return directories.stream()
                .flatMap(candidate -> candidate.superblock().stream())
                .filter(superblock -> superblock.workerId().equals(workerId))
                .mapToInt(Superblock::version)
                .min()
                .orElse(probe.format().newest());
    }

    @Override
    public void close()
            throws IOException
    {
        closer.close();
    }
}
