package io.cachedhive.benchmark.figure;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

class TestInterval
{
    @Test
    void testMean()
    {
        // by hand: mean 3, standard deviation sqrt(2.5), t(4) = 2.776
        Interval interval = Interval.ofMean(new double[] {1, 2, 3, 4, 5});

        assertThat(interval.mean()).isCloseTo(3, within(1e-12));
        assertThat(interval.high() - interval.mean()).isCloseTo(2.776 * Math.sqrt(2.5 / 5), within(1e-9));
        assertThat(interval.mean() - interval.low()).isCloseTo(interval.high() - interval.mean(), within(1e-12));
    }

    @Test
    void testManyRuns()
    {
        double[] values = new double[100];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % 2;
        }

        assertThat(Interval.ofMean(values).high()).isCloseTo(0.5 + 1.96 * Math.sqrt(25.0 / 99 / 100), within(1e-9));
    }

    @Test
    void testRatio()
    {
        // noise that both of a pair share is not in the ratio
        Interval shared = Interval.ofRatio(new double[] {2, 20, 200}, new double[] {1, 10, 100});
        assertThat(shared.mean()).isCloseTo(2, within(1e-12));
        assertThat(shared.high()).isCloseTo(2, within(1e-9));

        Interval opposite = Interval.ofRatio(new double[] {2, 1}, new double[] {1, 2});
        assertThat(opposite.mean()).isCloseTo(1, within(1e-12));
        assertThat(opposite.high()).isGreaterThan(2);
    }

    @Test
    void testRefuse()
    {
        assertThatThrownBy(() -> Interval.ofMean(new double[] {1})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Interval.ofRatio(new double[] {1, 2}, new double[] {1})).isInstanceOf(IllegalArgumentException.class);
    }
}
