package io.cachedhive.plugin.preload;

import com.google.common.collect.ImmutableList;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.preload.PieceQueue.GivenUp;
import io.cachedhive.plugin.preload.PieceQueue.Patience;
import io.cachedhive.plugin.preload.PieceQueue.Sending;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestPieceQueue
{
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());
    private static final FileVersion FILE = new FileVersion(ORIGIN, "s3://lake/file", 1000, 1000);
    // a piece for each chunk
    private static final List<PreloadPiece> PIECES = ImmutableList.copyOf(
            PreloadPiece.cut(new FileOrigin(0, ORIGIN), FILE, List.of(new ByteRange(0, 1000)), 10, 10));
    private static final long SECOND = 1_000_000_000;

    // any start will do, also one that overflows
    private long now = Long.MAX_VALUE - SECOND;
    private final PieceQueue queue = new PieceQueue(new Patience(2, Duration.ofSeconds(1), Duration.ofSeconds(8), Duration.ofSeconds(30)));

    private static PublishedRing ring(List<String> members, String... away)
    {
        Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
        members.forEach(name -> addresses.put(new CacheWorkerId(name), new WorkerAddress(name, 1)));
        Arrays.stream(away).forEach(name -> addresses.remove(new CacheWorkerId(name)));
        return new PublishedRing(
                HashRing.of(members.stream().map(name -> new RingMember(new CacheWorkerId(name), 1, Optional.empty())).toList()),
                addresses,
                1);
    }

    private void addAll()
    {
        PIECES.forEach(queue::add);
    }

    /**
     * All that may be sent now.
     */
    private List<Sending> poll()
    {
        List<Sending> sent = new ArrayList<>();
        for (Optional<Sending> next = queue.poll(now); next.isPresent(); next = queue.poll(now)) {
            sent.add(next.get());
        }
        return sent;
    }

    @Test
    void testFewAtATimeToEachOwner()
    {
        PublishedRing ring = ring(List.of("a", "b"));
        queue.update(Optional.of(ring));
        addAll();
        Set<PreloadPiece> done = new HashSet<>();
        while (!queue.isIdle()) {
            List<Sending> sent = poll();
            assertThat(sent).filteredOn(sending -> sending.address().host().equals("a")).hasSizeLessThanOrEqualTo(2);
            assertThat(sent).filteredOn(sending -> sending.address().host().equals("b")).hasSizeLessThanOrEqualTo(2);
            assertThat(sent).isNotEmpty().allMatch(sending -> ring.ring().owner(sending.piece().chunk()).equals(Optional.of(sending.owner())));
            assertThat(queue.nextNanos()).isEmpty();
            sent.forEach(sending -> {
                assertThat(done.add(sending.piece())).isTrue();
                queue.answered(sending);
            });
        }
        assertThat(done).containsExactlyInAnyOrderElementsOf(PIECES);
        assertThat(queue.takeGivenUp()).isEmpty();
    }

    @Test
    void testWaitsForOwnerThatIsAway()
    {
        queue.update(Optional.of(ring(List.of("a"))));
        addAll();
        List<Sending> sent = poll();
        assertThat(sent).hasSize(2);
        sent.forEach(sending -> queue.failed(sending, now, "away"));
        assertThat(queue.size()).isEqualTo(PIECES.size());
        // both failed at once: a pause of one, and one piece to find out whether it is back
        for (long pause : new long[] {1, 2, 4, 8, 8}) {
            assertThat(poll()).isEmpty();
            assertThat(queue.nextNanos()).hasValue(now + pause * SECOND);
            now += pause * SECOND;
            sent = poll();
            assertThat(sent).hasSize(1);
            queue.failed(sent.getFirst(), now, "away");
        }
        now += 8 * SECOND;
        queue.answered(poll().getFirst());
        assertThat(poll()).hasSize(2);
        assertThat(queue.takeGivenUp()).isEmpty();
    }

    @Test
    void testGivesUpOwnerThatStaysAway()
    {
        queue.update(Optional.of(ring(List.of("a", "b"), "b")));
        addAll();
        int ofOther = 0;
        List<GivenUp> givenUp = new ArrayList<>();
        long end = now + 40 * SECOND;
        while (now - end < 0) {
            for (Sending sending : poll()) {
                assertThat(sending.address().host()).isEqualTo("a");
                queue.answered(sending);
                ofOther++;
            }
            List<GivenUp> taken = queue.takeGivenUp();
            assertThat(taken.isEmpty() || now - end >= -10 * SECOND).as("given up early").isTrue();
            givenUp.addAll(taken);
            now += SECOND;
        }
        assertThat(ofOther).isPositive();
        assertThat(givenUp).hasSize(PIECES.size() - ofOther).isNotEmpty()
                .allMatch(given -> given.problem().equals("no cache worker answers for the chunks of b: see the table cache.nodes for the missing ones"));
        assertThat(queue.isIdle()).isTrue();

        // what comes later is tried once more, and not for so long again
        addAll();
        now += 8 * SECOND;
        poll().forEach(queue::answered);
        assertThat(queue.takeGivenUp()).hasSize(PIECES.size() - ofOther);
    }

    @Test
    void testNewRing()
    {
        addAll();
        assertThat(poll()).isEmpty();
        assertThat(queue.takeGivenUp()).isEmpty();

        queue.update(Optional.of(ring(List.of("a"))));
        List<Sending> first = poll();
        assertThat(first).hasSize(2).allMatch(sending -> sending.address().host().equals("a"));

        PublishedRing other = ring(List.of("b", "c"));
        queue.update(Optional.of(other));
        List<Sending> second = poll();
        assertThat(second).hasSize(4).allMatch(sending -> other.ring().owner(sending.piece().chunk()).equals(Optional.of(sending.owner())));

        // what its former owner did not load goes to the new one
        first.forEach(sending -> queue.failed(sending, now, "away"));
        second.forEach(queue::answered);
        Set<PreloadPiece> done = new HashSet<>(second.stream().map(Sending::piece).toList());
        while (!queue.isIdle()) {
            poll().forEach(sending -> {
                assertThat(sending.address().host()).isIn("b", "c");
                queue.answered(sending);
                done.add(sending.piece());
            });
        }
        assertThat(done).containsExactlyInAnyOrderElementsOf(PIECES);
    }

    @Test
    void testNewAddress()
    {
        queue.update(Optional.of(ring(List.of("a"), "a")));
        addAll();
        assertThat(poll()).isEmpty();
        PublishedRing back = ring(List.of("a"));
        queue.update(Optional.of(back));
        now += SECOND;
        List<Sending> first = poll();
        assertThat(first).hasSize(1);
        queue.answered(first.getFirst());
        assertThat(poll()).hasSize(2);
    }

    /**
     * A piece of which nothing is ever heard, though its owner takes others.
     */
    @Test
    void testGivesUpPiece()
    {
        queue.update(Optional.of(ring(List.of("a"))));
        addAll();
        PreloadPiece bad = PIECES.get(7);
        List<GivenUp> givenUp = new ArrayList<>();
        for (int step = 0; step < 10_000 && !queue.isIdle(); step++) {
            for (Sending sending : poll()) {
                if (sending.piece().equals(bad)) {
                    queue.failed(sending, now, "silent");
                }
                else {
                    queue.answered(sending);
                }
            }
            // as long as there are others
            if (queue.size() == 1) {
                PIECES.stream().filter(piece -> !piece.equals(bad)).limit(4).forEach(queue::add);
            }
            givenUp.addAll(queue.takeGivenUp());
            now += SECOND;
        }
        assertThat(givenUp).containsExactly(new GivenUp(bad, "silent"));
        assertThat(queue.isIdle()).isTrue();
    }

    @Test
    void testClear()
    {
        queue.update(Optional.of(ring(List.of("a"))));
        addAll();
        List<Sending> sent = poll();
        queue.clear();
        assertThat(queue.size()).isZero();
        assertThat(queue.isIdle()).isFalse();
        sent.forEach(queue::answered);
        assertThat(queue.isIdle()).isTrue();
    }
}
