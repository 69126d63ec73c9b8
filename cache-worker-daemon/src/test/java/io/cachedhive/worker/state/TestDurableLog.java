package io.cachedhive.worker.state;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.state.DurableLog.Found;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestDurableLog
{
    private static final long NOW = 1_700_000_000_000L;
    private static final Digest128 ZERO = new Digest128(0, 0);
    private static final DurableLog.Format<Long> NUMBERS = new DurableLog.Format<>(
            "numbers",
            42,
            number -> new Digest128(number, number),
            in -> in.getLong(),
            (out, number) -> out.putLong(number),
            (number, _) -> number);

    @TempDir
    private Path directory;

    private StateDirectory state;

    @BeforeEach
    void openDirectory()
    {
        state = StateDirectory.open(directory, new LocalDisk());
    }

    private DurableLog<Long> open(long nowMillis)
    {
        return DurableLog.open(state, NUMBERS, nowMillis);
    }

    @Test
    void survivesRestart()
            throws IOException
    {
        DurableLog<Long> book = open(NOW);
        assertThat(book.found()).isEqualTo(Found.NOTHING);
        assertThat(book.put(2L)).isTrue();
        assertThat(book.put(1L)).isTrue();
        assertThat(book.put(1L)).describedAs("known").isFalse();
        book.setDone(2L);
        book.setDone(7L);
        book.save(NOW);

        DurableLog<Long> next = open(NOW + 1000);
        assertThat(next.found()).isEqualTo(Found.ALL);
        assertThat(next.all()).containsExactly(1L, 2L);
        assertThat(next.size()).isEqualTo(2);
        assertThat(next.xor()).isEqualTo(book.xor()).isEqualTo(new Digest128(3, 3));
        assertThat(next.doneXor()).isEqualTo(book.doneXor()).isEqualTo(new Digest128(2, 2));
        assertThat(next.doneIds()).isEqualTo(Set.of(new Digest128(2, 2)));
        assertThat(next.isDone(1L)).isFalse();
        assertThat(next.isDone(2L)).isTrue();

        assertThat(next.page(ZERO, 1, _ -> true)).isEqualTo(List.of(1L));
        assertThat(next.page(new Digest128(1, 1), 10, _ -> true)).isEqualTo(List.of(2L));
        assertThat(next.page(ZERO, 10, next::isDone)).isEqualTo(List.of(2L));

        assertThat(next.remove(2L)).isTrue();
        assertThat(next.remove(2L)).isFalse();
        assertThat(next.doneXor()).isEqualTo(ZERO);
        assertThat(next.xor()).isEqualTo(new Digest128(1, 1));
        next.clear();
        assertThat(next.all()).isEmpty();
        assertThat(next.xor()).isEqualTo(ZERO);
    }

    @Test
    void saysWhetherItMayLackSomething()
            throws IOException
    {
        DurableLog<Long> book = open(NOW);
        book.put(1L);
        book.save(NOW);
        assertThat(open(NOW + Duration.ofDays(28).toMillis()).found()).isEqualTo(Found.ALL);
        DurableLog<Long> outdated = open(NOW + Duration.ofDays(30).toMillis());
        assertThat(outdated.found()).isEqualTo(Found.OUTDATED);
        assertThat(outdated.problem()).isEqualTo("was offline for 30 days");
        assertThat(outdated.all()).containsExactly(1L);

        book.save(0);
        DurableLog<Long> unvouched = open(NOW);
        assertThat(unvouched.found()).isEqualTo(Found.UNVOUCHED);
        assertThat(unvouched.all()).containsExactly(1L);
    }

    @Test
    void readsNothingThatIsDamaged()
            throws IOException
    {
        DurableLog<Long> book = open(NOW);
        book.put(1L);
        book.setDone(1L);
        book.save(NOW);
        byte[] content = Files.readAllBytes(directory.resolve("numbers"));
        for (int position = 0; position < content.length; position++) {
            byte[] damaged = content.clone();
            damaged[position] ^= 1;
            assertNothing(damaged);
        }
        assertNothing(new byte[0]);
        assertNothing(Arrays.copyOf(content, content.length - 1));
    }

    private void assertNothing(byte[] content)
            throws IOException
    {
        Files.write(directory.resolve("numbers"), content);
        DurableLog<Long> damaged = open(NOW);
        assertThat(damaged.found()).isEqualTo(Found.DAMAGED);
        assertThat(damaged.problem()).isNotEmpty();
        assertThat(damaged.all()).isEmpty();
        assertThat(damaged.xor()).isEqualTo(ZERO);
        assertThat(damaged.doneXor()).isEqualTo(ZERO);
    }
}
