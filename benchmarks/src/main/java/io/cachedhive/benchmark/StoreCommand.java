package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.benchmark.store.StoreBenchmark;
import io.cachedhive.benchmark.store.StoreBenchmark.Phase;
import io.cachedhive.benchmark.store.StoreBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What a large store takes and how it restarts.
 */
@Command(
        name = "store",
        sortOptions = false,
        description = {
                "Measures a store of many blocks: bytes of metadata, memory of the process, and restarts after a clean stop and after kill -9, ",
                "on demand also of an encrypted store. ",
                "Only what lies in slabs is synthetic; the rest takes about 1.2 KB of disk per block, 12 GB for ten million."})
final class StoreCommand
        extends MeasuringCommand
{
    @Option(names = "--blocks", paramLabel = "COUNT", defaultValue = "10000000", description = "blocks in the store (default: ${DEFAULT-VALUE})")
    private long blocks;

    @Option(
            names = "--blocks-per-file",
            paramLabel = "COUNT",
            defaultValue = "16",
            description = "blocks in a file; budgets of time and memory are for 16 (default: ${DEFAULT-VALUE})")
    private int blocksPerFile;

    @Option(names = "--heap", paramLabel = "SIZE", defaultValue = "1200m", description = "heap of the store's process, as of -Xmx (default: ${DEFAULT-VALUE})")
    private String heap;

    @Option(
            names = "--ram-megabytes",
            paramLabel = "COUNT",
            defaultValue = "1024",
            description = "size of the RAM tier, which has grown to it before a kill (default: ${DEFAULT-VALUE})")
    private long ramMegabytes;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "3", description = "starts of each kind, and checkpoints, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(names = "--directory", paramLabel = "DIR", defaultValue = "/var/tmp", description = "on a real disk; all that is made there is removed (default: ${DEFAULT-VALUE})")
    private Path parent;

    @Option(
            names = "--store",
            paramLabel = "DIR",
            description = "keep the filled store there, and use what an earlier command with the same numbers left there; without it one is made in --directory and removed")
    private Path kept;

    @Option(
            names = "--phases",
            paramLabel = "PHASE,...",
            split = ",",
            defaultValue = "FILL,STARTS,READS",
            description = "what to do: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
    private Set<Phase> phases;

    @Option(
            names = "--fill-seconds",
            paramLabel = "COUNT",
            defaultValue = "3600",
            description = "fill for at most so long; with --store the next command goes on (default: ${DEFAULT-VALUE})")
    private long fillSeconds;

    StoreCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws IOException, InterruptedException
    {
        Scale scale = new Scale(blocks, blocksPerFile, heap, ramMegabytes << 20, runs, fillSeconds);
        Path directory = kept == null ? Files.createTempDirectory(parent, "cachedhive-benchmark") : Files.createDirectories(kept).toRealPath();
        Path memory = MemoryDirectory.create();
        try {
            Path link = directory.resolve(StoreBenchmark.RAM_DIRECTORY);
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, memory);
            new StoreBenchmark(directory, scale, error::println).measure(phases).forEach(figures);
        }
        finally {
            if (kept == null) {
                StoreBenchmark.delete(directory);
            }
            StoreBenchmark.delete(memory);
        }
    }
}
