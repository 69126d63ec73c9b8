package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.queries.Pass;
import io.cachedhive.benchmark.queries.QueriesBenchmark;
import io.cachedhive.benchmark.queries.QueryFigures;
import io.cachedhive.benchmark.queries.QueryReport;
import io.cachedhive.benchmark.queries.Scale;
import io.cachedhive.benchmark.queries.StoreProfile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * What whole queries cost, beside what a user would choose instead.
 */
@Command(
        name = "queries",
        sortOptions = false,
        description = "Measures whole queries by cachedhive, plain Hive, Hive with Trino's own cache, and Hive on a local disk, on a cluster of three hosts with a Hive Metastore.")
final class QueriesCommand
        extends MeasuringCommand
{
    @Option(names = "--profile", paramLabel = "PROFILE", defaultValue = "hour", description = "ci, hour or full (default: ${DEFAULT-VALUE})")
    private String profile;

    @Option(names = "--workloads", paramLabel = "NAME", split = ",", description = "only these workloads")
    private List<String> workloads = List.of();

    @Option(names = "--store", paramLabel = "PROFILE", split = ",", description = "profiles of the object store: fast, near (30 ms, 80 MB/s), far (100 ms, 20 MB/s)")
    private List<String> stores = List.of();

    @Option(names = "--runs", paramLabel = "COUNT", description = "of each workload, at least 2")
    private Integer runs;

    @Option(names = "--ram", paramLabel = "SIZE", defaultValue = "512MB", description = "of each cache worker (default: ${DEFAULT-VALUE})")
    private String ram;

    @Option(names = "--ssd", paramLabel = "SIZE", defaultValue = "4GB", description = "of each host's cache (default: ${DEFAULT-VALUE})")
    private String ssd;

    @Option(
            names = "--directory",
            paramLabel = "DIRECTORY",
            defaultValue = ".benchmark-queries",
            description = "for tables, caches and results; a benchmark that was interrupted goes on there (default: ${DEFAULT-VALUE})")
    private Path directory;

    @Option(names = "--plots", paramLabel = "DIRECTORY", description = "also write plots as PNG and HTML there")
    private Path plots;

    QueriesCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws Exception
    {
        Scale scale = Scale.of(profile);
        QueriesBenchmark.Settings settings = new QueriesBenchmark.Settings(
                directory.toAbsolutePath(),
                scale,
                stores.isEmpty() ? scale.profiles() : stores.stream().map(StoreProfile::of).toList(),
                runs == null ? scale.runs() : runs,
                workloads,
                ram,
                ssd);
        long start = System.nanoTime();
        List<Pass> passes = new QueriesBenchmark(settings, line -> error.println("%5.1f min: %s".formatted((System.nanoTime() - start) / 60e9, line))).measure();
        QueryFigures.of(passes).forEach(figures);
        if (plots != null) {
            new QueryReport(passes, "bin/benchmark queries --profile %s".formatted(scale)).write(plots);
        }
    }
}
