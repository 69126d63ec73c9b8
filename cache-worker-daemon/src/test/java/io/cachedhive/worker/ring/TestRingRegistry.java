package io.cachedhive.worker.ring;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.state.StateDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

import static java.time.ZoneOffset.UTC;
import static org.assertj.core.api.Assertions.assertThat;

class TestRingRegistry
{
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @TempDir
    private Path directory;

    private final List<List<PublishedRing>> shown = new ArrayList<>();

    private RingRegistry open()
    {
        return open(Runnable::run);
    }

    private RingRegistry open(Executor writer)
    {
        return new RingRegistry(StateDirectory.open(directory, new LocalDisk()), Clock.fixed(NOW, UTC), writer, shown::add);
    }

    private static PublishedRing ring(int member, long publishedMillis)
    {
        CacheWorkerId id = new CacheWorkerId("worker-" + member);
        return new PublishedRing(
                HashRing.of(List.of(new RingMember(id, 100, Optional.empty()))),
                Map.of(id, new WorkerAddress("10.0.0." + member, 8484)),
                publishedMillis);
    }

    @Test
    void testNewestFirst()
    {
        RingRegistry book = open();
        assertThat(shown).containsExactly(List.of());
        book.publish(ring(2, 20));
        book.publish(ring(1, 10));
        book.publish(ring(3, 30));
        assertThat(book.rings()).containsExactly(ring(3, 30), ring(2, 20), ring(1, 10));
        assertThat(book.newest()).contains(ring(3, 30));
        assertThat(shown.getLast()).isEqualTo(book.rings());
    }

    /**
     * A run with another clock, or a release that accepted them, may have left rings from the future.
     */
    @Test
    void testRingsFromTheFutureAreNotLoaded()
    {
        PublishedRing skewed = ring(2, NOW.plus(Duration.ofHours(2)).toEpochMilli());
        PublishedRing future = ring(3, NOW.plus(Duration.ofHours(2)).toEpochMilli() + 1);
        RingRegistry before = open();
        before.publish(ring(1, 10));
        before.publish(skewed);
        before.publish(future);
        assertThat(open().rings()).containsExactly(skewed, ring(1, 10));
    }

    @Test
    void testSameEpoch()
    {
        RingRegistry book = open();
        book.publish(ring(1, 10));
        book.publish(ring(2, 20));
        book.publish(ring(1, 30));
        assertThat(book.rings()).containsExactly(ring(1, 30), ring(2, 20));
        int told = shown.size();
        // late news
        book.publish(ring(1, 25));
        book.publish(ring(1, 30));
        assertThat(book.rings()).containsExactly(ring(1, 30), ring(2, 20));
        assertThat(shown).hasSize(told);
    }

    @Test
    void testOnlyTheNewestAreKept()
    {
        RingRegistry book = open();
        for (int i = 1; i <= 40; i++) {
            book.publish(ring(i, i));
        }
        assertThat(book.rings()).hasSize(RingRegistry.MAX_RINGS).first().isEqualTo(ring(40, 40));
        book.publish(ring(100, 1));
        assertThat(book.rings()).doesNotContain(ring(100, 1));
    }

    @Test
    void testRestart()
            throws IOException
    {
        RingRegistry book = open();
        book.publish(ring(1, 10));
        book.publish(ring(2, 20));
        assertThat(open().rings()).containsExactly(ring(2, 20), ring(1, 10));
        assertThat(shown.getLast()).containsExactly(ring(2, 20), ring(1, 10));

        byte[] content = Files.readAllBytes(directory.resolve("rings"));
        content[content.length / 2] ^= 1;
        Files.write(directory.resolve("rings"), content);
        assertThat(open().rings()).isEmpty();
    }

    @Test
    void testPublisherDoesNotWaitForTheDisk()
    {
        List<Runnable> writes = new ArrayList<>();
        RingRegistry book = open(writes::add);
        book.publish(ring(1, 10));
        book.publish(ring(2, 20));
        assertThat(book.rings()).containsExactly(ring(2, 20), ring(1, 10));
        assertThat(shown.getLast()).isEqualTo(book.rings());
        assertThat(directory.resolve("rings")).doesNotExist();
        // one write has both
        assertThat(writes).hasSize(1);
        writes.removeFirst().run();
        assertThat(open().rings()).containsExactly(ring(2, 20), ring(1, 10));

        book.publish(ring(3, 30));
        assertThat(writes).hasSize(1);
        writes.removeFirst().run();
        assertThat(open().rings()).containsExactly(ring(3, 30), ring(2, 20), ring(1, 10));
    }
}
