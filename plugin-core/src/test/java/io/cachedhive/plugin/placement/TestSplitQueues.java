package io.cachedhive.plugin.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.ring.CacheWorkerId;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class TestSplitQueues
{
    private static final CacheWorkerId A = new CacheWorkerId("a");
    private static final CacheWorkerId B = new CacheWorkerId("b");
    private static final CacheWorkerId C = new CacheWorkerId("c");
    private static final List<CacheWorkerId> READERS = List.of(A, B, C);

    private final SplitQueues lines = lines();

    @Test
    void testWaitsForItsReaderWhileOthersHaveLongerLines()
    {
        List<SplitQueues.Split> ofA = join(A, 10, B, C);
        List<SplitQueues.Split> ofB = join(B, 30, A, C);
        List<SplitQueues.Split> ofC = join(C, 30, A, B);
        assertThat(ofA).extracting(SplitQueues.Split::turn).containsExactlyElementsOf(IntStream.range(0, 10).boxed().toList());
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 10; i++) {
                List<HostAndPort> nodes = ofA.get(i).ask();
                if (round == 0 || i < 7) {
                    assertThat(nodes).as("round %s, split %s", round, i).containsExactly(node(A));
                }
                else if (round < 4) {
                    assertThat(nodes).as("one of the last, round %s, split %s", round, i).containsExactly(node(A), node(B), node(C));
                }
                else {
                    assertThat(nodes).as("one of the last that others did not take either, round %s, split %s", round, i).isEmpty();
                }
            }
            ofB.forEach(SplitQueues.Split::ask);
            ofC.forEach(SplitQueues.Split::ask);
        }
    }

    @Test
    void testAsksForReadersWithShorterLines()
    {
        List<SplitQueues.Split> ofA = join(A, 10, B, C);
        List<SplitQueues.Split> ofB = join(B, 10, A, C);
        List<SplitQueues.Split> ofC = join(C, 4, A, B);
        for (List<SplitQueues.Split> line : List.of(ofA, ofB, ofC)) {
            line.forEach(split -> assertThat(split.ask()).hasSize(1));
        }
        // a round later: nobody was taken
        for (int i = 0; i < 7; i++) {
            assertThat(ofA.get(i).ask()).as("split %s", i).isEqualTo(i < 4 ? List.of(node(A)) : List.of(node(A), node(C)));
        }
        // C has taken all of its own, and A two
        ofA.subList(7, 10).forEach(SplitQueues.Split::ask);
        ofB.forEach(SplitQueues.Split::ask);
        for (int i = 2; i < 7; i++) {
            // asked in the round after that one; what C took is known one round later still
            ofA.get(i).ask();
        }
        ofA.subList(7, 10).forEach(SplitQueues.Split::ask);
        ofB.forEach(SplitQueues.Split::ask);
        assertThat(ofA.get(2).ask()).containsExactly(node(A), node(C));
    }

    @Test
    void testOneThatWaitsAlone()
    {
        SplitQueues.Split split = join(A, 1, B, C).getFirst();
        assertThat(split.ask()).containsExactly(node(A));
        for (int i = 0; i < 3; i++) {
            assertThat(split.ask()).containsExactly(node(A), node(B), node(C));
        }
        assertThat(split.ask()).isEmpty();
    }

    @Test
    void testNoOtherReader()
    {
        SplitQueues.Split split = join(A, 10).getFirst();
        for (int i = 0; i < 4; i++) {
            assertThat(split.ask()).containsExactly(node(A));
        }
        assertThat(split.ask()).as("nodes without a cache worker").isEmpty();
    }

    @Test
    void testNextBatchBeginsAnew()
    {
        join(A, 10, B, C).forEach(SplitQueues.Split::ask);
        lines.beginBatch();
        List<SplitQueues.Split> next = join(A, 2, B, C);
        join(B, 2, A, C);
        assertThat(next).extracting(SplitQueues.Split::turn).containsExactly(0, 1);
        assertThat(next.getFirst().ask()).containsExactly(node(A));
    }

    /**
     * More splits than queues: in a cluster without stragglers they run where they should, and beside a slow reader a scan takes no longer than one whose splits
     * run anywhere.
     */
    @Test
    void testScansOfManySplits()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        double elsewhere = 0;
        double slowdown = 0;
        int runs = 50;
        for (int run = 0; run < runs; run++) {
            Random random = new Random(seed + run);
            List<CacheWorkerId> owners = IntStream.range(0, 200).mapToObj(_ -> READERS.get(random.nextInt(READERS.size()))).toList();
            elsewhere += new Engine(random, _ -> 1.0).scan(owners, true).elsewhere() / runs;
            double soft = new Engine(random, reader -> reader.equals(A) ? 10.0 : 1.0).scan(owners, true).seconds();
            double any = new Engine(random, reader -> reader.equals(A) ? 10.0 : 1.0).scan(owners, false).seconds();
            slowdown += Math.log(soft / any) / runs;
        }
        System.out.printf("elsewhere %.3f, beside a slow reader %.3f of the time without preference%n", elsewhere, Math.exp(slowdown));
        assertThat(elsewhere).as("share of splits that ran elsewhere").isLessThan(0.15);
        assertThat(Math.exp(slowdown)).as("time beside a slow reader").isLessThan(1.1);
    }

    private List<SplitQueues.Split> join(CacheWorkerId reader, int count, CacheWorkerId... next)
    {
        return IntStream.range(0, count).mapToObj(_ -> lines.join(reader, () -> List.of(next))).toList();
    }

    private static SplitQueues lines()
    {
        Map<CacheWorkerId, List<HostAndPort>> nodes = new HashMap<>();
        READERS.forEach(reader -> nodes.put(reader, List.of(node(reader))));
        return new SplitQueues(nodes);
    }

    private static HostAndPort node(CacheWorkerId reader)
    {
        return HostAndPort.fromParts("host-of-" + reader, 8080);
    }

    /**
     * Gives splits to nodes as Trino's scheduler does, with small queues: see {@code UniformNodeSelector} and {@code SourcePartitionedScheduler}.
     */
    private static final class Engine
    {
        private static final int QUEUE = 8;
        private static final int SLOTS = 4;

        private final Random random;
        private final ToDoubleFunction<CacheWorkerId> secondsPerSplit;
        private final Map<CacheWorkerId, Deque<Double>> queues = new HashMap<>();
        private final Map<CacheWorkerId, Integer> running = new HashMap<>();
        private final PriorityQueue<Completion> completions = new PriorityQueue<>(Comparator.comparingDouble(Completion::time));
        private double now;

        private record Completion(double time, CacheWorkerId reader) {}

        private record Waiting(CacheWorkerId owner, NodePreference preference) {}

        private record Run(double seconds, double elsewhere) {}

        private Engine(Random random, ToDoubleFunction<CacheWorkerId> secondsPerSplit)
        {
            this.random = random;
            this.secondsPerSplit = secondsPerSplit;
            READERS.forEach(reader -> {
                queues.put(reader, new ArrayDeque<>());
                running.put(reader, 0);
            });
        }

        Run scan(List<CacheWorkerId> owners, boolean preferOwners)
        {
            SplitQueues lines = lines();
            List<Waiting> waiting = new ArrayList<>();
            for (CacheWorkerId owner : owners) {
                List<CacheWorkerId> next = READERS.stream().filter(reader -> !reader.equals(owner)).toList();
                waiting.add(new Waiting(owner, preferOwners ? NodePreference.waiting(lines.join(owner, () -> next)) : NodePreference.ANY));
            }
            waiting.sort(Comparator.comparingInt(split -> split.preference().turn()));
            double elsewhere = 0;
            while (!waiting.isEmpty()) {
                List<Waiting> left = new ArrayList<>();
                Set<CacheWorkerId> blocking = new HashSet<>();
                for (Waiting split : waiting) {
                    List<HostAndPort> asked = split.preference().next();
                    List<CacheWorkerId> candidates = READERS.stream().filter(reader -> asked.isEmpty() || asked.contains(node(reader))).toList();
                    CacheWorkerId chosen = candidates.stream()
                            .filter(reader -> queues.get(reader).size() + running.get(reader) < QUEUE)
                            .min(Comparator.comparingInt(reader -> queues.get(reader).size()))
                            .orElse(null);
                    if (chosen == null) {
                        left.add(split);
                        blocking.addAll(candidates);
                        continue;
                    }
                    if (!chosen.equals(split.owner())) {
                        elsewhere += 1.0 / owners.size();
                    }
                    queues.get(chosen).add(secondsPerSplit.applyAsDouble(chosen) * (0.5 + random.nextDouble()));
                    startNext(chosen);
                }
                waiting = left;
                while (!waiting.isEmpty()) {
                    complete();
                    // the low watermark
                    if (blocking.stream().anyMatch(reader -> queues.get(reader).size() <= QUEUE / 2)) {
                        break;
                    }
                }
            }
            while (!completions.isEmpty()) {
                complete();
            }
            return new Run(now, elsewhere);
        }

        private void startNext(CacheWorkerId reader)
        {
            while (running.get(reader) < SLOTS && !queues.get(reader).isEmpty()) {
                running.merge(reader, 1, Integer::sum);
                completions.add(new Completion(now + queues.get(reader).remove(), reader));
            }
        }

        private void complete()
        {
            Completion completion = completions.remove();
            now = completion.time();
            running.merge(completion.reader(), -1, Integer::sum);
            startNext(completion.reader());
        }
    }
}
