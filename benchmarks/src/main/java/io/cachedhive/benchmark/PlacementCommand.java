package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Machine;
import io.cachedhive.benchmark.placement.PlacementBenchmark;
import io.cachedhive.benchmark.placement.PlacementBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Where chunks and splits go.
 */
@Command(
        name = "placement",
        sortOptions = false,
        description = "Simulates clusters of 2 to 1000 workers, with the product's own rings, membership and split source, and measures what the placement costs.")
final class PlacementCommand
        implements Callable<Integer>
{
    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

    @Option(names = "--keys", paramLabel = "COUNT", defaultValue = "10000000", description = "chunks of which the owners are counted (default: ${DEFAULT-VALUE})")
    private int keys;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "7", description = "each with a seed of its own, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(names = "--hours", paramLabel = "COUNT", defaultValue = "2", description = "of a simulated cluster's life (default: ${DEFAULT-VALUE})")
    private int hours;

    @Option(names = "--seed", paramLabel = "NUMBER", description = "of the first run; the next run has the next (default: the time)")
    private long seed = System.nanoTime();

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final String commandLine;

    PlacementCommand(PrintStream out, PrintStream error, String commandLine)
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
        out.println("seed " + seed);
        List<Figure> figures = new ArrayList<>();
        new PlacementBenchmark(new Scale(keys, runs, hours), seed, error::println, figure -> {
            MicroCommand.print(out, figure);
            figures.add(figure);
        }).measure();
        if (file != null) {
            // the seed belongs to the command, whoever chose it
            String command = commandLine.contains("--seed") ? commandLine : commandLine + " --seed " + seed;
            new FigureFile(figures, Machine.describe(loadBefore), command).write(file);
        }
        return BenchmarkMain.OK;
    }
}
