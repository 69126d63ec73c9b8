package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.files.FilesBenchmark;
import io.cachedhive.benchmark.files.FilesBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * What many small files cost.
 */
@Command(
        name = "files",
        sortOptions = false,
        description = "Measures reads of many files of 50 KiB: cached ones against the same bytes in large files, and filling the cache with them against plain Hive.")
final class FilesCommand
        extends MeasuringCommand
{
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

    FilesCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws Exception
    {
        Scale scale = new Scale(files, runs, readers, fillers, latencyMillis.stream().map(Duration::ofMillis).toList(), !onlyFill, !unannounced);
        new FilesBenchmark(scale, error::println, figures).measure();
    }
}
