package io.cachedhive.benchmark;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.benchmark.figure.FigureFile;
import io.cachedhive.benchmark.figure.Interval;
import io.cachedhive.benchmark.figure.Machine;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * Measures something, prints each figure, and writes them all to a file if one is named.
 */
abstract class MeasuringCommand
        implements Callable<Integer>
{
    // after those of the command itself
    private static final int LAST = 1000;

    @Option(names = "--out", paramLabel = "FILE.json", description = "also write the figures there")
    private Path file;

    @Option(names = {"-h", "--help"}, usageHelp = true, order = LAST, description = "show this help")
    @SuppressWarnings("UnusedVariable") // picocli looks at the option
    private boolean help;

    protected final PrintStream out;
    protected final PrintStream error;
    private final String commandLine;

    /**
     * @param commandLine as it was typed
     */
    protected MeasuringCommand(PrintStream out, PrintStream error, String commandLine)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
        this.commandLine = requireNonNull(commandLine, "commandLine is null");
    }

    @Override
    public final Integer call()
            throws Exception
    {
        double loadBefore = Machine.loadAverage();
        List<Figure> figures = new ArrayList<>();
        measure(figure -> {
            print(figure);
            figures.add(figure);
        });
        Machine machine = Machine.describe(loadBefore);
        List<Double> load = machine.loadAverages();
        out.println("load average before and after: %s and %s on %s processors".formatted(load.getFirst(), load.getLast(), machine.processors()));
        if (file != null) {
            new FigureFile(figures, machine, repeatable(commandLine)).write(file);
        }
        // a budget that does not hold is a result, not a failure of the program: who must know reads the file
        return BenchmarkMain.OK;
    }

    /**
     * @param figures takes each figure as soon as it is known
     */
    protected abstract void measure(Consumer<Figure> figures)
            throws Exception;

    /**
     * The command that measures the same again.
     */
    protected String repeatable(String commandLine)
    {
        return commandLine;
    }

    private void print(Figure figure)
    {
        Interval interval = figure.interval();
        String line = String.format(Locale.ROOT, "%-50s %10.2f  [%.2f .. %.2f]  %s", figure.name(), interval.mean(), interval.low(), interval.high(), figure.unit());
        if (figure.budget() != null) {
            line += String.format(Locale.ROOT, "  budget %.2f: %s", figure.budget(), figure.holds() ? "holds" : "DOES NOT HOLD");
        }
        out.println(line);
    }
}
