package io.cachedhive.store;

import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.Posix;

import java.io.IOException;
import java.nio.file.Path;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A shared-memory file that is kept open, as by a client, to see how much memory it has after its name is gone. A second
 * name would make the file look like one that another user laid.
 */
final class HeldMemory
        implements AutoCloseable
{
    private final Path path;
    private final int descriptor;

    private HeldMemory(Path path, int descriptor)
    {
        this.path = path;
        this.descriptor = descriptor;
    }

    static HeldMemory open(Path path)
            throws DiskException
    {
        return new HeldMemory(path, Posix.open(path, Posix.O_RDONLY, 0));
    }

    long allocatedBytes()
            throws IOException
    {
        return allocatedBytes(Path.of("/proc", Long.toString(ProcessHandle.current().pid()), "fd", Integer.toString(descriptor)));
    }

    static long allocatedBytes(Path file)
            throws IOException
    {
        Process process = new ProcessBuilder("stat", "-L", "-c", "%b %B", file.toString()).start();
        String[] parts = new String(process.getInputStream().readAllBytes(), UTF_8).strip().split(" ");
        return Long.parseLong(parts[0]) * Long.parseLong(parts[1]);
    }

    @Override
    public void close()
            throws DiskException
    {
        Posix.close(path, descriptor);
    }
}
