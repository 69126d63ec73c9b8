package io.cachedhive.store.policy;

import io.cachedhive.protocol.file.Digest128;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestFrequencySketch
{
    private static final int ENTRIES = 1024;
    private static final int LINES = ENTRIES / 8;

    private final FrequencySketch sketch = new FrequencySketch();

    @Test
    void neverBelowTheCount()
    {
        long seed = Long.getLong("cachedhive.test.seed", 11);
        Random random = new Random(seed);
        sketch.setEntryCount(ENTRIES);
        List<Digest128> digests = Stream.generate(() -> new Digest128(random.nextLong(), random.nextLong())).limit(3000).toList();
        Map<Digest128, Integer> counts = new HashMap<>();
        // fewer than end an epoch
        for (int i = 0; i < 9 * ENTRIES; i++) {
            Digest128 digest = digests.get(random.nextInt(digests.size()));
            increment(digest);
            counts.merge(digest, 1, Integer::sum);
        }
        int exact = 0;
        for (Map.Entry<Digest128, Integer> entry : counts.entrySet()) {
            int frequency = frequency(entry.getKey());
            assertThat(frequency).describedAs("seed %s", seed).isBetween(Math.min(entry.getValue(), FrequencySketch.MAX_FREQUENCY), FrequencySketch.MAX_FREQUENCY);
            exact += frequency == entry.getValue() ? 1 : 0;
        }
        assertThat(exact).describedAs("seed %s", seed).isGreaterThan(counts.size() * 4 / 5);
    }

    @Test
    void saturates()
    {
        sketch.setEntryCount(ENTRIES);
        Digest128 digest = new Digest128(5, 6);
        for (int i = 0; i < 100; i++) {
            assertThat(frequency(digest)).isEqualTo(Math.min(i, FrequencySketch.MAX_FREQUENCY));
            increment(digest);
        }
    }

    @Test
    void halvedWhenAnEpochEnds()
    {
        sketch.setEntryCount(ENTRIES);
        // line 0 is theirs alone; of two, one is looked at all the time, the other at the end only
        Digest128 watched = new Digest128(0, 0);
        Digest128 forgotten = new Digest128(-1, 0);
        for (int i = 0; i < 12; i++) {
            increment(watched);
            increment(forgotten);
        }
        int others = 0;
        for (int use = 24; use < 10 * ENTRIES; use++) {
            assertThat(frequency(watched)).isEqualTo(12);
            increment(other(others++));
        }
        assertThat(frequency(watched)).isEqualTo(6);
        for (int use = 0; use < 10 * ENTRIES; use++) {
            assertThat(frequency(watched)).isEqualTo(6);
            increment(other(others++));
        }
        assertThat(frequency(watched)).isEqualTo(3);
        assertThat(frequency(forgotten)).isEqualTo(3);
    }

    private void increment(Digest128 digest)
    {
        sketch.increment(digest.high(), digest.low());
    }

    private int frequency(Digest128 digest)
    {
        return sketch.frequency(digest.high(), digest.low());
    }

    private static Digest128 other(int number)
    {
        return new Digest128(new Random(number).nextLong(), 1 + number % (LINES - 1));
    }

    @Test
    void growingKeepsCounts()
    {
        Random random = new Random(3);
        Map<Digest128, Integer> counts = new HashMap<>();
        sketch.setEntryCount(64);
        for (int i = 0; i < 40; i++) {
            Digest128 digest = new Digest128(random.nextLong(), random.nextLong());
            for (int j = 0; j <= i % 4; j++) {
                increment(digest);
            }
            counts.put(digest, frequency(digest));
        }
        for (int entries : new int[] {65, 200, 5000}) {
            sketch.setEntryCount(entries);
            counts.forEach((digest, frequency) -> assertThat(frequency(digest)).isEqualTo(frequency));
        }
    }
}
