package io.cachedhive.benchmark;

import io.cachedhive.benchmark.InterleavedRuns.Timing;
import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Interval;
import io.cachedhive.benchmark.figure.Machine;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * What single operations cost.
 */
@Command(
        name = "micro",
        sortOptions = false,
        description = "Measures what single operations cost, in CPU time or waiting, each in several JVMs in turns. Of each figure the upper end of its 95 %% interval counts.")
final class MicroCommand
        implements Callable<Integer>
{
    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

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

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;
    private final String commandLine;

    MicroCommand(PrintStream out, PrintStream error, String commandLine)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.commandLine = requireNonNull(commandLine, "commandLine is null");
    }

    @Override
    public Integer call()
            throws IOException, RunnerException
    {
        double loadBefore = Machine.loadAverage();
        InterleavedRuns interleaved = new InterleavedRuns(new Timing(runs, measureMillis, measureMillis), error::println);
        List<Figure> figures = new MicroBenchmarks(interleaved, name -> only.matcher(name).find()).measure(figure -> print(out, figure));
        Machine machine = Machine.describe(loadBefore);
        List<Double> load = machine.loadAverages();
        out.println("load average before and after: %s and %s on %s processors".formatted(load.getFirst(), load.getLast(), machine.processors()));
        if (file != null) {
            new FigureFile(figures, machine, commandLine).write(file);
        }
        // a budget that does not hold is a result, not a failure of the program: who must know reads the file
        return BenchmarkMain.OK;
    }

    static void print(PrintStream out, Figure figure)
    {
        Interval interval = figure.interval();
        String line = String.format(Locale.ROOT, "%-50s %10.2f  [%.2f .. %.2f]  %s", figure.name(), interval.mean(), interval.low(), interval.high(), figure.unit());
        if (figure.budget() != null) {
            line += String.format(Locale.ROOT, "  budget %.2f: %s", figure.budget(), figure.holds() ? "holds" : "DOES NOT HOLD");
        }
        out.println(line);
    }
}
