package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.scans.ScansBenchmark;
import io.cachedhive.benchmark.scans.ScansBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;

/**
 * Where the bytes of whole scans come from, and who waits for whom.
 */
@Command(
        name = "scans",
        sortOptions = false,
        description = "Measures scans in a cluster of three hosts, as processes: non-local reads of large files, scans with splits of three sizes against Trino's own cache, "
                + "and scans beside a slow cache worker or a slow host.")
final class ScansCommand
        extends MeasuringCommand
{
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

    ScansCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws Exception
    {
        List<String> parts = ScansBenchmark.PARTS.stream().filter(part -> only == null || only.matcher(part).find()).toList();
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("--only %s matches none of %s".formatted(only, String.join(", ", ScansBenchmark.PARTS)));
        }
        Path place = directory == null ? Files.createTempDirectory("cachedhive-scans") : directory;
        try {
            new ScansBenchmark(new Scale(files, workerSets, runs, parts::contains), place, error::println, figures).measure();
        }
        finally {
            if (directory == null) {
                deleteRecursively(place, ALLOW_INSECURE);
            }
        }
    }
}
