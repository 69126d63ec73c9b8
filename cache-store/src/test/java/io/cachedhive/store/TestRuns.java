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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_OUTDATED;
import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.MEMORY_FILE_RECLAIMED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two directories and the state directory, and which runs they know of: one that missed a run in which the store was used starts empty, and no other
 * one does.
 */
class TestRuns
{
    private static final int BLOCK = 64 << 10;
    private static final int FILES = 12;
    private static final String ETAG = "etag";

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();
    private List<Path> ssds;
    private StoreConfig config;

    @BeforeEach
    void configure()
            throws IOException
    {
        ssds = List.of(Files.createDirectories(directory.resolve("ssd-0")), Files.createDirectories(directory.resolve("ssd-1")));
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(ssds.stream().map(ssd -> new SsdDirectoryConfig(ssd, new Capacity.Bytes(4 << 20))).toList());
    }

    private BlockStore open(FakeDisk disk)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, 1000);
    }

    private static void fillAll(BlockStore store)
    {
        for (int i = 0; i < FILES; i++) {
            BlockKey key = file(i).id().block(0);
            assertThat(store.bind(file(i), Optional.of(ETAG), false, "schema.table")).isTrue();
            Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, 1000, ETags.digest(ETAG)));
            fill.buffer().put(TestingBlocks.bytes(key, ETags.digest(ETAG), 1000));
            fill.commit().orElseThrow().close();
            store.ssd().drain();
        }
        assertThat(store.gauges().ssdBlocks()).isEqualTo(FILES);
    }

    private static List<RecoveryFinding> findings(BlockStore store)
    {
        return store.recovery().stream().map(RecoveryOutcome::finding).toList();
    }

    private void setFailing(Path ssd, boolean fails)
    {
        for (String name : List.of("superblock", "journal", "checkpoint-0", "checkpoint-1")) {
            disk.setFailing(ssd.resolve(name), fails);
        }
    }

    /**
     * Guards against a directory that starts empty because another one knew of a run that never came about.
     */
    @Test
    void powerCutsInAStartLoseNothing()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        try (BlockStore store = open(disk)) {
            fillAll(store);
        }
        boolean cut = true;
        int cuts = 0;
        for (int writes = 0; cut; writes++) {
            FakeDisk copy = disk.copy();
            cut = isCut(copy, writes, random);
            if (cut) {
                cuts++;
                // and a second time, at another place
                isCut(copy, random.nextInt(8), random);
            }
            try (BlockStore store = open(copy)) {
                assertThat(findings(store)).as("after %s writes", writes).doesNotContain(CHECKPOINT_OUTDATED);
                assertThat(store.gauges().ssdBlocks()).as("after %s writes", writes).isEqualTo(FILES);
            }
        }
        // both pages of two superblocks, twice, each written and synced
        assertThat(cuts).isGreaterThan(16);
    }

    /**
     * @return whether the power went while the store was opened
     */
    private boolean isCut(FakeDisk disk, int writes, Random random)
    {
        disk.turnOffAfter(writes);
        try {
            open(disk).abandon();
        }
        catch (StoreException e) {
            assertThat(disk.isOff()).as(e.getMessage()).isTrue();
        }
        boolean cut = disk.isOff();
        disk.turnOff();
        disk.turnOn(random);
        return cut;
    }

    @Test
    void aDirectoryThatMissedARunStartsEmpty()
            throws Exception
    {
        try (BlockStore store = open(disk)) {
            fillAll(store);
        }
        FakeDisk before = disk.copy();
        try (BlockStore store = open(disk)) {
            for (int i = 0; i < FILES; i++) {
                store.flushes().dropFile(file(i).id());
            }
        }
        for (Path path : before.files()) {
            if (path.startsWith(ssds.getFirst())) {
                disk.setBytes(path, before.bytes(path));
            }
        }
        try (BlockStore store = open(disk)) {
            assertThat(findings(store)).containsExactlyInAnyOrder(CHECKPOINT_OUTDATED, CLEAN_STOP);
            assertThat(store.gauges().ssdBlocks()).isZero();
        }
    }

    /**
     * Guards against a file that was dropped while a disk took nothing, and was there again after a crash and with the disk mended.
     */
    @Test
    void aDropThatADirectoryDoesNotTakeIsKnownElsewhere()
            throws Exception
    {
        BlockStore store = open(disk);
        fillAll(store);
        store.ssd().checkpoint();
        setFailing(ssds.getFirst(), true);
        for (int i = 0; i < FILES; i++) {
            store.flushes().dropFile(file(i).id());
        }
        store.abandon();
        disk.turnOff();
        disk.turnOn(new Random(1));
        setFailing(ssds.getFirst(), false);
        try (BlockStore next = open(disk)) {
            assertThat(findings(next)).contains(CHECKPOINT_OUTDATED);
            assertThat(next.gauges().ssdBlocks()).isZero();
            fillAll(next);
        }
        try (BlockStore next = open(disk)) {
            assertThat(findings(next)).containsExactly(CLEAN_STOP, CLEAN_STOP);
            assertThat(next.gauges().ssdBlocks()).isEqualTo(FILES);
        }
    }

    @Test
    void aDropThatNoDirectoryTakesIsKnownToTheStateDirectory()
            throws Exception
    {
        BlockStore store = open(disk);
        fillAll(store);
        store.ssd().checkpoint();
        ssds.forEach(ssd -> setFailing(ssd, true));
        for (int i = 0; i < FILES; i++) {
            store.flushes().dropFile(file(i).id());
        }
        store.abandon();
        ssds.forEach(ssd -> setFailing(ssd, false));
        try (BlockStore next = open(disk)) {
            assertThat(findings(next)).containsExactlyInAnyOrder(MEMORY_FILE_RECLAIMED, CHECKPOINT_OUTDATED, CHECKPOINT_OUTDATED);
            assertThat(next.gauges().ssdBlocks()).isZero();
        }
    }

    @Test
    void aDirectoryThatTakesAgainCountsAgain()
            throws Exception
    {
        try (BlockStore store = open(disk)) {
            fillAll(store);
            setFailing(ssds.getFirst(), true);
            store.flushes().dropFile(file(0).id());
            store.flushes().dropFile(TestingBlocks.file(FILES, 1000).id());
            setFailing(ssds.getFirst(), false);
            store.ssd().checkpoint();
        }
        try (BlockStore next = open(disk)) {
            assertThat(findings(next)).containsExactly(CLEAN_STOP, CLEAN_STOP);
            assertThat(next.gauges().ssdBlocks()).isEqualTo(FILES - 1);
        }
    }
}
