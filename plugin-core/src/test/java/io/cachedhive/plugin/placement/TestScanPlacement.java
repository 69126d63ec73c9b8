package io.cachedhive.plugin.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.HARD_AFFINITY;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.NO_PREFERENCE;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.SOFT_AFFINITY;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

class TestScanPlacement
{
    private static final long MEGABYTE = 1 << 20;
    private static final long CHUNK_BYTES = 8 * MEGABYTE;
    private static final double SKEW = 0.25;
    private static final FileOrigins ORIGINS = FileOrigins.of("default", Map.of("fs.s3.enabled", "true"), false);
    private static final HashRing RING = ring(4, 1);

    private final ScanFile split = split("s3://lake/t/file", 10, 20);
    private final ChunkKey chunk = chunk(split);

    @Test
    void testPrefersTheOwnersNode()
    {
        List<CacheWorkerId> order = RING.order(chunk);
        NodePreference soft = place(SOFT_AFFINITY, view(RING));
        assertThat(soft.next()).containsExactly(node(order.get(0)));
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThat(soft.next()).as("the next two as well").containsExactly(node(order.get(0)), node(order.get(1)), node(order.get(2)));
        }
        assertThat(soft.next()).as("any").isEmpty();

        NodePreference hard = place(HARD_AFFINITY, view(RING));
        for (int attempt = 0; attempt < 5; attempt++) {
            assertThat(hard.next()).containsExactly(node(order.get(0)));
        }
        assertThat(place(NO_PREFERENCE, view(RING)).next()).isEmpty();
    }

    @Test
    void testPrefersTheNextWhoseTrinoWorkerIsActive()
    {
        List<CacheWorkerId> order = RING.order(chunk);
        for (NodeSelectionStrategy strategy : List.of(SOFT_AFFINITY, HARD_AFFINITY)) {
            assertThat(place(strategy, view(RING, order.get(0))).next()).containsExactly(node(order.get(1)));
            assertThat(place(strategy, view(RING, order.get(0), order.get(1))).next()).containsExactly(node(order.get(2)));
            assertThat(place(strategy, view(RING, order.toArray(CacheWorkerId[]::new))).next()).isEmpty();
        }
        NodePreference preference = place(SOFT_AFFINITY, view(RING, order.get(1)));
        preference.next();
        assertThat(preference.next()).containsExactly(node(order.get(0)), node(order.get(2)), node(order.get(3)));
    }

    @Test
    void testAnyNodeWithoutRing()
    {
        assertThat(place(SOFT_AFFINITY, RingView.EMPTY).next()).isEmpty();
    }

    @Test
    void testAnyNodeForFilesThatAreNotCached()
    {
        FileOrigins none = FileOrigins.of("default", Map.of(), false);
        ScanPlacement placement = new ScanPlacement(none, CHUNK_BYTES, SOFT_AFFINITY, SKEW, view(RING), new RecentLoad(() -> 0).query("scan"));
        assertThat(place(placement, split).next()).isEmpty();
        assertThat(placement.counts()).isEqualTo(new PlacementCounts(0, 0, 0, 1));
    }

    @Test
    void testCounts()
    {
        ScanPlacement atOwner = placement(SOFT_AFFINITY, view(RING));
        place(atOwner, split);
        assertThat(atOwner.counts()).isEqualTo(new PlacementCounts(1, 0, 0, 0));
        for (NodeSelectionStrategy strategy : List.of(SOFT_AFFINITY, HARD_AFFINITY)) {
            ScanPlacement elsewhere = placement(strategy, view(RING, RING.owner(chunk).orElseThrow()));
            place(elsewhere, split);
            assertThat(elsewhere.counts()).isEqualTo(new PlacementCounts(0, 0, 0, 1));
            ScanPlacement ownerActive = placement(strategy, view(RING, RING.order(chunk).get(2)));
            place(ownerActive, split);
            assertThat(ownerActive.counts()).as("another's Trino worker is away").isEqualTo(new PlacementCounts(1, 0, 0, 0));
        }
        ScanPlacement any = placement(NO_PREFERENCE, view(RING));
        place(any, split);
        assertThat(any.counts()).isEqualTo(new PlacementCounts(0, 0, 0, 1));
    }

    /**
     * The splits of one chunk: its owner takes its share and a chunk, and the others what is left of theirs, each split always the same reader.
     */
    @Test
    void testHotChunkIsSpread()
    {
        List<ScanFile> splits = IntStream.range(0, 800).mapToObj(i -> split("s3://lake/t/file", i * MEGABYTE / 200, MEGABYTE)).toList();
        CacheWorkerId owner = RING.owner(chunk(splits.getFirst())).orElseThrow();
        // 1/4 of 800 MiB, and a quarter of it, which is more than a chunk
        int most = 200 + 50;

        List<Optional<HostAndPort>> nodes = nodes(placement(SOFT_AFFINITY, view(RING)), splits);

        for (int i = 0; i < most; i++) {
            assertThat(nodes.get(i)).as("split %s", i).contains(node(owner));
        }
        Map<Optional<HostAndPort>, Long> counts = nodes.stream().collect(groupingBy(identity(), counting()));
        assertThat(counts).hasSize(4).doesNotContainKey(Optional.empty());
        assertThat(counts.values()).allSatisfy(count -> assertThat(count).isBetween(100L, (long) most));
        assertThat(nodes(placement(SOFT_AFFINITY, view(RING)), splits)).as("the next scan").isEqualTo(nodes);

        ScanPlacement hard = placement(HARD_AFFINITY, view(RING));
        assertThat(nodes(hard, splits)).containsOnly(Optional.of(node(owner)));
        assertThat(hard.counts()).isEqualTo(new PlacementCounts(800, 0, 0, 0));
    }

    /**
     * Many scans at once of a file that one reader owns: together they are preferred there for no more than one of them is, and its share of the others.
     */
    @Test
    void testHotFileOfManyScansIsSpread()
    {
        HashRing ring = ring(16, 1);
        RecentLoad load = new RecentLoad(() -> 0);
        List<ScanFile> splits = IntStream.range(0, 64).mapToObj(i -> split("s3://lake/t/file", i * MEGABYTE / 8, MEGABYTE)).toList();
        HostAndPort owner = node(ring.owner(chunk(splits.getFirst())).orElseThrow());
        List<List<Optional<HostAndPort>>> scans = new ArrayList<>();
        Map<Optional<HostAndPort>, Long> counts = new HashMap<>();

        for (int scan = 0; scan < 50; scan++) {
            ScanPlacement placement = new ScanPlacement(ORIGINS, CHUNK_BYTES, SOFT_AFFINITY, SKEW, view(ring), load.query(scan));
            List<Optional<HostAndPort>> nodes = nodes(placement, splits);
            scans.add(nodes);
            nodes.forEach(node -> counts.merge(node, 1L, Long::sum));
        }

        assertThat(scans.getFirst().stream().filter(Optional.of(owner)::equals)).as("of the first scan a share of 4 MiB, and a chunk").hasSize(4 + 8);
        assertThat(counts.get(Optional.of(owner))).as("a share of all, and a chunk").isBetween(200L, 200L + 8);
        assertThat(counts.getOrDefault(Optional.empty(), 0L)).as("anywhere, of 3200").isLessThan(320);
        counts.remove(Optional.empty());
        assertThat(counts.values()).allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(200 + 8));

        // a scan after all of them finds the copies of the first
        IntStream.range(0, 50).forEach(load::end);
        ScanPlacement next = new ScanPlacement(ORIGINS, CHUNK_BYTES, SOFT_AFFINITY, SKEW, view(ring), load.query("next"));
        assertThat(nodes(next, splits)).isEqualTo(scans.getFirst());
    }

    /**
     * The first node of each split; empty for any.
     */
    private static List<Optional<HostAndPort>> nodes(ScanPlacement placement, List<ScanFile> splits)
    {
        placement.list(splits);
        return splits.stream().map(placement::place).map(preference -> preference.next().stream().findFirst()).toList();
    }

    /**
     * A row group is read by the split in which it starts: most likely where most of the split is.
     */
    @Test
    void testPrefersTheOwnerOfMostOfTheSplit()
    {
        for (int file = 0; file < 20; file++) {
            String path = "s3://lake/t/file-" + file;
            CacheWorkerId first = RING.owner(chunk(split(path, 0, 1))).orElseThrow();
            CacheWorkerId next = RING.owner(chunk(split(path, CHUNK_BYTES, 1))).orElseThrow();
            assertThat(place(placement(SOFT_AFFINITY, view(RING)), split(path, CHUNK_BYTES - 2 * MEGABYTE, 3 * MEGABYTE)).next()).containsExactly(node(first));
            assertThat(place(placement(SOFT_AFFINITY, view(RING)), split(path, CHUNK_BYTES - MEGABYTE, 3 * MEGABYTE)).next()).containsExactly(node(next));
        }
    }

    /**
     * Hive lists the first splits of some files before the second ones: what is known of the scan then is more than these splits.
     */
    @Test
    void testFilesAreListedWhole()
    {
        ScanPlacement placement = placement(SOFT_AFFINITY, view(RING));
        CacheWorkerId owner = RING.owner(chunk).orElseThrow();
        int kept = 0;
        for (int i = 0; i < 40; i++) {
            // a batch for each, all in the first chunk
            ScanFile next = split("s3://lake/t/file", i * MEGABYTE / 20, MEGABYTE, 80 * MEGABYTE);
            NodePreference nodes = place(placement, next);
            boolean passedOn = nodes.isPassedOn();
            assertThat(ScanPlacement.keepsFills(next, nodes, next.modifiedMillis() + 60_000)).isEqualTo(passedOn);
            assertThat(ScanPlacement.keepsFills(next, nodes, next.modifiedMillis() + 59_999)).as("its file may still change unseen").isFalse();
            assertThat(nodes.next().equals(List.of(node(owner)))).isEqualTo(!passedOn);
            kept += passedOn ? 0 : 1;
            if (i == 10) {
                assertThat(kept).as("more than a share of 10 MiB and a chunk").isGreaterThanOrEqualTo(9);
            }
        }
        assertThat(kept).as("1/4 of 80 MiB and a chunk").isEqualTo(20 + 8);
        assertThat(placement.counts()).isEqualTo(new PlacementCounts(kept, 40 - kept, 0, 0));
    }

    /**
     * Whatever the order in which splits come, and whatever else runs, a split prefers its owner or one of four others, which are the same in all scans.
     */
    @Test
    void testFewNodesForEachSplit()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        HashRing ring = ring(32, 1);
        RecentLoad load = new RecentLoad(() -> 0);
        List<ScanFile> splits = new ArrayList<>();
        for (int file = 0; file < 10; file++) {
            String path = "s3://lake/t/file-" + random.nextLong();
            IntStream.range(0, 16).mapToObj(i -> split(path, i * MEGABYTE, MEGABYTE, 2 * CHUNK_BYTES)).forEach(splits::add);
        }
        Map<ScanFile, Set<HostAndPort>> nodes = new HashMap<>();
        for (int scan = 0; scan < 100; scan++) {
            Collections.shuffle(splits, random);
            ScanPlacement placement = new ScanPlacement(ORIGINS, CHUNK_BYTES, SOFT_AFFINITY, SKEW, view(ring), load.query(scan));
            List<Optional<HostAndPort>> scanned = nodes(placement, splits);
            for (int i = 0; i < scanned.size(); i++) {
                nodes.computeIfAbsent(splits.get(i), _ -> new HashSet<>()).addAll(scanned.get(i).stream().toList());
            }
        }
        assertThat(nodes.values()).allSatisfy(each -> assertThat(each).hasSizeBetween(1, 5));
        assertThat(nodes.values()).as("the copies of some").anySatisfy(each -> assertThat(each).hasSizeGreaterThan(2));
    }

    @Test
    void testReaderThatHadNothingTakesALongSplit()
    {
        ScanPlacement placement = placement(SOFT_AFFINITY, view(RING));
        ScanFile whole = split("s3://lake/t/file.gz", 0, 100 * CHUNK_BYTES);
        Set<HostAndPort> nodes = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            nodes.add(getOnlyElement(place(placement, whole).next()));
        }
        assertThat(nodes).as("each had one").hasSize(4);
        assertThat(place(placement, whole).next()).as("all had more than their share").isEmpty();
    }

    /**
     * What each reader is preferred for stays within its bound at each moment, whatever weights, zones and shapes of tables.
     */
    @Test
    void testNoReaderHasMoreThanItsShare()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 100; round++) {
            int zones = random.nextInt(3);
            HashRing ring = HashRing.of(IntStream.range(0, 1 + random.nextInt(20))
                    .mapToObj(i -> new RingMember(
                            new CacheWorkerId("w" + i),
                            1 + random.nextInt(5),
                            zones == 0 ? Optional.empty() : Optional.of("zone-" + random.nextInt(zones))))
                    .toList());
            CacheWorkerId[] away = ring.members().stream().map(RingMember::id).filter(_ -> random.nextInt(4) == 0).toArray(CacheWorkerId[]::new);
            RingView view = view(ring, away);
            double skew = random.nextInt(3) * 0.25;
            ScanPlacement placement = new ScanPlacement(ORIGINS, CHUNK_BYTES, SOFT_AFFINITY, skew, view, new RecentLoad(() -> 0).query("scan"));

            Map<HostAndPort, Long> assigned = new HashMap<>();
            long listed = 0;
            long count = 0;
            int files = 1 + random.nextInt(50);
            long maxLength = CHUNK_BYTES / (1 + random.nextInt(10));
            for (int batch = 0; batch < 10; batch++) {
                List<ScanFile> splits = new ArrayList<>();
                for (int i = random.nextInt(30); i >= 0; i--) {
                    splits.add(split("s3://lake/t/file-" + random.nextInt(files), random.nextInt(10) * CHUNK_BYTES / 4, 1 + (long) (random.nextDouble() * maxLength)));
                }
                placement.list(splits);
                count += splits.size();
                listed += splits.stream().mapToLong(ScanFile::length).sum();
                for (ScanFile each : splits) {
                    for (HostAndPort node : placement.place(each).next()) {
                        assigned.merge(node, each.length(), Long::sum);
                    }
                }
                for (RingMember reader : view.readers().members()) {
                    double share = view.readers().share(reader.id());
                    assertThat((double) assigned.getOrDefault(node(reader.id()), 0L))
                            .as("%s of %s listed, round %s", reader, listed, round)
                            .isLessThanOrEqualTo((1 + skew) * share * listed + CHUNK_BYTES);
                }
            }
            PlacementCounts counts = placement.counts();
            assertThat(counts.atOwner() + counts.overflowed() + counts.withoutOwner()).isEqualTo(count);
            assertThat(counts.overflowedToAny()).isLessThanOrEqualTo(counts.overflowed());
        }
    }

    /**
     * Where many places have no cache worker, nobody has more splits at any moment than an even distribution gives to somebody, and each split a node.
     */
    @Test
    void testPartialFleetIsLoadedEvenly()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            HashRing ring = HashRing.of(IntStream.range(0, 1 + random.nextInt(40))
                    .mapToObj(i -> new RingMember(new CacheWorkerId("w" + i), 1 + random.nextInt(5), Optional.empty()))
                    .toList());
            // of unequal weights, and here and there two Trino workers on a host
            Map<CacheWorkerId, List<HostAndPort>> nodes = new HashMap<>();
            ring.members().forEach(member -> nodes.put(
                    member.id(),
                    random.nextInt(5) == 0 ? List.of(node(member.id()), HostAndPort.fromParts("host-of-" + member.id(), 8081)) : List.of(node(member.id()))));
            int nodeCount = nodes.values().stream().mapToInt(List::size).sum();
            ScanPlacement placement = new ScanPlacement(ORIGINS, CHUNK_BYTES, SOFT_AFFINITY, SKEW, RingView.of(ring, nodes, true), new RecentLoad(() -> 0).query("scan"));

            Map<List<HostAndPort>, Long> assigned = new HashMap<>();
            long listed = 0;
            for (int batch = 0; batch < 10; batch++) {
                List<ScanFile> splits = IntStream.range(0, random.nextInt(100))
                        .mapToObj(_ -> split("s3://lake/t/file-" + random.nextInt(20), random.nextInt(10) * CHUNK_BYTES / 4, 1 + random.nextLong(3 * CHUNK_BYTES)))
                        .toList();
                placement.list(splits);
                listed += splits.size();
                for (ScanFile each : splits) {
                    List<HostAndPort> preferred = placement.place(each).next();
                    assertThat(preferred).as("nodes of a split, round %s", round).isNotEmpty();
                    assigned.merge(preferred, 1L, Long::sum);
                }
                for (List<HostAndPort> reader : nodes.values()) {
                    assertThat(assigned.getOrDefault(reader, 0L))
                            .as("splits for %s of %s nodes, of %s listed, round %s", reader, nodeCount, listed, round)
                            .isLessThanOrEqualTo(Math.ceilDiv(listed * reader.size(), nodeCount));
                }
            }
            PlacementCounts counts = placement.counts();
            assertThat(counts.atOwner() + counts.overflowed() + counts.withoutOwner()).isEqualTo(listed);
        }
    }

    private static NodePreference place(ScanPlacement placement, ScanFile split)
    {
        placement.list(List.of(split));
        return placement.place(split);
    }

    private NodePreference place(NodeSelectionStrategy strategy, RingView view)
    {
        return place(placement(strategy, view), split);
    }

    private static ScanPlacement placement(NodeSelectionStrategy strategy, RingView view)
    {
        return new ScanPlacement(ORIGINS, CHUNK_BYTES, strategy, SKEW, view, new RecentLoad(() -> 0).query("scan"));
    }

    private static HashRing ring(int count, long weight)
    {
        return HashRing.of(IntStream.range(0, count)
                .mapToObj(i -> new RingMember(new CacheWorkerId("w" + i), weight, Optional.empty()))
                .toList());
    }

    private static RingView view(HashRing ring, CacheWorkerId... withoutTrinoWorker)
    {
        Map<CacheWorkerId, List<HostAndPort>> nodes = new HashMap<>();
        ring.members().forEach(member -> nodes.put(member.id(), List.of(node(member.id()))));
        List.of(withoutTrinoWorker).forEach(nodes::remove);
        return RingView.of(ring, nodes);
    }

    private static HostAndPort node(CacheWorkerId worker)
    {
        return HostAndPort.fromParts("host-of-" + worker, 8080);
    }

    private static ScanFile split(String path, long start, long length)
    {
        return split(path, start, length, start + length);
    }

    private static ScanFile split(String path, long start, long length, long fileLength)
    {
        return new ScanFile(path, start, length, fileLength, 1234, Map.of());
    }

    private static ChunkKey chunk(ScanFile split)
    {
        return ChunkKey.at(ChunkKey.locationHash(ORIGINS.find(split.location()).orElseThrow().id(), split.location()), split.start() + split.length() / 2, CHUNK_BYTES);
    }
}
