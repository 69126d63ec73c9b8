package io.cachedhive.protocol.ring;

import io.cachedhive.protocol.GoldenValues;
import io.cachedhive.protocol.file.OriginId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

class TestHashRing
{
    private static final int CHUNKS = 50_000;

    private Random random;

    @BeforeEach
    void setUp()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        random = new Random(seed);
    }

    private static RingMember member(String id, long weight)
    {
        return new RingMember(new CacheWorkerId(id), weight, Optional.empty());
    }

    private static List<RingMember> members(int count, long weight)
    {
        List<RingMember> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add(member("worker-" + i, weight));
        }
        return members;
    }

    /**
     * Some chunks of many files, as tables have them.
     */
    private List<ChunkKey> chunks()
    {
        List<ChunkKey> chunks = new ArrayList<>();
        while (chunks.size() < CHUNKS) {
            long location = random.nextLong();
            for (int i = random.nextInt(4); i >= 0; i--) {
                chunks.add(new ChunkKey(location, i));
            }
        }
        return chunks;
    }

    @Test
    void testGoldenValues()
            throws IOException
    {
        GoldenValues golden = GoldenValues.of(TestHashRing.class, "rings.txt");
        OriginId origin = OriginId.of("s3", Optional.of("http://localhost:9000"), Optional.of("us-east-1"));
        golden.add("epoch of nobody", HashRing.of(List.of()).epoch());
        Map<String, HashRing> rings = new HashMap<>();
        rings.put("equal", HashRing.of(members(5, 100)));
        rings.put("unequal", HashRing.of(List.of(member("a", 1L << 40), member("b", 2L << 40), member("c", 3_000_000_000_000L), member("d", 1))));
        rings.put("zones", HashRing.of(List.of(
                new RingMember(new CacheWorkerId("a"), 100, Optional.of("z1")),
                new RingMember(new CacheWorkerId("b"), 100, Optional.of("z2")))));
        for (String name : List.of("equal", "unequal", "zones")) {
            HashRing ring = rings.get(name);
            golden.add("epoch of " + name, ring.epoch());
            for (int file = 0; file < 8; file++) {
                String location = "s3://bucket/table/file-%s.orc".formatted(file);
                long hash = ChunkKey.locationHash(origin, location);
                if (name.equals("equal")) {
                    golden.add("location hash of " + location, Long.toHexString(hash));
                }
                for (int chunk = 0; chunk < 3; chunk++) {
                    golden.add("order on %s of chunk %s of %s".formatted(name, chunk, location), ring.order(new ChunkKey(hash, chunk)));
                }
            }
        }
        HashRing many = HashRing.of(IntStream.range(0, 300)
                .mapToObj(i -> new RingMember(new CacheWorkerId("worker-" + i), (1 + i % 4) * 400_000_000_000L, Optional.of("z" + i % 3)))
                .toList());
        golden.add("epoch of many", many.epoch());
        for (int file = 0; file < 8; file++) {
            String location = "s3://bucket/table/file-%s.orc".formatted(file);
            for (int index = 0; index < 3; index++) {
                ChunkKey chunk = new ChunkKey(ChunkKey.locationHash(origin, location), index);
                golden.add("first on many of chunk %s of %s".formatted(index, location), many.first(chunk, 5));
                golden.add("second on many of chunk %s of %s".formatted(index, location), many.second(chunk).orElseThrow());
                golden.add(
                        "owners in zones of many of chunk %s of %s".formatted(index, location),
                        IntStream.range(0, 3).mapToObj(zone -> many.owner(chunk, Optional.of("z" + zone)).orElseThrow()).toList());
            }
        }
        golden.verify();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10, 100})
    void testSharesOfEqualMembers(int count)
    {
        HashRing ring = HashRing.of(members(count, 7));
        Map<CacheWorkerId, Integer> owned = owned(ring);
        double expected = (double) CHUNKS / count;
        for (RingMember member : ring.members()) {
            assertThat(ring.share(member.id())).isCloseTo(1.0 / count, within(1e-9));
            // seven standard deviations of a fair choice: of a hundred members some are far out
            assertThat((double) owned.getOrDefault(member.id(), 0)).isCloseTo(expected, within(7 * Math.sqrt(expected) + 1));
        }
    }

    @Test
    void testSharesFollowWeights()
    {
        HashRing ring = HashRing.of(List.of(member("a", 100), member("b", 200), member("c", 300), member("d", 400)));
        Map<CacheWorkerId, Integer> owned = owned(ring);
        for (RingMember member : ring.members()) {
            double expected = CHUNKS * member.weight() / 1000.0;
            assertThat(ring.share(member.id())).isCloseTo(member.weight() / 1000.0, within(1e-9));
            assertThat((double) owned.get(member.id())).isCloseTo(expected, within(5 * Math.sqrt(expected)));
        }
    }

    private Map<CacheWorkerId, Integer> owned(HashRing ring)
    {
        Map<CacheWorkerId, Integer> owned = new HashMap<>();
        for (ChunkKey chunk : chunks().subList(0, CHUNKS)) {
            owned.merge(ring.owner(chunk).orElseThrow(), 1, Integer::sum);
        }
        return owned;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 10, 50})
    void testNothingElseMovesWhenOneLeaves(int count)
    {
        for (boolean weighted : new boolean[] {false, true}) {
            List<RingMember> members = weighted ?
                    new ArrayList<>(members(count, 1).stream().map(member -> member(member.id().value(), 1_000_000 + random.nextInt(200_000))).toList()) :
                    members(count, 9);
            HashRing before = HashRing.of(members);
            RingMember leaving = members.get(random.nextInt(count));
            List<RingMember> left = new ArrayList<>(members);
            left.remove(leaving);
            HashRing after = HashRing.of(left);

            int moved = 0;
            List<ChunkKey> chunks = chunks();
            for (ChunkKey chunk : chunks) {
                CacheWorkerId owner = before.owner(chunk).orElseThrow();
                CacheWorkerId newOwner = after.owner(chunk).orElseThrow();
                if (owner.equals(leaving.id())) {
                    moved++;
                    // to the second, who was known before
                    assertThat(newOwner).isEqualTo(before.order(chunk).get(1));
                }
                else {
                    assertThat(newOwner).isEqualTo(owner);
                }
            }
            // who joins moves the same chunks the other way
            double share = before.share(leaving.id());
            assertThat((double) moved / chunks.size()).isCloseTo(share, within(5 * Math.sqrt(share * 4 / chunks.size())));
        }
    }

    @Test
    void testOrder()
    {
        List<HashRing> rings = List.of(
                HashRing.of(members(7, 5)),
                HashRing.of(List.of(member("a", 1), member("b", 20), member("c", 300))),
                // the owner is found without the scores of most members
                HashRing.of(IntStream.range(0, 200).mapToObj(i -> member("w" + i, 1 + i % 7 * (long) 1e11)).toList()));
        for (HashRing ring : rings) {
            for (ChunkKey chunk : chunks().subList(0, 1000)) {
                List<CacheWorkerId> order = ring.order(chunk);
                assertThat(order).containsExactlyInAnyOrderElementsOf(ring.members().stream().map(RingMember::id).toList());
                assertThat(ring.owner(chunk)).contains(order.getFirst());
            }
        }
    }

    /**
     * Against the rule as it is written, without anything that makes it fast.
     */
    @Test
    void testOrderIsThatOfTheScores()
    {
        for (int round = 0; round < 200; round++) {
            List<RingMember> members = randomMembers(1 + random.nextInt(40));
            HashRing ring = HashRing.of(members);
            ChunkKey chunk = new ChunkKey(random.nextLong(), random.nextInt(5));
            List<RingMember> expected = ModelRing.order(members, chunk);
            List<CacheWorkerId> ids = expected.stream().map(RingMember::id).toList();
            assertThat(ring.order(chunk)).isEqualTo(ids);
            assertThat(ring.owner(chunk)).contains(ids.getFirst());
            int count = random.nextInt(members.size() + 3);
            assertThat(ring.first(chunk, count)).isEqualTo(ids.subList(0, Math.min(count, ids.size())));

            // zones
            Optional<String> zone = expected.getFirst().zone();
            List<CacheWorkerId> near = expected.stream().filter(member -> member.zone().equals(zone)).map(RingMember::id).toList();
            assertThat(ring.second(chunk)).isEqualTo(near.stream().skip(1).findFirst());
            List<CacheWorkerId> nearest = new ArrayList<>(near);
            ids.stream().filter(id -> !near.contains(id)).forEach(nearest::add);
            assertThat(ring.nearest(chunk, count)).isEqualTo(nearest.subList(0, Math.min(count, ids.size())));
            for (RingMember member : members) {
                CacheWorkerId owner = member.zone().isEmpty() ?
                        ids.getFirst() :
                        expected.stream().filter(other -> other.zone().equals(member.zone())).findFirst().orElseThrow().id();
                assertThat(ring.owner(chunk, member.zone())).contains(owner);
                assertThat(ring.inZoneOf(member.id(), chunk, count))
                        .isEqualTo(expected.stream().filter(other -> other.zone().equals(member.zone())).map(RingMember::id).limit(count).toList());
            }
            assertThat(ring.owner(chunk, Optional.of("zone of nobody"))).contains(ids.getFirst());

            // some of the members
            Set<CacheWorkerId> some = ids.stream().filter(_ -> random.nextBoolean()).collect(toSet());
            HashRing restricted = ring.restrictedTo(member -> some.contains(member.id()));
            assertThat(restricted.order(chunk)).isEqualTo(ids.stream().filter(some::contains).toList());
            assertThat(restricted).isEqualTo(HashRing.of(members.stream().filter(member -> some.contains(member.id())).toList()));
        }
    }

    private List<RingMember> randomMembers(int count)
    {
        int weights = 1 + random.nextInt(3);
        int zones = random.nextInt(4);
        return IntStream.range(0, count)
                .mapToObj(i -> new RingMember(
                        new CacheWorkerId("worker-%s-%s".formatted(i, random.nextInt(1000))),
                        // up to a thousand million times another's
                        1L << (30 * random.nextInt(weights) / 2),
                        zones == 0 ? Optional.empty() : Optional.of("zone-" + random.nextInt(zones))))
                .toList();
    }

    @Test
    void testEqualSetsAreEqual()
    {
        List<RingMember> members = members(20, 3);
        HashRing ring = HashRing.of(members);
        Collections.shuffle(members, random);
        HashRing shuffled = HashRing.of(members);
        assertThat(shuffled).isEqualTo(ring).hasSameHashCodeAs(ring);
        assertThat(shuffled.epoch()).isEqualTo(ring.epoch());
        for (ChunkKey chunk : chunks().subList(0, 1000)) {
            assertThat(shuffled.order(chunk)).isEqualTo(ring.order(chunk));
        }
        members.set(0, member(members.get(0).id().value(), 4));
        assertThat(HashRing.of(members).epoch()).isNotEqualTo(ring.epoch());
        assertThat(HashRing.of(members.subList(1, 20)).epoch()).isNotEqualTo(ring.epoch());
    }

    @Test
    void testRingOfNobody()
    {
        HashRing ring = HashRing.of(List.of());
        assertThat(ring.isEmpty()).isTrue();
        assertThat(ring.owner(new ChunkKey(1, 1))).isEmpty();
        assertThat(ring.order(new ChunkKey(1, 1))).isEmpty();
        assertThat(ring.first(new ChunkKey(1, 1), 3)).isEmpty();
        assertThat(ring.nearest(new ChunkKey(1, 1), 3)).isEmpty();
        assertThat(ring.second(new ChunkKey(1, 1))).isEmpty();
        assertThat(ring.owner(new ChunkKey(1, 1), Optional.of("zone"))).isEmpty();
        assertThat(ring.share(new CacheWorkerId("a"))).isZero();
    }

    @Test
    void testRefusals()
    {
        assertThatThrownBy(() -> HashRing.of(List.of(member("a", 1), member("a", 2)))).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("same cache worker id: a");
        assertThatThrownBy(() -> member("a", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CacheWorkerId("a b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CacheWorkerId("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ChunkKey(1, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new WorkerAddress("host", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new WorkerAddress(" ", 1)).isInstanceOf(IllegalArgumentException.class);
        HashRing ring = HashRing.of(members(1, 1));
        assertThatThrownBy(() -> new PublishedRing(ring, Map.of(new CacheWorkerId("x"), new WorkerAddress("host", 1)), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not on the ring: x");
    }

    @Test
    void testChunks()
    {
        assertThat(ChunkKey.at(5, 0, 100)).isEqualTo(new ChunkKey(5, 0));
        assertThat(ChunkKey.at(5, 99, 100)).isEqualTo(new ChunkKey(5, 0));
        assertThat(ChunkKey.at(5, 100, 100)).isEqualTo(new ChunkKey(5, 1));
        // no overflow in the largest of files
        assertThat(ChunkKey.at(5, Long.MAX_VALUE, 1).index()).isEqualTo(Long.MAX_VALUE);
    }
}
