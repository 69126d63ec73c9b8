package io.cachedhive.worker.state;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A directory of small files that survive a restart. A file is replaced by renaming a new one over it. Readers
 * therefore see the complete old or the complete new content, even after a power failure. Once {@link #write} has
 * returned, they see the new one.
 */
public final class StateDirectory
{
    private final Path directory;

    private final Disk disk;

    private StateDirectory(Path directory, Disk disk)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.disk = requireNonNull(disk, "disk is null");
    }

    /**
     * Opens the directory, and creates it if it is missing.
     *
     * @throws StartupException if it cannot be created or is not writable
     */
    public static StateDirectory open(Path configured, Disk disk)
    {
        Path directory = configured.toAbsolutePath().normalize();
        try {
            disk.createDirectories(directory);
        }
        catch (IOException e) {
            throw new StartupException("cache.state-directory=%s cannot be created (%s): create it, writable for the user of this process".formatted(directory, e), e);
        }
        if (!Files.isWritable(directory)) {
            throw new StartupException("cache.state-directory=%s is not writable: give it to the user of this process".formatted(directory));
        }
        return new StateDirectory(directory, disk);
    }

    public Path path()
    {
        return directory;
    }

    Disk disk()
    {
        return disk;
    }

    /**
     * Reads a file.
     *
     * @return empty if there is no such file
     */
    public Optional<byte[]> read(String name)
            throws IOException
    {
        return disk.read(directory.resolve(name));
    }

    /**
     * Replaces a file durably. After a failure, it has the complete old or the complete new content.
     */
    public void write(String name, byte[] content)
            throws IOException
    {
        disk.replace(directory.resolve(name), content);
    }
}
