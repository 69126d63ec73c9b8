package io.cachedhive.client.local;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestKnownRings
{
    private final KnownRings rings = new KnownRings();

    private static PublishedRing ring(int weight, int port, long publishedMillis)
    {
        CacheWorkerId id = new CacheWorkerId("a");
        return new PublishedRing(
                HashRing.of(List.of(new RingMember(id, weight, Optional.empty()))),
                Map.of(id, new WorkerAddress("host", port)),
                publishedMillis);
    }

    @Test
    void testNewest()
    {
        assertThat(rings.newest()).isEmpty();
        assertThat(rings.add(List.of(ring(1, 1, 100), ring(2, 1, 300)))).isTrue();
        assertThat(rings.add(List.of(ring(3, 1, 200)))).isTrue();
        assertThat(rings.newest()).contains(ring(2, 1, 300));
        assertThat(rings.newestFirst()).containsExactly(ring(2, 1, 300), ring(3, 1, 200), ring(1, 1, 100));
        assertThat(rings.find(ring(3, 9, 9).epoch())).contains(ring(3, 1, 200));
        assertThat(rings.find(new RingEpoch(1))).isEmpty();
        assertThat(rings.add(List.of(ring(3, 1, 200)))).isFalse();
    }

    @Test
    void testWorkerThatForgot()
    {
        rings.add(List.of(ring(1, 1, 100)));
        assertThat(rings.add(List.of())).isFalse();
        assertThat(rings.newest()).contains(ring(1, 1, 100));
    }

    @Test
    void testMovedMember()
    {
        rings.add(List.of(ring(1, 8484, 100)));
        rings.add(List.of(ring(1, 9999, 200)));
        assertThat(rings.newestFirst()).containsExactly(ring(1, 9999, 200));
        // old news
        assertThat(rings.add(List.of(ring(1, 8484, 100)))).isFalse();
        assertThat(rings.newestFirst()).containsExactly(ring(1, 9999, 200));
    }

    @Test
    void testBounded()
    {
        for (int i = 1; i <= 100; i++) {
            rings.add(List.of(ring(i, 1, i)));
        }
        assertThat(rings.newestFirst()).hasSize(16);
        assertThat(rings.newest()).contains(ring(100, 1, 100));
        assertThat(rings.find(ring(1, 1, 1).epoch())).isEmpty();
    }
}
