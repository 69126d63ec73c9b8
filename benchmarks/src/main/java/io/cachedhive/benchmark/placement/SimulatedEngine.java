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
 * Gives the splits of scans to nodes as Trino's {@code UniformNodeSelector} and {@code SourcePartitionedScheduler} do, on a clock of its own.
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
    private final SplitCost cost;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<HostAndPort, Node> nodesByAddress = new HashMap<>();
    private final PriorityQueue<Completion> completions = new PriorityQueue<>(Comparator.comparingDouble(Completion::time));
    private double now;

    /**
     * How long a node takes for a split.
     */
    @FunctionalInterface
    interface SplitCost
    {
        /**
         * Is called when the node begins with the split, in the order of these times.
         */
        double seconds(HostAndPort node, ConnectorSplit split);
    }

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
        private final Deque<ConnectorSplit> queue = new ArrayDeque<>();
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

    /**
     * A scan whose splits are not all placed.
     */
    private final class Scheduler
    {
        private final PlacedScan scan;
        private List<ConnectorSplit> waiting = List.of();
        private final Set<Node> blocking = new LinkedHashSet<>();

        private Scheduler(PlacedScan scan)
        {
            this.scan = scan;
        }

        private boolean isFinished()
        {
            return waiting.isEmpty() && scan.isFinished();
        }

        /**
         * Places splits unless all nodes that it waits for are busy, and returns whether it did.
         */
        private boolean advance()
        {
            if (isFinished() || (!waiting.isEmpty() && blocking.stream().allMatch(node -> node.busy() > MAX_SPLITS / 2))) {
                return false;
            }
            if (waiting.isEmpty()) {
                waiting = scan.nextBatch();
            }
            blocking.clear();
            waiting = place(waiting, blocking);
            return true;
        }
    }

    private SimulatedEngine(List<HostAndPort> addresses, SplitCost cost, SplittableRandom random)
    {
        this.random = random;
        this.cost = cost;
        for (HostAndPort address : addresses) {
            Node node = new Node(address);
            nodes.add(node);
            nodesByAddress.put(address, node);
        }
    }

    static Run run(PlacedScan scan, List<HostAndPort> nodes, ToDoubleFunction<HostAndPort> secondsPerByte, SplittableRandom random)
    {
        return run(List.of(scan), nodes, (node, split) -> length(split) * secondsPerByte.applyAsDouble(node), random);
    }

    /**
     * Runs scans that begin at the same time.
     */
    static Run run(List<PlacedScan> scans, List<HostAndPort> nodes, SplitCost cost, SplittableRandom random)
    {
        return new SimulatedEngine(nodes, cost, random).run(scans);
    }

    static long length(ConnectorSplit split)
    {
        return ((HiveSplit) CachedSplit.unwrap(split)).getLength();
    }

    private Run run(List<PlacedScan> scans)
    {
        List<Scheduler> schedulers = scans.stream().map(Scheduler::new).toList();
        while (!schedulers.stream().allMatch(Scheduler::isFinished)) {
            boolean advanced = false;
            for (Scheduler scheduler : schedulers) {
                advanced |= scheduler.advance();
            }
            if (!advanced) {
                complete();
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
                assign(chosen, split);
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

    private void assign(Node node, ConnectorSplit split)
    {
        node.total++;
        node.queue.add(split);
        startNext(node);
    }

    private void startNext(Node node)
    {
        while (node.running < SLOTS && !node.queue.isEmpty()) {
            node.running++;
            completions.add(new Completion(now + cost.seconds(node.address, node.queue.remove()), node));
        }
    }

    private void complete()
    {
        Completion completion = completions.remove();
        now = completion.time();
        completion.node().running--;
        startNext(completion.node());
    }
}
