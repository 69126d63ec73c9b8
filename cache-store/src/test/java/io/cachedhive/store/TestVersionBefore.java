package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.CRASH;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Opens directories that the store wrote when their format was version 1, with blocks without class and expiry: ten files of one block, of which
 * one was dropped and one confirmed after a checkpoint, and three came after it.
 */
class TestVersionBefore
{
    private static final int BLOCK = 64 << 10;
    private static final int DROPPED = 2;

    private final ManualClock clock = new ManualClock();

    @TempDir
    private Path directory;

    @Test
    void opensWhatStoppedCleanly()
            throws Exception
    {
        opens("clean", CLEAN_STOP);
    }

    @Test
    void opensWhatCrashed()
            throws Exception
    {
        opens("crashed", CRASH);
    }

    private void opens(String name, RecoveryFinding finding)
            throws Exception
    {
        Path ssd = Files.createDirectories(directory.resolve("ssd"));
        try (ZipInputStream zip = new ZipInputStream(resource("version-1-%s.zip".formatted(name)))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Files.copy(zip, ssd.resolve(entry.getName()));
            }
        }
        StoreConfig config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 3 << 20)
                .withTtl(Duration.ofHours(1))
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(1280 << 10))));
        BlockStore first = open(config);
        assertThat(first.recovery()).extracting(RecoveryOutcome::finding).containsExactly(finding);
        assertThat(first.gauges().restoredBlocks()).isEqualTo(9);
        checkBlocks(first, true);
        FileVersion newFile = TestingBlocks.file(20, BLOCK);
        assertThat(first.bind(newFile, Optional.empty(), false, "schema.table")).isTrue();
        Fill fill = first.beginFill(newFile.id().block(0), BLOCK, ETags.NONE).orElseThrow();
        fill.buffer().put(TestingBlocks.bytes(newFile.id().block(0), ETags.NONE, BLOCK));
        fill.commit().orElseThrow().close();
        first.ssd().drain();
        // the journal may have records of both versions now
        first.ssd().flush();
        first.abandon();

        clock.advance(Duration.ofMinutes(30));
        try (BlockStore second = open(config)) {
            assertThat(second.recovery()).extracting(RecoveryOutcome::finding).contains(CRASH);
            checkBlocks(second, true);
            assertThat(second.isOnSsd(newFile.id().block(0))).isTrue();
        }
        try (BlockStore third = open(config)) {
            assertThat(third.recovery()).extracting(RecoveryOutcome::finding).containsExactly(CLEAN_STOP);
            checkBlocks(third, true);
            // counted from when they got it
            clock.advance(Duration.ofHours(1));
            checkBlocks(third, false);
        }
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withClock(clock));
    }

    private static InputStream resource(String name)
            throws IOException
    {
        InputStream stream = TestVersionBefore.class.getResourceAsStream("ssd/" + name);
        if (stream == null) {
            throw new IOException("resource %s is missing".formatted(name));
        }
        return stream;
    }

    private static void checkBlocks(BlockStore store, boolean expected)
    {
        for (int i = 0; i < 10; i++) {
            FileVersion file = TestingBlocks.file(i, 1000 + 300L * i);
            long etagDigest = ETags.digest("etag-" + i);
            BlockKey key = file.id().block(0);
            Optional<PinnedBlock> block = store.load(key);
            assertThat(block.isPresent()).describedAs("block of file %s", i).isEqualTo(expected && i != DROPPED);
            block.ifPresent(pinned -> {
                try (pinned) {
                    assertThat(pinned.etagDigest()).isEqualTo(etagDigest);
                    assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, etagDigest, file.blockLength(0, BLOCK)));
                }
            });
            if (block.isPresent()) {
                assertThat(store.file(file.id())).contains(new FileMetadata(file, Optional.of("etag-" + i), false, "schema.table" + i % 2));
            }
        }
        store.checkInvariants();
    }
}
