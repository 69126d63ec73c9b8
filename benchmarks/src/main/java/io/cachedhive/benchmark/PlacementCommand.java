package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.placement.PlacementBenchmark;
import io.cachedhive.benchmark.placement.PlacementBenchmark.Scale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.util.function.Consumer;

/**
 * Where chunks and splits go.
 */
@Command(
        name = "placement",
        sortOptions = false,
        description = "Simulates clusters of 2 to 1000 workers, with the product's own rings, membership and split source, and measures what the placement costs.")
final class PlacementCommand
        extends MeasuringCommand
{
    @Option(names = "--keys", paramLabel = "COUNT", defaultValue = "10000000", description = "chunks of which the owners are counted (default: ${DEFAULT-VALUE})")
    private int keys;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "7", description = "each with a seed of its own, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(names = "--hours", paramLabel = "COUNT", defaultValue = "2", description = "of a simulated cluster's life (default: ${DEFAULT-VALUE})")
    private int hours;

    @Option(names = "--seed", paramLabel = "NUMBER", description = "of the first run; the next run has the next (default: the time)")
    private long seed = System.nanoTime();

    PlacementCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws Exception
    {
        out.println("seed " + seed);
        new PlacementBenchmark(new Scale(keys, runs, hours), seed, error::println, figures).measure();
    }

    @Override
    protected String repeatable(String commandLine)
    {
        // the seed belongs to the command, whoever chose it
        return commandLine.contains("--seed") ? commandLine : commandLine + " --seed " + seed;
    }
}
