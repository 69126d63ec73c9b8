package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Machine;
import io.cachedhive.benchmark.files.FilesBenchmark;
import io.cachedhive.benchmark.files.FilesBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * What many small files cost.
 */
@Command(
        name = "files",
        sortOptions = false,
        description = "Measures reads of many files of 50 KiB: cached ones against the same bytes in large files, and filling the cache with them against plain Hive.")
final class FilesCommand
        implements Callable<Integer>
{
    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

    @Option(names = "--files", paramLabel = "COUNT", defaultValue = "10000", description = "small files, a multiple of 500 (default: ${DEFAULT-VALUE})")
    private int files;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "7", description = "of each kind, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(
            names = "--readers",
            paramLabel = "COUNT",
            description = "threads that read what is cached (default: twice the processors, as of a Trino worker)")
    private int readers = 2 * Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--fillers",
            paramLabel = "COUNT",
            defaultValue = "32",
            description = "threads that read what is not cached, and mostly wait: those of a Trino worker with 16 processors (default: ${DEFAULT-VALUE})")
    private int fillers;

    @Option(
            names = "--latency",
            paramLabel = "MILLIS",
            split = ",",
            defaultValue = "0,30",
            description = "of the object store while the cache is filled (default: ${DEFAULT-VALUE})")
    private List<Integer> latencyMillis;

    @Option(names = "--only-fill", description = "measure only how the cache is filled")
    private boolean onlyFill;

    @Option(names = "--unannounced", description = "fill as without a coordinator that announces files to the cache worker (cachedhive.fetch-ahead=false)")
    private boolean unannounced;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final String commandLine;

    FilesCommand(PrintStream out, PrintStream error, String commandLine)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.commandLine = requireNonNull(commandLine, "commandLine is null");
    }

    @Override
    public Integer call()
            throws Exception
    {
        double loadBefore = Machine.loadAverage();
        Scale scale = new Scale(files, runs, readers, fillers, latencyMillis.stream().map(Duration::ofMillis).toList(), !onlyFill, !unannounced);
        List<Figure> figures = new ArrayList<>();
        new FilesBenchmark(scale, error::println, figure -> {
            MicroCommand.print(out, figure);
            figures.add(figure);
        }).measure();
        if (file != null) {
            new FigureFile(figures, Machine.describe(loadBefore), commandLine).write(file);
        }
        return BenchmarkMain.OK;
    }
}
