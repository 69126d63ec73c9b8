package io.cachedhive.protocol.file;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class TestLocationIndex
{
    private static final List<OriginId> ORIGINS = List.of(new OriginId(new Digest128(1, 2)), new OriginId(new Digest128(-1, 2)));

    /**
     * Against one by one.
     */
    @Test
    void testFindsWhatCovers()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        List<Tombstone> tombstones = new ArrayList<>();
        LocationIndex<Tombstone> index = LocationIndex.ofTombstones(List.of());
        long covered = 0;
        for (int i = 0; i < 3000; i++) {
            if (random.nextInt(3) > 0 || tombstones.isEmpty()) {
                Tombstone tombstone = new Tombstone(new Digest128(i, i), ORIGINS.get(random.nextInt(2)), location(random, random.nextInt(4) > 0), i);
                tombstones.add(tombstone);
                index.add(tombstone);
            }
            else {
                index.remove(tombstones.remove(random.nextInt(tombstones.size())));
            }
            FileVersion file = new FileVersion(ORIGINS.get(random.nextInt(2)), location(random, false), 1, 1);
            List<Tombstone> covering = tombstones.stream().filter(tombstone -> tombstone.covers(file)).toList();
            assertThat(index.covering(file.origin(), file.location())).containsExactlyInAnyOrderElementsOf(covering);
            assertThat(index.covers(file)).isEqualTo(!covering.isEmpty());
            covered += covering.isEmpty() ? 0 : 1;
            Tombstone other = new Tombstone(new Digest128(0, 0), ORIGINS.get(random.nextInt(2)), location(random, random.nextBoolean()), 0);
            assertThat(index.within(other.origin(), other.location())).containsExactlyInAnyOrderElementsOf(tombstones.stream().filter(other::covers).toList());
            assertThat(index.covering(other.origin(), other.location())).containsExactlyInAnyOrderElementsOf(tombstones.stream().filter(each -> each.covers(other)).toList());
            assertThat(index.isEmpty()).isEqualTo(tombstones.isEmpty());
            if (tombstones.size() > 60) {
                tombstones.forEach(index::remove);
                tombstones.clear();
            }
        }
        assertThat(covered).isBetween(100L, 2900L);
    }

    private static String location(Random random, boolean directory)
    {
        StringBuilder location = new StringBuilder("s3://bucket");
        for (int depth = random.nextInt(4); depth >= 0; depth--) {
            location.append('/').append("a".repeat(1 + random.nextInt(2))).append(random.nextInt(2));
        }
        return directory ? location + "/" : location.toString();
    }
}
