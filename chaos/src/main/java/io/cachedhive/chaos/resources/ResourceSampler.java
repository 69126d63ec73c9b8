package io.cachedhive.chaos.resources;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.testing.cluster.ClusterNode;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

/**
 * Collects what the processes of a cluster use. A process that is restarted is another process.
 */
public final class ResourceSampler
{
    private record Run(String node, long pid) {}

    @GuardedBy("this")
    private final Map<Run, List<Sample>> samples = new LinkedHashMap<>();
    @GuardedBy("this")
    private final Map<Run, Long> firstNanos = new LinkedHashMap<>();

    public synchronized void sample(List<ClusterNode> nodes)
    {
        for (ClusterNode node : nodes) {
            if (!node.isAlive()) {
                continue;
            }
            Run run = new Run(node.name(), node.pid());
            Optional<Usage> usage = Usage.of(run.pid());
            if (usage.isPresent()) {
                long now = System.nanoTime();
                long first = firstNanos.computeIfAbsent(run, _ -> now);
                samples.computeIfAbsent(run, _ -> new ArrayList<>()).add(new Sample(NANOSECONDS.toSeconds(now - first), usage.get()));
            }
        }
    }

    /** A line for each process that ran for long enough, and the number of the others for each node. */
    public synchronized List<String> report()
    {
        List<String> lines = new ArrayList<>();
        lines.add("%-16s %9s %22s %20s %20s %20s  %s".formatted("process", "seconds", "memory MiB", "threads", "descriptors", "mappings", "verdict"));
        Map<String, Integer> tooShort = new LinkedHashMap<>();
        samples.forEach((run, ofRun) -> {
            if (!LeakCheck.isDecisive(ofRun)) {
                tooShort.merge(run.node(), 1, Integer::sum);
                return;
            }
            List<String> findings = LeakCheck.findings(ofRun);
            List<Usage> half = ofRun.subList(ofRun.size() / 2, ofRun.size()).stream().map(Sample::usage).toList();
            lines.add("%-16s %9s %22s %20s %20s %20s  %s".formatted(
                    run.node(),
                    ofRun.getLast().seconds(),
                    course(half.stream().map(usage -> usage.memoryBytes() >> 20).toList()),
                    course(half.stream().map(usage -> (long) usage.threadCount()).toList()),
                    course(half.stream().map(usage -> (long) usage.descriptors()).toList()),
                    course(half.stream().map(usage -> (long) usage.mappings()).toList()),
                    findings.isEmpty() ? "level" : "GROWS: " + String.join(", ", findings)));
        });
        tooShort.forEach((node, count) -> lines.add("%-16s %s processes that ran too briefly for a verdict".formatted(node, count)));
        return lines;
    }

    /** A sentence for each resource of each process that grows. */
    public synchronized List<String> findings()
    {
        List<String> findings = new ArrayList<>();
        samples.forEach((run, ofRun) -> LeakCheck.findings(ofRun).forEach(finding -> findings.add("%s, pid %s: %s".formatted(run.node(), run.pid(), finding))));
        return findings;
    }

    private static String course(List<Long> values)
    {
        return "%s .. %s, max %s".formatted(values.getFirst(), values.getLast(), values.stream().mapToLong(Long::longValue).max().orElse(0));
    }
}
