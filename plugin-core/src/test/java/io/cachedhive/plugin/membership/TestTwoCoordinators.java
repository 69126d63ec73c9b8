package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two coordinators with different settings share cache workers: each keeps its own ring, and the cache workers keep both.
 */
class TestTwoCoordinators
{
    private static final int PORT = 8484;
    private static final long GRACE_MILLIS = 60_000;
    private static final long WALL = 1_700_000_000_000L;
    private static final List<String> HOSTS = List.of("a", "b", "c", "d");

    private final Map<WorkerAddress, TestingRings> workers = new LinkedHashMap<>();
    private final Set<WorkerAddress> down = new HashSet<>();
    private long now = 50_000;

    /**
     * The rings of a cache worker, as the worker keeps them.
     */
    private static final class TestingRings
    {
        private final Map<RingEpoch, PublishedRing> rings = new LinkedHashMap<>();
        private int publications;

        void publish(PublishedRing ring)
        {
            publications++;
            rings.merge(ring.epoch(), ring, (known, added) -> known.publishedMillis() >= added.publishedMillis() ? known : added);
        }

        Optional<PublishedRing> newest()
        {
            return rings.values().stream().max(Comparator.comparingLong(PublishedRing::publishedMillis));
        }
    }

    private final class Coordinator
    {
        private final Places places;
        private final RingDeliveries deliveries = new RingDeliveries();
        private final long clockMillis;
        private final List<RingEpoch> epochs = new ArrayList<>();

        Coordinator(double minLiveShare, long clockMillis)
        {
            this.places = new Places(PORT, GRACE_MILLIS, minLiveShare, Long.MAX_VALUE);
            this.clockMillis = clockMillis;
        }

        void second()
        {
            places.nodes(new TrinoNodes(HOSTS.stream().collect(toMap(identity(), host -> List.of(HostAndPort.fromParts(host, 8080))))), now);
            workers.forEach((address, worker) -> {
                if (down.contains(address)) {
                    places.failed(address, "down");
                    return;
                }
                Pong pong = pong(address, worker);
                places.answered(address, pong, now);
                places.seen(pong.newestRingPublishedMillis());
                if (places.mayAdopt(now)) {
                    worker.newest().ifPresent(ring -> places.adopt(ring, now));
                }
                places.ring().filter(ring -> deliveries.isDue(address, pong, ring)).ifPresent(ring -> {
                    worker.publish(ring);
                    deliveries.delivered(address, pong, ring);
                });
            });
            places.advance(now, clockMillis + now);
            places.ring().map(PublishedRing::epoch).filter(epoch -> epochs.isEmpty() || !epochs.getLast().equals(epoch)).ifPresent(epochs::add);
        }

        RingEpoch epoch()
        {
            return places.ring().orElseThrow().epoch();
        }
    }

    private static Pong pong(WorkerAddress address, TestingRings worker)
    {
        return new Pong(
                new CacheWorkerId("worker-" + address.host()),
                new Digest128(1, address.host().hashCode()),
                "1",
                "RUNNING",
                100,
                Optional.empty(),
                0,
                0,
                worker.newest().map(PublishedRing::epoch).orElse(new RingEpoch(0)),
                worker.newest().map(PublishedRing::publishedMillis).orElse(0L));
    }

    private void seconds(int count, Coordinator... coordinators)
    {
        for (int i = 0; i < count; i++) {
            for (Coordinator coordinator : coordinators) {
                coordinator.second();
                now += 1000 / coordinators.length;
            }
        }
    }

    @Test
    void testRingsDoNotAlternate()
    {
        HOSTS.forEach(host -> workers.put(new WorkerAddress(host, PORT), new TestingRings()));
        Coordinator strict = new Coordinator(0.9, WALL);
        // its clock is an hour behind
        Coordinator lenient = new Coordinator(0.1, WALL - 3_600_000);
        seconds(60, strict, lenient);
        assertThat(strict.epochs).hasSize(1);
        assertThat(lenient.epochs).isEqualTo(strict.epochs);

        // one real change, which only one of them follows
        WorkerAddress lost = new WorkerAddress("d", PORT);
        down.add(lost);
        seconds(600, strict, lenient);
        assertThat(strict.epochs).hasSize(1);
        assertThat(lenient.epochs).hasSize(2);
        assertKnown(strict, lenient);

        down.clear();
        seconds(600, strict, lenient);
        assertThat(strict.epochs).hasSize(1);
        assertThat(lenient.epochs).hasSize(3);
        assertThat(lenient.epoch()).isEqualTo(strict.epoch());
        assertKnown(strict, lenient);
        // one of each coordinator at the start and after each of the two changes: the strict one's members stay, but not their addresses
        workers.forEach((address, worker) -> assertThat(worker.publications).as("rings that %s received", address).isLessThanOrEqualTo(6));
    }

    @Test
    void testRestartedCoordinatorContinues()
    {
        HOSTS.forEach(host -> workers.put(new WorkerAddress(host, PORT), new TestingRings()));
        Coordinator first = new Coordinator(0.8, WALL);
        seconds(60, first);
        // answers within the grace period of the new coordinator, too
        down.add(new WorkerAddress("d", PORT));
        Coordinator restarted = new Coordinator(0.8, WALL - 3_600_000);
        seconds(30, restarted);
        assertThat(restarted.epochs).containsExactly(first.epoch());
    }

    /**
     * Readers look up the ring of their split by its epoch.
     */
    private void assertKnown(Coordinator... coordinators)
    {
        workers.forEach((address, worker) -> {
            if (down.contains(address)) {
                return;
            }
            for (Coordinator coordinator : coordinators) {
                assertThat(worker.rings).as("rings of %s", address).containsKey(coordinator.epoch());
            }
        });
    }
}
