package io.cachedhive.store.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

/**
 * The file systems of this machine (Linux), through system calls. {@link java.nio.channels.FileChannel} does not
 * support fallocate(2), and an interrupt of one thread closes it for all.
 */
public final class LocalDisk
        implements Disk
{
    @Override
    public List<String> list(Path directory)
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Override
    public boolean exists(Path file)
    {
        return Files.exists(file);
    }

    @Override
    public Path mountPoint(Path directory)
            throws IOException
    {
        // fails with a specific cause if the directory is inaccessible
        Posix.close(directory, Posix.open(directory, Posix.O_RDONLY, 0));
        Path mounted = directory.toRealPath();
        Object device = Files.getAttribute(mounted, "unix:dev");
        while (mounted.getParent() != null && Files.getAttribute(mounted.getParent(), "unix:dev").equals(device)) {
            mounted = mounted.getParent();
        }
        return mounted;
    }

    @Override
    public DiskFile open(Path file, boolean create, Access access)
            throws IOException
    {
        int flags = access == Access.READ_ONLY ? Posix.O_RDONLY : Posix.O_RDWR;
        if (create) {
            flags |= Posix.O_CREAT;
        }
        if (access == Access.DIRECT) {
            flags |= Posix.O_DIRECT;
        }
        return new LocalFile(file, Posix.open(file, flags, 0600));
    }

    @Override
    public void delete(Path file)
            throws IOException
    {
        Files.deleteIfExists(file);
    }

    @Override
    public void rename(Path file, Path target)
            throws IOException
    {
        Files.move(file, target, ATOMIC_MOVE, REPLACE_EXISTING);
    }

    @Override
    public void syncDirectory(Path directory)
            throws IOException
    {
        int descriptor = Posix.open(directory, Posix.O_RDONLY, 0);
        try {
            Posix.fsync(directory, descriptor);
        }
        finally {
            Posix.close(directory, descriptor);
        }
    }

    @Override
    public Optional<byte[]> read(Path file)
            throws IOException
    {
        try {
            return Optional.of(Files.readAllBytes(file));
        }
        catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public long totalBytes(Path directory)
            throws IOException
    {
        return Files.getFileStore(directory).getTotalSpace();
    }

    @Override
    public long usableBytes(Path directory)
            throws IOException
    {
        return Files.getFileStore(directory).getUsableSpace();
    }

    @Override
    public Optional<Closeable> tryLock(Path file)
            throws IOException
    {
        LocalFile locked = new LocalFile(file, Posix.open(file, Posix.O_RDWR | Posix.O_CREAT, 0600));
        boolean success = false;
        try {
            success = Posix.tryLock(file, locked.descriptor());
            if (success) {
                // only for people who read the file
                byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(UTF_8);
                locked.write(0, ByteBuffer.allocateDirect(pid.length).put(pid).flip());
                return Optional.of(locked);
            }
            return Optional.empty();
        }
        finally {
            if (!success) {
                locked.close();
            }
        }
    }
}
