package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.ring.RingRegistry;
import io.cachedhive.worker.state.StateDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestFormerOwners
{
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final ChunkKey CHUNK = new ChunkKey(1, 2);

    private RingRegistry book;
    private FormerOwners owners;
    private Instant now = START;

    @BeforeEach
    void setUp(@TempDir Path directory)
    {
        book = new RingRegistry(StateDirectory.open(directory, new LocalDisk()), Clock.systemUTC(), Runnable::run, _ -> {});
        owners = new FormerOwners(book, new CacheWorkerId("self"), Optional.empty(), () -> now);
    }

    private void publish(Duration after, String member, Optional<WorkerAddress> address)
    {
        CacheWorkerId id = new CacheWorkerId(member);
        book.publish(new PublishedRing(
                HashRing.of(List.of(new RingMember(id, 1, Optional.empty()))),
                address.map(value -> Map.of(id, value)).orElse(Map.of()),
                START.plus(after).toEpochMilli()));
    }

    private void publish(Duration after, String member)
    {
        publish(after, member, Optional.of(address(member)));
    }

    private static WorkerAddress address(String member)
    {
        return new WorkerAddress(member, 8484);
    }

    private List<String> ask()
    {
        return owners.of(CHUNK, owners.replacedRings()).stream().map(peer -> peer.id().value()).toList();
    }

    @Test
    void testThoseOfTheLastHour()
    {
        assertThat(ask()).isEmpty();
        publish(Duration.ZERO, "a");
        assertThat(ask()).as("the ring in force").isEmpty();
        publish(Duration.ofMinutes(10), "b");
        publish(Duration.ofMinutes(30), "self");
        now = START.plus(Duration.ofMinutes(70));
        assertThat(ask()).containsExactly("b", "a");
        // a's ring was replaced an hour and a bit ago
        now = START.plus(Duration.ofMinutes(70)).plusMillis(1);
        assertThat(ask()).containsExactly("b");
        now = START.plus(Duration.ofMinutes(90)).plusMillis(1);
        assertThat(ask()).isEmpty();
        assertThat(owners.replacedRings()).isEmpty();
    }

    @Test
    void testAtMostTwoOthers()
    {
        for (String member : List.of("a", "b", "self", "c", "b", "self")) {
            publish(Duration.ofMinutes(book.rings().size()), member);
        }
        now = START.plus(Duration.ofMinutes(10));
        assertThat(ask()).hasSize(FormerOwners.MAX_OWNERS).doesNotContain("self");
    }

    @Test
    void testWithinTheZoneOnly()
    {
        FormerOwners inZone = new FormerOwners(book, new CacheWorkerId("self"), Optional.of("here"), () -> now);
        Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
        List<RingMember> members = new ArrayList<>();
        for (String member : List.of("near-1", "near-2", "far-1", "far-2", "far-3", "far-4")) {
            members.add(new RingMember(new CacheWorkerId(member), 1, Optional.of(member.startsWith("near") ? "here" : "there")));
            addresses.put(new CacheWorkerId(member), address(member));
        }
        book.publish(new PublishedRing(HashRing.of(members), addresses, START.toEpochMilli()));
        publish(Duration.ofMinutes(1), "self");
        now = START.plus(Duration.ofMinutes(2));
        int ownedElsewhere = 0;
        for (int index = 0; index < 50; index++) {
            ChunkKey chunk = new ChunkKey(7, index);
            List<Peer> asked = inZone.of(chunk, inZone.replacedRings());
            assertThat(asked).singleElement().extracting(peer -> peer.id().value()).asString().startsWith("near");
            assertThat(owners.of(chunk, owners.replacedRings())).singleElement().extracting(Peer::id).isEqualTo(HashRing.of(members).owner(chunk).orElseThrow());
            ownedElsewhere += HashRing.of(members).owner(chunk).orElseThrow().value().startsWith("far") ? 1 : 0;
        }
        assertThat(ownedElsewhere).isPositive();

        // a zone that has nobody else
        FormerOwners alone = new FormerOwners(book, new CacheWorkerId("self"), Optional.of("nowhere"), () -> now);
        assertThat(alone.of(CHUNK, alone.replacedRings())).isEmpty();
    }

    @Test
    void testWhereTheyAreNow()
    {
        publish(Duration.ofMinutes(1), "a");
        publish(Duration.ofMinutes(2), "self");
        now = START.plus(Duration.ofMinutes(3));
        assertThat(owners.of(CHUNK, owners.replacedRings())).containsExactly(new Peer(new CacheWorkerId("a"), address("a")));

        // moved since, and on the ring in force
        CacheWorkerId a = new CacheWorkerId("a");
        book.publish(new PublishedRing(
                HashRing.of(List.of(new RingMember(a, 1, Optional.empty()), new RingMember(new CacheWorkerId("self"), 1_000_000, Optional.empty()))),
                Map.of(a, address("elsewhere")),
                now.toEpochMilli()));
        assertThat(owners.find(a)).contains(new Peer(a, address("elsewhere")));
        assertThat(owners.of(CHUNK, owners.replacedRings())).containsExactly(new Peer(a, address("elsewhere")));

        // seen nowhere any more
        book.publish(new PublishedRing(HashRing.of(List.of(new RingMember(a, 7, Optional.empty()))), Map.of(), now.toEpochMilli() + 1));
        assertThat(owners.find(a)).isEmpty();
        assertThat(ask()).isEmpty();
        assertThat(owners.find(new CacheWorkerId("never"))).isEmpty();
    }
}
