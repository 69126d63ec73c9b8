package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Machine;
import io.cachedhive.benchmark.scans.ScansBenchmark;
import io.cachedhive.benchmark.scans.ScansBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.util.Objects.requireNonNull;

/**
 * Where the bytes of whole scans come from, and who waits for whom.
 */
@Command(
        name = "scans",
        sortOptions = false,
        description = "Measures scans in a cluster of three hosts, as processes: non-local reads of large files, scans with splits of three sizes against Trino's own cache, "
                + "and scans beside a slow cache worker or a slow host.")
final class ScansCommand
        implements Callable<Integer>
{
    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

    @Option(
            names = "--only",
            paramLabel = "PATTERN",
            description = "regular expression: parts of which it matches a piece (large_files, skewed_files, split_sizes, healthy, slow_cache_worker, slow_host)")
    private Pattern only;

    @Option(names = "--files", paramLabel = "COUNT", defaultValue = "4", description = "of 1 GiB each (default: ${DEFAULT-VALUE})")
    private int files;

    @Option(names = "--worker-sets", paramLabel = "COUNT", defaultValue = "5", description = "sets of cache worker ids, at least 2 (default: ${DEFAULT-VALUE})")
    private int workerSets;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "7", description = "pairs of scans beside a slow process, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(
            names = "--directory",
            paramLabel = "DIRECTORY",
            description = "for tables and caches, some 30 GB, kept for the next time (default: a temporary one, which is deleted)")
    private Path directory;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final String commandLine;

    ScansCommand(PrintStream out, PrintStream error, String commandLine)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.commandLine = requireNonNull(commandLine, "commandLine is null");
    }

    @Override
    public Integer call()
            throws Exception
    {
        List<String> parts = ScansBenchmark.PARTS.stream().filter(part -> only == null || only.matcher(part).find()).toList();
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("--only %s matches none of %s".formatted(only, String.join(", ", ScansBenchmark.PARTS)));
        }
        double loadBefore = Machine.loadAverage();
        List<Figure> figures = new ArrayList<>();
        Path place = directory == null ? Files.createTempDirectory("cachedhive-scans") : directory;
        try {
            new ScansBenchmark(new Scale(files, workerSets, runs, parts::contains), place, error::println, figure -> {
                MicroCommand.print(out, figure);
                figures.add(figure);
            }).measure();
        }
        finally {
            if (directory == null) {
                deleteRecursively(place, ALLOW_INSECURE);
            }
        }
        if (file != null) {
            new FigureFile(figures, Machine.describe(loadBefore), commandLine).write(file);
        }
        return BenchmarkMain.OK;
    }
}
