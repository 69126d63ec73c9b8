package io.cachedhive.benchmark.store;

import io.cachedhive.benchmark.figure.Figure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * A store of many blocks: what its metadata take, and how soon it serves after a clean stop and after a kill.
 *
 * <p>Everything is done by cache workers, in processes of their own; only what lies in slabs is synthetic. Before each start the
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
    private static final double MAX_ENCRYPTED_RESTORE = 1.2;
    private static final double MIN_RESTORED = 0.99;
    // in it: what was filled
    private static final String FILLED_NAME = "filled";
    private static final String ENCRYPTED_NAME = "encrypted";
    private static final String KEY_NAME = "key";
    private static final int KEY_BYTES = 32;

    private final Path directory;
    private final Scale scale;
    private final Consumer<String> progress;

    public enum Phase
    {
        /**
         * Fills the store, or goes on with it.
         */
        FILL,
        /**
         * Starts after clean stops and kills, and memory.
         */
        STARTS,
        /**
         * Reads while checkpoints are written.
         */
        READS,
        /**
         * Fills an encrypted store as well, and restores both in turns.
         */
        ENCRYPTED,
    }

    /**
     * @param heap of the store's process
     * @param ramBytes size of the RAM tier, which has grown to it before the process is killed
     * @param runs starts after a clean stop, and as many after a kill; checkpoints while reads are measured
     * @param fillSeconds how long to fill at most
     */
    public record Scale(long blocks, int blocksPerFile, String heap, long ramBytes, int runs, long fillSeconds)
    {
        public Scale
        {
            requireNonNull(heap, "heap is null");
            if (blocks < blocksPerFile || blocksPerFile < 1 || runs < 2) {
                throw new IllegalArgumentException("blocks, blocks in a file or runs (at least 2) are too few: %s, %s, %s".formatted(blocks, blocksPerFile, runs));
            }
        }

        String shape()
        {
            return "%s blocks, %s in a file".formatted(blocks, blocksPerFile);
        }
    }

    /**
     * @param directory on a real disk: empty, or as an earlier benchmark of the same scale left it; with {@link #RAM_DIRECTORY} in it
     */
    public StoreBenchmark(Path directory, Scale scale, Consumer<String> progress)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.scale = requireNonNull(scale, "scale is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    /// With a seventh to spare: what the geometry takes, and what runs add.
    static long capacityBytes(long blockCount)
    {
        return Math.max(1L << 30, blockCount * (SyntheticBlocks.BLOCK_BYTES + 4096) / 100 * 115);
    }

    private record Start(double firstHitSeconds, double restoredSeconds, long restoredBlocks) {}

    /**
     * @throws IOException also if the store is not full when other phases than {@link Phase#FILL} are to begin
     */
    public List<Figure> measure(Set<Phase> phases)
            throws IOException, InterruptedException
    {
        if (phases.contains(Phase.FILL)) {
            fill(directory);
        }
        List<Figure> figures = new ArrayList<>();
        if (!phases.equals(Set.of(Phase.FILL)) && !isFilled(directory)) {
            throw new IOException("%s is not filled with %s: fill it first, or go on with that".formatted(directory, scale.shape()));
        }
        if (phases.contains(Phase.STARTS)) {
            figures.addAll(measureStarts());
        }
        if (phases.contains(Phase.READS)) {
            figures.add(measureReads());
        }
        if (phases.contains(Phase.ENCRYPTED)) {
            figures.addAll(measureEncrypted());
        }
        return figures;
    }

    private boolean isFilled(Path directory)
            throws IOException
    {
        Path filled = directory.resolve(FILLED_NAME);
        return Files.exists(filled) && Files.readString(filled).equals(scale.shape());
    }

    private void fill(Path directory)
            throws IOException, InterruptedException
    {
        if (isFilled(directory)) {
            return;
        }
        try (WorkerProcess worker = start(directory)) {
            worker.ask("restored", "RESTORED");
            long present = worker.ask("fill %s %s".formatted(scale.blocks, scale.fillSeconds), "FILLED")[0];
            progress.accept("filled %s blocks in %.0f s".formatted(present, worker.seconds()));
            worker.ask("close", "CLOSED");
            worker.awaitEnd();
            if (present >= scale.blocks) {
                Files.writeString(directory.resolve(FILLED_NAME), scale.shape());
            }
        }
    }

    private List<Figure> measureStarts()
            throws IOException, InterruptedException
    {
        double[] cleanHit = new double[scale.runs];
        double[] cleanAll = new double[scale.runs];
        double[] killedHit = new double[scale.runs];
        double[] killedAll = new double[scale.runs];
        double[] lost = new double[scale.runs];
        double[] heap = new double[scale.runs];
        double[] resident = new double[scale.runs];
        long emptyHeap = emptyHeap();
        for (int run = 0; run < scale.runs; run++) {
            long present;
            try (WorkerProcess worker = start(directory)) {
                Start start = awaitStart(worker, run);
                progress.accept("after a clean stop: %s".formatted(start));
                cleanHit[run] = start.firstHitSeconds;
                cleanAll[run] = start.restoredSeconds;
                // so that there is something in the journal
                present = worker.ask("fill %s %s".formatted(start.restoredBlocks + Math.max(scale.blocksPerFile, scale.blocks / 1000), 600), "FILLED")[0];
                long[] memory = worker.ask("memory", "MEMORY");
                heap[run] = (double) (memory[0] - emptyHeap) / present;
                resident[run] = memory[1] / (double) (1L << 30);
                progress.accept("%.1f bytes of heap per block, %.3f GiB of memory".formatted(heap[run], resident[run]));
                worker.ask("grown", "GROWN");
                // by then all of them are in the journal
                Thread.sleep(1000);
            }
            try (WorkerProcess worker = start(directory)) {
                Start start = awaitStart(worker, run);
                progress.accept("after a kill: %s".formatted(start));
                killedHit[run] = start.firstHitSeconds;
                killedAll[run] = start.restoredSeconds;
                lost[run] = 100.0 * Math.max(0, present - start.restoredBlocks) / present;
                worker.ask("close", "CLOSED");
                worker.awaitEnd();
            }
        }
        List<Figure> figures = new ArrayList<>();
        double perBlock = MAX_BYTES_PER_BLOCK + MAX_BYTES_PER_FILE / scale.blocksPerFile;
        figures.add(Figure.of(name("metadata_per_block"), "bytes", OptionalDouble.of(perBlock), heap));
        figures.add(Figure.of(name("resident_without_ram_tier"), "GiB", budget(MAX_RESIDENT_GIB), resident));
        figures.add(Figure.of(name("first_hit_after_stop"), "s", budget(MAX_FIRST_HIT_SECONDS), cleanHit));
        figures.add(Figure.of(name("all_restored_after_stop"), "s", budget(MAX_RESTORE_SECONDS), cleanAll));
        figures.add(Figure.of(name("first_hit_after_kill"), "s", budget(MAX_FIRST_HIT_SECONDS), killedHit));
        figures.add(Figure.of(name("all_restored_after_kill"), "s", budget(MAX_RESTORE_SECONDS), killedAll));
        figures.add(Figure.of(name("lost_by_kill"), "%", budget(1), lost));
        return figures;
    }

    private Figure measureReads()
            throws IOException, InterruptedException
    {
        double[] millis = new double[scale.runs];
        try (WorkerProcess worker = start(directory)) {
            worker.ask("restored", "RESTORED");
            for (int run = 0; run < scale.runs; run++) {
                long[] reads = worker.ask("reads " + run, "READS");
                millis[run] = reads[1] / 1e6;
                progress.accept("%s reads during a checkpoint, 99.9th percentile %.2f ms".formatted(reads[0], millis[run]));
            }
            worker.ask("close", "CLOSED");
            worker.awaitEnd();
        }
        return Figure.of(name("read_p999_during_checkpoint"), "ms", budget(MAX_READ_MILLIS), millis);
    }

    private List<Figure> measureEncrypted()
            throws IOException, InterruptedException
    {
        Path encrypted = Files.createDirectories(directory.resolve(ENCRYPTED_NAME));
        Path key = encrypted.resolve(KEY_NAME);
        if (!Files.exists(key)) {
            byte[] bytes = new byte[KEY_BYTES];
            new SecureRandom().nextBytes(bytes);
            Files.createFile(key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(key, HexFormat.of().formatHex(bytes));
        }
        Path memory = encrypted.resolve(RAM_DIRECTORY);
        Files.deleteIfExists(memory);
        Files.createSymbolicLink(memory, directory.resolve(RAM_DIRECTORY).toRealPath());
        fill(encrypted);
        double[] plainSeconds = new double[scale.runs];
        double[] encryptedSeconds = new double[scale.runs];
        for (int run = 0; run < scale.runs; run++) {
            plainSeconds[run] = secondsToRestore(directory);
            encryptedSeconds[run] = secondsToRestore(encrypted);
            progress.accept("restored in %.2f s, encrypted in %.2f s".formatted(plainSeconds[run], encryptedSeconds[run]));
        }
        return List.of(
                Figure.of(name("all_restored_encrypted"), "s", budget(MAX_RESTORE_SECONDS), encryptedSeconds),
                Figure.ofRatio(name("all_restored_encrypted_to_plain"), budget(MAX_ENCRYPTED_RESTORE), encryptedSeconds, plainSeconds));
    }

    /**
     * After a clean stop. No block is read: a payload that is generated cannot be decrypted.
     */
    private double secondsToRestore(Path directory)
            throws IOException, InterruptedException
    {
        try (WorkerProcess worker = start(directory)) {
            long restored = worker.ask("restored", "RESTORED")[0];
            double seconds = worker.seconds();
            if (restored < scale.blocks * MIN_RESTORED) {
                throw new IOException("only %s of %s blocks of %s were restored".formatted(restored, scale.blocks, directory));
            }
            worker.ask("close", "CLOSED");
            worker.awaitEnd();
            return seconds;
        }
    }

    private String name(String figure)
    {
        return "%s_%s_blocks_in_file".formatted(figure, scale.blocksPerFile);
    }

    /**
     * Times and memory have budgets for 16 blocks in a file only.
     */
    private OptionalDouble budget(double budget)
    {
        return scale.blocksPerFile == 16 ? OptionalDouble.of(budget) : OptionalDouble.empty();
    }

    /**
     * Of a cache worker that has no block yet, and is as large.
     */
    private long emptyHeap()
            throws IOException, InterruptedException
    {
        Path empty = Files.createDirectory(directory.resolve("empty"));
        try {
            Files.createSymbolicLink(empty.resolve(RAM_DIRECTORY), directory.resolve(RAM_DIRECTORY).toRealPath());
            try (WorkerProcess worker = start(empty)) {
                return worker.ask("memory", "MEMORY")[0];
            }
        }
        finally {
            delete(empty);
        }
    }

    /**
     * Deletes a directory with all that is in it.
     */
    public static void delete(Path directory)
            throws IOException
    {
        List<Path> files;
        try (Stream<Path> found = Files.walk(directory)) {
            files = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : files) {
            Files.delete(path);
        }
    }

    private WorkerProcess start(Path directory)
            throws IOException, InterruptedException
    {
        dropFromPageCache(directory);
        return new WorkerProcess(directory, scale, Optional.of(directory.resolve(KEY_NAME)).filter(Files::exists));
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
    private static void dropFromPageCache(Path directory)
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
