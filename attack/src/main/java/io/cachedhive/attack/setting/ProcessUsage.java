package io.cachedhive.attack.setting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The resources that a process uses, as {@code /proc} shows them.
 *
 * @param memoryBytes resident memory without mapped files and shared memory
 */
public record ProcessUsage(int descriptors, int threads, long memoryBytes)
{
    public static ProcessUsage of(long pid)
            throws IOException
    {
        Path process = Path.of("/proc", Long.toString(pid));
        int threads = 0;
        long memoryBytes = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("Threads:")) {
                threads = (int) number(line);
            }
            else if (line.startsWith("RssAnon:")) {
                memoryBytes = number(line) << 10;
            }
        }
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            return new ProcessUsage((int) descriptors.count(), threads, memoryBytes);
        }
    }

    private static long number(String line)
    {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
