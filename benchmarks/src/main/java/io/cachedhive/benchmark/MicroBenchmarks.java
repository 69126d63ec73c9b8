package io.cachedhive.benchmark;

import io.cachedhive.benchmark.InterleavedRuns.Measure;
import io.cachedhive.benchmark.InterleavedRuns.Subject;
import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.memory.EvictingWriterBenchmark;
import io.cachedhive.benchmark.memory.RamHitBenchmark;
import io.cachedhive.benchmark.peer.AlluxioBenchmark;
import io.cachedhive.benchmark.peer.SocketBenchmark;
import io.cachedhive.benchmark.ring.OwnerBenchmark;
import io.cachedhive.benchmark.sizing.SizerBenchmark;
import io.cachedhive.benchmark.ssd.SsdHitBenchmark;
import io.cachedhive.benchmark.ssd.SsdWriteBenchmark;
import io.cachedhive.benchmark.wire.WireCodecBenchmark;
import io.cachedhive.benchmark.worker.WorkerReadBenchmark;
import org.openjdk.jmh.runner.RunnerException;

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
    void measure(Consumer<Figure> done)
            throws RunnerException
    {
        measureRamHits(done);
        measureThreads(done);
        measureClientHits(done);
        measureAgainstAlluxio(done);
        measureEviction(done);
        measureNonLocal(done);
        measureSsd(done);
        measureOwners(done);
        measureCodec(done);
        measureSizing(done);
    }

    private void measureRamHits(Consumer<Figure> done)
            throws RunnerException
    {
        Map<String, Double> budgets = new LinkedHashMap<>();
        budgets.put("4096", 2.0);
        budgets.put("65536", 1.3);
        budgets.put("1048576", 1.1);
        budgets.put("8388608", 1.1);
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

    private void measureThreads(Consumer<Figure> done)
            throws RunnerException
    {
        for (int bytes : new int[] {4 << 10, 64 << 10, 1 << 20}) {
            Subject one = new Subject(RamHitBenchmark.class, "hit", Map.of("readBytes", Integer.toString(bytes)));
            measureRatio("ram_hit_%s_2_threads_to_1".formatted(sizeName(bytes)), OptionalDouble.of(1.1), one.withThreads(2), one, done);
        }
    }

    /// through the client and a real cache worker's memory, as Trino reads
    private void measureClientHits(Consumer<Figure> done)
            throws RunnerException
    {
        Map<Integer, Double> budgets = new LinkedHashMap<>();
        budgets.put(4 << 10, 2.0);
        budgets.put(64 << 10, 1.3);
        budgets.put(1 << 20, 1.1);
        for (Map.Entry<Integer, Double> entry : budgets.entrySet()) {
            String name = "client_ram_hit_" + sizeName(entry.getKey());
            Subject hit = onOneHost("readFully", entry.getKey());
            measureRatio(name + "_to_copy", OptionalDouble.of(entry.getValue()), hit, onOneHost("copy", entry.getKey()), done);
            for (int threads : new int[] {2, 4}) {
                measureRatio("%s_%s_threads_to_1".formatted(name, threads), OptionalDouble.of(1.1), hit.withThreads(threads), hit, done);
            }
        }
    }

    private void measureAgainstAlluxio(Consumer<Figure> done)
            throws RunnerException
    {
        Map<Integer, Double> budgets = new LinkedHashMap<>();
        budgets.put(4 << 10, 1 / 10.0);
        budgets.put(64 << 10, 1 / 3.0);
        budgets.put(1 << 20, 1 / 2.0);
        for (Map.Entry<Integer, Double> entry : budgets.entrySet()) {
            String bytes = Integer.toString(entry.getKey());
            Subject hit = onOneHost("readFully", entry.getKey());
            String name = "client_ram_hit_%s_to_alluxio_on_".formatted(sizeName(entry.getKey()));
            measureRatio(
                    name + "disk",
                    OptionalDouble.of(entry.getValue()),
                    hit,
                    new Subject(AlluxioBenchmark.class, "readFully", Map.of("directory", "", "readBytes", bytes)),
                    done);
            measureRatio(
                    name + "tmpfs",
                    OptionalDouble.empty(),
                    hit,
                    new Subject(AlluxioBenchmark.class, "readFully", Map.of("directory", "/dev/shm", "readBytes", bytes)),
                    done);
        }
    }

    /// reads through the client, or copies, from the memory of this host's cache worker
    private static Subject onOneHost(String benchmark, int readBytes)
    {
        return new Subject(WorkerReadBenchmark.class, benchmark, Map.of("hosts", "1", "readBytes", Integer.toString(readBytes)));
    }

    private void measureEviction(Consumer<Figure> done)
            throws RunnerException
    {
        measureRatio(
                "ram_hit_64KiB_p99_with_evicting_writer_to_without",
                OptionalDouble.of(3),
                new Subject(EvictingWriterBenchmark.class, "hit", Map.of("writing", "true")).withMeasure(Measure.WALL_TIME_P99),
                new Subject(EvictingWriterBenchmark.class, "hit", Map.of("writing", "false")).withMeasure(Measure.WALL_TIME_P99),
                done);
    }

    private void measureNonLocal(Consumer<Figure> done)
            throws RunnerException
    {
        Map<String, Double> budgets = new LinkedHashMap<>();
        budgets.put("4096", 2.0);
        budgets.put("65536", 2.0);
        budgets.put("1048576", 1.3);
        for (Map.Entry<String, Double> entry : budgets.entrySet()) {
            Map<String, String> exchange = Map.of("readBytes", entry.getKey(), "tls", "true");
            measureRatio(
                    "non_local_hit_%s_to_tls_socket".formatted(sizeName(Long.parseLong(entry.getKey()))),
                    OptionalDouble.of(entry.getValue()),
                    new Subject(WorkerReadBenchmark.class, "readFully", Map.of("hosts", "2", "readBytes", entry.getKey())).withMeasure(Measure.WALL_TIME),
                    new Subject(SocketBenchmark.class, "read", exchange).withMeasure(Measure.WALL_TIME),
                    done);
        }
    }

    private void measureSsd(Consumer<Figure> done)
            throws RunnerException
    {
        measureRatio(
                "ssd_hit_1MiB_to_direct_read",
                OptionalDouble.of(1.25),
                new Subject(SsdHitBenchmark.class, "hit", Map.of()).withMeasure(Measure.WALL_TIME),
                new Subject(SsdHitBenchmark.class, "plainRead", Map.of()).withMeasure(Measure.WALL_TIME),
                done);
        measureRatio(
                "ssd_hit_1MiB_encrypted_to_direct_read",
                OptionalDouble.empty(),
                new Subject(SsdHitBenchmark.class, "hit", Map.of("encrypted", "true")).withMeasure(Measure.WALL_TIME),
                new Subject(SsdHitBenchmark.class, "plainRead", Map.of()).withMeasure(Measure.WALL_TIME),
                done);
        measureRatio(
                "ssd_write_1MiB_to_direct_write",
                OptionalDouble.empty(),
                new Subject(SsdWriteBenchmark.class, "write", Map.of()).withMeasure(Measure.WALL_TIME),
                new Subject(SsdWriteBenchmark.class, "plainWrite", Map.of()).withMeasure(Measure.WALL_TIME),
                done);
    }

    private void measureRatio(String name, OptionalDouble budget, Subject measured, Subject peer, Consumer<Figure> done)
            throws RunnerException
    {
        if (!wanted.test(name)) {
            return;
        }
        List<double[]> results = runs.run(List.of(measured, peer));
        done.accept(Figure.ofRatio(name, budget, results.get(0), results.get(1)));
        done.accept(Figure.of(name + "_measured", measured.measure().unit(), OptionalDouble.empty(), results.get(0)));
        done.accept(Figure.of(name + "_peer", peer.measure().unit(), OptionalDouble.empty(), results.get(1)));
    }

    private void measureOwners(Consumer<Figure> done)
            throws RunnerException
    {
        for (boolean weighted : new boolean[] {false, true}) {
            for (int workers : new int[] {8, 64, 1000}) {
                String suffix = "_%s_workers%s".formatted(workers, weighted ? "_weighted" : "");
                Map<String, String> parameters = Map.of("workers", Integer.toString(workers), "weighted", Boolean.toString(weighted));
                measure("owner" + suffix, new Subject(OwnerBenchmark.class, "owner", parameters), workers == 1000 ? OptionalDouble.of(5_000) : OptionalDouble.empty(), done);
                measure("nearest" + suffix, new Subject(OwnerBenchmark.class, "nearest", parameters), OptionalDouble.empty(), done);
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

    private void measureSizing(Consumer<Figure> done)
            throws RunnerException
    {
        for (int blocks : new int[] {2048, 32_768, 1_048_576}) {
            Map<String, String> parameters = Map.of("capacityBlocks", Integer.toString(blocks));
            measure("sized_request_%s_blocks".formatted(blocks), new Subject(SizerBenchmark.class, "request", parameters), OptionalDouble.empty(), done);
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
