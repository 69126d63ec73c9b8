package io.cachedhive.benchmark.store;

import io.cachedhive.benchmark.figure.Figure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * A store of many blocks: what its metadata take, and how soon it serves after a clean stop and after a kill.
 *
 * <p>Everything is done by the store itself, in processes of its own; only what lies in slabs is synthetic. Before each start the
 * files of the index are dropped from the page cache.
 */
public final class StoreBenchmark
{
    /// Below the directory of the benchmark: leads to shared memory.
    public static final String RAM_DIRECTORY = "ram";

    private static final double MAX_BYTES_PER_BLOCK = 96;
    private static final double MAX_BYTES_PER_FILE = 160;
    private static final double MAX_RESIDENT_GIB = 1.5;
    private static final double MAX_FIRST_HIT_SECONDS = 3;
    private static final double MAX_RESTORE_SECONDS = 10;
    private static final double MAX_READ_MILLIS = 10;
    private static final int FILL_CHECKPOINT_SECONDS = 60;

    private final Path directory;
    private final Scale scale;
    private final Consumer<String> progress;

    /**
     * @param heap of the store's process
     * @param runs starts after a clean stop, and as many after a kill
     * @param checkpointSeconds interval of checkpoints while reads are measured
     */
    public record Scale(long blocks, int blocksPerFile, String heap, int runs, int checkpointSeconds)
    {
        public Scale
        {
            requireNonNull(heap, "heap is null");
            if (blocks < blocksPerFile || blocksPerFile < 1 || runs < 2) {
                throw new IllegalArgumentException("blocks, blocks in a file or runs (at least 2) are too few: %s, %s, %s".formatted(blocks, blocksPerFile, runs));
            }
        }
    }

    /**
     * @param directory on a real disk, empty but for {@link #RAM_DIRECTORY}
     */
    public StoreBenchmark(Path directory, Scale scale, Consumer<String> progress)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.scale = requireNonNull(scale, "scale is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    private record Start(double firstHitSeconds, double restoredSeconds, long restoredBlocks) {}

    public List<Figure> measure()
            throws IOException, InterruptedException
    {
        double[] cleanHit = new double[scale.runs];
        double[] cleanAll = new double[scale.runs];
        double[] killedHit = new double[scale.runs];
        double[] killedAll = new double[scale.runs];
        double[] lost = new double[scale.runs];
        double[] heap = new double[scale.runs];
        double[] resident = new double[scale.runs];
        double[] read = new double[scale.runs];
        int nextFile = 0;
        long emptyHeap;
        long present;
        try (WorkerProcess worker = start(nextFile, FILL_CHECKPOINT_SECONDS)) {
            emptyHeap = worker.ask("memory", "MEMORY")[0];
            present = worker.ask("fill " + scale.blocks, "FILLED")[0];
            progress.accept("filled %s blocks in %.0f s".formatted(present, worker.seconds()));
            worker.ask("close", "CLOSED");
            worker.awaitEnd();
        }
        // beyond all that was used to make up for refused ones
        nextFile = Math.toIntExact(scale.blocks / scale.blocksPerFile) * 4;
        for (int run = 0; run < scale.runs; run++) {
            try (WorkerProcess worker = start(nextFile, scale.checkpointSeconds)) {
                Start start = awaitStart(worker, run);
                progress.accept("after a clean stop: %s".formatted(start));
                cleanHit[run] = start.firstHitSeconds;
                cleanAll[run] = start.restoredSeconds;
                long[] memory = worker.ask("memory", "MEMORY");
                heap[run] = (double) (memory[0] - emptyHeap) / start.restoredBlocks;
                resident[run] = memory[1] / (double) (1L << 30);
                long[] reads = worker.ask("reads " + run, "READS");
                progress.accept("%s reads during a checkpoint".formatted(reads[0]));
                read[run] = reads[1] / 1e6;
                present = worker.ask("fill " + Math.max(scale.blocksPerFile, scale.blocks / 1000), "FILLED")[0];
                // by then all of them are in the journal
                Thread.sleep(1000);
            }
            nextFile += Math.toIntExact(scale.blocks / scale.blocksPerFile);
            try (WorkerProcess worker = start(nextFile, scale.checkpointSeconds)) {
                Start start = awaitStart(worker, run);
                progress.accept("after a kill: %s".formatted(start));
                killedHit[run] = start.firstHitSeconds;
                killedAll[run] = start.restoredSeconds;
                lost[run] = 100.0 * Math.max(0, present - start.restoredBlocks) / present;
                worker.ask("close", "CLOSED");
                worker.awaitEnd();
            }
        }
        String shape = "_%s_blocks_in_file".formatted(scale.blocksPerFile);
        double budget = MAX_BYTES_PER_BLOCK + MAX_BYTES_PER_FILE / scale.blocksPerFile;
        boolean judged = scale.blocksPerFile == 16;
        List<Figure> figures = new ArrayList<>();
        figures.add(Figure.of("metadata_per_block" + shape, "bytes", OptionalDouble.of(budget), heap));
        figures.add(Figure.of("resident_without_ram_tier" + shape, "GiB", budget(judged, MAX_RESIDENT_GIB), resident));
        figures.add(Figure.of("first_hit_after_stop" + shape, "s", budget(judged, MAX_FIRST_HIT_SECONDS), cleanHit));
        figures.add(Figure.of("all_restored_after_stop" + shape, "s", budget(judged, MAX_RESTORE_SECONDS), cleanAll));
        figures.add(Figure.of("first_hit_after_kill" + shape, "s", budget(judged, MAX_FIRST_HIT_SECONDS), killedHit));
        figures.add(Figure.of("all_restored_after_kill" + shape, "s", budget(judged, MAX_RESTORE_SECONDS), killedAll));
        figures.add(Figure.of("lost_by_kill" + shape, "%", budget(judged, 1), lost));
        figures.add(Figure.of("read_p999_during_checkpoint" + shape, "ms", budget(judged, MAX_READ_MILLIS), read));
        return figures;
    }

    private static OptionalDouble budget(boolean judged, double budget)
    {
        return judged ? OptionalDouble.of(budget) : OptionalDouble.empty();
    }

    private WorkerProcess start(int nextFile, int checkpointSeconds)
            throws IOException, InterruptedException
    {
        dropFromPageCache();
        return new WorkerProcess(directory, scale.heap, scale.blocks, scale.blocksPerFile, nextFile, checkpointSeconds);
    }

    private static Start awaitStart(WorkerProcess worker, int seed)
            throws IOException
    {
        worker.ask("hit " + seed, "HIT");
        double firstHitSeconds = worker.seconds();
        long restored = worker.ask("restored", "RESTORED")[0];
        return new Start(firstHitSeconds, worker.seconds(), restored);
    }

    /**
     * Superblock, journal and checkpoints; dd(1) calls posix_fadvise(2).
     */
    private void dropFromPageCache()
            throws IOException, InterruptedException
    {
        Path ssd = directory.resolve("ssd");
        if (!Files.exists(ssd)) {
            return;
        }
        List<Path> files;
        try (Stream<Path> found = Files.list(ssd)) {
            files = found.filter(file -> !file.getFileName().toString().startsWith("slab-")).toList();
        }
        for (Path file : files) {
            // pages that are not written yet cannot be dropped
            run("sync", file.toString());
            run("dd", "if=" + file, "iflag=nocache", "count=0", "status=none");
        }
    }

    private static void run(String... command)
            throws IOException, InterruptedException
    {
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            throw new IOException("failed: " + String.join(" ", command));
        }
    }
}
