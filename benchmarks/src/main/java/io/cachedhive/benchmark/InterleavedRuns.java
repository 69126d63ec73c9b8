package io.cachedhive.benchmark;

import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.testing.cluster.home.Distribution;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Runs JMH benchmarks in turns, each run in a JVM of its own: what disturbs the machine for a while disturbs all of them, and a ratio of
 * neighbours hardly notices.
 */
final class InterleavedRuns
{
    private static final String[] JVM_ARGUMENTS = {
            "-Xms512m",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            // as in the packaged jvm.config: the JVM would compile the cipher only after thousands of blocks
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.01"};

    private final Timing timing;
    private final boolean forks;
    private final Consumer<String> progress;

    /**
     * @param forks whether each run has a JVM of its own
     */
    InterleavedRuns(Timing timing, boolean forks, Consumer<String> progress)
    {
        this.timing = requireNonNull(timing, "timing is null");
        this.forks = forks;
        this.progress = requireNonNull(progress, "progress is null");
    }

    /**
     * @param runs of each benchmark
     * @param warmupMillis twice in each run
     * @param measureMillis twice in each run
     */
    record Timing(int runs, int warmupMillis, int measureMillis)
    {
        Timing
        {
            if (runs < 2 || warmupMillis < 1 || measureMillis < 1) {
                throw new IllegalArgumentException("timing is not positive, or has fewer than 2 runs: runs %s, warmupMillis %s, measureMillis %s"
                        .formatted(runs, warmupMillis, measureMillis));
            }
        }
    }

    // what is waited for is often another process, whose code has to be compiled as well
    private static final int WAITING_WARMUP_FACTOR = 5;

    /**
     * What of a run is its result: nanoseconds per operation.
     */
    enum Measure
    {
        /// of CPU, of the threads that run the benchmark: what others take on a shared machine is not in it
        CPU_TIME("ns of CPU"),
        WALL_TIME("ns"),
        /// of the slowest hundredth of the operations the fastest
        WALL_TIME_P99("ns");

        private final String unit;

        Measure(String unit)
        {
            this.unit = requireNonNull(unit, "unit is null");
        }

        String unit()
        {
            return unit;
        }
    }

    /**
     * @param type the class with the benchmark
     * @param method the benchmark
     * @param parameters by their fields' names
     * @param threads that run it at the same time
     */
    record Subject(Class<?> type, String method, Map<String, String> parameters, Measure measure, int threads)
    {
        Subject
        {
            requireNonNull(type, "type is null");
            requireNonNull(method, "method is null");
            parameters = Map.copyOf(parameters);
            requireNonNull(measure, "measure is null");
            if (threads < 1) {
                throw new IllegalArgumentException("threads is not positive: " + threads);
            }
        }

        Subject(Class<?> type, String method, Map<String, String> parameters)
        {
            this(type, method, parameters, Measure.CPU_TIME, 1);
        }

        Subject withMeasure(Measure measure)
        {
            return new Subject(type, method, parameters, measure, threads);
        }

        Subject withThreads(int threads)
        {
            return new Subject(type, method, parameters, measure, threads);
        }
    }

    /// @return for each subject the nanoseconds per operation of each of its runs
    List<double[]> run(List<Subject> subjects)
            throws RunnerException
    {
        List<double[]> results = new ArrayList<>();
        subjects.forEach(_ -> results.add(new double[timing.runs()]));
        for (int run = 0; run < timing.runs(); run++) {
            for (int index = 0; index < subjects.size(); index++) {
                Subject subject = subjects.get(index);
                results.get(index)[run] = run(subject);
                progress.accept("%s %s, run %s of %s: %.0f %s".formatted(
                        subject.method(),
                        subject.parameters(),
                        run + 1,
                        timing.runs(),
                        results.get(index)[run],
                        subject.measure().unit()));
            }
        }
        return results;
    }

    private double run(Subject subject)
            throws RunnerException
    {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + Pattern.quote(subject.type().getName() + "." + subject.method()) + "$")
                .forks(forks ? 1 : 0)
                .threads(subject.threads())
                .mode(subject.measure() == Measure.WALL_TIME_P99 ? Mode.SampleTime : Mode.AverageTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .warmupIterations(2)
                .warmupTime(TimeValue.milliseconds((long) timing.warmupMillis() * (subject.measure() == Measure.CPU_TIME ? 1 : WAITING_WARMUP_FACTOR)))
                .measurementIterations(2)
                .measurementTime(TimeValue.milliseconds(timing.measureMillis()))
                .addProfiler(CpuTimeProfiler.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        if (forks) {
            options.jvmArgs(JVM_ARGUMENTS).jvmArgsAppend(
                    "-D%s=%s".formatted(Distribution.ROOT_PROPERTY, Distribution.find().root()),
                    "-D%s=%s".formatted(MemoryDirectory.PARENT_PROPERTY, MemoryDirectory.parent()));
        }
        subject.parameters().forEach(options::param);
        List<RunResult> results = List.copyOf(new Runner(options.build()).run());
        if (results.size() != 1) {
            throw new RunnerException("%s is %s benchmarks instead of one".formatted(subject, results.size()));
        }
        RunResult result = results.getFirst();
        return switch (subject.measure()) {
            case CPU_TIME -> result.getSecondaryResults().get(CpuTimeProfiler.RESULT).getScore();
            case WALL_TIME -> result.getPrimaryResult().getScore();
            case WALL_TIME_P99 -> result.getPrimaryResult().getStatistics().getPercentile(99);
        };
    }
}
