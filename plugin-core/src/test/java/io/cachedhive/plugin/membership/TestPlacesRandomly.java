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

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

import static io.cachedhive.plugin.membership.PlaceState.ANSWERING;
import static io.cachedhive.plugin.membership.Places.RING_CHANGE_INTERVAL_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What must hold whatever happens: hosts come and go, workers answer, fall silent, move to other hosts, are copied, and other coordinators publish rings.
 */
class TestPlacesRandomly
{
    private static final int PORT = 8484;
    private static final int HOSTS = 8;
    private static final int WORKERS = 6;
    private static final long WALL = 1_700_000_000_000L;

    private final Places places = new Places(PORT, 60_000, 0.8, Long.MAX_VALUE);
    private Random random;
    private long now = 50_000;

    @Test
    void testInvariants()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        random = new Random(seed);
        Optional<PublishedRing> ring = Optional.empty();
        long ringMillis = 0;
        for (int step = 0; step < 20_000; step++) {
            boolean adopted = happen();
            check();
            Optional<PublishedRing> newest = places.ring();
            if (!newest.equals(ring)) {
                if (ring.isPresent()) {
                    assertThat(newest.orElseThrow().publishedMillis()).as("step %s", step).isGreaterThan(ring.get().publishedMillis());
                }
                boolean otherMembers = ring.isEmpty() || !ring.get().epoch().equals(newest.orElseThrow().epoch());
                if (otherMembers || adopted) {
                    assertThat(adopted || ring.isEmpty() || now - ringMillis >= RING_CHANGE_INTERVAL_MILLIS || isMemberDrained(ring.get())).as("step %s", step).isTrue();
                    ringMillis = now;
                }
                ring = newest;
            }
        }
    }

    /**
     * A drain has a deadline, and is not held back.
     */
    private boolean isMemberDrained(PublishedRing ring)
    {
        return places.list(now).stream()
                .filter(place -> place.lastPong().filter(pong -> pong.state().equals("DRAINING")).isPresent())
                .anyMatch(place -> place.worker().flatMap(ring.ring()::member).isPresent());
    }

    /**
     * Returns whether another coordinator's ring was taken over.
     */
    private boolean happen()
    {
        List<WorkerAddress> known = places.addresses().stream().sorted((left, right) -> left.toString().compareTo(right.toString())).toList();
        switch (random.nextInt(20)) {
            case 0 -> {
                Map<String, List<HostAndPort>> hosts = new HashMap<>();
                IntStream.range(0, HOSTS)
                        .filter(_ -> random.nextBoolean())
                        .forEach(host -> hosts.put("host-" + host, List.of(HostAndPort.fromParts("host-" + host, 8080))));
                places.nodes(new TrinoNodes(hosts), now);
            }
            case 1 -> {
                Optional<PublishedRing> before = places.ring();
                HashRing members = HashRing.of(IntStream.range(0, WORKERS)
                        .filter(_ -> random.nextBoolean())
                        .mapToObj(i -> new RingMember(worker(i), 100, Optional.empty()))
                        .toList());
                Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
                members.members().forEach(member -> addresses.put(member.id(), new WorkerAddress("host-" + random.nextInt(HOSTS), PORT)));
                places.adopt(new PublishedRing(members, addresses, WALL + now + random.nextInt(1000) - 500), now);
                return !places.ring().equals(before);
            }
            case 2, 3, 4, 5, 6, 7 -> {
                now += random.nextInt(3_000);
                places.advance(now, WALL + now);
            }
            case 8, 9, 10, 11 -> {
                if (!known.isEmpty()) {
                    places.failed(known.get(random.nextInt(known.size())), "silent");
                }
            }
            default -> {
                if (!known.isEmpty()) {
                    answer(known.get(random.nextInt(known.size())), worker(random.nextInt(WORKERS)));
                }
            }
        }
        return false;
    }

    private void answer(WorkerAddress address, CacheWorkerId worker)
    {
        boolean answersElsewhere = places.list(now).stream()
                .anyMatch(place -> !place.address().equals(address) && place.state() == ANSWERING && place.worker().equals(Optional.of(worker)));
        String state = random.nextInt(10) == 0 ? "DRAINING" : "RUNNING";
        places.answered(address, new Pong(worker, new Digest128(1, 2), "1", state, 100, Optional.empty(), 0, 0, new RingEpoch(0), 0), now);
        Place place = places.list(now).stream().filter(each -> each.address().equals(address)).findFirst().orElseThrow();
        if (answersElsewhere) {
            assertThat(place.state()).isNotEqualTo(ANSWERING);
            assertThat(place.problem().orElseThrow()).contains("has the id of the one on");
        }
        else {
            assertThat(place.state()).isEqualTo(ANSWERING);
            assertThat(place.worker()).contains(worker);
        }
    }

    private void check()
    {
        List<Place> list = places.list(now);
        assertThat(list.stream().flatMap(place -> place.worker().stream())).doesNotHaveDuplicates();
        // who reads is on the ring, with a node
        places.view().nodes().forEach((worker, nodes) -> {
            assertThat(places.ring().orElseThrow().ring().member(worker)).isPresent();
            assertThat(nodes).isNotEmpty();
        });
    }

    private static CacheWorkerId worker(int index)
    {
        return new CacheWorkerId("worker-" + index);
    }
}
