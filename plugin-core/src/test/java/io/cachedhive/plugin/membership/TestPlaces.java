package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static io.cachedhive.plugin.membership.PlaceState.ANSWERING;
import static io.cachedhive.plugin.membership.PlaceState.DEAD;
import static io.cachedhive.plugin.membership.PlaceState.GRACE;
import static io.cachedhive.plugin.membership.PlaceState.UNSEEN;
import static io.cachedhive.plugin.membership.Places.FIRST_RING_SETTLE_MILLIS;
import static io.cachedhive.plugin.membership.Places.FIRST_RING_WAIT_MILLIS;
import static io.cachedhive.plugin.membership.Places.RING_CHANGE_INTERVAL_MILLIS;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

class TestPlaces
{
    private static final int PORT = 8484;
    private static final long GRACE_MILLIS = 300_000;
    private static final long MAX_WEIGHT = 1 << 20;
    private static final long WALL = 1_700_000_000_000L;

    private final Places places = new Places(PORT, GRACE_MILLIS, 0.8, MAX_WEIGHT);
    private long now = 50_000;

    @Test
    void testFirstRingWaitsForAWhileOfQuiet()
    {
        nodes("a", "b");
        answer("a", "wa");
        answer("b", "wb");
        advance();
        assertThat(places.ring()).isEmpty();

        pass(FIRST_RING_SETTLE_MILLIS - 1);
        assertThat(places.ring()).isEmpty();
        pass(1);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb");
        assertThat(places.ring().orElseThrow().address(new CacheWorkerId("wa"))).contains(address("a"));
    }

    /**
     * A cache worker that declares more than it may have gets its largest share, and not all chunks.
     */
    @Test
    void testWeightIsLimited()
    {
        nodes("a", "b");
        answer("a", "wa", Long.MAX_VALUE);
        answer("b", "wb", MAX_WEIGHT);
        pass(FIRST_RING_SETTLE_MILLIS);
        assertThat(places.ring().orElseThrow().ring().members()).extracting(RingMember::weight).containsExactly(MAX_WEIGHT, MAX_WEIGHT);
    }

    @Test
    void testWeightOfAnAdoptedRingIsLimited()
    {
        RingMember member = new RingMember(new CacheWorkerId("wa"), Long.MAX_VALUE, Optional.empty());
        places.adopt(new PublishedRing(HashRing.of(List.of(member)), Map.of(member.id(), address("a")), WALL), now);
        nodes("a");
        pass(Places.RING_CHANGE_INTERVAL_MILLIS);
        assertThat(places.ring().orElseThrow().ring().members()).extracting(RingMember::weight).containsExactly(MAX_WEIGHT);
    }

    @Test
    void testFirstRingWaitsForTheLastAnswerButNotForever()
    {
        nodes("a", "b", "c", "d", "e");
        for (String host : List.of("a", "b", "c", "d")) {
            answer(host, "w" + host);
        }
        pass(FIRST_RING_WAIT_MILLIS - 1);
        assertThat(places.ring()).isEmpty();
        pass(1);
        // 4 of 5 live: they alone
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc", "wd");
    }

    @Test
    void testNoRingWithoutCacheWorker()
    {
        nodes("a");
        places.failed(address("a"), "refused");
        pass(60_000);
        assertThat(places.ring()).isEmpty();
        assertThat(places.view()).isEqualTo(RingView.EMPTY);
        assertThat(states()).isEqualTo(Map.of("a", UNSEEN));
        assertThat(places.list(now).getFirst().problem()).contains("refused");
    }

    @Test
    void testBelowTheMinimumLiveShareEveryPlaceIsOnTheRing()
    {
        nodes("a", "b", "c");
        answer("a", "wa", 100);
        answer("b", "wb", 300);
        pass(FIRST_RING_WAIT_MILLIS);

        PublishedRing ring = places.ring().orElseThrow();
        assertThat(ring.ring().members()).hasSize(3);
        RingMember unseen = ring.ring().members().stream().filter(member -> member.id().value().startsWith("unseen-")).findFirst().orElseThrow();
        assertThat(unseen.weight()).as("the mean of the others").isEqualTo(200);
        assertThat(ring.address(unseen.id())).as("nobody serves it").isEmpty();
        // its chunks are read on its Trino worker
        assertThat(places.view().nodes().get(unseen.id())).isEqualTo(nodesOn("c"));
        assertThat(places.view().isPartial()).isTrue();
    }

    @Test
    void testRingChangesAtMostOnceInTenSeconds()
    {
        startWith("a", "b");
        PublishedRing first = places.ring().orElseThrow();

        nodes("a", "b", "c");
        answer("c", "wc");
        pass(RING_CHANGE_INTERVAL_MILLIS - 1);
        assertThat(places.ring()).contains(first);
        nodes("a", "b", "c", "d");
        answer("d", "wd");
        pass(1);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc", "wd");
        assertThat(places.ring().orElseThrow().publishedMillis()).isGreaterThan(first.publishedMillis());
    }

    @Test
    void testSilentWorkerKeepsItsChunksForTheGracePeriod()
    {
        startWith("a", "b", "c", "d", "e");
        RingEpoch epoch = places.ring().orElseThrow().epoch();

        answerAll("a", "b", "c", "d", "e");
        places.failed(address("e"), "refused");
        pass(GRACE_MILLIS - 1);
        assertThat(states()).containsEntry("e", GRACE);
        assertThat(places.ring().orElseThrow().epoch()).isEqualTo(epoch);
        assertThat(places.ring().orElseThrow().address(new CacheWorkerId("we"))).contains(address("e"));

        pass(1);
        assertThat(states()).containsEntry("e", DEAD);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc", "wd");

        // it comes back to its chunks
        pass(RING_CHANGE_INTERVAL_MILLIS);
        answer("e", "we");
        advance();
        assertThat(places.ring().orElseThrow().epoch()).isEqualTo(epoch);
    }

    @Test
    void testDeadPlacesStayOnTheRingWhenFewLive()
    {
        startWith("a", "b");
        RingEpoch epoch = places.ring().orElseThrow().epoch();
        assertThat(places.view().isPartial()).isFalse();

        places.failed(address("b"), "refused");
        pass(GRACE_MILLIS);
        assertThat(states()).containsEntry("b", DEAD);
        assertThat(places.ring().orElseThrow().epoch()).as("no chunk moves").isEqualTo(epoch);
        assertThat(places.ring().orElseThrow().address(new CacheWorkerId("wb"))).as("its chunks are read from the origin").isEmpty();
        assertThat(places.view().isPartial()).isTrue();
    }

    @Test
    void testPlaceEndsAfterTrinoWorkerAndCacheWorkerAreGone()
    {
        startWith("a", "b");
        nodes("a");
        pass(GRACE_MILLIS);
        assertThat(states()).as("its cache worker answers").containsKey("b");

        answer("b", "wb");
        places.failed(address("b"), "refused");
        pass(GRACE_MILLIS - 1);
        assertThat(states()).containsEntry("b", GRACE);
        pass(1);
        assertThat(states()).doesNotContainKey("b");
        assertThat(members()).containsExactly("wa");
    }

    @Test
    void testPlaceWithoutCacheWorkerEndsWithItsTrinoWorker()
    {
        startWith("a");
        nodes("a", "b");
        advance();
        assertThat(states()).containsEntry("b", UNSEEN);
        nodes("a");
        advance();
        assertThat(states()).doesNotContainKey("b");
    }

    @Test
    void testDrainEndsAPlace()
    {
        startWith("a", "b");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        places.answered(address("b"), pong("wb", 100, "DRAINING"), now);
        advance();
        assertThat(members()).containsExactly("wa");

        // and stays away when it ends
        places.failed(address("b"), "refused");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        assertThat(members()).containsExactly("wa");
    }

    @Test
    void testDrainIsNotHeldBack()
    {
        startWith("a", "b", "c");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        nodes("a", "b", "c", "d");
        answer("d", "wd");
        advance();
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc", "wd");

        // the ring has changed this very moment, and the drain has a deadline
        places.answered(address("b"), pong("wb", 100, "DRAINING"), now);
        advance();
        assertThat(members()).containsExactlyInAnyOrder("wa", "wc", "wd");

        // who stays after all waits its turn, as everybody does
        answer("b", "wb");
        pass(RING_CHANGE_INTERVAL_MILLIS - 1);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wc", "wd");
        pass(1);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc", "wd");
    }

    @Test
    void testRestartIsNoDrain()
    {
        startWith("a", "b");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        PublishedRing ring = places.ring().orElseThrow();
        places.answered(address("b"), pong("wb", 100, "STOPPING"), now);
        advance();
        places.failed(address("b"), "refused");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        answer("b", "wb");
        advance();
        assertThat(places.ring()).contains(ring);
    }

    @Test
    void testStoppedTrinoWorkersCacheWorkerKeepsItsChunksButGetsNoSplits()
    {
        startWith("a", "b");
        nodes("a");
        advance();
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb");
        assertThat(places.view().nodes()).containsOnlyKeys(new CacheWorkerId("wa"));
    }

    @Test
    void testWorkerMovesWithItsChunks()
    {
        startWith("a", "b");
        RingEpoch epoch = places.ring().orElseThrow().epoch();
        long published = places.ring().orElseThrow().publishedMillis();

        nodes("a", "c");
        places.failed(address("b"), "refused");
        answer("c", "wb");
        advance();
        assertThat(places.ring().orElseThrow().epoch()).isEqualTo(epoch);
        assertThat(places.ring().orElseThrow().address(new CacheWorkerId("wb"))).contains(address("c"));
        assertThat(places.ring().orElseThrow().publishedMillis()).isGreaterThan(published);
        assertThat(states()).doesNotContainKey("b");
    }

    @Test
    void testTwoWorkersWithOneId()
    {
        startWith("a", "b");
        nodes("a", "b", "c");
        answer("c", "wb");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        assertThat(places.ring().orElseThrow().address(new CacheWorkerId("wb"))).contains(address("b"));
        assertThat(states()).containsEntry("c", UNSEEN);
        assertThat(places.list(now).stream().filter(place -> place.address().equals(address("c"))).findFirst().orElseThrow().problem())
                .contains("the cache worker on c:8484 has the id of the one on b:8484, wb: one of them runs on a copy of the other's directory, empty it");
    }

    @Test
    void testNewCoordinatorTakesTheNewestRing()
    {
        PublishedRing published = new PublishedRing(
                HashRing.of(List.of(member("wa"), member("wb"), member("gone"))),
                Map.of(new CacheWorkerId("wa"), address("a"), new CacheWorkerId("wb"), address("b"), new CacheWorkerId("gone"), address("x")),
                WALL + 1_000_000);
        nodes("a", "b");
        answer("a", "wa");
        places.adopt(published, now);
        advance();
        assertThat(places.ring()).contains(published);
        assertThat(states()).isEqualTo(Map.of("a", ANSWERING, "b", GRACE, "x", GRACE));

        // the one that never comes back leaves after the grace period
        answer("b", "wb");
        pass(GRACE_MILLIS);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb");
        assertThat(places.ring().orElseThrow().publishedMillis()).as("newer, though the clock is behind").isGreaterThan(published.publishedMillis());

        places.adopt(published, now);
        assertThat(members()).as("older than ours").containsExactlyInAnyOrder("wa", "wb");
    }

    /**
     * Cache workers refuse rings of a time far ahead of their clocks.
     */
    @Test
    void testClockIsCorrected()
    {
        long ahead = Duration.ofDays(1000).toMillis();
        nodes("a", "b");
        answerAll("a", "b");
        now += FIRST_RING_SETTLE_MILLIS;
        places.advance(now, WALL + ahead);
        assertThat(places.ring().orElseThrow().publishedMillis()).isEqualTo(WALL + ahead);

        advance();
        PublishedRing corrected = places.ring().orElseThrow();
        assertThat(corrected.publishedMillis()).isEqualTo(WALL + now);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb");
        nodes("a", "b", "c");
        answerAll("a", "b", "c");
        pass(RING_CHANGE_INTERVAL_MILLIS);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc");
        assertThat(places.ring().orElseThrow().publishedMillis()).isEqualTo(WALL + now);

        // a small correction keeps the order of rings
        PublishedRing third = places.ring().orElseThrow();
        nodes("a", "b");
        places.failed(address("c"), "gone");
        places.advance(now + GRACE_MILLIS, WALL + now - 1000);
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb");
        assertThat(places.ring().orElseThrow().publishedMillis()).isEqualTo(third.publishedMillis() + 1);
    }

    /**
     * What cache workers have accepted outranks later rings with earlier times.
     */
    @Test
    void testClockFallsBehind()
    {
        startWith("a", "b");
        long publishedMillis = places.ring().orElseThrow().publishedMillis();
        places.answered(address("a"), pong("wa", 100, "RUNNING", publishedMillis), now);
        nodes("a", "b", "c");
        answer("c", "wc");
        now += RING_CHANGE_INTERVAL_MILLIS;
        places.advance(now, WALL - Duration.ofDays(1).toMillis());
        assertThat(members()).containsExactlyInAnyOrder("wa", "wb", "wc");
        assertThat(places.ring().orElseThrow().publishedMillis()).isEqualTo(publishedMillis + 1);
    }

    @Test
    void testSeveralTrinoWorkersOnAHost()
    {
        HostAndPort first = HostAndPort.fromParts("a", 8080);
        HostAndPort second = HostAndPort.fromParts("a", 8081);
        places.nodes(new TrinoNodes(Map.of("a", List.of(first, second))), now);
        answer("a", "wa");
        pass(FIRST_RING_SETTLE_MILLIS);
        assertThat(places.view().nodes()).isEqualTo(Map.of(new CacheWorkerId("wa"), List.of(first, second)));
    }

    private void startWith(String... hosts)
    {
        nodes(hosts);
        answerAll(hosts);
        pass(FIRST_RING_SETTLE_MILLIS);
        assertThat(members()).containsExactlyInAnyOrderElementsOf(Arrays.stream(hosts).map(host -> "w" + host).toList());
    }

    private void nodes(String... hosts)
    {
        places.nodes(new TrinoNodes(Arrays.stream(hosts).collect(toMap(identity(), TestPlaces::nodesOn))), now);
    }

    private static List<HostAndPort> nodesOn(String host)
    {
        return List.of(HostAndPort.fromParts(host, 8080));
    }

    private void answerAll(String... hosts)
    {
        for (String host : hosts) {
            answer(host, "w" + host);
        }
    }

    private void answer(String host, String worker)
    {
        answer(host, worker, 100);
    }

    private void answer(String host, String worker, long weight)
    {
        places.answered(address(host), pong(worker, weight, "RUNNING"), now);
    }

    private static Pong pong(String worker, long weight, String state)
    {
        return pong(worker, weight, state, 0);
    }

    private static Pong pong(String worker, long weight, String state, long newestRingPublishedMillis)
    {
        return new Pong(new CacheWorkerId(worker), new Digest128(1, 2), "1", state, weight, Optional.empty(), 0, 0, new RingEpoch(0), newestRingPublishedMillis);
    }

    private static RingMember member(String id)
    {
        return new RingMember(new CacheWorkerId(id), 100, Optional.empty());
    }

    private static WorkerAddress address(String host)
    {
        return new WorkerAddress(host, PORT);
    }

    private void pass(long millis)
    {
        now += millis;
        advance();
    }

    private void advance()
    {
        places.advance(now, WALL + now);
    }

    private Set<String> members()
    {
        return places.ring().orElseThrow().ring().members().stream()
                .map(member -> member.id().value())
                .collect(toSet());
    }

    private Map<String, PlaceState> states()
    {
        return places.list(now).stream().collect(toMap(place -> place.address().host(), Place::state));
    }
}
