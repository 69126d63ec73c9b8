package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Gives the splits of a scan to nodes as Trino's {@code UniformNodeSelector} and {@code SourcePartitionedScheduler} do, on a clock of its own.
 *
 * <p>A split with addresses goes to the least busy of their nodes only; one without, or whose nodes are all gone, to the least busy of ten at random.
 * If they are full the split waits, no further batch is taken, and when one of them has half of its queue free all waiting splits are tried again.
 */
final class SimulatedEngine
{
    // Trino's node-scheduler.max-splits-per-node and node-scheduler.min-candidates
    private static final int MAX_SPLITS = 256;
    private static final int CANDIDATES = 10;
    // drivers of a worker with 8 processors: task.max-worker-threads is twice as many
    private static final int SLOTS = 16;

    private final SplittableRandom random;
    private final ToDoubleFunction<HostAndPort> secondsPerByte;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<HostAndPort, Node> nodesByAddress = new HashMap<>();
    private final PriorityQueue<Completion> completions = new PriorityQueue<>(Comparator.comparingDouble(Completion::time));
    private double now;

    /**
     * @param seconds from the first split to the end of the last
     */
    record Run(double seconds, Map<HostAndPort, Integer> splits)
    {
        int mostSplits()
        {
            return splits.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        }
    }

    private record Completion(double time, Node node) {}

    private static final class Node
    {
        private final HostAndPort address;
        private final Deque<Double> queue = new ArrayDeque<>();
        private int running;
        private int total;

        private Node(HostAndPort address)
        {
            this.address = address;
        }

        private int busy()
        {
            return running + queue.size();
        }
    }

    private SimulatedEngine(List<HostAndPort> addresses, ToDoubleFunction<HostAndPort> secondsPerByte, SplittableRandom random)
    {
        this.random = random;
        this.secondsPerByte = secondsPerByte;
        for (HostAndPort address : addresses) {
            Node node = new Node(address);
            nodes.add(node);
            nodesByAddress.put(address, node);
        }
    }

    static Run run(PlacedScan scan, List<HostAndPort> nodes, ToDoubleFunction<HostAndPort> secondsPerByte, SplittableRandom random)
    {
        return new SimulatedEngine(nodes, secondsPerByte, random).run(scan);
    }

    private Run run(PlacedScan scan)
    {
        while (!scan.isFinished()) {
            List<ConnectorSplit> waiting = scan.nextBatch();
            while (!waiting.isEmpty()) {
                Set<Node> blocking = new LinkedHashSet<>();
                waiting = place(waiting, blocking);
                if (!waiting.isEmpty()) {
                    awaitSpace(blocking);
                }
            }
        }
        while (!completions.isEmpty()) {
            complete();
        }
        Map<HostAndPort, Integer> splits = new HashMap<>();
        nodes.forEach(node -> splits.put(node.address, node.total));
        return new Run(now, splits);
    }

    private List<ConnectorSplit> place(List<ConnectorSplit> splits, Set<Node> blocking)
    {
        List<ConnectorSplit> waiting = new ArrayList<>();
        for (ConnectorSplit split : splits) {
            List<Node> candidates = candidates(split);
            Node chosen = null;
            for (Node candidate : candidates) {
                if (candidate.busy() < MAX_SPLITS && (chosen == null || candidate.busy() < chosen.busy())) {
                    chosen = candidate;
                }
            }
            if (chosen == null) {
                blocking.addAll(candidates);
                waiting.add(split);
            }
            else {
                assign(chosen, ((HiveSplit) CachedSplit.unwrap(split)).getLength());
            }
        }
        return waiting;
    }

    private List<Node> candidates(ConnectorSplit split)
    {
        List<Node> preferred = PlacedScan.nodes(split).stream()
                .filter(nodesByAddress::containsKey)
                .map(nodesByAddress::get)
                .toList();
        if (!preferred.isEmpty()) {
            return preferred;
        }
        Set<Node> any = new LinkedHashSet<>();
        while (any.size() < Math.min(CANDIDATES, nodes.size())) {
            any.add(nodes.get(random.nextInt(nodes.size())));
        }
        return List.copyOf(any);
    }

    private void assign(Node node, long bytes)
    {
        node.total++;
        node.queue.add(bytes * secondsPerByte.applyAsDouble(node.address));
        startNext(node);
    }

    private void startNext(Node node)
    {
        while (node.running < SLOTS && !node.queue.isEmpty()) {
            node.running++;
            completions.add(new Completion(now + node.queue.remove(), node));
        }
    }

    private void awaitSpace(Set<Node> blocking)
    {
        do {
            complete();
        }
        while (blocking.stream().allMatch(node -> node.busy() > MAX_SPLITS / 2));
    }

    private void complete()
    {
        Completion completion = completions.remove();
        now = completion.time();
        completion.node().running--;
        startNext(completion.node());
    }
}
