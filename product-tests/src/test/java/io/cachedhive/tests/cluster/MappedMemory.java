package io.cachedhive.tests.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a host's shared-memory files really occupy: those in the directory, and those that were deleted and that some process still maps.
 */
final class MappedMemory
{
    private static final long STAT_BLOCK_BYTES = 512;

    private MappedMemory() {}

    /**
     * @param directory of the shared-memory files
     * @param pids processes that may map them
     */
    static long allocatedBytes(Path directory, Collection<Long> pids)
    {
        while (true) {
            Set<Object> before = inodes(directory);
            long bytes = allocatedBytesNow(directory, pids);
            // else it may be a file that is given up by now, and the one that replaced it: both were there, but never at once
            if (inodes(directory).equals(before)) {
                return bytes;
            }
        }
    }

    private static Set<Object> inodes(Path directory)
    {
        Set<Object> inodes = new HashSet<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                inodes.add(Files.getAttribute(file, "unix:ino"));
            }
        }
        catch (NoSuchFileException _) {
            // deleted since it was listed
            return inodes;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return inodes;
    }

    private static long allocatedBytesNow(Path directory, Collection<Long> pids)
    {
        Map<String, Long> byInode = new HashMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.filter(Files::isRegularFile).forEach(file -> add(byInode, file));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (long pid : pids) {
            for (String line : maps(pid)) {
                // address perms offset dev inode path
                String[] fields = line.split("\\s+", 6);
                if (fields.length == 6 && fields[5].startsWith(directory + "/")) {
                    add(byInode, Path.of("/proc/%s/map_files/%s".formatted(pid, mapFileName(fields[0]))));
                }
            }
        }
        return byInode.values().stream().mapToLong(Long::longValue).sum();
    }

    // the kernel names the links without leading zeros
    private static String mapFileName(String range)
    {
        String[] ends = range.split("-");
        return Long.toHexString(Long.parseUnsignedLong(ends[0], 16)) + "-" + Long.toHexString(Long.parseUnsignedLong(ends[1], 16));
    }

    private static List<String> maps(long pid)
    {
        try {
            return Files.readAllLines(Path.of("/proc/%s/maps".formatted(pid)));
        }
        catch (NoSuchFileException _) {
            // the process has ended, and its mappings with it
            return List.of();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void add(Map<String, Long> byInode, Path file)
    {
        try {
            Process stat = new ProcessBuilder("stat", "-L", "-c", "%d:%i %b", file.toString()).redirectErrorStream(true).start();
            String output = new String(stat.getInputStream().readAllBytes()).strip();
            if (stat.waitFor() != 0) {
                // unmapped or deleted since it was listed
                return;
            }
            String[] fields = output.split(" ");
            byInode.put(fields[0], Long.parseLong(fields[1]) * STAT_BLOCK_BYTES);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking for the size of " + file, e);
        }
    }
}
