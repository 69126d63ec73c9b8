package io.cachedhive.worker.flush;

import com.google.common.util.concurrent.Uninterruptibles;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.testing.TestingStore;
import io.cachedhive.worker.time.WorkerTimer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class TestFlushService
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));
    private static final int BLOCK = 64 << 10;
    private static final String ETAG = "\"etag\"";
    private static final Instant NOW = Instant.ofEpochMilli(1_700_000_000_000L);

    @TempDir
    private Path directory;

    /**
     * Stands still, and does something when the thread that made it asks for the first time after it was told to. Other threads wait at the gate, if there is one.
     */
    private static final class HookedTimer
            implements WorkerTimer
    {
        private final Thread owner = Thread.currentThread();
        private Optional<Runnable> hook = Optional.empty();
        private volatile Optional<CountDownLatch> gate = Optional.empty();

        @Override
        public Instant now()
        {
            return NOW;
        }

        @Override
        public long nanoTime()
        {
            if (Thread.currentThread() == owner) {
                Optional<Runnable> once = hook;
                hook = Optional.empty();
                once.ifPresent(Runnable::run);
            }
            else {
                gate.ifPresent(Uninterruptibles::awaitUninterruptibly);
            }
            return 0;
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task)
        {
            throw new UnsupportedOperationException("a flush schedules nothing");
        }
    }

    private static Tombstone tombstone(long id, String location)
    {
        return new Tombstone(new Digest128(id, id), ORIGIN, location, NOW.toEpochMilli());
    }

    private static PinnedBlock fill(BlockStore store, FileVersion file)
    {
        assertThat(store.bind(file, Optional.of(ETAG), false, "schema.table")).isTrue();
        Fill fill = store.beginFill(file.id().block(0), BLOCK, ETags.digest(ETAG)).orElseThrow();
        return fill.commit().orElseThrow();
    }

    /**
     * A flush that ends while it is judged whether a guest may be kept is seen either as being done or as done lately.
     */
    @Test
    void noGuestSlipsThroughBetweenBeingFlushedAndFlushed()
            throws Exception
    {
        FileVersion file = new FileVersion(ORIGIN, "s3://lake/b/part-0", BLOCK, 1);
        HookedTimer timer = new HookedTimer();
        try (TestingStore testing = new TestingStore(directory, BLOCK, 8 << 20); ExecutorService executor = Executors.newSingleThreadExecutor()) {
            BlockStore store = testing.store();
            FlushService flushes = new FlushService(store, StateDirectory.open(Files.createDirectories(directory.resolve("worker")), new LocalDisk()), timer, executor);
            assertThat(flushes.mayBeGuest(file)).isTrue();
            // so that there is a recent one to be looked at
            flushes.flush(List.of(tombstone(1, "s3://lake/a/")), true).get(1, TimeUnit.MINUTES);
            assertThat(flushes.mayBeGuest(file)).isTrue();

            fill(store, file).close();
            CountDownLatch gate = new CountDownLatch(1);
            timer.gate = Optional.of(gate);
            CompletableFuture<Flushed> flush = flushes.flush(List.of(tombstone(2, "s3://lake/b/")), true);
            Await.until("being flushed", () -> flushes.isBeingFlushed(file) && store.file(file.id()).isEmpty());
            timer.hook = Optional.of(() -> {
                gate.countDown();
                flush.join();
            });
            assertThat(flushes.mayBeGuest(file)).isFalse();
            // if nobody asked for the time
            timer.nanoTime();
            assertThat(flush.join()).isEqualTo(new Flushed(1, Optional.empty()));
            assertThat(flushes.isBeingFlushed(file)).isFalse();
            assertThat(flushes.mayBeGuest(file)).as("it is a recent one").isFalse();
        }
    }

    @Test
    void leavesRoomForRequestedFlushes()
            throws Exception
    {
        try (TestingStore testing = new TestingStore(directory, BLOCK, 8 << 20); ExecutorService executor = Executors.newSingleThreadExecutor()) {
            FlushService flushes = new FlushService(
                    testing.store(),
                    StateDirectory.open(Files.createDirectories(directory.resolve("worker")), new LocalDisk()),
                    new HookedTimer(),
                    executor);
            List<Tombstone> many = IntStream.range(1, TombstoneLog.MAX_TOMBSTONES_OF_REMOVED).mapToObj(i -> tombstone(i, "s3://lake/%s/".formatted(i))).toList();
            assertThat(flushes.flush(many, true).get(1, TimeUnit.MINUTES).problem()).isEmpty();
            assertThat(flushes.flush(List.of(tombstone(-1, "s3://lake/last/")), false).get(1, TimeUnit.MINUTES).problem()).isEmpty();
            assertThat(flushes.flush(List.of(tombstone(-2, "s3://lake/beyond/")), false).get(1, TimeUnit.MINUTES).problem())
                    .contains("more than 8192 flushes of the last 30 days are remembered, and the rest is for those that users request");
            assertThat(flushes.flush(List.of(tombstone(-3, "s3://lake/beyond/")), true).get(1, TimeUnit.MINUTES).problem()).isEmpty();
            assertThat(flushes.doneIds()).hasSize(TombstoneLog.MAX_TOMBSTONES_OF_REMOVED + 1);
        }
    }
}
