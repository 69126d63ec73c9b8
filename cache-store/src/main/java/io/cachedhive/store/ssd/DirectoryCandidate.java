package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.OperatorKey;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A directory that is locked and probed but not restored. All directories are probed before any of them changes.
 */
final class DirectoryCandidate
        implements Closeable
{
    private static final Logger log = Logger.get(DirectoryCandidate.class);

    // of the size of the directory: some file systems change their total size with their contents
    private static final double KEPT_DEVIATION = 0.05;

    private final int number;
    private final long capacityBytes;
    private final Geometry geometry;
    private final DirectoryFiles files;
    private final Superblock.Read found;
    private final SsdFormat format;
    private final boolean late;

    private DirectoryCandidate(int number, long capacityBytes, Geometry geometry, DirectoryFiles files, Superblock.Read found, SsdFormat format, boolean late)
    {
        this.number = number;
        this.capacityBytes = capacityBytes;
        this.geometry = requireNonNull(geometry, "geometry is null");
        this.files = requireNonNull(files, "files is null");
        this.found = requireNonNull(found, "found is null");
        this.format = requireNonNull(format, "format is null");
        this.late = late;
    }

    /**
     * Locks the directory and reads its superblock. Creates the lock file but changes nothing else.
     *
     * @param number position among the configured directories
     * @param config a directory whose size is a percentage of its disk keeps its recorded size while the configured one differs little
     * @param capacityBytes the configured size
     * @param operatorKey encrypts the directory
     * @param format versions to read and write
     * @param late whether the store is already in use
     * @throws StoreException if another process holds the lock, another key encrypts the directory, or the capacity is
     *         not available
     * @throws DirectoryOutException if its disk fails
     */
    static DirectoryCandidate probe(
            int number,
            SsdDirectoryConfig config,
            long capacityBytes,
            int blockSizeBytes,
            Disk disk,
            Optional<OperatorKey> operatorKey,
            SsdFormat format,
            boolean late)
            throws StoreException, DirectoryOutException
    {
        Path path = config.directory();
        Geometry geometry;
        try {
            geometry = Geometry.forCapacity(capacityBytes, blockSizeBytes);
        }
        catch (IllegalArgumentException e) {
            throw new StoreException("the capacity of SSD directory %s cannot be used: %s".formatted(path, e.getMessage()), e);
        }
        boolean success = false;
        DirectoryFiles files = null;
        Superblock.Read found = new Superblock.Read(Optional.empty(), Optional.of(RecoveryFinding.NEW_DIRECTORY));
        try {
            Closeable lock = disk.tryLock(path.resolve(DirectoryFiles.LOCK_NAME)).orElseThrow(() -> new StoreException(
                    "SSD directory %s is in use by another cache worker: stop it, or name another directory in cache.ssd.directories".formatted(path)));
            files = new DirectoryFiles(path, disk, lock, operatorKey);
            files.openKey();
            if (disk.exists(path.resolve(DirectoryFiles.SUPERBLOCK_NAME))) {
                files.openSuperblock();
                found = Superblock.read(files.superblock(), format);
            }
            if (config.capacity() instanceof Capacity.DiskPercentage && !isOf(found, geometry)) {
                Optional<Geometry> recorded = recordedGeometry(found, geometry);
                if (recorded.isPresent()) {
                    geometry = recorded.get();
                    capacityBytes = geometry.totalBytes();
                }
            }
            long present = files.presentBytes();
            long usable = disk.usableBytes(path);
            if (geometry.totalBytes() - present > usable) {
                if (isOf(found, geometry)) {
                    throw DirectoryOutException.noSpace(path, geometry.totalBytes() - present - usable);
                }
                throw new StoreException("SSD directory %s needs %s, but its disk has %s available: reduce its size in cache.ssd.max-sizes".formatted(
                        path,
                        ByteSize.format(capacityBytes),
                        ByteSize.format(usable + present)));
            }
            success = true;
            return new DirectoryCandidate(number, capacityBytes, geometry, files, found, format, late);
        }
        catch (IOException e) {
            throw DirectoryOutException.of(path, e, isOf(found, geometry));
        }
        finally {
            if (!success && files != null) {
                closeQuietly(files);
            }
        }
    }

    /**
     * Returns the geometry of the directory if it hardly differs from the configured one.
     */
    private static Optional<Geometry> recordedGeometry(Superblock.Read found, Geometry configured)
    {
        return found.superblock()
                .map(Superblock::geometry)
                .filter(recorded -> recorded.blockSizeBytes() == configured.blockSizeBytes())
                .filter(recorded -> Math.abs(recorded.totalBytes() - configured.totalBytes()) <= KEPT_DEVIATION * configured.totalBytes());
    }

    private static boolean isOf(Superblock.Read found, Geometry geometry)
    {
        return found.superblock().filter(superblock -> superblock.geometry().equals(geometry)).isPresent();
    }

    private static void closeQuietly(Closeable closeable)
    {
        try {
            closeable.close();
        }
        catch (IOException e) {
            log.warn("Cannot close: %s", e.getMessage());
        }
    }

    /**
     * Returns the position among the configured directories.
     */
    int number()
    {
        return number;
    }

    Path path()
    {
        return files.directory();
    }

    long capacityBytes()
    {
        return capacityBytes;
    }

    Geometry geometry()
    {
        return geometry;
    }

    SsdFormat format()
    {
        return format;
    }

    DirectoryFiles files()
    {
        return files;
    }

    /**
     * Returns whether the directory has a store with the configured size.
     */
    boolean wasMade()
    {
        return isOf(found, geometry);
    }

    /**
     * @return empty without a readable superblock
     */
    Optional<Superblock> superblock()
    {
        return found.superblock();
    }

    /**
     * Returns the finding for a superblock with one damaged page.
     */
    Optional<RecoveryOutcome> superblockDoubt()
    {
        return found.doubt().map(finding -> new RecoveryOutcome(
                finding,
                path().resolve(DirectoryFiles.SUPERBLOCK_NAME),
                "one of its two pages does not verify; using the other"));
    }

    /**
     * Returns why the contents are unusable, so that the directory has to be formatted.
     *
     * @param usedRun the worker's last run that used its store, in any directory
     */
    Optional<RecoveryOutcome> reasonToFormat(CacheWorkerId workerId, long usedRun)
    {
        if (found.superblock().isEmpty()) {
            RecoveryFinding finding = found.doubt().orElseThrow();
            String decision = switch (finding) {
                case NEW_DIRECTORY -> "there is no store; creating one of %s".formatted(ByteSize.format(capacityBytes));
                case SUPERBLOCK_TOO_OLD -> "its superblock has an older format than this release reads; starting empty";
                case SUPERBLOCK_TOO_NEW -> "its superblock has a newer format than this release reads; starting empty";
                default -> "its superblock does not verify; starting empty";
            };
            return Optional.of(new RecoveryOutcome(
                    finding,
                    finding == RecoveryFinding.NEW_DIRECTORY ? path() : path().resolve(DirectoryFiles.SUPERBLOCK_NAME),
                    decision));
        }
        Superblock superblock = found.superblock().get();
        if (!superblock.workerId().equals(workerId)) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.FOREIGN_STORE,
                    path(),
                    "it belongs to cache worker %s, and this is %s; starting empty".formatted(superblock.workerId(), workerId)));
        }
        Optional<KeyFile.Outcome> keyDoubt = files.keyDoubt();
        if (keyDoubt.isPresent()) {
            boolean damaged = keyDoubt.get() == KeyFile.Outcome.KEY_CORRUPT;
            return Optional.of(new RecoveryOutcome(
                    damaged ? RecoveryFinding.ENCRYPTION_KEY_CORRUPT : RecoveryFinding.NOT_ENCRYPTED,
                    path().resolve(KeyFile.NAME),
                    damaged ? "the file with the data key does not verify; starting empty" : "the directory has no data key, and is to be encrypted; starting empty"));
        }
        if (!superblock.geometry().equals(geometry)) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.GEOMETRY_CHANGED,
                    path(),
                    "it was created with %s, but is configured with %s; starting empty".formatted(superblock.geometry(), geometry)));
        }
        if (late) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.TAKEN_IN_LATE,
                    path(),
                    "it was offline when the cache worker started, and may have missed drops since; starting empty"));
        }
        if (superblock.run() < usedRun) {
            return Optional.of(new RecoveryOutcome(
                    RecoveryFinding.CHECKPOINT_OUTDATED,
                    path(),
                    "its last run was %s, and the cache worker's is %s: it may have missed drops since; starting empty".formatted(superblock.run(), usedRun)));
        }
        return Optional.empty();
    }

    @Override
    public void close()
            throws IOException
    {
        files.close();
    }
}
