package io.cachedhive.worker.state;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
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

    private final Optional<DataCipher> cipher;

    private StateDirectory(Path directory, Disk disk, Optional<DataCipher> cipher)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.cipher = requireNonNull(cipher, "cipher is null");
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
        return new StateDirectory(directory, disk, Optional.empty());
    }

    /**
     * Returns the directory with its files encrypted. Use the returned one only.
     *
     * @param cipher empty if the files are not encrypted
     */
    public StateDirectory encrypted(Optional<DataCipher> cipher)
    {
        return new StateDirectory(directory, disk, cipher);
    }

    public Path path()
    {
        return directory;
    }

    Disk disk()
    {
        return disk;
    }

    Optional<DataCipher> cipher()
    {
        return cipher;
    }

    /**
     * Removes a file that the key does not decrypt, and what an interrupted replacement left of it: it may be from the
     * time before the directory was encrypted.
     */
    void removeUnreadable(String name)
            throws IOException
    {
        disk.delete(directory.resolve(name));
        disk.delete(directory.resolve(name + ".new"));
    }

    /**
     * Reads a file. Removes a file that cannot be decrypted.
     *
     * @return empty if there is no such file
     * @throws IOException if the file cannot be read or decrypted
     */
    public Optional<byte[]> read(String name)
            throws IOException
    {
        Optional<byte[]> content = disk.read(directory.resolve(name));
        if (cipher.isEmpty() || content.isEmpty()) {
            return content;
        }
        try {
            return Optional.of(cipher.get().open(place(name), content.get()));
        }
        catch (DataCipher.UnauthenticException e) {
            removeUnreadable(name);
            throw e;
        }
    }

    /**
     * Replaces a file durably. After a failure, it has the complete old or the complete new content.
     */
    public void write(String name, byte[] content)
            throws IOException
    {
        disk.replace(directory.resolve(name), cipher.map(present -> present.seal(place(name), content)).orElse(content));
    }

    private static byte[] place(String name)
    {
        return name.getBytes(UTF_8);
    }
}
