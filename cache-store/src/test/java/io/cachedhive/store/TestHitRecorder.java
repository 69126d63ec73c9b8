package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.HitBuffer.Hit;
import io.cachedhive.store.block.StoreEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hits on their way to the policies.
 */
class TestHitRecorder
{
    private static final int BLOCK = 64 << 10;
    private static final long ETAG = ETags.digest("etag");

    @TempDir
    private Path directory;

    /**
     * A flush holds the store's lock until the test lets it go.
     */
    @Test
    void testTakesNoLock()
            throws Exception
    {
        StoreConfig config = StoreConfig.ramOnly(directory.resolve("state")).withBlockSize(BLOCK).withRam(directory, 6 << 20);
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system())) {
            FileVersion file = TestingBlocks.file(1, BLOCK);
            BlockKey key = file.id().block(0);
            assertThat(store.bind(file, Optional.of("etag"), false, "schema.table")).isTrue();
            Fill fill = store.beginFill(key, BLOCK, ETAG).orElseThrow();
            fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
            fill.commit().orElseThrow().close();

            CountDownLatch locked = new CountDownLatch(1);
            CountDownLatch released = new CountDownLatch(1);
            CompletableFuture<?> flush = runInThread(() -> store.flushes().flush(_ -> {
                locked.countDown();
                awaitUninterruptibly(released);
                return false;
            }));
            locked.await();
            CompletableFuture<?> hits = runInThread(() -> {
                for (int i = 0; i < 2 * HitBuffer.CAPACITY; i++) {
                    store.recordHit(key.high(), key.low());
                }
            });
            try {
                hits.get(60, TimeUnit.SECONDS);
            }
            finally {
                released.countDown();
            }
            flush.get();
            store.drainHits();
            store.checkInvariants();
            assertThat(store.sizer().prediction().requestedBytes()).isGreaterThanOrEqualTo((HitBuffer.CAPACITY - 1L) * BLOCK);
        }
    }

    private static CompletableFuture<Void> runInThread(Runnable task)
    {
        return CompletableFuture.runAsync(task, command -> Thread.ofPlatform().start(command));
    }

    private static void awaitUninterruptibly(CountDownLatch latch)
    {
        try {
            latch.await();
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void testLosesWhatDoesNotFit()
    {
        HitBuffer buffer = new HitBuffer();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < HitBuffer.CAPACITY + 1000; i++) {
                buffer.add(new Hit(new Digest128(round, i), false));
            }
            assertThat(buffer.lost()).isEqualTo(1000L * (round + 1));
            List<Hit> hits = new ArrayList<>();
            while (buffer.drainTo(hits, 100) > 0) {
                assertThat(hits.size()).isLessThanOrEqualTo(HitBuffer.CAPACITY);
            }
            assertThat(hits).hasSize(HitBuffer.CAPACITY);
            for (int i = 0; i < HitBuffer.CAPACITY; i++) {
                assertThat(hits.get(i).digest().high()).isEqualTo(round);
                assertThat(hits.get(i).digest().low()).isLessThan(HitBuffer.CAPACITY);
            }
            assertThat(new HashSet<>(hits)).hasSize(HitBuffer.CAPACITY);
        }
    }

    @Test
    void testManyThreadsLoseAndRepeatNothingElse()
            throws Exception
    {
        int threads = 4;
        int each = 200_000;
        HitBuffer buffer = new HitBuffer();
        List<CompletableFuture<?>> producers = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            producers.add(runInThread(() -> {
                for (int i = 0; i < each; i++) {
                    buffer.add(new Hit(new Digest128(number, i), false));
                }
            }));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(producers.toArray(CompletableFuture[]::new));
        List<Hit> drained = new ArrayList<>();
        while (!all.isDone()) {
            buffer.drainTo(drained, 1000);
        }
        all.get();
        while (buffer.drainTo(drained, 1000) > 0) {
            assertThat(drained.size()).isLessThanOrEqualTo(threads * each);
        }
        Set<Digest128> distinct = new HashSet<>();
        drained.forEach(hit -> distinct.add(hit.digest()));
        assertThat(distinct).hasSameSizeAs(drained);
        assertThat(drained.size() + buffer.lost()).isEqualTo((long) threads * each);
    }
}
