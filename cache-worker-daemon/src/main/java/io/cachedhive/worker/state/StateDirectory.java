package io.cachedhive.worker.state;

import io.cachedhive.worker.StartupException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;

/**
 * Small files that survive a restart. Each is written beside the old one and renamed over it: a reader, also after a power cut, sees all of
 * the old or all of the new one.
 */
public final class StateDirectory
{
    private final Path directory;

    private StateDirectory(Path directory)
    {
        this.directory = requireNonNull(directory, "directory is null");
    }

    /**
     * Makes the directory if it is missing.
     *
     * @throws StartupException if it cannot be had or written to
     */
    public static StateDirectory open(Path configured)
    {
        Path directory = configured.toAbsolutePath().normalize();
        try {
            Files.createDirectories(directory);
        }
        catch (IOException e) {
            throw new StartupException("cache.state-directory=%s cannot be created (%s): create it, writable for the user of this process".formatted(directory, e), e);
        }
        if (!Files.isWritable(directory)) {
            throw new StartupException("cache.state-directory=%s is not writable: give it to the user of this process".formatted(directory));
        }
        return new StateDirectory(directory);
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
        try {
            return Optional.of(Files.readAllBytes(directory.resolve(name)));
        }
        catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    public void write(String name, byte[] content)
            throws IOException
    {
        Path beside = directory.resolve(name + ".new");
        try (FileChannel channel = FileChannel.open(beside, CREATE, WRITE, TRUNCATE_EXISTING)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(false);
        }
        Files.move(beside, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
