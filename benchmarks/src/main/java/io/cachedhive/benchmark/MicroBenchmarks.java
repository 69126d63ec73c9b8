package io.cachedhive.benchmark;

import io.cachedhive.benchmark.InterleavedRuns.Subject;
import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.memory.RamHitBenchmark;
import io.cachedhive.benchmark.ring.OwnerBenchmark;
import io.cachedhive.benchmark.wire.WireCodecBenchmark;
import org.openjdk.jmh.runner.RunnerException;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * The micro-benchmarks and their budgets.
 */
final class MicroBenchmarks
{
    private final InterleavedRuns runs;
    private final Predicate<String> wanted;

    MicroBenchmarks(InterleavedRuns runs, Predicate<String> wanted)
    {
        this.runs = requireNonNull(runs, "runs is null");
        this.wanted = requireNonNull(wanted, "wanted is null");
    }

    /// @param done is told each figure as soon as there is one
    List<Figure> measure(Consumer<Figure> done)
            throws RunnerException
    {
        List<Figure> figures = new ArrayList<>();
        Consumer<Figure> collect = figure -> {
            figures.add(figure);
            done.accept(figure);
        };
        measureRamHits(collect);
        measureOwners(collect);
        measureCodec(collect);
        return figures;
    }

    private void measureRamHits(Consumer<Figure> done)
            throws RunnerException
    {
        Map<String, Double> budgets = new LinkedHashMap<>();
        budgets.put("4096", 2.0);
        budgets.put("65536", 1.3);
        budgets.put("1048576", 1.2);
        budgets.put("8388608", 1.2);
        for (Map.Entry<String, Double> entry : budgets.entrySet()) {
            String name = "ram_hit_%s".formatted(sizeName(Long.parseLong(entry.getKey())));
            if (!wanted.test(name)) {
                continue;
            }
            Map<String, String> parameters = Map.of("readBytes", entry.getKey());
            List<double[]> results = runs.run(List.of(
                    new Subject(RamHitBenchmark.class, "hit", parameters),
                    new Subject(RamHitBenchmark.class, "copy", parameters)));
            done.accept(Figure.ofRatio(name + "_to_copy", OptionalDouble.of(entry.getValue()), results.get(0), results.get(1)));
            done.accept(Figure.of(name, "ns of CPU", OptionalDouble.empty(), results.get(0)));
            done.accept(Figure.of(name.replace("ram_hit", "copy"), "ns of CPU", OptionalDouble.empty(), results.get(1)));
        }
    }

    private void measureOwners(Consumer<Figure> done)
            throws RunnerException
    {
        for (boolean weighted : new boolean[] {false, true}) {
            for (int workers : new int[] {8, 64, 1000}) {
                String suffix = "_%s_workers%s".formatted(workers, weighted ? "_weighted" : "");
                Map<String, String> parameters = Map.of("workers", Integer.toString(workers), "weighted", Boolean.toString(weighted));
                measure("owner" + suffix, new Subject(OwnerBenchmark.class, "owner", parameters), workers == 1000 ? OptionalDouble.of(5_000) : OptionalDouble.empty(), done);
                measure("order" + suffix, new Subject(OwnerBenchmark.class, "order", parameters), OptionalDouble.empty(), done);
            }
        }
    }

    private void measureCodec(Consumer<Figure> done)
            throws RunnerException
    {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("wire_write_read", "writeRead");
        names.put("wire_read_read", "readRead");
        names.put("wire_write_block_frame", "writeBlockFrame");
        names.put("wire_read_block_frame", "readBlockFrame");
        names.put("wire_write_block_bytes_prefix", "writeBlockBytesPrefix");
        names.put("wire_read_block_bytes", "readBlockBytes");
        for (Map.Entry<String, String> entry : names.entrySet()) {
            measure(entry.getKey(), new Subject(WireCodecBenchmark.class, entry.getValue(), Map.of()), OptionalDouble.empty(), done);
        }
    }

    private void measure(String name, Subject subject, OptionalDouble budget, Consumer<Figure> done)
            throws RunnerException
    {
        if (wanted.test(name)) {
            done.accept(Figure.of(name, "ns of CPU", budget, runs.run(List.of(subject)).getFirst()));
        }
    }

    private static String sizeName(long bytes)
    {
        return bytes < 1 << 20 ? (bytes >> 10) + "KiB" : (bytes >> 20) + "MiB";
    }
}
