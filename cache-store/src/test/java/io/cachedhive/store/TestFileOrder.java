package io.cachedhive.store;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class TestFileOrder
{
    @Test
    void testFindsWhatBeginsWithBits()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        Map<Integer, Long> files = new HashMap<>();
        FileOrder.Builder builder = new FileOrder.Builder();
        for (int ordinal = 0; ordinal < 3000; ordinal++) {
            // some alike, and the ends of the range
            long digestHigh = ordinal % 10 == 0 ? (random.nextInt(4) - 2L) << 62 : random.nextLong();
            digestHigh -= ordinal % 20 == 0 ? 1 : 0;
            files.put(ordinal, digestHigh);
            builder.add(digestHigh, ordinal);
        }
        FileOrder order = builder.build(7);
        assertThat(order.madeNanos()).isEqualTo(7);
        for (int bits : new int[] {0, 1, 2, 3, 7, 48}) {
            for (int i = 0; i < 200; i++) {
                long prefix = i < 8 ? ((long) i) << 61 : i % 2 == 0 ? random.nextLong() : files.get(random.nextInt(files.size()));
                List<Integer> found = new ArrayList<>();
                for (int place = order.first(bits, prefix); place < order.end(bits, prefix); place++) {
                    assertThat(order.digestHigh(place)).isEqualTo(files.get(order.ordinal(place)));
                    found.add(order.ordinal(place));
                }
                // sorted: a comparison in any order takes the square of 3000
                assertThat(found.stream().sorted().toList()).isEqualTo(files.keySet().stream()
                        .filter(ordinal -> bits == 0 || (files.get(ordinal) ^ prefix) >>> (64 - bits) == 0)
                        .sorted()
                        .toList());
            }
        }
        assertThat(new FileOrder.Builder().build(0).end(0, 0)).isZero();
    }
}
