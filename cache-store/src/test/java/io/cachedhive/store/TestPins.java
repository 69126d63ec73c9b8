package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;

import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Files that are pinned by name.
 */
class TestPins
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 20;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion FILE = TestingBlocks.file(1, (long) BLOCKS * BLOCK - 9);
    private static final FileVersion OTHER = TestingBlocks.file(2, (long) BLOCKS * BLOCK);
    private static final FileVersion SCANNED = TestingBlocks.file(3, 1000L * BLOCK);

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();

    @TempDir
    private Path directory;

    private StoreConfig ramOnly;
    private StoreConfig withSsd;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ramOnly = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 12 << 20)
                .withCheckpointInterval(Duration.ofDays(1000));
        withSsd = ramOnly.withRam(directory.resolve("ram"), 4 << 20).withSsdDirectories(List.of(
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-1")), new Capacity.Bytes(4 << 20)),
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-2")), new Capacity.Bytes(4 << 20))));
    }

    private StoreConfig config(boolean ssd)
    {
        return ssd ? withSsd : ramOnly;
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private boolean fill(BlockStore store, FileVersion file, int block)
    {
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        // frames that were evicted rest for a moment
        clock.advance(Duration.ofMillis(200));
        Optional<Fill> begun = store.beginFill(key, length, ETAG);
        begun.ifPresent(fill -> {
            try (fill) {
                fill.buffer().put(TestingBlocks.bytes(key, ETAG, length));
                fill.commit().orElseThrow().close();
            }
        });
        store.ssd().drain();
        return begun.isPresent();
    }

    private void fill(BlockStore store, FileVersion file)
    {
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            assertThat(fill(store, file, block)).isTrue();
        }
    }

    private static Map<Integer, BlockTerms> terms(BlockStore store, FileVersion file)
    {
        return store.contents().describe(file.id(), 0, file.blockCount(BLOCK)).map(FileDescription::blocks).orElse(Map.of());
    }

    private static long count(BlockStore store, FileVersion file, BlockClass blockClass)
    {
        return terms(store, file).values().stream().filter(terms -> terms.blockClass() == blockClass).count();
    }

    private void scan(BlockStore store)
    {
        // each block twice, so that a filter in front of the SSD lets it in
        for (int block = 0; block < 300; block++) {
            fill(store, SCANNED, block);
            store.load(SCANNED.id().block(block)).ifPresent(PinnedBlock::close);
        }
        store.ssd().drain();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsPinnedStaysUntilItIsNot(boolean ssd)
            throws Exception
    {
        try (BlockStore store = open(config(ssd))) {
            fill(store, FILE);
            assertThat(count(store, FILE, NORMAL)).isEqualTo(BLOCKS);
            assertThat(store.pins().set(Set.of(FILE, OTHER)::contains, Set.of(FILE, OTHER)::contains)).isTrue();
            assertThat(count(store, FILE, PINNED)).describedAs("what was there").isEqualTo(BLOCKS);
            fill(store, OTHER);
            assertThat(count(store, OTHER, PINNED)).describedAs("what came").isEqualTo(BLOCKS);
            store.checkInvariants();
            // whatever reads say
            store.setClass(FILE.id().block(3).digest(), NORMAL);
            assertThat(count(store, FILE, PINNED)).isEqualTo(BLOCKS);
            assertThat(store.contents().pinUsage(file -> Set.of(FILE, OTHER).contains(file) ? Optional.of(file) : Optional.empty())).isEqualTo(Map.of(
                    FILE, new PinUsage(FILE.length(), FILE.length()),
                    OTHER, new PinUsage(OTHER.length(), OTHER.length())));
            assertThat(store.gauges().pinnedBytes()).isEqualTo(FILE.length() + OTHER.length());

            scan(store);
            assertThat(terms(store, SCANNED).size()).describedAs("there was no room for all").isBetween(1, 250);
            assertThat(count(store, FILE, PINNED)).isEqualTo(BLOCKS);
            assertThat(count(store, OTHER, PINNED)).isEqualTo(BLOCKS);
            for (int block = 0; block < BLOCKS; block++) {
                clock.advance(Duration.ofMillis(200));
                store.load(FILE.id().block(block)).orElseThrow().close();
            }

            assertThat(store.pins().set(OTHER::equals, FILE::equals)).isTrue();
            assertThat(count(store, FILE, NORMAL)).isEqualTo(BLOCKS);
            assertThat(store.gauges().pinnedBytes()).isEqualTo(OTHER.length());
            scan(store);
            scan(store);
            assertThat(terms(store, FILE).size()).describedAs("may leave again").isLessThan(BLOCKS);
            assertThat(count(store, OTHER, PINNED)).isEqualTo(BLOCKS);
            store.checkInvariants();
        }
    }

    @Test
    void aFillThatHadBegunIsPinned()
            throws Exception
    {
        try (BlockStore store = open(withSsd)) {
            assertThat(store.bind(FILE, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            BlockKey key = FILE.id().block(0);
            try (Fill fill = store.beginFill(key, BLOCK, ETAG).orElseThrow()) {
                assertThat(store.pins().set(FILE::equals, FILE::equals)).isTrue();
                fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
                fill.commit().orElseThrow().close();
            }
            assertThat(count(store, FILE, PINNED)).isEqualTo(1);
            store.checkInvariants();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noMoreIsPinnedThanMayBe(boolean ssd)
            throws Exception
    {
        // room for one and a half of the files
        double share;
        try (BlockStore store = open(config(ssd).withPinnedMaxShare(1))) {
            share = 30.5 * BLOCK / store.gauges().pinnedMaxBytes();
        }
        try (BlockStore store = open(config(ssd).withPinnedMaxShare(share))) {
            long max = store.gauges().pinnedMaxBytes();
            assertThat(max).isBetween(30L * BLOCK, 31L * BLOCK);
            store.pins().set(Set.of(FILE, OTHER)::contains, Set.of(FILE, OTHER)::contains);
            fill(store, FILE);
            fill(store, OTHER);
            assertThat(count(store, FILE, PINNED)).isEqualTo(BLOCKS);
            long pinned = count(store, OTHER, PINNED);
            assertThat(pinned).isBetween(1L, BLOCKS - 1L);
            assertThat(count(store, OTHER, HIGH)).isEqualTo(BLOCKS - pinned);
            assertThat(store.gauges().pinnedBytes()).isBetween(max - 2 * BLOCK, max);
            assertThat(store.gauges().rejectedPins()).isEqualTo(BLOCKS - pinned);
            // nor later
            store.pins().set(Set.of(FILE, OTHER)::contains, Set.of(FILE, OTHER)::contains);
            store.pins().keep();
            assertThat(store.gauges().pinnedBytes()).isLessThanOrEqualTo(max);

            // what waited has its turn when there is room
            store.pins().set(OTHER::equals, FILE::equals);
            store.pins().keep();
            assertThat(count(store, OTHER, PINNED)).isEqualTo(BLOCKS);
            assertThat(count(store, FILE, PINNED)).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void givesUpPinsWhereRoomForThemIsLess()
            throws Exception
    {
        try (BlockStore store = open(withSsd)) {
            store.pins().set(FILE::equals, FILE::equals);
            fill(store, FILE);
        }
        try (BlockStore store = open(withSsd.withPinnedMaxShare(10.5 * BLOCK / (8 << 20)))) {
            assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
            store.pins().set(FILE::equals, _ -> false);
            store.pins().keep();
            assertThat(store.gauges().pinnedBytes()).isBetween(8L * BLOCK, store.gauges().pinnedMaxBytes());
            assertThat(count(store, FILE, PINNED) + count(store, FILE, HIGH)).isEqualTo(BLOCKS);
            store.checkInvariants();
        }
        try (BlockStore store = open(withSsd)) {
            assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
            store.pins().set(FILE::equals, FILE::equals);
            assertThat(count(store, FILE, PINNED)).isEqualTo(BLOCKS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void randomPins(boolean ssd)
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        List<FileVersion> files = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            files.add(TestingBlocks.file(100 + i, (5L + i) * BLOCK - random.nextInt(BLOCK)));
        }
        Set<FileVersion> pinned = new HashSet<>();
        long found = 0;
        for (int run = 0; run < 3; run++) {
            try (BlockStore store = open(config(ssd).withPinnedMaxShare(0.3))) {
                assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
                assertThat(store.pins().set(Set.copyOf(pinned)::contains, _ -> true)).isTrue();
                for (int operation = 0; operation < 300; operation++) {
                    FileVersion file = files.get(random.nextInt(files.size()));
                    int block = random.nextInt(file.blockCount(BLOCK));
                    switch (random.nextInt(12)) {
                        case 0 -> {
                            if (!pinned.remove(file)) {
                                pinned.add(file);
                            }
                            assertThat(store.pins().set(Set.copyOf(pinned)::contains, file::equals)).isTrue();
                        }
                        case 1 -> store.pins().keep();
                        case 2 -> store.load(file.id().block(block)).ifPresent(PinnedBlock::close);
                        case 3 -> store.setClass(file.id().block(block).digest(), random.nextBoolean() ? NORMAL : HIGH);
                        default -> {
                            if (!terms(store, file).containsKey(block)) {
                                fill(store, file, block);
                            }
                        }
                    }
                    assertThat(store.gauges().pinnedBytes()).isLessThanOrEqualTo(store.gauges().pinnedMaxBytes());
                }
                store.checkInvariants();
                for (FileVersion file : files) {
                    for (BlockTerms terms : terms(store, file).values()) {
                        assertThat(List.of(PINNED, HIGH).contains(terms.blockClass()) || !pinned.contains(file)).isTrue();
                        assertThat(terms.blockClass() == PINNED && !pinned.contains(file)).isFalse();
                        found += terms.blockClass() == PINNED ? 1 : 0;
                    }
                }
            }
        }
        assertThat(found).isPositive();
    }

    @Test
    void termsWithoutPinsAreThoseOfTheRead()
            throws Exception
    {
        try (BlockStore store = open(withSsd)) {
            assertThat(store.bind(FILE, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            store.pins().set(OTHER::equals, OTHER::equals);
            BlockKey key = FILE.id().block(0);
            try (Fill fill = store.beginFill(key, BLOCK, ETAG, store.terms(Optional.of(HIGH), OptionalLong.empty())).orElseThrow()) {
                fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
                fill.commit().orElseThrow().close();
            }
            assertThat(count(store, FILE, HIGH)).isEqualTo(1);
        }
    }
}
