package io.cachedhive.worker.flush;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.state.StateDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TestTombstoneLog
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));
    private static final long NOW = 1_700_000_000_000L;
    private static final Digest128 ZERO = new Digest128(0, 0);

    @TempDir
    private Path directory;

    private StateDirectory state;

    @BeforeEach
    void openDirectory()
    {
        state = StateDirectory.open(directory, new LocalDisk());
    }

    private static Tombstone tombstone(long id, String location, long createdMillis)
    {
        return new Tombstone(new Digest128(id, id), ORIGIN, location, createdMillis);
    }

    @Test
    void survivesRestart()
            throws Exception
    {
        Tombstone done = tombstone(1, "s3://lake/a/", NOW);
        Tombstone begun = tombstone(2, "s3://lake/b/", NOW);
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        assertThat(book.isTrusted()).isTrue();
        assertThat(book.add(List.of(done, begun), NOW)).contains(List.of(done, begun));
        assertThat(book.add(List.of(done), NOW)).describedAs("known").contains(List.of());
        book.setDone(List.of(done), NOW);
        book.save(NOW);

        TombstoneLog next = TombstoneLog.open(state, false, NOW + 1000);
        assertThat(next.isTrusted()).isTrue();
        assertThat(next.notDone()).containsExactly(begun);
        assertThat(next.done(ZERO, 10)).containsExactly(done);
        assertThat(next.doneXor()).isEqualTo(book.doneXor()).isEqualTo(done.id());
        next.setDone(List.of(begun), NOW);
        assertThat(next.notDone()).isEmpty();
    }

    /**
     * Guards against a state directory that was lost, or is another one: which of the blocks were flushed is not known.
     */
    @Test
    void trustsNoRestoredBlocksWithoutAFile()
            throws Exception
    {
        assertThat(TombstoneLog.open(state, true, NOW).isTrusted()).isFalse();
        TombstoneLog first = TombstoneLog.open(state, false, NOW);
        assertThat(first.isTrusted()).describedAs("a first start").isTrue();
        first.save(NOW);
        assertThat(TombstoneLog.open(state, true, NOW).isTrusted()).isTrue();
    }

    @Test
    void trustsNothingAfterLongAbsenceOrDamage()
            throws Exception
    {
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        book.add(List.of(tombstone(1, "s3://lake/a/", NOW)), NOW);
        book.save(NOW);
        assertThat(TombstoneLog.open(state, false, NOW + Duration.ofDays(28).toMillis()).isTrusted()).isTrue();
        assertThat(TombstoneLog.open(state, false, NOW + Duration.ofDays(30).toMillis()).isTrusted()).isFalse();

        Files.write(directory.resolve("tombstones"), new byte[100]);
        TombstoneLog damaged = TombstoneLog.open(state, false, NOW);
        assertThat(damaged.isTrusted()).isFalse();
        assertThat(damaged.notDone()).isEmpty();
    }

    /**
     * A tombstone from the future would make all later ones of its files superfluous, and would never be forgotten.
     */
    @Test
    void acceptsNoTombstoneOfTheFuture()
    {
        long limit = NOW + Duration.ofHours(2).toMillis();
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        Tombstone skewed = tombstone(1, "s3://lake/a/", limit);
        Tombstone future = tombstone(2, "s3://lake/", limit + 1);
        assertThat(book.add(List.of(skewed, future), NOW)).contains(List.of(skewed));
    }

    @Test
    void limitsTheTimeOfLoadedTombstones()
            throws Exception
    {
        long far = NOW + Duration.ofDays(3650).toMillis();
        TombstoneLog book = TombstoneLog.open(state, false, far);
        Tombstone done = tombstone(1, "s3://lake/a/", far);
        Tombstone begun = tombstone(2, "s3://lake/", far);
        book.add(List.of(done, begun), far);
        book.setDone(List.of(done), far);
        book.save(NOW);

        TombstoneLog next = TombstoneLog.open(state, true, NOW);
        assertThat(next.isTrusted()).isTrue();
        // neither is lost
        assertThat(next.notDone()).containsExactly(tombstone(2, "s3://lake/", NOW));
        assertThat(next.done(ZERO, 10)).containsExactly(tombstone(1, "s3://lake/a/", NOW));
        next.setDone(next.notDone(), NOW);
        // and flushes that follow are not taken for superfluous
        long later = NOW + Duration.ofHours(1).toMillis();
        assertThat(next.add(List.of(tombstone(3, "s3://lake/a/", later)), later)).contains(List.of(tombstone(3, "s3://lake/a/", later)));
        next.forget(NOW + Duration.ofDays(31).toMillis());
        assertThat(next.done(ZERO, 10)).isEmpty();
    }

    @Test
    void forgetsWhatIsSuperfluousInAnyOrder()
    {
        long later = NOW + Duration.ofHours(1).toMillis();
        Tombstone partition = tombstone(1, "s3://lake/t/day=1/", NOW);
        Tombstone table = tombstone(2, "s3://lake/t/", later);
        Tombstone soonAfter = tombstone(3, "s3://lake/t/day=2/", later - 1000);
        Tombstone beside = tombstone(4, "s3://lake/tt/", NOW);
        List<Tombstone> all = List.of(partition, table, soonAfter, beside);
        List<Digest128> xors = new ArrayList<>();
        for (int first = 0; first < all.size(); first++) {
            TombstoneLog book = TombstoneLog.open(StateDirectory.open(directory.resolve("book-" + first), new LocalDisk()), false, NOW);
            for (int i = 0; i < all.size(); i++) {
                List<Tombstone> one = List.of(all.get((first + i) % all.size()));
                book.setDone(book.add(one, later).orElseThrow(), later);
            }
            assertThat(book.done(ZERO, 10)).containsExactly(table, soonAfter, beside);
            xors.add(book.doneXor());
        }
        assertThat(xors).containsOnly(new Digest128(2 ^ 3 ^ 4, 2 ^ 3 ^ 4));
    }

    @Test
    void forgetsAfterThirtyDays()
    {
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        Tombstone old = tombstone(1, "s3://lake/a/", NOW);
        book.setDone(book.add(List.of(old), NOW).orElseThrow(), NOW);
        long later = NOW + Duration.ofDays(31).toMillis();
        assertThat(book.add(List.of(tombstone(5, "s3://lake/b/", NOW)), later)).describedAs("too old to be learned").contains(List.of());
        book.setDone(List.of(), later);
        assertThat(book.doneXor()).isEqualTo(ZERO);
        assertThat(book.done(ZERO, 10)).isEmpty();
    }

    @Test
    void takesNoMoreThanItMayHold()
    {
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        List<Tombstone> many = new ArrayList<>();
        for (int i = 1; i <= TombstoneLog.MAX_TOMBSTONES; i++) {
            many.add(tombstone(i, "s3://lake/%s/".formatted(i), NOW));
        }
        assertThat(book.add(many, NOW)).contains(many);
        assertThat(book.add(List.of(tombstone(-1, "s3://lake/beyond/", NOW)), NOW)).isEmpty();
        assertThat(book.notDone()).hasSize(TombstoneLog.MAX_TOMBSTONES);
    }

    @Test
    void leavesRoomForRequestedFlushes()
    {
        TombstoneLog book = TombstoneLog.open(state, false, NOW);
        List<Tombstone> many = new ArrayList<>();
        for (int i = 1; i < TombstoneLog.MAX_TOMBSTONES_OF_REMOVED; i++) {
            many.add(tombstone(i, "s3://lake/%s/".formatted(i), NOW));
        }
        assertThat(book.add(many, NOW)).contains(many);
        assertThat(book.hasRoomForRemoved(1, NOW)).isTrue();
        assertThat(book.hasRoomForRemoved(2, NOW)).isFalse();
        assertThat(book.add(List.of(tombstone(-1, "s3://lake/x/", NOW), tombstone(-2, "s3://lake/y/", NOW)), NOW)).isPresent();
        assertThat(book.hasRoomForRemoved(1, NOW)).isFalse();
        assertThat(book.hasRoomForRemoved(1, NOW + Duration.ofDays(31).toMillis())).isTrue();
    }

    @Test
    void coversWhatItNames()
    {
        Tombstone prefix = tombstone(1, "s3://lake/t/", NOW);
        assertThat(prefix.covers(tombstone(2, "s3://lake/t/x/", NOW))).isTrue();
        assertThat(prefix.covers(tombstone(2, "s3://lake/tt/", NOW))).isFalse();
        assertThat(tombstone(2, "s3://lake/t", NOW).covers(tombstone(2, "s3://lake/t/x", NOW))).isFalse();
        assertThat(tombstone(2, "s3://lake/t", NOW).covers(tombstone(3, "s3://lake/t", NOW))).isTrue();
    }
}
