package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import static io.cachedhive.store.BlockOrigin.RAM;
import static io.cachedhive.store.BlockOrigin.SSD;
import static io.cachedhive.store.block.BlockClass.GUEST;
import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What another worker is told of this one's blocks.
 */
class TestHottestBlocks
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 300;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion FILE = TestingBlocks.file(1, (long) BLOCKS * BLOCK);
    private static final FileVersion OTHER_FILE = TestingBlocks.file(2, 4 * BLOCK);
    private static final BlockTerms TERMS = new BlockTerms(NORMAL, BlockTerms.NEVER);

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();

    @TempDir
    private Path directory;

    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 8 << 20)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(64 << 20))));
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private void fill(BlockStore store, FileVersion file, int block, BlockTerms terms)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(block);
        // frames rest before they are used again
        clock.advance(Duration.ofMillis(200));
        Fill fill = store.beginFill(key, BLOCK, ETAG, terms).orElseThrow();
        fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
    }

    private static boolean isInRam(BlockStore store, BlockKey key)
    {
        Optional<PinnedBlock> pinned = store.pin(key);
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent();
    }

    @Test
    void testByTier()
            throws Exception
    {
        try (BlockStore store = open()) {
            Set<BlockKey> all = new HashSet<>();
            for (int block = 0; block < BLOCKS; block++) {
                fill(store, FILE, block, TERMS);
                all.add(FILE.id().block(block));
            }
            List<BlockKey> inRam = store.contents().hottestBlocks(RAM, 10 * BLOCKS);
            assertThat(inRam).hasSize(Math.toIntExact(store.gauges().ramBlocks())).hasSizeBetween(20, BLOCKS - 50).allMatch(key -> isInRam(store, key));
            List<BlockKey> onSsd = store.contents().hottestBlocks(SSD, 10 * BLOCKS);
            assertThat(onSsd).noneMatch(key -> isInRam(store, key));
            assertThat(Stream.concat(inRam.stream(), onSsd.stream())).containsExactlyInAnyOrderElementsOf(all);

            assertThat(store.contents().hottestBlocks(RAM, 7)).hasSize(7);
            assertThat(store.contents().hottestBlocks(SSD, 0)).isEmpty();
        }
    }

    @Test
    void testThoseAskedForMoreComeFirst()
            throws Exception
    {
        try (BlockStore store = open()) {
            for (int block = 0; block < 20; block++) {
                fill(store, FILE, block, TERMS);
            }
            List<BlockKey> wanted = new ArrayList<>();
            for (int block : List.of(3, 11, 17)) {
                wanted.add(FILE.id().block(block));
                for (int i = 0; i < 6; i++) {
                    store.recordHit(FILE.id().block(block).high(), FILE.id().block(block).low());
                    store.drainHits();
                }
            }
            assertThat(store.contents().hottestBlocks(RAM, BLOCKS).subList(0, 3)).containsExactlyInAnyOrderElementsOf(wanted);
            assertThat(store.contents().hottestBlocks(RAM, 3)).containsExactlyInAnyOrderElementsOf(wanted);
        }
    }

    @Test
    void testWhatIsNotOnesOwnOrGone()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FILE, 0, new BlockTerms(GUEST, BlockTerms.NEVER));
            fill(store, FILE, 1, TERMS);
            fill(store, FILE, 2, BlockTerms.until(NORMAL, clock.currentTimeMillis() + 5000));
            fill(store, OTHER_FILE, 0, TERMS);
            assertThat(store.contents().hottestBlocks(RAM, BLOCKS)).containsExactlyInAnyOrder(FILE.id().block(1), FILE.id().block(2), OTHER_FILE.id().block(0));
            store.flushes().dropFile(OTHER_FILE.id());
            clock.advance(Duration.ofSeconds(6));
            assertThat(store.contents().hottestBlocks(RAM, BLOCKS)).containsExactly(FILE.id().block(1));
        }
    }

    @Test
    void testDescription()
            throws Exception
    {
        BlockTerms high = BlockTerms.until(HIGH, clock.currentTimeMillis() + 3_600_000);
        try (BlockStore store = open()) {
            assertThat(store.contents().describe(FILE.id(), 0, 10)).isEmpty();
            fill(store, FILE, 1, TERMS);
            for (int block = 2; block < BLOCKS; block++) {
                fill(store, FILE, block, high);
            }
            // one in RAM or on SSD is as good as the other
            assertThat(isInRam(store, FILE.id().block(1)) && isInRam(store, FILE.id().block(2))).isFalse();
            FileDescription description = store.contents().describe(FILE.id(), 0, 4).orElseThrow();
            assertThat(description.metadata()).isEqualTo(new FileMetadata(FILE, Optional.of(ETAG_TEXT), false, "schema.table"));
            assertThat(description.blocks()).isEqualTo(Map.of(1, TERMS, 2, high, 3, high));
            assertThat(store.contents().describe(FILE.id(), 0, BLOCKS).orElseThrow().blocks()).hasSize(BLOCKS - 1);
            assertThat(store.contents().describe(FILE.id(), BLOCKS, 5).orElseThrow().blocks()).isEmpty();
        }
    }
}
