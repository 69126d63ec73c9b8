package io.cachedhive.benchmark.figure;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import java.util.Arrays;
import java.util.OptionalDouble;

import static java.util.Objects.requireNonNull;

/**
 * One measured number.
 *
 * @param value what counts against the budget: the upper end of the interval, or the worst run where no run may be above it
 * @param unit such as {@code ratio} or {@code ns}
 * @param budget the most that it may be; empty if there is no budget
 * @param holds whether the value is within the budget; null without one
 * @param interval of the mean, at 95 %
 * @param runs how many independent runs the interval is made of
 */
@JsonPropertyOrder({"name", "value", "unit", "budget", "holds", "interval", "runs"})
@JsonInclude(JsonInclude.Include.ALWAYS)
public record Figure(String name, double value, String unit, Double budget, Boolean holds, Interval interval, int runs)
{
    public Figure
    {
        requireNonNull(name, "name is null");
        requireNonNull(unit, "unit is null");
        requireNonNull(interval, "interval is null");
    }

    /// A figure of which less is better.
    public static Figure of(String name, String unit, OptionalDouble budget, double[] runs)
    {
        return of(name, unit, budget, Interval.ofMean(runs), runs.length);
    }

    /// A ratio of paired runs: each of the one was followed by one of the other.
    public static Figure ofRatio(String name, OptionalDouble budget, double[] measured, double[] peer)
    {
        return of(name, "ratio", budget, Interval.ofRatio(measured, peer), measured.length);
    }

    /// A figure that no run may have above the budget.
    public static Figure ofWorst(String name, String unit, OptionalDouble budget, double[] runs)
    {
        return of(name, Arrays.stream(runs).max().orElseThrow(), unit, budget, Interval.ofMean(runs), runs.length);
    }

    /// What was counted once, and would be counted again.
    public static Figure ofCount(String name, String unit, OptionalDouble budget, double count)
    {
        return of(name, count, unit, budget, new Interval(count, count, count), 1);
    }

    private static Figure of(String name, String unit, OptionalDouble budget, Interval interval, int runs)
    {
        return of(name, interval.high(), unit, budget, interval, runs);
    }

    private static Figure of(String name, double value, String unit, OptionalDouble budget, Interval interval, int runs)
    {
        return new Figure(
                name,
                value,
                unit,
                budget.isPresent() ? budget.getAsDouble() : null,
                budget.isPresent() ? value <= budget.getAsDouble() : null,
                interval,
                runs);
    }
}
