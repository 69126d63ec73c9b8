package io.cachedhive.plugin.counters;

import io.cachedhive.plugin.counters.SizedCapacity.Verdict;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestSizedCapacity
{
    private static final long CAPACITY = 1000;

    /**
     * @param hitPercents of 25, 50, 100, 200, 400, 800 and 1600 % of the capacity
     * @return those of 25, 100 and 1600 %
     */
    private static List<Optional<Verdict>> verdicts(long requested, long different, long... hitPercents)
    {
        List<Long> hits = Arrays.stream(hitPercents).mapToObj(percent -> requested * percent / 100).toList();
        return List.of(
                new SizedCapacity(25, CAPACITY, requested, different, hits.get(0), hits.subList(1, 7), 1).verdict(),
                new SizedCapacity(100, CAPACITY, requested, different, hits.get(2), hits.subList(3, 7), 1).verdict(),
                new SizedCapacity(1600, CAPACITY, requested, different, hits.get(6), List.of(), 1).verdict());
    }

    @Test
    void testVerdicts()
    {
        // nothing is read twice
        assertThat(verdicts(100_000, 16_000, 0, 0, 1, 2, 3, 5, 8))
                .containsOnly(Optional.of(Verdict.UNSUITABLE));
        // all that is read again is in a quarter already
        assertThat(verdicts(100_000, 200, 90, 90, 90, 90, 90, 90, 90))
                .containsOnly(Optional.of(Verdict.RIGHT_SIZED));
        // a loop a little longer than the cache, and one of nearly four times its length
        assertThat(verdicts(100_000, 1200, 20, 40, 79, 99, 99, 99, 99))
                .containsExactly(Optional.of(Verdict.TOO_SMALL), Optional.of(Verdict.TOO_SMALL), Optional.of(Verdict.RIGHT_SIZED));
        assertThat(verdicts(100_000, 3900, 0, 0, 0, 0, 99, 99, 99).get(1)).contains(Verdict.TOO_SMALL);
        // what would need 16 times as much is not worth it
        assertThat(verdicts(100_000, 16_000, 30, 35, 40, 43, 46, 50, 60).get(1)).contains(Verdict.RIGHT_SIZED);
    }

    @Test
    void testTooLittleToSay()
    {
        assertThat(verdicts(0, 0, 0, 0, 0, 0, 0, 0, 0)).containsOnly(Optional.empty());
        assertThat(new SizedCapacity(100, CAPACITY, 0, 0, 0, List.of(), 0).hitRate()).isEmpty();
        // less than the cache holds, and most of it for the first time
        assertThat(verdicts(900, 300, 66, 66, 66, 66, 66, 66, 66)).containsOnly(Optional.empty());
        // little data, but often enough
        assertThat(verdicts(900, 100, 88, 88, 88, 88, 88, 88, 88)).containsOnly(Optional.of(Verdict.RIGHT_SIZED));
        assertThat(verdicts(1000, 1000, 0, 0, 0, 0, 0, 0, 0)).containsOnly(Optional.of(Verdict.UNSUITABLE));
    }

    @Test
    void testRates()
    {
        SizedCapacity half = new SizedCapacity(50, CAPACITY, 4000, 100, 3000, List.of(), 2);
        assertThat(half.capacityBytes()).isEqualTo(500);
        assertThat(half.hitRate()).contains(0.75);
    }
}
