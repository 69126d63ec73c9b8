package io.cachedhive.store.policy;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class TestDigestTable
{
    private record Digest(long high, long low) {}

    /**
     * The table finds what a map finds, also where digests share a chain or half of themselves, and gives the numbers of removed entries out again.
     */
    @Test
    void testAsMap()
    {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        DigestTable table = new DigestTable();
        Map<Digest, Integer> model = new HashMap<>();
        int most = 0;
        for (int step = 0; step < 100_000; step++) {
            Digest digest = new Digest(random.nextInt(8), (long) random.nextInt(200) << 32 | random.nextInt(2));
            assertThat(table.find(digest.high(), digest.low())).as("entry of %s after %s steps", digest, step).isEqualTo(model.getOrDefault(digest, DigestTable.NONE));
            if (model.containsKey(digest)) {
                if (random.nextInt(3) == 0) {
                    table.remove(model.remove(digest));
                }
            }
            else {
                model.put(digest, table.insert(digest.high(), digest.low()));
            }
            most = Math.max(most, model.size());
            assertThat(table.size()).isEqualTo(model.size());
        }
        assertThat(table.end()).as("entries below the end, of which at most %s were in use", most).isEqualTo(most);
        List<Digest> left = new ArrayList<>(model.keySet());
        for (Digest digest : left) {
            int entry = table.find(digest.high(), digest.low());
            assertThat(new Digest(table.high(entry), table.low(entry))).isEqualTo(digest);
            table.remove(entry);
            assertThat(table.find(digest.high(), digest.low())).isEqualTo(DigestTable.NONE);
        }
        assertThat(table.size()).isZero();
    }
}
