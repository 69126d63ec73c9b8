package io.cachedhive.chaos.resources;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

import static java.util.stream.Collectors.joining;

/**
 * Decides whether a process uses more and more of something, from samples at equal intervals.
 * <p>
 * The last half of the samples counts. The median of its last third may exceed the median of its first third by a fraction and a fixed amount. Medians ignore what a single
 * fault needs for a moment, and the thirds between which they are taken are far apart.
 */
public final class LeakCheck
{
    /** Until then, a process loads classes and opens its pools. */
    public static final int WARM_UP_SECONDS = 120;
    /** With fewer samples after the warm-up, nothing is said. */
    public static final int LEAST_SAMPLES = 24;

    private static final int NAMED_THREADS = 5;
    private static final long MIB = 1L << 20;

    private record Resource(String name, String unit, long unitSize, double tolerance, long allowance, ToLongFunction<Usage> value) {}

    private static final List<Resource> RESOURCES = List.of(
            new Resource("memory", " MiB", MIB, 0.08, 40 * MIB, Usage::memoryBytes),
            new Resource("threads", "", 1, 0.1, 25, Usage::threadCount),
            new Resource("descriptors", "", 1, 0.1, 50, Usage::descriptors),
            new Resource("mappings", "", 1, 0.1, 60, Usage::mappings));

    private LeakCheck() {}

    /** Whether there are enough samples to decide. */
    public static boolean isDecisive(List<Sample> samples)
    {
        return warm(samples).size() >= LEAST_SAMPLES;
    }

    /** A sentence for each resource that grows. */
    public static List<String> findings(List<Sample> samples)
    {
        if (!isDecisive(samples)) {
            return List.of();
        }
        List<Sample> warm = warm(samples);
        List<Sample> half = warm.subList(warm.size() / 2, warm.size());
        List<Sample> before = half.subList(0, half.size() / 3);
        List<Sample> after = half.subList(half.size() - half.size() / 3, half.size());
        List<String> findings = new ArrayList<>();
        for (Resource resource : RESOURCES) {
            long from = median(before, resource);
            long to = median(after, resource);
            if (to > from * (1 + resource.tolerance()) + resource.allowance()) {
                findings.add("%s grew from %s to %s%s within %s s%s".formatted(
                        resource.name(),
                        from / resource.unitSize(),
                        to / resource.unitSize(),
                        resource.unit(),
                        half.getLast().seconds() - half.getFirst().seconds(),
                        resource.name().equals("threads") ? ": " + grownThreads(half.getFirst().usage(), half.getLast().usage()) : ""));
            }
        }
        return findings;
    }

    /** The names that have the most new threads. */
    private static String grownThreads(Usage before, Usage after)
    {
        return after.threads().entrySet().stream()
                .map(entry -> Map.entry(entry.getKey(), entry.getValue() - before.threads().getOrDefault(entry.getKey(), 0)))
                .filter(entry -> entry.getValue() > 0)
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(NAMED_THREADS)
                .map(entry -> "%s more %s".formatted(entry.getValue(), entry.getKey()))
                .collect(joining(", "));
    }

    private static List<Sample> warm(List<Sample> samples)
    {
        return samples.stream().filter(sample -> sample.seconds() >= WARM_UP_SECONDS).toList();
    }

    private static long median(List<Sample> samples, Resource resource)
    {
        long[] values = samples.stream().map(Sample::usage).mapToLong(resource.value()).sorted().toArray();
        return values[values.length / 2];
    }
}
