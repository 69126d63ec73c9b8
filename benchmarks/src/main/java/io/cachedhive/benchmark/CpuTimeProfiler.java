package io.cachedhive.benchmark;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;

/**
 * Nanoseconds of CPU per operation of the threads that run the benchmark: what others take on a shared machine is not in it, nor is the compiler.
 */
public final class CpuTimeProfiler
        implements InternalProfiler
{
    static final String RESULT = "cpu";

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long begin;

    @Override
    public String getDescription()
    {
        return "CPU time of the benchmark's threads";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration)
    {
        begin = cpuNanos();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration, IterationResult result)
    {
        double operations = result.getMetadata().getAllOps();
        return List.of(new ScalarResult(RESULT, (cpuNanos() - begin) / operations, "ns/op", AggregationPolicy.AVG));
    }

    private long cpuNanos()
    {
        long nanos = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo thread = threads.getThreadInfo(id);
            if (thread != null && thread.getThreadName().contains("jmh-worker")) {
                // -1 for one that has just ended: then this is not a measurement, and the figure shows it
                nanos += threads.getThreadCpuTime(id);
            }
        }
        return nanos;
    }
}
