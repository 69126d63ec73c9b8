package io.cachedhive.worker.pin;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
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
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestPinRegistry
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

    private static Pin pin(long id, String location, boolean pinned, long createdMillis)
    {
        return new Pin(new Digest128(id, id), ORIGIN, location, "schema.table", Optional.of("day=1"), pinned, createdMillis);
    }

    @Test
    void survivesRestart()
            throws Exception
    {
        Pin pinned = pin(1, "s3://lake/a/", true, NOW);
        Pin gone = pin(2, "s3://lake/b/", false, NOW);
        PinRegistry book = PinRegistry.open(state, NOW);
        assertThat(book.isTrusted()).describedAs("there may be blocks without a file").isFalse();
        assertThat(book.add(List.of(pinned, gone), NOW).orElseThrow()).containsExactlyInAnyOrder(pinned, gone);
        assertThat(book.add(List.of(pinned), NOW)).describedAs("known").contains(List.of());
        book.save(NOW);
        PinRegistry unfinished = PinRegistry.open(state, NOW + 1000);
        assertThat(unfinished.isTrusted()).describedAs("blocks were not looked at").isFalse();
        assertThat(unfinished.pins()).containsExactly(pinned, gone);
        assertThat(unfinished.toBeApplied()).containsExactly(pinned, gone);
        unfinished.setTrusted();
        unfinished.setApplied(List.of(pinned, gone));
        unfinished.save(NOW + 1000);

        PinRegistry next = PinRegistry.open(state, NOW + 1000);
        assertThat(next.isTrusted()).isTrue();
        assertThat(next.pins()).containsExactly(pinned, gone);
        assertThat(next.toBeApplied()).containsExactly(pinned);
    }

    /**
     * A pin from the future could not be ended, because its end would be older.
     */
    @Test
    void limitsTheTimeOfPins()
            throws Exception
    {
        long limit = NOW + Duration.ofHours(2).toMillis();
        Pin skewed = pin(1, "s3://lake/a/", true, limit);
        assertThat(PinRegistry.open(state, NOW).add(List.of(skewed, pin(2, "s3://lake/b/", true, limit + 1)), NOW)).contains(List.of(skewed));

        PinRegistry before = PinRegistry.open(state, limit);
        before.add(List.of(pin(3, "s3://lake/c/", true, limit + 1)), limit);
        before.setTrusted();
        before.save(NOW);
        PinRegistry next = PinRegistry.open(state, NOW);
        assertThat(next.pins()).containsExactly(pin(3, "s3://lake/c/", true, NOW));
        Pin ended = pin(4, "s3://lake/c/", false, NOW + 1);
        assertThat(next.add(List.of(ended), NOW + 1)).contains(List.of(ended));
    }

    @Test
    void theNewestOfAPlaceHoldsInAnyOrder()
    {
        List<Pin> all = List.of(
                pin(1, "s3://lake/a/", true, NOW),
                pin(4, "s3://lake/a/", false, NOW + 2),
                pin(3, "s3://lake/a/", true, NOW + 1),
                // of the same moment
                pin(5, "s3://lake/b/", true, NOW),
                pin(6, "s3://lake/b/", false, NOW));
        for (int first = 0; first < all.size(); first++) {
            PinRegistry book = PinRegistry.open(StateDirectory.open(directory.resolve("book-" + first), new LocalDisk()), NOW);
            for (int i = 0; i < all.size(); i++) {
                book.add(List.of(all.get((first + i) % all.size())), NOW);
            }
            assertThat(book.pins()).extracting(pin -> pin.id().low()).containsExactly(4L, 6L);
            assertThat(book.xor()).isEqualTo(new Digest128(4 ^ 6, 4 ^ 6));
        }
        PinRegistry together = PinRegistry.open(StateDirectory.open(directory.resolve("together"), new LocalDisk()), NOW);
        assertThat(together.add(all, NOW).orElseThrow()).hasSize(2);
        assertThat(together.pins()).extracting(pin -> pin.id().low()).containsExactly(4L, 6L);
    }

    @Test
    void forgetsWhatIsNotPinnedAnyMore()
            throws Exception
    {
        PinRegistry book = PinRegistry.open(state, NOW);
        book.setTrusted();
        book.add(List.of(pin(1, "s3://lake/a/", true, NOW), pin(2, "s3://lake/b/", false, NOW)), NOW);
        long later = NOW + Duration.ofDays(31).toMillis();
        book.forget(later);
        assertThat(book.pins()).extracting(Pin::location).containsExactly("s3://lake/a/");
        assertThat(book.xor()).isEqualTo(new Digest128(1, 1));
        assertThat(book.add(List.of(pin(2, "s3://lake/b/", false, NOW)), later)).describedAs("too old to be learned").contains(List.of());
        book.save(later);
        assertThat(PinRegistry.open(state, later + Duration.ofDays(28).toMillis()).pins()).hasSize(1);
        PinRegistry away = PinRegistry.open(state, later + Duration.ofDays(30).toMillis());
        assertThat(away.isTrusted()).describedAs("it may have missed something").isFalse();
        assertThat(away.pins()).isEmpty();
    }

    @Test
    void trustsNothingThatIsDamaged()
            throws Exception
    {
        PinRegistry book = PinRegistry.open(state, NOW);
        book.add(List.of(pin(1, "s3://lake/a/", true, NOW)), NOW);
        book.save(NOW);
        Files.write(directory.resolve("pins"), new byte[100]);
        PinRegistry damaged = PinRegistry.open(state, NOW);
        assertThat(damaged.isTrusted()).isFalse();
        assertThat(damaged.pins()).isEmpty();
    }

    @Test
    void takesNoMoreThanItMayHold()
    {
        PinRegistry book = PinRegistry.open(state, NOW);
        List<Pin> many = new ArrayList<>();
        for (int i = 1; i <= PinRegistry.MAX_PINS; i++) {
            many.add(pin(i, "s3://lake/%s/".formatted(i), true, NOW));
        }
        assertThat(book.add(many, NOW).orElseThrow()).hasSize(PinRegistry.MAX_PINS);
        assertThat(book.add(List.of(pin(-1, "s3://lake/beyond/", true, NOW)), NOW)).isEmpty();
        assertThat(book.pins()).hasSize(PinRegistry.MAX_PINS);
        Pin again = pin(-1, "s3://lake/7/", false, NOW + 1);
        assertThat(book.add(List.of(again), NOW)).describedAs("of a place that is known").contains(List.of(again));
        assertThat(book.add(List.of(pin(-2, "s3://lake/beyond/", true, NOW)), NOW)).describedAs("in place of another").isPresent();
        assertThat(book.add(List.of(pin(-3, "s3://lake/beyond/more/", true, NOW)), NOW)).isEmpty();
    }

    /**
     * However often places are pinned for a while.
     */
    @Test
    void remembersNoMorePlacesThatAreNotPinnedAnyMoreThanItMayHold()
    {
        PinRegistry book = PinRegistry.open(state, NOW);
        List<Pin> ended = new ArrayList<>();
        for (int i = 1; i <= PinRegistry.MAX_ENDED + 5; i++) {
            ended.add(pin(i, "s3://lake/%s/".formatted(i), false, NOW + i));
        }
        assertThat(book.add(ended, NOW)).isPresent();
        assertThat(book.pins()).containsExactlyElementsOf(ended.subList(5, ended.size()));
        assertThat(book.add(List.of(pin(-1, "s3://lake/pinned/", true, NOW)), NOW)).describedAs("they take nobody's place").isPresent();
        assertThat(book.pins()).hasSize(PinRegistry.MAX_ENDED + 1);
    }
}
