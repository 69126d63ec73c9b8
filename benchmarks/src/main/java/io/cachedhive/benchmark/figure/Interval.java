package io.cachedhive.benchmark.figure;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * A mean with its 95 % confidence interval by Student's t distribution.
 */
@JsonPropertyOrder({"low", "mean", "high"})
public record Interval(double low, double mean, double high)
{
    // the 97.5 % quantile for 1, 2, 3, ... degrees of freedom
    private static final double[] T = {
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
            2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
            2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    private static final double T_FOR_MORE = 1.96;

    public static Interval ofMean(double[] values)
    {
        if (values.length < 2) {
            throw new IllegalArgumentException("an interval needs at least 2 runs: " + values.length);
        }
        double mean = 0;
        for (double value : values) {
            mean += value / values.length;
        }
        double squares = 0;
        for (double value : values) {
            squares += (value - mean) * (value - mean);
        }
        int freedom = values.length - 1;
        double t = freedom <= T.length ? T[freedom - 1] : T_FOR_MORE;
        double half = t * Math.sqrt(squares / freedom / values.length);
        return new Interval(mean - half, mean, mean + half);
    }

    /// Of the geometric mean: a pair that is twice as slow and one that is twice as fast cancel out.
    public static Interval ofRatio(double[] measured, double[] peer)
    {
        if (measured.length != peer.length) {
            throw new IllegalArgumentException("runs are not paired: %s and %s".formatted(measured.length, peer.length));
        }
        double[] logs = new double[measured.length];
        for (int i = 0; i < logs.length; i++) {
            logs[i] = Math.log(measured[i] / peer[i]);
        }
        Interval interval = ofMean(logs);
        return new Interval(Math.exp(interval.low), Math.exp(interval.mean), Math.exp(interval.high));
    }
}
