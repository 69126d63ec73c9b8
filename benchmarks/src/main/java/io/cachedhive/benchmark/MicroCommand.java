package io.cachedhive.benchmark;

import io.cachedhive.benchmark.InterleavedRuns.Timing;
import io.cachedhive.benchmark.figure.Figure;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * What single operations cost.
 */
@Command(
        name = "micro",
        sortOptions = false,
        description = "Measures what single operations cost, in CPU time or waiting, each in several JVMs in turns. Of each figure the upper end of its 95 %% interval counts.")
final class MicroCommand
        extends MeasuringCommand
{
    @Option(names = "--only", paramLabel = "PATTERN", defaultValue = ".*", description = "only figures whose names match this regular expression")
    private Pattern only;

    @Option(names = "--runs", paramLabel = "COUNT", defaultValue = "7", description = "JVMs for each benchmark, at least 2 (default: ${DEFAULT-VALUE})")
    private int runs;

    @Option(
            names = "--measure",
            paramLabel = "MILLIS",
            defaultValue = "500",
            description = "length of an iteration; there are two of warm-up, longer where waiting is measured, and two that count (default: ${DEFAULT-VALUE})")
    private int measureMillis;

    @Option(names = "--in-process", hidden = true, description = "runs all benchmarks in this JVM: fast, and its figures mean little")
    private boolean inProcess;

    MicroCommand(PrintStream out, PrintStream error, String commandLine)
    {
        super(out, error, commandLine);
    }

    @Override
    protected void measure(Consumer<Figure> figures)
            throws RunnerException
    {
        InterleavedRuns interleaved = new InterleavedRuns(new Timing(runs, measureMillis, measureMillis), !inProcess, error::println);
        new MicroBenchmarks(interleaved, name -> only.matcher(name).find()).measure(figures);
    }
}
