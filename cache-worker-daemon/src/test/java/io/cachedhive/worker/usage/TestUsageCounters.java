package io.cachedhive.worker.usage;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.usage.UsageCounters.Account;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestUsageCounters
{
    private static final Account LAKE = new Account("cluster", "lake");
    private static final Account OTHER = new Account("cluster", "other");
    private static final Digest128 CLIENT = new Digest128(1, 2);
    private static final Clock START = Clock.fixed(Instant.parse("2026-03-01T12:00:00Z"), ZoneOffset.UTC);

    @TempDir
    private Path directory;

    private StateDirectory state;
    private UsageCounters counters;

    @BeforeEach
    void setUp()
    {
        state = StateDirectory.open(directory, new LocalDisk());
        counters = new UsageCounters(state, START);
    }

    private static Map<String, Map<String, Long>> delta(String table, long bytes)
    {
        return Map.of(table, Map.of("ram_hit_bytes", bytes, "requests", 1L));
    }

    private UsageCounters reopen()
    {
        return new UsageCounters(state, Clock.offset(START, Duration.ofHours(1)));
    }

    @Test
    void testEachBatchCountsOnce()
    {
        assertThat(counters.add(LAKE, CLIENT, 1, delta("s.a", 10))).isTrue();
        assertThat(counters.add(LAKE, CLIENT, 1, delta("s.a", 10))).isFalse();
        assertThat(counters.add(LAKE, CLIENT, 2, delta("s.a", 5))).isTrue();
        assertThat(counters.add(LAKE, CLIENT, 1, delta("s.a", 10))).isFalse();
        assertThat(counters.add(LAKE, new Digest128(3, 4), 1, delta("s.b", 7))).isTrue();
        assertThat(counters.add(OTHER, new Digest128(5, 6), 1, delta("s.a", 100))).isTrue();

        assertThat(counters.tables(LAKE)).isEqualTo(Map.of(
                "s.a", Map.of("ram_hit_bytes", 15L, "requests", 2L),
                "s.b", Map.of("ram_hit_bytes", 7L, "requests", 1L)));
        assertThat(counters.tables(OTHER)).isEqualTo(Map.of("s.a", Map.of("ram_hit_bytes", 100L, "requests", 1L)));
        assertThat(counters.tables(new Account("cluster", "unknown"))).isEmpty();
        assertThat(counters.accounts()).containsExactly(LAKE, OTHER);
    }

    @Test
    void testRestart()
    {
        counters.add(LAKE, CLIENT, 1, delta("s.a", 10));
        counters.save();
        counters.add(LAKE, CLIENT, 2, delta("s.a", 1000));
        // killed: the second batch was acknowledged less than a second ago, and is lost with the time since the last save

        UsageCounters restarted = reopen();
        assertThat(restarted.sinceMillis()).isEqualTo(START.millis());
        assertThat(restarted.tables(LAKE)).isEqualTo(Map.of("s.a", Map.of("ram_hit_bytes", 10L, "requests", 1L)));
        // what the client sends again because it had no answer counts once
        assertThat(restarted.add(LAKE, CLIENT, 1, delta("s.a", 10))).isFalse();
        assertThat(restarted.add(LAKE, CLIENT, 2, delta("s.a", 1000))).isTrue();
    }

    @Test
    void testDamagedFile()
            throws IOException
    {
        counters.add(LAKE, CLIENT, 1, delta("s.a", 10));
        counters.save();
        Path file = directory.resolve("counters");
        byte[] right = Files.readAllBytes(file);
        for (int i = 0; i < right.length; i++) {
            byte[] wrong = right.clone();
            wrong[i] ^= 0x10;
            Files.write(file, wrong);
            UsageCounters restarted = reopen();
            assertThat(restarted.tables(LAKE)).as("byte %s", i).isEmpty();
            assertThat(restarted.sinceMillis()).isEqualTo(START.millis() + 3_600_000);
        }
        Files.write(file, new byte[0]);
        assertThat(reopen().tables(LAKE)).isEmpty();
        Files.write(file, right);
        assertThat(reopen().tables(LAKE)).hasSize(1);
    }

    @Test
    void testFileIsWrittenOnlyWhenSomethingChanged()
            throws IOException
    {
        counters.add(LAKE, CLIENT, 1, delta("s.a", 10));
        counters.save();
        Files.delete(directory.resolve("counters"));
        counters.add(LAKE, CLIENT, 1, delta("s.a", 10));
        counters.save();
        assertThat(directory.resolve("counters")).doesNotExist();
    }
}
