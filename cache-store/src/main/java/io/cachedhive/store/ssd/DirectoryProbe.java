package io.cachedhive.store.ssd;

import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskException.Cause;
import io.cachedhive.store.encryption.OperatorKey;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Probes configured directories. A wrong configuration prevents the start of the worker; a disk problem only leaves the
 * directory offline until it is fixed.
 *
 * <p>A wrong configuration is one that only the operator can fix: a path that never existed, a file, a size larger than
 * the disk, missing permissions. A disk problem is a failure that the disk reports, or the loss of a mount that the
 * worker recorded.
 */
record DirectoryProbe(int blockSizeBytes, Disk disk, Optional<OperatorKey> operatorKey, SsdMounts mounts, SsdFormat format)
{
    DirectoryProbe
    {
        requireNonNull(disk, "disk is null");
        requireNonNull(operatorKey, "operatorKey is null");
        requireNonNull(mounts, "mounts is null");
        requireNonNull(format, "format is null");
    }

    /**
     * @param number position among the configured directories
     * @param late whether the store is already in use
     */
    DirectoryCandidate probe(int number, SsdDirectoryConfig config, boolean late)
            throws StoreException, DirectoryOutException
    {
        Path path = config.directory();
        requireMounted(path);
        if (!Files.isDirectory(path)) {
            throw new StoreException("%s in cache.ssd.directories is not a directory: name a directory".formatted(path));
        }
        if (!Files.isWritable(path)) {
            requireWritableFileSystem(path);
            throw new StoreException("SSD directory %s is not writable: let this user write there, or remove it from cache.ssd.directories".formatted(path));
        }
        long capacityBytes;
        try {
            capacityBytes = capacityBytes(config);
        }
        catch (IOException e) {
            throw DirectoryOutException.of(path, e, false);
        }
        return DirectoryCandidate.probe(number, config, capacityBytes, blockSizeBytes, disk, operatorKey, format, late);
    }

    private void requireMounted(Path path)
            throws StoreException, DirectoryOutException
    {
        Optional<Path> before = mounts.find(path);
        Path mountPoint;
        try {
            mountPoint = disk.mountPoint(path);
        }
        catch (IOException e) {
            if (e instanceof DiskException failure && failure.reason() == Cause.NOT_FOUND) {
                if (before.isPresent()) {
                    throw new DirectoryOutException(
                            SsdErrorCause.OTHER,
                            "SSD directory %s is gone, and was on the file system at %s before; retrying every 10 s: mount it, or name another in cache.ssd.directories"
                                    .formatted(path, before.get()));
                }
                throw new StoreException("SSD directory %s does not exist: create it, or remove it from cache.ssd.directories".formatted(path));
            }
            throw DirectoryOutException.of(path, e, false);
        }
        // without its mount, the mount point is a plain directory of the file system below, which must not be filled
        if (before.isPresent() && !before.get().equals(mountPoint) && before.get().startsWith(mountPoint)) {
            throw new DirectoryOutException(
                    SsdErrorCause.OTHER,
                    "SSD directory %s was on the file system at %s, where none is mounted now; retrying every 10 s: mount it, or, if it is to stay, stop and remove %s"
                            .formatted(path, before.get(), mounts.file()));
        }
    }

    private void requireWritableFileSystem(Path path)
            throws StoreException, DirectoryOutException
    {
        try {
            Optional<Closeable> lock = disk.tryLock(path.resolve(DirectoryFiles.LOCK_NAME));
            if (lock.isPresent()) {
                lock.get().close();
            }
        }
        catch (IOException e) {
            SsdErrorCause cause = SsdErrorCause.of(e);
            if (cause == SsdErrorCause.READ_ONLY || cause == SsdErrorCause.IO_ERROR) {
                throw DirectoryOutException.of(path, e, false);
            }
        }
    }

    private long capacityBytes(SsdDirectoryConfig config)
            throws IOException, StoreException
    {
        long total = disk.totalBytes(config.directory());
        return switch (config.capacity()) {
            case Capacity.Bytes(long bytes) -> {
                if (bytes > total) {
                    throw new StoreException("SSD directory %s needs %s, but its disk has %s: reduce its share in cache.ssd.max-sizes".formatted(
                            config.directory(),
                            ByteSize.format(bytes),
                            ByteSize.format(total)));
                }
                yield bytes;
            }
            case Capacity.DiskPercentage(int percentage) -> total / 100 * percentage;
        };
    }

    /**
     * Returns the mount points of directories.
     *
     * @param present directories in use
     * @param missing offline directories, which keep their recorded mount points
     */
    SsdMounts mounts(List<Path> present, List<Path> missing)
    {
        Map<Path, Path> mountPoints = new HashMap<>();
        missing.forEach(path -> mounts.find(path).ifPresent(mountPoint -> mountPoints.put(path, mountPoint)));
        for (Path path : present) {
            try {
                mountPoints.put(path, disk.mountPoint(path));
            }
            catch (IOException e) {
                // it worked a moment ago; a lasting problem appears with the next write
                mounts.find(path).ifPresent(mountPoint -> mountPoints.put(path, mountPoint));
            }
        }
        return new SsdMounts(mounts.file(), mountPoints);
    }
}
