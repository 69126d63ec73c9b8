package io.cachedhive.quickstart.check;

import java.util.ArrayList;
import java.util.List;

/**
 * What the quickstart needs of a machine.
 *
 * @param memoryBytes for all its processes and their shared memory together
 * @param sharedMemoryBytes for the RAM tiers of all cache workers together
 * @param diskBytes for tables, SSD tiers and logs together
 */
public record Preflight(long memoryBytes, long sharedMemoryBytes, long diskBytes)
{
    private static final int JAVA_VERSION = 25;

    /// What stands against starting: one sentence each, with its remedy; empty if nothing does.
    public List<String> problems(Machine machine)
    {
        List<String> problems = new ArrayList<>();
        if (!machine.operatingSystem().equals("Linux")) {
            problems.add("cache workers share memory with Trino through Linux's /dev/shm, but this is %s: run it on a Linux machine.".formatted(machine.operatingSystem()));
        }
        if (machine.javaVersion() < JAVA_VERSION) {
            problems.add("Trino 483 runs on JDK %1$s, but this is JDK %2$s: install JDK %1$s and name its directory in JAVA_HOME.".formatted(
                    JAVA_VERSION,
                    machine.javaVersion()));
        }
        if (machine.availableMemoryBytes().isPresent() && machine.availableMemoryBytes().getAsLong() < memoryBytes) {
            problems.add("the cluster needs %s of memory, but %s are available: stop something else, or use fewer --workers.".formatted(
                    size(memoryBytes),
                    size(machine.availableMemoryBytes().getAsLong())));
        }
        // where Linux is missing, that has been said
        if (machine.operatingSystem().equals("Linux")) {
            if (machine.freeSharedMemoryBytes().isEmpty()) {
                problems.add("there is no /dev/shm: mount a tmpfs there (mount -t tmpfs tmpfs /dev/shm), in a container with --shm-size=%s.".formatted(
                        shortSize(sharedMemoryBytes)));
            }
            else if (machine.freeSharedMemoryBytes().getAsLong() < sharedMemoryBytes) {
                problems.add("the cache workers need %s in /dev/shm, but %s are free: enlarge it (mount -o remount,size=%s /dev/shm), in a container with --shm-size.".formatted(
                        size(sharedMemoryBytes),
                        size(machine.freeSharedMemoryBytes().getAsLong()),
                        shortSize(2 * sharedMemoryBytes)));
            }
        }
        if (machine.freeDiskBytes() < diskBytes) {
            problems.add("the quickstart needs %s of disk, but %s are free: choose another place with --directory, or a smaller --scale.".formatted(
                    size(diskBytes),
                    size(machine.freeDiskBytes())));
        }
        for (String address : machine.unusableAddresses()) {
            problems.add("no server can listen on %s, which stands for a host here: give the loopback device its whole network (ip addr add 127.0.0.1/8 dev lo).".formatted(
                    address));
        }
        return problems;
    }

    static String size(long bytes)
    {
        if (bytes < 1L << 30) {
            return "%.0f MiB".formatted(bytes / (double) (1L << 20));
        }
        return "%.1f GiB".formatted(bytes / (double) (1L << 30));
    }

    // as mount and docker read it, rounded up
    private static String shortSize(long bytes)
    {
        return "%sm".formatted(Math.ceilDiv(bytes, 1L << 20));
    }
}
