package io.cachedhive.benchmark.figure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What was measured on, and how busy it was: figures of a busy machine are to be read with care.
 *
 * @param memoryGigabytes of the host
 * @param loadAverages over the last minute, before and after; a benchmark alone makes one of 1
 */
public record Machine(String processor, int processors, long memoryGigabytes, String kernel, String java, List<Double> loadAverages)
{
    public Machine
    {
        loadAverages = List.copyOf(loadAverages);
    }

    public static Machine describe(double loadBefore)
            throws IOException
    {
        return new Machine(
                firstValue(Path.of("/proc/cpuinfo"), "model name").orElse("unknown"),
                Runtime.getRuntime().availableProcessors(),
                firstValue(Path.of("/proc/meminfo"), "MemTotal").map(value -> Math.round(Long.parseLong(value.replace(" kB", "")) / 1048576.0)).orElse(0L),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                List.of(loadBefore, loadAverage()));
    }

    public static double loadAverage()
            throws IOException
    {
        return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    }

    private static Optional<String> firstValue(Path file, String name)
            throws IOException
    {
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst();
    }
}
