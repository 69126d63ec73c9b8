package io.cachedhive.store;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.disk.Disk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How much work is done while the store's lock is held, which all readers of the store need: counted in entries, frames and files, and not in time.
 */
@Timeout(300)
@Tag("slow")
class TestLockHolds
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final int FILES = 12_000;
    // a listing looks at 4096 files at once; nothing else does as much
    private static final long MAX_VISITS = 5_000;
    private static final int LONG_BLOCKS = 20_000;
    private static final FileVersion LONG = TestingBlocks.file(1_000_000, (long) LONG_BLOCKS * BLOCK);

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    private final CountingLock lock = new CountingLock();
    private final FakeDisk disk = new FakeDisk();
    private StoreConfig config;
    private BlockStore store;

    /**
     * Finds out for how much work it is held.
     */
    private static final class CountingLock
            extends ReentrantLock
    {
        private transient LongSupplier visits = () -> 0;
        private long before;
        private long most;
        private Throwable where = new Throwable();

        @Override
        public void lock()
        {
            super.lock();
            if (getHoldCount() == 1) {
                begin();
            }
        }

        @Override
        public void unlock()
        {
            if (getHoldCount() == 1) {
                end();
            }
            super.unlock();
        }

        private void begin()
        {
            before = visits.getAsLong();
        }

        private void end()
        {
            long work = visits.getAsLong() - before;
            if (work > most) {
                most = work;
                where = new Throwable("held for this");
            }
        }

        /**
         * Who waits does not hold it.
         */
        @Override
        public Condition newCondition()
        {
            Condition condition = super.newCondition();
            return (Condition) Proxy.newProxyInstance(Condition.class.getClassLoader(), new Class<?>[] {Condition.class}, (_, method, arguments) -> {
                boolean waits = method.getName().startsWith("await");
                if (waits) {
                    end();
                }
                try {
                    return method.invoke(condition, arguments);
                }
                catch (InvocationTargetException e) {
                    throw e.getCause();
                }
                finally {
                    if (waits) {
                        begin();
                    }
                }
            });
        }

        void count(LongSupplier counter)
        {
            lock();
            try {
                visits = counter;
                begin();
                most = 0;
            }
            finally {
                unlock();
            }
        }

        long visits()
        {
            lock();
            try {
                return visits.getAsLong();
            }
            finally {
                unlock();
            }
        }
    }

    @BeforeEach
    void fill()
            throws Exception
    {
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 128 << 20)
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(768 << 20))));
        open(disk, Long.MAX_VALUE);
        for (int i = 0; i < FILES; i++) {
            fill(file(i), 0);
            if (i % 1000 == 0) {
                store.ssd().drain();
            }
        }
        fill(LONG, 0);
        fill(LONG, LONG_BLOCKS - 1);
        store.ssd().drain();
        assertThat(store.gauges().ssdBlocks()).isEqualTo(FILES + 2);
        assertThat(store.gauges().ramBlocks()).isEqualTo(FILES + 2);
    }

    private void open(Disk disk, long blocksRestoredFirst)
            throws Exception
    {
        store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock).withLocks(() -> lock), blocksRestoredFirst);
        lock.count(store.tiers()::visits);
    }

    @AfterEach
    void close()
    {
        store.close();
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, 100);
    }

    private void fill(FileVersion file, int block)
    {
        int length = file.blockLength(block, BLOCK);
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        try (Fill fill = store.beginFill(file.id().block(block), length, ETAG).orElseThrow()) {
            fill.buffer().put(TestingBlocks.bytes(file.id().block(block), ETAG, length));
            fill.commit().orElseThrow().close();
        }
    }

    /**
     * @param leastVisits of all its steps together, so that it is known to have visited all that there is
     */
    private void measure(String what, long leastVisits, Runnable work)
    {
        lock.count(store.tiers()::visits);
        long before = lock.visits();
        work.run();
        assertThat(lock.visits() - before).as(what).isGreaterThanOrEqualTo(leastVisits);
        System.out.printf("%s: at most %s visits at once of %s%n", what, lock.most, lock.visits() - before);
        if (lock.most > MAX_VISITS) {
            throw new AssertionError("%s holds the lock for %s visits".formatted(what, lock.most), lock.where);
        }
    }

    @Test
    void everyLongWorkIsDoneInSteps()
            throws Exception
    {
        measure("a checkpoint", FILES, () -> store.ssd().checkpoint());
        measure("a listing", FILES, () -> assertThat(store.contents().cachedFiles(0, 0, 100_000).orElseThrow()).hasSize(FILES + 1));
        measure("a description", LONG_BLOCKS, () -> assertThat(store.contents().describe(LONG.id(), 0, LONG_BLOCKS).orElseThrow().blocks()).hasSize(2));
        measure("the hottest blocks in RAM", FILES, () -> assertThat(store.contents().hottestBlocks(BlockOrigin.RAM, 10)).hasSize(10));
        measure("the hottest blocks on SSD", FILES, () -> assertThat(store.contents().hottestBlocks(BlockOrigin.SSD, 10)).isEmpty());
        measure("pins", FILES + LONG_BLOCKS, () -> assertThat(store.pins().set(_ -> true, _ -> true)).isTrue());
        measure("the end of pins", FILES + LONG_BLOCKS, () -> assertThat(store.pins().set(_ -> false, _ -> true)).isTrue());
        measure("a new quota", 2 * FILES, () -> {
            store.quotas().setQuota("schema.table", OptionalLong.of(1L << 40));
            store.quotas().keep();
        });
        measure("a smaller quota", FILES / 2, () -> {
            store.quotas().setQuota("schema.table", OptionalLong.of(60L * FILES));
            store.quotas().keep();
        });
        assertThat(store.gauges().ssdBlocks()).isLessThan(FILES);
    }

    @Test
    void dropsAreDoneInSteps()
    {
        measure("a drop of a long file", LONG_BLOCKS, () -> assertThat(store.flushes().dropFile(LONG.id())).isTrue());
        measure("a flush of half of the files", FILES, () ->
                assertThat(store.flushes().flush(file -> file.id().digest().low() % 2 == 0).files()).isBetween(FILES / 3L, FILES * 2L / 3));
        measure("a flush of all files", FILES / 3, () -> assertThat(store.flushes().flush(_ -> true).durable()).isTrue());
        assertThat(store.gauges().ssdBlocks() + store.gauges().ramBlocks() + store.gauges().files()).isZero();
        store.checkInvariants();
    }

    @Test
    void expiryIsDoneInSteps()
    {
        clock.advance(config.ttl().plusDays(1));
        measure("expiry", 2 * FILES, () -> {
            store.removeExpired();
            while (store.gauges().ssdBlocks() > 0) {
                store.ssd().removeExpired();
            }
        });
        assertThat(store.gauges().ramBlocks()).isZero();
    }

    @Test
    void restoringIsDoneInSteps()
            throws Exception
    {
        store.close();
        GatedDisk gated = new GatedDisk(disk);
        open(gated, 1);
        measure("a restore", FILES / 2, () -> {
            gated.openGate();
            assertThat(store.awaitRestored(Duration.ofMinutes(2))).isTrue();
        });
        assertThat(store.gauges().ssdBlocks()).isEqualTo(FILES + 2);
    }
}
