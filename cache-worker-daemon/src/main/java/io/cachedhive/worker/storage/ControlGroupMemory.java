package io.cachedhive.worker.storage;

import io.airlift.log.Logger;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * The smallest memory limit of this process's control group and of the groups above it. Pages of tmpfs count in the group of the process that writes them first,
 * so a RAM tier above the limit would be filled until the kernel kills the process.
 *
 * @param file the file of the kernel that has the limit
 */
public record ControlGroupMemory(Path file, long limitBytes)
{
    private static final Logger log = Logger.get(ControlGroupMemory.class);

    private static final Path PROCESS_GROUPS = Path.of("/proc/self/cgroup");
    private static final String VERSION_1_LIMIT = "memory.limit_in_bytes";
    private static final Path MOUNT = Path.of("/sys/fs/cgroup");

    public ControlGroupMemory
    {
        requireNonNull(file, "file is null");
    }

    /**
     * Returns the limit of this process, or empty if there is none or it cannot be read.
     */
    public static Optional<ControlGroupMemory> ofThisProcess()
    {
        return find(PROCESS_GROUPS, MOUNT);
    }

    /**
     * Finds the limit in the files of version 1 or 2 of control groups.
     *
     * @param processGroups in the format of /proc/self/cgroup
     * @param mount the root of the control groups. In a container this may be the process's own group, whatever {@code processGroups} says
     */
    static Optional<ControlGroupMemory> find(Path processGroups, Path mount)
    {
        return limits(processGroups, mount, "memory.max", VERSION_1_LIMIT).stream().min(Comparator.comparingLong(ControlGroupMemory::limitBytes));
    }

    /**
     * Returns whether this process's control group keeps its memory out of swap. Only version 2 has such a limit.
     */
    static boolean forbidsSwap(Path processGroups, Path mount)
    {
        return limits(processGroups, mount, "memory.swap.max", "").stream().anyMatch(limit -> limit.limitBytes() == 0);
    }

    static boolean forbidsSwap()
    {
        return forbidsSwap(PROCESS_GROUPS, MOUNT);
    }

    /**
     * @param version1Name empty for a limit that version 1 does not have
     */
    private static List<ControlGroupMemory> limits(Path processGroups, Path mount, String version2Name, String version1Name)
    {
        List<ControlGroupMemory> limits = new ArrayList<>();
        try (Stream<String> lines = Files.lines(processGroups)) {
            lines.forEach(line -> {
                String[] fields = line.split(":", 3);
                if (fields.length < 3) {
                    return;
                }
                if (fields[1].isEmpty()) {
                    addLimits(limits, mount, fields[2], version2Name);
                }
                else if (!version1Name.isEmpty() && List.of(fields[1].split(",")).contains("memory")) {
                    addLimits(limits, mount.resolve("memory"), fields[2], version1Name);
                }
            });
        }
        catch (IOException e) {
            // a system without control groups has no such limit
            log.debug(e, "%s cannot be read", processGroups);
        }
        return limits;
    }

    private static void addLimits(List<ControlGroupMemory> limits, Path root, String group, String name)
    {
        Path directory = root.resolve(group.substring(group.startsWith("/") ? 1 : 0)).normalize();
        if (!directory.startsWith(root)) {
            // a group outside of the container's own
            directory = root;
        }
        for (; directory.startsWith(root); directory = directory.getParent()) {
            Path file = directory.resolve(name);
            try {
                limits.add(new ControlGroupMemory(file, Long.parseLong(Files.readString(file).strip())));
            }
            catch (IOException | NumberFormatException e) {
                // "max", or not this process's to read: the next one above may have a limit
                log.debug("No limit in %s: %s", file, e);
            }
        }
    }

    /**
     * Returns the bytes that can be allocated before the limit is reached, without swapping. Pages of files count as free, because the kernel drops them when it
     * needs memory. Those of tmpfs count as used.
     *
     * @return empty if the usage cannot be read
     */
    public OptionalLong freeBytes()
    {
        boolean version1 = file.getFileName().toString().equals(VERSION_1_LIMIT);
        String prefix = version1 ? "total_" : "";
        try (Stream<String> lines = Files.lines(file.resolveSibling("memory.stat"))) {
            long used = Long.parseLong(Files.readString(file.resolveSibling(version1 ? "memory.usage_in_bytes" : "memory.current")).strip());
            Map<String, Long> statistics = lines.map(line -> line.split(" "))
                    .collect(Collectors.toMap(fields -> fields[0], fields -> Long.parseLong(fields[1])));
            long droppable = statistics.getOrDefault(prefix + "active_file", 0L) + statistics.getOrDefault(prefix + "inactive_file", 0L);
            return OptionalLong.of(limitBytes - used + droppable);
        }
        catch (IOException | RuntimeException e) {
            // a kernel with other files, where only the limit is known
            log.debug(e, "The usage beside %s cannot be read", file);
            return OptionalLong.empty();
        }
    }

    /**
     * Checks that the RAM tier and the heap fit.
     *
     * @throws StartupException if they do not
     */
    public void requireRoom(long ramBytes, long heapBytes)
    {
        if (ramBytes > limitBytes - heapBytes) {
            throw new StartupException(("cache.ram.max-size=%s and the heap of %s exceed the memory limit of %s in %s: "
                    + "reduce cache.ram.max-size, or -Xmx in jvm.config, or raise the limit of the container or the systemd unit")
                    .formatted(ByteSize.format(ramBytes), ByteSize.format(heapBytes), ByteSize.format(limitBytes), file));
        }
    }
}
