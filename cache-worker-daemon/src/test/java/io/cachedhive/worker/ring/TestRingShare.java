package io.cachedhive.worker.ring;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class TestRingShare
{
    private static final CacheWorkerId A = new CacheWorkerId("a");
    private static final CacheWorkerId B = new CacheWorkerId("b");
    private static final CacheWorkerId C = new CacheWorkerId("c");

    private static PublishedRing ring(long millis, Map<CacheWorkerId, Long> weights)
    {
        List<RingMember> members = new ArrayList<>();
        weights.forEach((id, weight) -> members.add(new RingMember(id, weight, Optional.empty())));
        return new PublishedRing(HashRing.of(members), Map.of(), millis);
    }

    @Test
    void testByWeight()
    {
        List<PublishedRing> rings = List.of(ring(1, Map.of(A, 100L, B, 300L, C, 600L)));
        assertThat(RingShare.of(rings, A)).isCloseTo(0.1, within(1e-12));
        assertThat(RingShare.of(rings, B)).isCloseTo(0.3, within(1e-12));
        assertThat(RingShare.of(rings, C)).isCloseTo(0.6, within(1e-12));
    }

    @Test
    void testAlone()
    {
        assertThat(RingShare.of(List.of(), A)).isEqualTo(1);
        assertThat(RingShare.of(List.of(ring(1, Map.of(A, 5L))), A)).isEqualTo(1);
        assertThat(RingShare.of(List.of(ring(1, Map.of(B, 5L))), A)).isEqualTo(1);
    }

    @Test
    void testNewestRingThatHasTheWorker()
    {
        List<PublishedRing> rings = List.of(ring(3, Map.of(B, 1L)), ring(2, Map.of(A, 1L, B, 1L)), ring(1, Map.of(A, 1L)));
        assertThat(RingShare.of(rings, A)).isEqualTo(0.5);
        assertThat(RingShare.of(rings, B)).isEqualTo(1);
    }
}
