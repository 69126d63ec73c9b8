package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Released files free their space in both tiers, now and after a restart, and leave all other files as they are.
 */
@Timeout(60)
class TestReleasedFiles
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final FileVersion RELEASED = TestingBlocks.file(1, 3 * BLOCK + 1000);
    private static final FileVersion ALSO_RELEASED = TestingBlocks.file(2, 2 * BLOCK);
    private static final FileVersion KEPT = TestingBlocks.file(3, 2 * BLOCK);

    @TempDir
    private Path directory;

    private StoreConfig config;
    private BlockStore store;

    @BeforeEach
    void open()
            throws IOException, StoreException
    {
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 8 << 20)
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(List.of(
                        new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-1")), new Capacity.Bytes(8 << 20)),
                        new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-2")), new Capacity.Bytes(8 << 20))));
        reopen();
    }

    private void reopen()
            throws StoreException
    {
        store = BlockStore.open(config, StoreEnvironment.system().withClock(new FastClock()));
    }

    @AfterEach
    void close()
    {
        store.close();
    }

    private void fill(FileVersion file)
    {
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            BlockKey key = file.id().block(block);
            Fill fill = beginFill(file, block);
            fill.buffer().put(TestingBlocks.bytes(key, ETAG, file.blockLength(block, BLOCK)));
            fill.commit().orElseThrow().close();
        }
    }

    private Fill beginFill(FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        return TestingBlocks.awaitFrame(() -> store.beginFill(file.id().block(block), file.blockLength(block, BLOCK), ETAG));
    }

    private long blocksFound(FileVersion file)
    {
        long found = 0;
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            Optional<PinnedBlock> loaded = store.load(file.id().block(block));
            if (loaded.isPresent()) {
                loaded.get().close();
                found++;
            }
        }
        return found;
    }

    private static boolean isReleased(FileVersion file)
    {
        return file.equals(RELEASED) || file.equals(ALSO_RELEASED);
    }

    @Test
    void freesTheSpaceInBothTiers()
            throws Exception
    {
        fill(RELEASED);
        fill(ALSO_RELEASED);
        fill(KEPT);
        store.ssd().drain();
        StoreGauges before = store.gauges();
        assertThat(before.ramBlocks()).isEqualTo(8);
        assertThat(before.ssdBlocks()).isEqualTo(8);

        ReleaseResult result = store.flushes().release(TestReleasedFiles::isReleased);
        assertThat(result).isEqualTo(new ReleaseResult(2, 2 * (4 + 2), 2 * (RELEASED.length() + ALSO_RELEASED.length())));
        assertThat(store.gauges().ramBlocks()).isEqualTo(2);
        assertThat(store.gauges().ssdBlocks()).isEqualTo(2);
        assertThat(blocksFound(RELEASED)).isZero();
        assertThat(blocksFound(ALSO_RELEASED)).isZero();
        assertThat(blocksFound(KEPT)).isEqualTo(2);
        assertThat(store.flushes().release(TestReleasedFiles::isReleased)).isEqualTo(new ReleaseResult(0, 0, 0));

        store.close();
        reopen();
        assertThat(store.awaitRestored(Duration.ofSeconds(30))).isTrue();
        assertThat(store.gauges().ssdBlocks()).isEqualTo(2);
        assertThat(blocksFound(RELEASED)).isZero();
        assertThat(blocksFound(KEPT)).isEqualTo(2);
    }

    @Test
    void endsFillsThatHaveBegun()
    {
        try (Fill fill = beginFill(RELEASED, 0)) {
            fill.buffer().put(TestingBlocks.bytes(RELEASED.id().block(0), ETAG, BLOCK));
            assertThat(store.flushes().release(TestReleasedFiles::isReleased)).isEqualTo(new ReleaseResult(1, 0, 0));
            assertThat(fill.commit()).isEmpty();
        }
        assertThat(blocksFound(RELEASED)).isZero();
        // the file may be there again
        fill(RELEASED);
        assertThat(blocksFound(RELEASED)).isEqualTo(4);
    }

    @Test
    void leavesBlocksThatAreBeingReadToTheirReaders()
    {
        fill(RELEASED);
        try (PinnedBlock pinned = store.load(RELEASED.id().block(1)).orElseThrow()) {
            assertThat(store.flushes().release(TestReleasedFiles::isReleased).files()).isEqualTo(1);
            assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(RELEASED.id().block(1), ETAG, BLOCK));
        }
        assertThat(store.gauges().ramBlocks()).isZero();
    }
}
