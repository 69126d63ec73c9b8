package io.cachedhive.worker.state;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Small files that survive a restart. Each is written beside the old one and renamed over it: a reader, also after a power cut, sees all of
 * the old or all of the new one, and the new one once {@link #write} has returned.
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
     * Makes the directory if it is missing.
     *
     * @throws StartupException if it cannot be had or written to
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

    /**
     * @return empty if there is no such file
     */
    public Optional<byte[]> read(String name)
            throws IOException
    {
        return disk.read(directory.resolve(name));
    }

    /**
     * Durable on return. After a failure, all of the old or all of the new content is there.
     */
    public void write(String name, byte[] content)
            throws IOException
    {
        disk.replace(directory.resolve(name), content);
    }
}
