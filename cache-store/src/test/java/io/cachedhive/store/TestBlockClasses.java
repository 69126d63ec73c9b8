package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;

import static io.cachedhive.store.block.BlockClass.GUEST;
import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The class of a block that is there already.
 */
class TestBlockClasses
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 150;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion FILE = TestingBlocks.file(1, (long) BLOCKS * BLOCK);

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
        config = ramOnly.withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(16 << 20))));
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private static BlockKey key(int block)
    {
        return FILE.id().block(block);
    }

    private boolean fill(BlockStore store, int block, BlockClass blockClass)
    {
        assertThat(store.bind(FILE, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        // frames that were evicted rest for a moment
        clock.advance(Duration.ofMillis(200));
        Optional<Fill> begun = store.beginFill(key(block), BLOCK, ETAG, store.terms(Optional.of(blockClass), OptionalLong.empty()));
        begun.ifPresent(fill -> {
            try (fill) {
                fill.buffer().put(TestingBlocks.bytes(key(block), ETAG, BLOCK));
                fill.commit().orElseThrow().close();
            }
        });
        store.ssd().drain();
        return begun.isPresent();
    }

    private static boolean close(PinnedBlock block)
    {
        block.close();
        return true;
    }

    private static Map<Integer, BlockTerms> terms(BlockStore store)
    {
        return store.contents().describe(FILE.id(), 0, BLOCKS).map(FileDescription::blocks).orElse(Map.of());
    }

    private static BlockClass blockClass(BlockStore store, int block)
    {
        return terms(store).get(block).blockClass();
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
    void changesInBothTiersAndKeepsTheExpiry()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            fill(store, 0, NORMAL);
            BlockTerms before = terms(store).get(0);
            clock.advance(Duration.ofMinutes(1));
            store.setClass(key(0).digest(), HIGH);
            assertThat(terms(store).get(0)).isEqualTo(new BlockTerms(HIGH, before.expirySeconds()));
            store.checkInvariants();
            // of the block that the SSD has, once the frame is another's
            for (int i = 1; i < BLOCKS; i++) {
                fill(store, i, NORMAL);
            }
            for (int i = 1; i < BLOCKS; i++) {
                assertThat(store.load(key(i)).map(TestBlockClasses::close)).as("block %s", i).contains(true);
                clock.advance(Duration.ofMillis(200));
            }
            assertThat(blockClass(store, 0)).isEqualTo(HIGH);
            store.checkInvariants();
        }
    }

    @Test
    void survivesACleanStop()
            throws Exception
    {
        survive(true);
    }

    @Test
    void survivesACrash()
            throws Exception
    {
        survive(false);
    }

    private void survive(boolean clean)
            throws Exception
    {
        BlockStore first = open(config);
        fill(first, 0, NORMAL);
        fill(first, 1, PINNED);
        first.ssd().checkpoint();
        fill(first, 2, HIGH);
        // of what the checkpoint has, and of what only the journal has
        first.setClass(key(0).digest(), PINNED);
        first.setClass(key(1).digest(), NORMAL);
        first.setClass(key(2).digest(), NORMAL);
        first.setClass(key(2).digest(), PINNED);
        end(first, clean);
        BlockStore second = open(config);
        assertThat(second.awaitRestored(Duration.ofSeconds(60))).isTrue();
        assertThat(blockClass(second, 0)).isEqualTo(PINNED);
        assertThat(blockClass(second, 1)).isEqualTo(NORMAL);
        assertThat(blockClass(second, 2)).isEqualTo(PINNED);
        second.checkInvariants();
        end(second, clean);
        try (BlockStore third = open(config)) {
            assertThat(third.awaitRestored(Duration.ofSeconds(60))).isTrue();
            assertThat(blockClass(third, 0)).isEqualTo(PINNED);
            third.checkInvariants();
        }
    }

    @Test
    void guestsStayGuests()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            byte[] bytes = TestingBlocks.bytes(key(0), ETAG, BLOCK);
            CRC32C checksum = new CRC32C();
            checksum.update(bytes);
            assertThat(store.offerGuest(FILE, 0, "schema.table", ETAG, (int) checksum.getValue(), ByteBuffer.wrap(bytes))).isTrue();
            long guestBytes = store.gauges().guestBytes();
            store.setClass(key(0).digest(), PINNED);
            assertThat(store.gauges().guestBytes()).isEqualTo(guestBytes).isPositive();
            store.checkInvariants();
            assertThatThrownBy(() -> store.setClass(key(0).digest(), GUEST)).isInstanceOf(IllegalArgumentException.class);
            // of a block that is nowhere
            store.setClass(new Digest128(1, 2), HIGH);
        }
    }

    @Test
    void pinnedBlocksStayOnSsdAndLeaveRamToOthers()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            // as many as the RAM has frames, and more
            for (int i = 0; i < 100; i++) {
                assertThat(fill(store, i, PINNED)).as("block %s", i).isTrue();
            }
            for (int i = 100; i < BLOCKS; i++) {
                assertThat(fill(store, i, NORMAL)).as("block %s", i).isTrue();
            }
            store.checkInvariants();
            assertThat(terms(store).entrySet().stream().filter(block -> block.getValue().blockClass() == PINNED)).hasSize(100);
            // and from SSD they come as ever, those of either class
            for (int i = 0; i < BLOCKS; i++) {
                clock.advance(Duration.ofMillis(200));
                assertThat(store.load(key(i)).map(TestBlockClasses::close)).as("block %s", i).contains(true);
            }
            store.checkInvariants();
        }
    }

    @Test
    void whatIsNoLongerPinnedLeaves()
            throws Exception
    {
        try (BlockStore store = open(ramOnly.withPinnedMaxShare(1))) {
            int pinned = 0;
            while (fill(store, pinned, PINNED)) {
                pinned++;
            }
            assertThat(fill(store, BLOCKS - 1, NORMAL)).isFalse();
            store.setClass(key(0).digest(), NORMAL);
            // its frame has to rest before it is another's
            fill(store, BLOCKS - 1, NORMAL);
            clock.advance(Duration.ofMillis(200));
            assertThat(fill(store, BLOCKS - 1, NORMAL)).isTrue();
            assertThat(terms(store)).doesNotContainKey(0);
            store.checkInvariants();
        }
    }

    /**
     * Against a model that knows the class of each block.
     */
    @RepeatedTest(3)
    void randomChangesAndEnds()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        Map<Integer, BlockClass> classes = new HashMap<>();
        long seen = 0;
        for (int run = 0; run < 8; run++) {
            long restoredFirst = random.nextBoolean() ? Long.MAX_VALUE : 0;
            BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock).withRandom(random), restoredFirst);
            for (int operation = 0; operation < 200; operation++) {
                int block = random.nextInt(BLOCKS);
                BlockClass blockClass = List.of(NORMAL, NORMAL, HIGH, PINNED).get(random.nextInt(4));
                switch (random.nextInt(10)) {
                    case 0, 1, 2, 3 -> {
                        if (!terms(store).containsKey(block) && fill(store, block, blockClass)) {
                            classes.put(block, blockClass);
                        }
                    }
                    case 4, 5, 6, 7 -> {
                        if (terms(store).containsKey(block)) {
                            store.setClass(key(block).digest(), blockClass);
                            classes.put(block, blockClass);
                        }
                    }
                    case 8 -> {
                        clock.advance(Duration.ofMillis(200));
                        store.load(key(block)).ifPresent(PinnedBlock::close);
                    }
                    default -> {
                        if (random.nextInt(10) == 0) {
                            store.ssd().checkpoint();
                        }
                    }
                }
            }
            store.checkInvariants();
            seen += check(store, classes);
            // a crash loses what is not in the journal yet, and here all is
            boolean clean = random.nextInt(3) == 0;
            end(store, clean);
            try (BlockStore next = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock).withRandom(random), restoredFirst)) {
                assertThat(next.awaitRestored(Duration.ofSeconds(60))).isTrue();
                seen += check(next, classes);
                next.checkInvariants();
            }
        }
        System.out.printf("%s blocks seen, of the classes %s%n", seen, Set.copyOf(classes.values()));
        assertThat(seen).isPositive();
        assertThat(EnumSet.copyOf(classes.values())).containsExactly(NORMAL, HIGH, PINNED);
    }

    private static int check(BlockStore store, Map<Integer, BlockClass> classes)
    {
        Map<Integer, BlockTerms> there = terms(store);
        there.forEach((block, terms) -> assertThat(terms.blockClass()).as("block %s", block).isEqualTo(classes.get(block)));
        return there.size();
    }
}
