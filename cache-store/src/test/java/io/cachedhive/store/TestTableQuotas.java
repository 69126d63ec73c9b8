package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.quota.TableUsage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What tables with a quota have in each tier, as a client on this host sees it in shared memory, and block by block on SSD.
 */
@Tag("slow")
class TestTableQuotas
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 150;
    private static final int TABLES = 3;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();

    @TempDir
    private Path directory;

    private StoreConfig ramOnly;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ramOnly = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withTtl(Duration.ofHours(2))
                .withCheckpointInterval(Duration.ofDays(1000));
        config = ramOnly.withSsdDirectories(List.of(
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-1")), new Capacity.Bytes(8 << 20)),
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-2")), new Capacity.Bytes(8 << 20))));
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private static String table(int number)
    {
        return "schema.table" + number;
    }

    private static FileVersion file(int table)
    {
        return TestingBlocks.file(table, (long) BLOCKS * BLOCK);
    }

    private static BlockKey key(int table, int block)
    {
        return file(table).id().block(block);
    }

    private static OptionalLong blocks(int count)
    {
        return OptionalLong.of((long) count * BLOCK);
    }

    private void fill(BlockStore store, int table, int block, BlockClass blockClass)
    {
        fillAndHold(store, table, block, blockClass).ifPresent(PinnedBlock::close);
        store.ssd().drain();
    }

    /**
     * What is filled is given out right, whether it is kept or not.
     */
    private Optional<PinnedBlock> fillAndHold(BlockStore store, int table, int block, BlockClass blockClass)
    {
        BlockKey key = key(table, block);
        assertThat(store.bind(file(table), Optional.of(ETAG_TEXT), false, table(table))).isTrue();
        // frames that were evicted rest for a moment
        clock.advance(Duration.ofMillis(200));
        Optional<Fill> begun = store.beginFill(key, BLOCK, ETAG, store.terms(Optional.of(blockClass), OptionalLong.empty()));
        return begun.map(fill -> {
            try (fill) {
                byte[] bytes = TestingBlocks.bytes(key, ETAG, BLOCK);
                fill.buffer().put(bytes);
                PinnedBlock pinned = fill.commit().orElseThrow();
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(bytes);
                return pinned;
            }
        });
    }

    private static int ramBlocks(BlockStore store, int table)
            throws Exception
    {
        int count = 0;
        byte[] buffer = new byte[16];
        try (SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            for (int block = 0; block < BLOCKS; block++) {
                BlockKey key = key(table, block);
                if (reader.read(key.high(), key.low(), 0, buffer, 0, buffer.length, new BlockInfo()) == buffer.length) {
                    count++;
                }
            }
        }
        return count;
    }

    private static int ssdBlocks(BlockStore store, int table)
    {
        int count = 0;
        for (int block = 0; block < BLOCKS; block++) {
            if (store.isOnSsd(key(table, block))) {
                count++;
            }
        }
        return count;
    }

    private static TableUsage usage(BlockStore store, int table)
    {
        return store.quotas().usage().stream().filter(usage -> usage.table().equals(table(table))).findFirst().orElseThrow();
    }

    private static void end(BlockStore store, boolean clean)
    {
        if (clean) {
            store.close();
        }
        else {
            store.ssd().flush();
            store.abandon();
        }
    }

    @Test
    void aTableAtItsQuotaLeavesOthersAlone()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            // all the room that there is
            for (int block = 0; block < BLOCKS; block++) {
                fill(store, 1, block, NORMAL);
                fill(store, 2, block, NORMAL);
            }
            store.quotas().setQuota(table(0), blocks(8));
            int others = ramBlocks(store, 1) + ramBlocks(store, 2);
            int othersOnSsd = ssdBlocks(store, 1) + ssdBlocks(store, 2);
            for (int round = 0; round < 2; round++) {
                for (int block = 0; block < BLOCKS; block++) {
                    fill(store, 0, block, NORMAL);
                    assertThat(ramBlocks(store, 0)).isLessThanOrEqualTo(8);
                    assertThat(ssdBlocks(store, 0)).isLessThanOrEqualTo(8);
                }
            }
            store.checkInvariants();
            assertThat(ramBlocks(store, 0)).isEqualTo(8);
            assertThat(ssdBlocks(store, 0)).isEqualTo(8);
            assertThat(usage(store, 0)).isEqualTo(new TableUsage(table(0), 8L * BLOCK, 8L * BLOCK, 8L * BLOCK, 8L * BLOCK));
            // but for its eight, and frames that rest in advance as for every fill
            assertThat(ramBlocks(store, 1) + ramBlocks(store, 2)).isGreaterThanOrEqualTo(others - 12);
            assertThat(ssdBlocks(store, 1) + ssdBlocks(store, 2)).isGreaterThanOrEqualTo(othersOnSsd - 8);
        }
    }

    @Test
    void withoutAnSsd()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), OptionalLong.of(8L * BLOCK + BLOCK - 1));
            for (int block = 0; block < BLOCKS; block++) {
                fill(store, 0, block, NORMAL);
                assertThat(ramBlocks(store, 0)).isEqualTo(Math.min(block + 1, 8));
            }
            assertThat(store.gauges().ssdBlocks()).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void writesEvictLittleOfWhatASmallerQuotaLeavesTooMuch()
            throws Exception
    {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        StoreConfig large = config.withRam(directory.resolve("ram"), 8 << 20);
        try (BlockStore store = BlockStore.open(large, StoreEnvironment.system().withDisk(gatedAtQuotas(reached, gate)).withClock(clock));
                // a store writes quotas also when it is closed
                AutoCloseable _ = gate::countDown) {
            // whoever evicts the rest is held up meanwhile
            store.quotas().setQuota(table(0), blocks(60));
            assertThat(reached.await(60, TimeUnit.SECONDS)).isTrue();
            for (int block = 0; block < 40; block++) {
                fill(store, 0, block, NORMAL);
            }
            assertThat(ramBlocks(store, 0)).isEqualTo(40);
            assertThat(ssdBlocks(store, 0)).isEqualTo(40);

            // no directory has as much as is too much over both: what leaves there would make no room
            store.quotas().setQuota(table(0), blocks(5));
            fill(store, 0, 100, NORMAL);
            // once when it asked for a frame, and once when it came
            assertThat(ramBlocks(store, 0)).isBetween(40 - 2 * 9, 39);
            for (int i = 0; i < 10; i++) {
                fill(store, 0, 101, NORMAL);
                assertThat(ssdBlocks(store, 0)).isEqualTo(40);
            }

            store.quotas().setQuota(table(0), blocks(26));
            int smallest = 40;
            for (int block = 110; block < 130; block++) {
                for (int i = 0; i < 4; i++) {
                    int before = ssdBlocks(store, 0);
                    fill(store, 0, block, NORMAL);
                    assertThat(ssdBlocks(store, 0)).isGreaterThanOrEqualTo(before - 9);
                    smallest = Math.min(smallest, ssdBlocks(store, 0));
                }
            }
            assertThat(smallest).isLessThan(40);
            store.quotas().setQuota(table(0), blocks(5));
            gate.countDown();
            store.quotas().keep();
            assertThat(ramBlocks(store, 0)).isLessThanOrEqualTo(5);
            assertThat(ssdBlocks(store, 0)).isEqualTo(5);
            store.checkInvariants();
        }
    }

    /**
     * The disk, on which quotas are not written before the gate opens.
     */
    private Disk gatedAtQuotas(CountDownLatch reached, CountDownLatch gate)
    {
        return (Disk) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Disk.class}, (_, method, arguments) -> {
            if (method.getName().equals("replace") && arguments[0].toString().endsWith("table-quotas")) {
                reached.countDown();
                gate.await();
            }
            try {
                return method.invoke(disk, arguments);
            }
            catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Test
    void aBlockAboveTheQuotaIsServedAndNotKept()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            store.quotas().setQuota(table(0), OptionalLong.of(BLOCK - 1));
            for (int block = 0; block < 5; block++) {
                Optional<PinnedBlock> held = fillAndHold(store, 0, block, NORMAL);
                assertThat(held).isPresent();
                // asked for again at once, it is there
                assertThat(store.pin(key(0, block)).map(TestTableQuotas::close)).contains(true);
                held.get().close();
            }
            store.ssd().drain();
            assertThat(ramBlocks(store, 0)).isZero();
            assertThat(ssdBlocks(store, 0)).isZero();
            clock.advance(Duration.ofMillis(200));
            store.quotas().keep();
            clock.advance(Duration.ofMillis(200));
            store.quotas().keep();
            assertThat(store.gauges().ramBlocks()).isZero();
            assertThat(store.gauges().ramUsedBytes()).isZero();
            store.checkInvariants();
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // who waits for a frame waits by the clock, which stands still
    void readersThatHoldWhatIsNotKeptHoldUpNobodyElse()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), OptionalLong.of(BLOCK - 1));
            List<PinnedBlock> held = new ArrayList<>();
            for (int block = 0; block < 10; block++) {
                held.add(fillAndHold(store, 0, block, NORMAL).orElseThrow());
            }
            store.checkInvariants();
            // more than there is room for: each time a frame of another has to be found
            for (int block = 0; block < BLOCKS; block++) {
                Optional<PinnedBlock> filled = fillAndHold(store, 1, block, NORMAL);
                assertThat(filled).as("block %s", block).isPresent();
                filled.get().close();
            }
            store.checkInvariants();
            for (int block = 0; block < held.size(); block++) {
                assertThat(TestingBlocks.copy(held.get(block).payload())).isEqualTo(TestingBlocks.bytes(key(0, block), ETAG, BLOCK));
            }
            releaseAll(held);
            store.checkInvariants();
            fill(store, 1, 0, NORMAL);
            assertThat(ramBlocks(store, 0)).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void framesThatAreAskedForAgainDoNotHoldUpOthersThatLeave()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), blocks(1));
            store.quotas().setQuota(table(1), blocks(1));
            fill(store, 1, 0, NORMAL);
            fill(store, 0, 0, NORMAL);
            // the first block leaves, and then that of the other table
            fill(store, 0, 1, NORMAL);
            store.quotas().setQuota(table(1), OptionalLong.of(0));
            store.quotas().keep();
            assertThat(store.gauges().ramBlocks()).isEqualTo(3);
            clock.advance(Duration.ofMillis(60));
            for (int i = 0; i < 100; i++) {
                store.recordHit(key(0, i % 2).high(), key(0, i % 2).low());
                store.drainHits();
            }
            store.checkInvariants();
            clock.advance(Duration.ofMillis(60));
            store.quotas().keep();
            // the first two were asked for a moment ago, the third was not
            assertThat(store.gauges().ramBlocks()).isEqualTo(2);
            assertThat(ramBlocks(store, 0)).isEqualTo(1);
            store.checkInvariants();
            for (int i = 0; i < 2; i++) {
                clock.advance(Duration.ofMillis(110));
                store.quotas().keep();
            }
            assertThat(store.gauges().ramBlocks()).isEqualTo(1);
            store.checkInvariants();
        }
    }

    private static boolean close(PinnedBlock block)
    {
        block.close();
        return true;
    }

    @Test
    void whatReadersHoldStaysAndNothingComesInItsPlace()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), blocks(3));
            List<PinnedBlock> held = new ArrayList<>();
            for (int block = 0; block < 6; block++) {
                held.add(fillAndHold(store, 0, block, NORMAL).orElseThrow());
            }
            assertThat(ramBlocks(store, 0)).isEqualTo(3);
            for (int block = 0; block < 6; block++) {
                assertThat(TestingBlocks.copy(held.get(block).payload())).isEqualTo(TestingBlocks.bytes(key(0, block), ETAG, BLOCK));
            }
            held.forEach(PinnedBlock::close);
            fill(store, 0, 10, NORMAL);
            assertThat(ramBlocks(store, 0)).isEqualTo(3);
            assertThat(store.pin(key(0, 10)).map(TestTableQuotas::close)).contains(true);
            store.checkInvariants();
        }
    }

    @Test
    void higherClassesStay()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), blocks(6));
            fill(store, 0, 0, PINNED);
            fill(store, 0, 1, PINNED);
            fill(store, 0, 2, HIGH);
            for (int block = 3; block < 40; block++) {
                fill(store, 0, block, NORMAL);
            }
            assertThat(ramBlocks(store, 0)).isEqualTo(6);
            for (int block = 0; block < 3; block++) {
                assertThat(store.pin(key(0, block)).map(TestTableQuotas::close)).contains(true);
            }
            for (int block = 40; block < 50; block++) {
                fill(store, 0, block, PINNED);
            }
            // no room for a normal one, and none that could leave for it
            fill(store, 0, 60, NORMAL);
            assertThat(ramBlocks(store, 0)).isEqualTo(6);
            // a quota that becomes smaller is above all classes
            store.quotas().setQuota(table(0), blocks(2));
            store.quotas().keep();
            assertThat(ramBlocks(store, 0)).isEqualTo(2);
            store.checkInvariants();
        }
    }

    @Test
    void quotasOfTablesThatHaveBlocks()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            for (int block = 0; block < 40; block++) {
                fill(store, 0, block, block < 5 ? HIGH : NORMAL);
                fill(store, 1, block % 5, NORMAL);
            }
            assertThat(ssdBlocks(store, 0)).isEqualTo(40);
            store.quotas().setQuota(table(0), blocks(10));
            // in force at once for what comes now
            int before = ssdBlocks(store, 0);
            fill(store, 0, 100, NORMAL);
            assertThat(ssdBlocks(store, 0)).isLessThanOrEqualTo(before);
            store.quotas().keep();
            assertThat(ramBlocks(store, 0)).isLessThanOrEqualTo(10);
            assertThat(ssdBlocks(store, 0)).isEqualTo(10);
            for (int block = 0; block < 5; block++) {
                assertThat(store.isOnSsd(key(0, block))).as("block %s of class high", block).isTrue();
            }
            assertThat(ssdBlocks(store, 1)).isEqualTo(5);
            store.checkInvariants();

            store.quotas().setQuota(table(0), blocks(20));
            for (int block = 0; block < 40; block++) {
                fill(store, 0, block, NORMAL);
            }
            assertThat(ssdBlocks(store, 0)).isEqualTo(20);
            store.quotas().setQuota(table(0), OptionalLong.empty());
            for (int block = 0; block < 40; block++) {
                fill(store, 0, block, NORMAL);
            }
            assertThat(ssdBlocks(store, 0)).isEqualTo(40);
            assertThat(store.quotas().usage()).isEmpty();
            store.quotas().setQuota(table(0), blocks(4));
            store.quotas().keep();
            assertThat(ssdBlocks(store, 0)).isEqualTo(4);
            store.checkInvariants();
        }
    }

    @Test
    void theShareOfTheRing()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            store.quotas().setQuota(table(0), blocks(40));
            store.quotas().setQuota(table(1), OptionalLong.of(Long.MAX_VALUE));
            assertThat(usage(store, 1).shareBytes()).isEqualTo(Long.MAX_VALUE);
            store.quotas().setRingShare(0.25);
            for (int block = 0; block < 60; block++) {
                fill(store, 0, block, NORMAL);
            }
            assertThat(ssdBlocks(store, 0)).isEqualTo(10);
            assertThat(ramBlocks(store, 0)).isEqualTo(10);
            // another worker joined
            store.quotas().setRingShare(0.125);
            store.quotas().keep();
            assertThat(ssdBlocks(store, 0)).isEqualTo(5);
            assertThat(ramBlocks(store, 0)).isEqualTo(5);
            assertThat(usage(store, 0)).isEqualTo(new TableUsage(table(0), 40L * BLOCK, 5L * BLOCK, 5L * BLOCK, 5L * BLOCK));
            assertThatThrownBy(() -> store.quotas().setRingShare(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> store.quotas().setQuota(table(0), OptionalLong.of(-1))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void guestsCountAndLeaveFirst()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), blocks(1));
            for (int block = 0; block < 5; block++) {
                offerGuest(store, block);
                assertThat(ramBlocks(store, 0)).isEqualTo(1);
            }
            store.quotas().setQuota(table(0), blocks(3));
            store.dropGuests(file(0).id());
            fill(store, 0, 20, NORMAL);
            fill(store, 0, 21, NORMAL);
            assertThat(ramBlocks(store, 0)).isEqualTo(2);
            store.checkInvariants();
            assertThat(offerGuest(store, 0)).isTrue();
            store.checkInvariants();
            assertThat(ramBlocks(store, 0)).isEqualTo(3);
            fill(store, 0, 22, NORMAL);
            // no block of its own leaves for a guest
            offerGuest(store, 1);
            assertThat(ramBlocks(store, 0)).isEqualTo(3);
            for (int block = 20; block < 23; block++) {
                assertThat(store.pin(key(0, block)).map(TestTableQuotas::close)).as("block %s", block).contains(true);
            }
            store.checkInvariants();
        }
    }

    private boolean offerGuest(BlockStore store, int block)
    {
        clock.advance(Duration.ofMillis(200));
        byte[] bytes = TestingBlocks.bytes(key(0, block), ETAG, BLOCK);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return store.offerGuest(file(0), block, table(0), ETAG, (int) checksum.getValue(), ByteBuffer.wrap(bytes));
    }

    @Test
    void survivesACleanStop()
            throws Exception
    {
        survive(true);
    }

    @Test
    void survivesAKill()
            throws Exception
    {
        survive(false);
    }

    private void survive(boolean clean)
            throws Exception
    {
        BlockStore first = open(config);
        first.quotas().setRingShare(0.5);
        first.quotas().setQuota(table(0), blocks(40));
        first.quotas().setQuota(table(1), blocks(10));
        for (int block = 0; block < 15; block++) {
            fill(first, 0, block, NORMAL);
            fill(first, 1, block, NORMAL);
        }
        first.ssd().checkpoint();
        for (int block = 15; block < 30; block++) {
            fill(first, 0, block, NORMAL);
        }
        first.quotas().keep();
        assertThat(usage(first, 0).ssdBytes()).isEqualTo(20L * BLOCK);
        end(first, clean);

        BlockStore second = open(config);
        assertThat(second.awaitRestored(Duration.ofSeconds(60))).isTrue();
        second.quotas().setRingShare(0.5);
        second.quotas().keep();
        assertThat(usage(second, 0)).isEqualTo(new TableUsage(table(0), 40L * BLOCK, 20L * BLOCK, 0, 20L * BLOCK));
        assertThat(usage(second, 1)).isEqualTo(new TableUsage(table(1), 10L * BLOCK, 5L * BLOCK, 0, 5L * BLOCK));
        assertThat(ssdBlocks(second, 0)).isEqualTo(20);
        second.checkInvariants();
        // nobody has to say the quotas again
        for (int block = 60; block < 90; block++) {
            fill(second, 0, block, NORMAL);
            assertThat(ssdBlocks(second, 0)).isEqualTo(20);
        }
        second.quotas().setQuota(table(1), OptionalLong.empty());
        second.quotas().keep();
        second.checkInvariants();
        end(second, clean);
        try (BlockStore third = open(config)) {
            assertThat(third.quotas().usage()).extracting(TableUsage::table).containsExactly(table(0));
        }
    }

    @Test
    void damagedFileOfQuotasIsIgnored()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            store.quotas().setQuota(table(0), blocks(40));
        }
        Path file = directory.resolve("state").resolve("table-quotas");
        byte[] content = disk.read(file).orElseThrow();
        for (int i = 0; i < content.length; i++) {
            byte[] damaged = content.clone();
            damaged[i] ^= 1;
            disk.replace(file, damaged);
            open(ramOnly).abandon();
            try (BlockStore store = open(ramOnly)) {
                assertThat(store.quotas().usage()).as("byte %s", i).isEmpty();
            }
        }
        disk.replace(file, "short".getBytes(UTF_8));
        try (BlockStore store = open(ramOnly)) {
            assertThat(store.quotas().usage()).isEmpty();
        }
    }

    /**
     * Random tables, quotas, shares, classes, fills, reads, drops and ends: in no tier a table ever has more than its share.
     */
    @RepeatedTest(3)
    void randomOperationsAndEnds()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        Map<Integer, Long> quotas = new HashMap<>();
        double share = 1;
        int atQuota = 0;
        for (int run = 0; run < 8; run++) {
            long restoredFirst = random.nextBoolean() ? Long.MAX_VALUE : 0;
            BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock).withRandom(random), restoredFirst);
            store.quotas().setRingShare(share);
            // a crash may have lost the last evictions
            assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
            store.quotas().keep();
            List<PinnedBlock> held = new ArrayList<>();
            for (int operation = 0; operation < 300; operation++) {
                int table = random.nextInt(TABLES);
                int block = random.nextInt(BLOCKS);
                switch (random.nextInt(40)) {
                    case 0 -> {
                        long bytes = random.nextLong(60L * BLOCK);
                        quotas.put(table, bytes);
                        store.quotas().setQuota(table(table), OptionalLong.of(bytes));
                        releaseAll(held);
                        store.ssd().drain();
                        store.quotas().keep();
                    }
                    case 1 -> {
                        if (random.nextInt(4) == 0) {
                            quotas.remove(table);
                            store.quotas().setQuota(table(table), OptionalLong.empty());
                        }
                    }
                    case 2 -> {
                        share = 0.3 + random.nextDouble() * 0.7;
                        store.quotas().setRingShare(share);
                        releaseAll(held);
                        store.ssd().drain();
                        store.quotas().keep();
                    }
                    case 3 -> {
                        if (random.nextInt(4) == 0) {
                            store.flushes().dropFile(file(table).id());
                        }
                    }
                    case 4 -> {
                        if (random.nextInt(4) == 0) {
                            store.ssd().checkpoint();
                        }
                    }
                    case 5, 6 -> releaseAll(held);
                    case 7, 8, 9 -> store.setClass(key(table, block).digest(), List.of(NORMAL, HIGH, PINNED).get(random.nextInt(3)));
                    case 10, 11, 12, 13, 14, 15 -> {
                        clock.advance(Duration.ofMillis(200));
                        store.load(key(table, block)).ifPresent(PinnedBlock::close);
                    }
                    case 16, 17 -> fillAndHold(store, table, block, NORMAL).ifPresent(held::add);
                    case 18, 19 -> {
                        store.recordHit(key(table, block).high(), key(table, block).low());
                        store.drainHits();
                    }
                    default -> fillAndHold(store, table, block, random.nextInt(10) == 0 ? HIGH : NORMAL).ifPresent(PinnedBlock::close);
                }
                for (Map.Entry<Integer, Long> quota : quotas.entrySet()) {
                    long limit = share == 1 ? quota.getValue() : (long) (quota.getValue() * share);
                    assertThat((long) ramBlocks(store, quota.getKey()) * BLOCK).as("RAM in run %s, operation %s", run, operation).isLessThanOrEqualTo(limit);
                    // blocks come and go while they are counted one by one
                    boolean still = operation % 16 == 0;
                    if (still) {
                        store.ssd().drain();
                    }
                    long ssdBytes = still ? (long) ssdBlocks(store, quota.getKey()) * BLOCK : usage(store, quota.getKey()).ssdBytes();
                    assertThat(ssdBytes).as("SSD in run %s, operation %s", run, operation).isLessThanOrEqualTo(limit);
                    atQuota += ssdBytes + BLOCK > limit ? 1 : 0;
                }
            }
            releaseAll(held);
            store.ssd().drain();
            store.checkInvariants();
            store.quotas().keep();
            // a crash loses what is not in the journal yet
            boolean clean = random.nextInt(3) == 0;
            if (!clean && random.nextBoolean()) {
                store.abandon();
            }
            else {
                end(store, clean);
            }
        }
        System.out.println("at the quota " + atQuota + " times");
        assertThat(atQuota).isGreaterThan(100);
    }

    /**
     * Readers get what they ask for while their table is at its quota, and the bound holds at every moment.
     */
    @Test
    void manyReadersOfATableAtItsQuota()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong filled = new AtomicLong();
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            store.quotas().setQuota(table(0), blocks(10));
            store.quotas().setQuota(table(1), blocks(20));
            assertThat(store.bind(file(0), Optional.of(ETAG_TEXT), false, table(0))).isTrue();
            assertThat(store.bind(file(1), Optional.of(ETAG_TEXT), false, table(1))).isTrue();
            List<Future<?>> readers = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Random random = new Random(seed + thread);
                readers.add(threads.submit(() -> {
                    while (!stop.get()) {
                        BlockKey key = key(random.nextInt(2), random.nextInt(40));
                        Optional<PinnedBlock> found = store.load(key);
                        if (found.isEmpty()) {
                            Optional<Fill> begun = store.beginFill(key, BLOCK, ETAG);
                            if (begun.isPresent()) {
                                try (Fill fill = begun.get()) {
                                    fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
                                    found = fill.commit();
                                }
                                assertThat(found).isPresent();
                                filled.incrementAndGet();
                            }
                        }
                        found.ifPresent(block -> {
                            try (block) {
                                assertThat(TestingBlocks.copy(block.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
                            }
                        });
                    }
                }));
            }
            // until they have replaced their blocks many times, or one of them failed
            while (filled.get() < 2000 && readers.stream().noneMatch(Future::isDone)) {
                for (TableUsage usage : store.quotas().usage()) {
                    assertThat(usage.ramBytes()).as(usage.table()).isLessThanOrEqualTo(usage.shareBytes());
                    assertThat(usage.ssdBytes()).as(usage.table()).isLessThanOrEqualTo(usage.shareBytes());
                }
                Thread.onSpinWait();
            }
            stop.set(true);
            for (Future<?> reader : readers) {
                reader.get();
            }
            store.ssd().drain();
            store.checkInvariants();
            assertThat(usage(store, 0).ssdBytes()).isEqualTo(10L * BLOCK);
            assertThat(usage(store, 1).ssdBytes()).isEqualTo(20L * BLOCK);
        }
    }

    private static void releaseAll(List<PinnedBlock> held)
    {
        held.forEach(PinnedBlock::close);
        held.clear();
    }
}
