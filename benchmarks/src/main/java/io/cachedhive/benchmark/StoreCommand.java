package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Machine;
import io.cachedhive.benchmark.store.StoreBenchmark;
import io.cachedhive.benchmark.store.StoreBenchmark.Scale;
import io.cachedhive.store.StoreConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * What a large store takes and how it restarts.
 */
@Command(
        name = "store",
        sortOptions = false,
        description = {
                "Measures a store of many blocks: bytes of metadata, memory of the process, and restarts after a clean stop and after kill -9. ",
                "Only what lies in slabs is synthetic; the rest takes about 1.2 KB of disk per block, 12 GB for ten million."})
final class StoreCommand
        implements Callable<Integer>
{
    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

    @Option(names = "--blocks", paramLabel = "COUNT", defaultValue = "10000000", description = "blocks in the store (default: ${DEFAULT-VALUE})")
    private long blocks;

    @Option(
            names = "--blocks-per-file",
            paramLabel = "COUNT",
            defaultValue = "16",
            description = "blocks in a file; budgets of time and memory are for 16 (default: ${DEFAULT-VALUE})")
    private int blocksPerFile;

    @Option(names = "--heap", paramLabel = "SIZE", defaultValue = "1g", description = "heap of the store's process, as of -Xmx (default: ${DEFAULT-VALUE})")
    private String heap;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "3", description = "starts of each kind, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(
            names = "--checkpoint-seconds",
            paramLabel = "COUNT",
            defaultValue = "10",
            description = "interval of checkpoints while reads are measured (default: ${DEFAULT-VALUE})")
    private int checkpointSeconds;

    @Option(names = "--directory", paramLabel = "DIR", defaultValue = "/var/tmp", description = "on a real disk; all that is made there is removed (default: ${DEFAULT-VALUE})")
    private Path parent;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final String commandLine;

    StoreCommand(PrintStream out, PrintStream error, String commandLine)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.commandLine = requireNonNull(commandLine, "commandLine is null");
    }

    @Override
    public Integer call()
            throws IOException, InterruptedException
    {
        double loadBefore = Machine.loadAverage();
        Scale scale = new Scale(blocks, blocksPerFile, heap, runs, checkpointSeconds);
        Path directory = Files.createTempDirectory(parent, "cachedhive-benchmark");
        Path memory = Files.createTempDirectory(StoreConfig.DEFAULT_RAM_DIRECTORY, "cachedhive-benchmark");
        List<Figure> figures;
        try {
            Files.createSymbolicLink(directory.resolve(StoreBenchmark.RAM_DIRECTORY), memory);
            figures = new StoreBenchmark(directory, scale, error::println).measure();
        }
        finally {
            delete(directory);
            delete(memory);
        }
        figures.forEach(figure -> MicroCommand.print(out, figure));
        if (file != null) {
            new FigureFile(figures, Machine.describe(loadBefore), commandLine).write(file);
        }
        return BenchmarkMain.OK;
    }

    private static void delete(Path directory)
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
}
