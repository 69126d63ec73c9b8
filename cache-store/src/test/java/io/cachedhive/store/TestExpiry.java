package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
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

import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static org.assertj.core.api.Assertions.assertThat;

class TestExpiry
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion FILE = TestingBlocks.file(1, 10 * BLOCK);

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
        config = ramOnly.withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(4 << 20))));
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

    private static void fill(BlockStore store, int block, Optional<BlockTerms> terms)
    {
        assertThat(store.bind(FILE, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        Fill fill = terms.map(value -> store.beginFill(key(block), BLOCK, ETAG, value))
                .orElseGet(() -> store.beginFill(key(block), BLOCK, ETAG))
                .orElseThrow();
        fill.buffer().put(TestingBlocks.bytes(key(block), ETAG, BLOCK));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
    }

    private BlockTerms until(Duration duration)
    {
        return BlockTerms.until(HIGH, clock.currentTimeMillis() + duration.toMillis());
    }

    private static boolean isThere(BlockStore store, int block)
    {
        Optional<PinnedBlock> loaded = store.load(key(block));
        loaded.ifPresent(pinned -> {
            try (pinned) {
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key(block), ETAG, BLOCK));
            }
        });
        return loaded.isPresent();
    }

    @Test
    void leavesRamInTime()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            fill(store, 0, Optional.of(until(Duration.ofSeconds(10))));
            fill(store, 1, Optional.of(until(Duration.ofSeconds(20))));
            fill(store, 2, Optional.of(new BlockTerms(NORMAL, BlockTerms.NEVER)));
            clock.advance(Duration.ofMillis(9_999));
            store.removeExpired();
            assertThat(store.gauges().ramBlocks()).isEqualTo(3);
            clock.advance(Duration.ofMillis(1));
            // readers of shared memory do not ask
            store.removeExpired();
            assertThat(store.gauges().ramBlocks()).isEqualTo(2);
            assertThat(isThere(store, 0)).isFalse();
            assertThat(isThere(store, 1)).isTrue();
            PinnedBlock pinned = store.pin(key(1)).orElseThrow();
            clock.advance(Duration.ofSeconds(10));
            assertThat(store.pin(key(1))).describedAs("not yet removed").isEmpty();
            // whoever has it goes on reading
            assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key(1), ETAG, BLOCK));
            pinned.close();
            clock.advance(Duration.ofDays(20_000));
            assertThat(isThere(store, 2)).isTrue();
            assertThat(store.gauges().expiredBlocks()).isEqualTo(2);
            store.checkInvariants();
        }
    }

    @Test
    void filledAgainAfterwards()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            fill(store, 0, Optional.of(until(Duration.ofSeconds(10))));
            clock.advance(Duration.ofSeconds(10));
            assertThat(isThere(store, 0)).isFalse();
            assertThat(store.isOnSsd(key(0))).isFalse();
            fill(store, 0, Optional.of(until(Duration.ofSeconds(10))));
            clock.advance(Duration.ofSeconds(9));
            assertThat(isThere(store, 0)).isTrue();
            assertThat(store.isOnSsd(key(0))).isTrue();
            store.checkInvariants();
        }
    }

    @Test
    void withoutTermsThatOfTheStore()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            fill(store, 0, Optional.empty());
            clock.advance(Duration.ofHours(2).minusSeconds(1));
            assertThat(isThere(store, 0)).isTrue();
            clock.advance(Duration.ofSeconds(1));
            assertThat(isThere(store, 0)).isFalse();
            assertThat(store.isOnSsd(key(0))).isFalse();
        }
    }

    /**
     * doris issue 68345: a restart gave blocks another expiry time than they had.
     */
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
        fill(first, 0, Optional.of(until(Duration.ofSeconds(100))));
        fill(first, 1, Optional.of(until(Duration.ofSeconds(200))));
        fill(first, 2, Optional.empty());
        end(first, clean);
        clock.advance(Duration.ofSeconds(99));
        BlockStore second = open(config);
        assertThat(isThere(second, 0)).isTrue();
        clock.advance(Duration.ofSeconds(1));
        // from SSD it came into RAM with its own time
        second.removeExpired();
        assertThat(isThere(second, 0)).isFalse();
        assertThat(isThere(second, 1)).isTrue();
        second.checkInvariants();
        end(second, clean);
        clock.advance(Duration.ofSeconds(100));
        try (BlockStore third = open(config)) {
            assertThat(isThere(third, 0)).isFalse();
            assertThat(isThere(third, 1)).isFalse();
            assertThat(isThere(third, 2)).isTrue();
            third.checkInvariants();
        }
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
    void leavesSsdUnasked()
            throws Exception
    {
        try (BlockStore store = open(config)) {
            for (int i = 0; i < 5; i++) {
                fill(store, i, Optional.of(until(Duration.ofSeconds(10 + i))));
            }
        }
        clock.advance(Duration.ofSeconds(12));
        try (BlockStore store = open(config)) {
            assertThat(store.gauges().restoredBlocks()).isEqualTo(5);
            store.ssd().removeExpired();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(2);
            assertThat(store.gauges().expiredBlocks()).isEqualTo(3);
            assertThat(isThere(store, 3)).isTrue();
            store.checkInvariants();
        }
    }
}
