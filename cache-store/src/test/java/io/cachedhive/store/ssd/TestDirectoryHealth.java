package io.cachedhive.store.ssd;

import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.ssd.DirectoryHealth.Operation;
import io.cachedhive.store.ssd.DirectoryHealth.Part;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

class TestDirectoryHealth
{
    private static final IOException FULL = new DiskException(DiskException.Cause.NO_SPACE, "no space left on device");
    private static final IOException BROKEN = new DiskException(DiskException.Cause.IO_ERROR, "input/output error");

    private final Clock clock = new Clock();
    private final DirectoryHealth health = new DirectoryHealth(Path.of("/ssd"), clock);

    private static final class Clock
            implements StoreClock
    {
        private long nanos;

        @Override
        public long currentTimeMillis()
        {
            return 0;
        }

        @Override
        public long nanoTime()
        {
            return nanos;
        }

        void advance(Duration duration)
        {
            nanos += duration.toNanos();
        }
    }

    private Map<SsdErrorCause, Long> errors()
    {
        Map<SsdErrorCause, Long> errors = new TreeMap<>();
        for (SsdErrorCause cause : SsdErrorCause.values()) {
            if (health.errors(cause) > 0) {
                errors.put(cause, health.errors(cause));
            }
        }
        return errors;
    }

    private void run(Part part, Duration duration)
    {
        Operation operation = health.begin(part);
        clock.advance(duration);
        health.succeeded(operation);
    }

    @Test
    void fullDiskIsReadAndNotWritten()
    {
        assertThat(health.isWritable()).isTrue();
        health.failed(Part.SLAB_WRITES, FULL);
        assertThat(health.isWritable()).isFalse();
        assertThat(health.isReadable()).isTrue();
        assertThat(health.needsReadProbe()).isFalse();
        assertThat(health.problem()).hasValue("SSD directory /ssd takes no blocks since a failure (no space left on device); retrying every 10 s: repair the disk");
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.NO_SPACE, 1L));

        clock.advance(Duration.ofSeconds(10));
        assertThat(health.isWritable()).as("to try it").isTrue();
        assertThat(health.problem()).isPresent();
        health.failed(Part.SLAB_WRITES, FULL);
        assertThat(health.isWritable()).isFalse();

        clock.advance(Duration.ofSeconds(10));
        run(Part.SLAB_WRITES, Duration.ofMillis(1));
        assertThat(health.isWritable()).isTrue();
        assertThat(health.problem()).isEmpty();
    }

    @Test
    void partsAreMendedOneByOne()
    {
        health.failed(Part.INDEX, BROKEN);
        health.failed(Part.SLAB_WRITES, FULL);
        clock.advance(Duration.ofSeconds(1));
        run(Part.SLAB_WRITES, Duration.ofMillis(1));
        assertThat(health.isWritable()).isFalse();
        assertThat(health.hasProblem(Part.INDEX)).isTrue();
        assertThat(health.problem().orElseThrow()).contains("input/output error");
        health.resume(Part.INDEX);
        assertThat(health.isWritable()).isTrue();
        assertThat(health.problem()).isEmpty();
    }

    @Test
    void oneStallDelaysManyReads()
    {
        stall(50);
        assertThat(health.isReadable()).as("after one stall").isTrue();
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.SLOW, 50L));
        stall(50);
        assertThat(health.isReadable()).as("after two stalls").isTrue();
        run(Part.SLAB_READS, Duration.ofMillis(1));
        stall(50);
        stall(50);
        assertThat(health.isReadable()).as("after two stalls in a row").isTrue();
        stall(50);
        assertThat(health.isReadable()).as("after three stalls in a row").isFalse();
    }

    @Test
    void overlappingSlowReads()
    {
        // a read begins every 0.4 s and each takes 1.2 s, so there is never a moment without a read
        Deque<Operation> running = new ArrayDeque<>();
        int begun = 0;
        while (health.isReadable()) {
            running.add(health.begin(Part.SLAB_READS));
            clock.advance(Duration.ofMillis(400));
            if (running.size() == 3) {
                health.succeeded(running.remove());
            }
            begun++;
            assertThat(begun).as("reads that began").isLessThan(12);
        }
    }

    private void stall(int reads)
    {
        List<Operation> running = new ArrayList<>();
        for (int i = 0; i < reads; i++) {
            running.add(health.begin(Part.SLAB_READS));
        }
        clock.advance(Duration.ofMillis(1200));
        for (Operation operation : running) {
            health.succeeded(operation);
            clock.advance(Duration.ofMillis(1));
        }
    }

    @Test
    void readsThatFailInARow()
    {
        for (int i = 0; i < 10; i++) {
            health.failed(Part.SLAB_READS, BROKEN);
            health.failed(Part.SLAB_READS, BROKEN);
            assertThat(health.isReadable()).isTrue();
            run(Part.SLAB_READS, Duration.ofMillis(1));
        }
        for (int i = 0; i < 3; i++) {
            assertThat(health.isReadable()).isTrue();
            health.failed(Part.SLAB_READS, BROKEN);
        }
        assertThat(health.isReadable()).isFalse();
        assertThat(health.isWritable()).isFalse();
        assertThat(health.needsReadProbe()).isFalse();
        clock.advance(Duration.ofSeconds(10));
        // only a probe may read
        assertThat(health.isReadable()).isFalse();
        assertThat(health.needsReadProbe()).isTrue();
        health.failed(Part.SLAB_READS, BROKEN);
        assertThat(health.needsReadProbe()).isFalse();
        clock.advance(Duration.ofSeconds(10));
        run(Part.SLAB_READS, Duration.ofMillis(1));
        assertThat(health.isReadable()).isTrue();
        assertThat(health.isWritable()).isTrue();
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.IO_ERROR, 24L));
    }

    @Test
    void readsThatAreSlowInARow()
    {
        for (int i = 0; i < 2; i++) {
            run(Part.SLAB_READS, Duration.ofMillis(1500));
            run(Part.SLAB_READS, Duration.ofMillis(1500));
            assertThat(health.isReadable()).isTrue();
            run(Part.SLAB_READS, Duration.ofMillis(900));
        }
        for (int i = 0; i < 3; i++) {
            assertThat(health.isReadable()).isTrue();
            run(Part.SLAB_READS, Duration.ofMillis(1500));
        }
        assertThat(health.isReadable()).isFalse();
        assertThat(health.problem().orElseThrow()).contains("is not used since a failure (reads took 1500 ms)");
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.SLOW, 7L));
        clock.advance(Duration.ofSeconds(10));
        run(Part.SLAB_READS, Duration.ofMillis(1500));
        assertThat(health.isReadable()).as("still slow").isFalse();
        assertThat(health.needsReadProbe()).isFalse();
        clock.advance(Duration.ofSeconds(10));
        run(Part.SLAB_READS, Duration.ofMillis(5));
        assertThat(health.isReadable()).isTrue();
    }

    @Test
    void readThatHangs()
    {
        Operation hanging = health.begin(Part.SLAB_READS);
        clock.advance(Duration.ofSeconds(3));
        assertThat(health.isReadable()).isTrue();
        Operation second = health.begin(Part.SLAB_READS);
        clock.advance(Duration.ofSeconds(2));
        assertThat(health.isReadable()).isFalse();
        assertThat(health.problem().orElseThrow()).contains("reads hang for more than 5 s");
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.SLOW, 1L));
        health.ended(second);

        clock.advance(Duration.ofMinutes(1));
        assertThat(health.needsReadProbe()).as("it would hang as well").isFalse();
        health.succeeded(hanging);
        assertThat(health.isReadable()).as("proves nothing").isFalse();
        assertThat(health.needsReadProbe()).isTrue();
        run(Part.SLAB_READS, Duration.ofMillis(1));
        assertThat(health.isReadable()).isTrue();
        assertThat(health.problem()).isEmpty();
        assertThat(errors()).containsOnly(Map.entry(SsdErrorCause.SLOW, 1L));
    }

    @Test
    void writeThatHangs()
    {
        Operation hanging = health.begin(Part.SLAB_WRITES);
        clock.advance(Duration.ofSeconds(5));
        assertThat(health.isWritable()).isFalse();
        assertThat(health.isReadable()).isTrue();
        health.succeeded(hanging);
        assertThat(health.isWritable()).isFalse();
        clock.advance(Duration.ofSeconds(10));
        assertThat(health.isWritable()).isTrue();
        run(Part.SLAB_WRITES, Duration.ofMillis(1));
        assertThat(health.problem()).isEmpty();
    }
}
