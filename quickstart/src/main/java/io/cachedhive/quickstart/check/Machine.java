package io.cachedhive.quickstart.check;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * What {@link Preflight} has to know of this machine.
 *
 * @param operatingSystem as Java names it
 * @param javaVersion feature version of the JVM that runs this
 * @param availableMemoryBytes what can be had without swapping, empty if unknown
 * @param freeSharedMemoryBytes of /dev/shm, empty if there is none
 * @param freeDiskBytes where the quickstart's directory is or will be
 * @param unusableAddresses of those that stand for hosts, the ones on which no server can listen
 */
public record Machine(
        String operatingSystem,
        int javaVersion,
        OptionalLong availableMemoryBytes,
        OptionalLong freeSharedMemoryBytes,
        long freeDiskBytes,
        List<String> unusableAddresses)
{
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final Path CONTAINER_LIMIT = Path.of("/sys/fs/cgroup/memory.max");
    private static final Path CONTAINER_USAGE = Path.of("/sys/fs/cgroup/memory.current");

    public Machine
    {
        requireNonNull(operatingSystem, "operatingSystem is null");
        requireNonNull(availableMemoryBytes, "availableMemoryBytes is null");
        requireNonNull(freeSharedMemoryBytes, "freeSharedMemoryBytes is null");
        unusableAddresses = List.copyOf(unusableAddresses);
    }

    /// Looks at the machine this runs on.
    ///
    /// @param directory need not exist
    /// @param addresses that stand for hosts
    public static Machine inspect(Path directory, List<String> addresses)
            throws IOException
    {
        Path existing = directory.toAbsolutePath();
        while (!Files.exists(existing)) {
            existing = existing.getParent();
        }
        return new Machine(
                System.getProperty("os.name"),
                Runtime.version().feature(),
                readAvailableMemory(),
                Files.isDirectory(SHARED_MEMORY) ? OptionalLong.of(Files.getFileStore(SHARED_MEMORY).getUsableSpace()) : OptionalLong.empty(),
                usableBytes(Files.getFileStore(existing)),
                addresses.stream().filter(address -> !canListen(address)).toList());
    }

    private static long usableBytes(FileStore store)
            throws IOException
    {
        long usable = store.getUsableSpace();
        // stores too large for a long overflow
        return usable < 0 ? Long.MAX_VALUE : usable;
    }

    private static OptionalLong readAvailableMemory()
            throws IOException
    {
        if (!Files.isReadable(MEMORY)) {
            return OptionalLong.empty();
        }
        OptionalLong available = Files.readAllLines(MEMORY).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                .findFirst();
        if (available.isPresent() && Files.isReadable(CONTAINER_LIMIT) && Files.isReadable(CONTAINER_USAGE)) {
            String limit = Files.readString(CONTAINER_LIMIT).strip();
            if (!limit.equals("max")) {
                long left = Long.parseLong(limit) - Long.parseLong(Files.readString(CONTAINER_USAGE).strip());
                return OptionalLong.of(Math.min(available.getAsLong(), Math.max(0, left)));
            }
        }
        return available;
    }

    private static boolean canListen(String address)
    {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByName(address), 0));
            return true;
        }
        catch (IOException _) {
            return false;
        }
    }
}
