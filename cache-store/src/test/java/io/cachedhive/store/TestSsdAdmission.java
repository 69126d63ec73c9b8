package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static io.cachedhive.store.block.BlockClass.GUEST;
import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static io.cachedhive.store.block.SsdRefusalCause.NOT_ADMITTED;
import static io.cachedhive.store.block.SsdRefusalCause.NO_ROOM;
import static io.cachedhive.store.block.SsdRefusalCause.OUT_OF_SERVICE;
import static io.cachedhive.store.block.SsdRefusalCause.QUEUE_FULL;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which blocks a store writes to SSD, and how it counts the others.
 */
class TestSsdAdmission
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion FILE = TestingBlocks.file(1, 1L << 40);

    private final FakeDisk disk = new FakeDisk();

    @TempDir
    private Path directory;

    private Path ssd;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ssd = Files.createDirectories(directory.resolve("ssd"));
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(6 << 20))));
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private static BlockKey key(int block)
    {
        return FILE.id().block(block);
    }

    /**
     * Without waiting for the SSD.
     */
    private static void fill(BlockStore store, int block, BlockClass blockClass)
    {
        assertThat(store.bind(FILE, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key(block), BLOCK, ETAG, new BlockTerms(blockClass, BlockTerms.NEVER)));
        fill.buffer().put(TestingBlocks.bytes(key(block), ETAG, BLOCK));
        fill.commit().orElseThrow().close();
    }

    /**
     * As a query does.
     *
     * @return whether it was there
     */
    private static boolean read(BlockStore store, int block)
    {
        Optional<PinnedBlock> found = store.load(key(block));
        found.ifPresent(PinnedBlock::close);
        if (found.isEmpty()) {
            fill(store, block, NORMAL);
        }
        store.ssd().drain();
        return found.isPresent();
    }

    private static long refused(BlockStore store, SsdRefusalCause cause)
    {
        return store.gauges().refusedSsdWrites().get(cause);
    }

    private static long refused(BlockStore store)
    {
        return store.gauges().refusedSsdWrites().values().stream().mapToLong(count -> count).sum();
    }

    @Test
    void guestsStayInRam()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, 0, GUEST);
            fill(store, 1, NORMAL);
            store.ssd().drain();
            assertThat(store.pin(key(0))).isPresent().get().satisfies(PinnedBlock::close);
            store.ssd().drain();
            assertThat(store.isOnSsd(key(0))).isFalse();
            assertThat(store.isOnSsd(key(1))).isTrue();
            assertThat(refused(store)).isZero();
        }
    }

    @Test
    void nothingLeavesForALowerClass()
            throws Exception
    {
        // more of it than of SSD, since nothing leaves RAM either
        config = config.withRam(config.ramDirectory(), 10 << 20).withPinnedMaxShare(1);
        try (BlockStore store = open()) {
            int next = 0;
            while (refused(store) == 0) {
                fill(store, next++, PINNED);
                store.ssd().drain();
            }
            long blocks = store.gauges().ssdBlocks();
            assertThat(blocks).isEqualTo(next - 1);
            fill(store, next++, HIGH);
            fill(store, next++, NORMAL);
            store.ssd().drain();
            assertThat(store.gauges().refusedSsdWrites()).containsEntry(NO_ROOM, 3L);
            assertThat(refused(store)).isEqualTo(3);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(blocks);
            assertThat(store.gauges().ssdEvictions()).isZero();
            for (int i = 0; i < blocks; i++) {
                assertThat(store.isOnSsd(key(i))).isTrue();
            }
            store.checkInvariants();
        }
    }

    @Test
    void directoryOutOfServiceTakesNone()
            throws Exception
    {
        // by the fast clock the directory would be tried again after a tenth of a second
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new ManualClock()))) {
            for (Path path : disk.files()) {
                disk.setFailing(path, path.getFileName().toString().startsWith("slab-"));
            }
            fill(store, 0, NORMAL);
            store.ssd().drain();
            // that one failed: it is an error
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 1L);
            assertThat(refused(store)).isZero();
            fill(store, 1, NORMAL);
            fill(store, 2, NORMAL);
            for (int i = 0; i < 5; i++) {
                // counted when they came, not whenever they are asked for
                assertThat(read(store, 1)).isTrue();
            }
            assertThat(refused(store, OUT_OF_SERVICE)).isEqualTo(2);
            assertThat(refused(store)).isEqualTo(2);
        }
    }

    @Test
    void whatFindsTheQueueFullIsWrittenLater()
            throws Exception
    {
        try (BlockStore store = open()) {
            int count = 20;
            // nobody writes meanwhile
            synchronized (disk) {
                for (int i = 0; i < count; i++) {
                    fill(store, i, NORMAL);
                }
                assertThat(store.ssd().isBehindWriting()).isTrue();
                store.recordHit(key(count - 1).high(), key(count - 1).low());
                store.drainHits();
            }
            store.ssd().drain();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(count);
            assertThat(refused(store)).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void whatLeavesRamWhileTheQueueIsFullIsNotWritten()
            throws Exception
    {
        try (BlockStore store = open()) {
            int count = 150;
            synchronized (disk) {
                for (int i = 0; i < count; i++) {
                    fill(store, i, NORMAL);
                }
            }
            store.ssd().drain();
            long refused = refused(store, QUEUE_FULL);
            assertThat(refused).isBetween(1L, count - 5L);
            assertThat(refused(store)).isEqualTo(refused);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(count - refused);
            store.checkInvariants();
        }
    }

    @Test
    void whatIsReadOnceIsNotWrittenForeverAndWhatIsReadAgainIs()
            throws Exception
    {
        try (BlockStore store = open()) {
            int hot = 25;
            int scanned = 1000;
            for (int round = 0; round < 60; round++) {
                for (int i = 0; i < 2 * hot; i++) {
                    read(store, i % hot);
                }
                for (int i = 0; i < 80; i++) {
                    read(store, scanned++);
                }
                if (store.gauges().ssdEvictions() == 0) {
                    assertThat(refused(store)).describedAs("while there is room").isZero();
                }
                // or the journal would be full at times
                store.ssd().checkpoint();
            }
            long refused = refused(store, NOT_ADMITTED);
            System.out.printf("%s of %s blocks that were read once were not written%n", refused, scanned - 1000);
            assertThat(refused).isGreaterThan(500);
            for (int i = 0; i < hot; i++) {
                assertThat(store.isOnSsd(key(i))).isTrue();
            }
            // it depends on the models when the filter is in force
            int block = 900_000;
            while (refused(store, NOT_ADMITTED) == refused && block < 901_000) {
                block++;
                read(store, block);
            }
            assertThat(refused(store, NOT_ADMITTED)).isEqualTo(refused + 1);
            assertThat(store.isOnSsd(key(block))).isFalse();
            // it is in RAM, and when it turns out to be popular it need not be fetched again to be written
            for (int i = 0; i < 20; i++) {
                store.recordHit(key(block).high(), key(block).low());
                store.drainHits();
            }
            store.ssd().drain();
            assertThat(store.isOnSsd(key(block))).isTrue();
            assertThat(refused(store, NOT_ADMITTED)).isEqualTo(refused + 1);
            store.checkInvariants();
        }
    }
}
