package io.cachedhive.chaos.resources;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a process uses, as {@code /proc} shows it.
 *
 * @param memoryBytes resident memory of its own, without mapped files and shared memory
 * @param threads number of threads by name, without the numbers in the names
 * @param descriptors number of open file descriptors
 * @param mappings number of mapped regions
 */
public record Usage(long memoryBytes, Map<String, Integer> threads, int descriptors, int mappings)
{
    public Usage
    {
        threads = Map.copyOf(threads);
    }

    public int threadCount()
    {
        return threads.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Empty if the process has ended. */
    public static Optional<Usage> of(long pid)
    {
        Path process = Path.of("/proc", Long.toString(pid));
        try {
            long memory = 0;
            for (String line : Files.readAllLines(process.resolve("status"))) {
                if (line.startsWith("RssAnon:")) {
                    memory = number(line) * 1024;
                }
            }
            try (Stream<Path> descriptors = Files.list(process.resolve("fd")); Stream<String> mappings = Files.lines(process.resolve("maps"))) {
                return Optional.of(new Usage(memory, threads(process), (int) descriptors.count(), (int) mappings.count()));
            }
        }
        catch (IOException | RuntimeException _) {
            // it ended meanwhile
            return Optional.empty();
        }
    }

    private static Map<String, Integer> threads(Path process)
            throws IOException
    {
        Map<String, Integer> threads = new HashMap<>();
        try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
            for (Path task : tasks.toList()) {
                threads.merge(name(task), 1, Integer::sum);
            }
        }
        return threads;
    }

    private static String name(Path task)
    {
        try {
            return Files.readString(task.resolve("comm")).strip().replaceAll("[0-9]+", "#");
        }
        catch (IOException _) {
            // a thread that ends
            return "ended";
        }
    }

    private static long number(String line)
    {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
