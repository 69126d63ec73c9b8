package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_OUTDATED;
import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.NEW_DIRECTORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A store that is opened while one of its directories cannot be used: it does without, says so, and takes the directory when it is mended.
 */
class TestAbsentDirectories
{
    private static final int BLOCK = 64 << 10;
    private static final long CAPACITY = 16 << 20;
    private static final int BLOCKS = 60;
    private static final Optional<String> ETAG_TEXT = Optional.of("\"1\"");
    private static final long ETAG = ETags.digest(ETAG_TEXT.orElseThrow());

    @TempDir
    private Path directory;

    private Path well;
    private Path ill;
    private FakeDisk disk;
    private StoreConfig config;
    private final FileVersion file = TestingBlocks.file(1, (long) BLOCKS * BLOCK);

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        well = Files.createDirectories(directory.resolve("well"));
        ill = Files.createDirectories(directory.resolve("ill"));
        disk = new FakeDisk();
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ill, new Capacity.Bytes(CAPACITY)), new SsdDirectoryConfig(well, new Capacity.Bytes(CAPACITY))));
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private void fill(BlockStore store)
    {
        assertThat(store.bind(file, ETAG_TEXT, false, "schema.table")).isTrue();
        for (int block = 0; block < BLOCKS; block++) {
            BlockKey key = file.id().block(block);
            if (store.isOnSsd(key)) {
                continue;
            }
            Optional<Fill> fill = Optional.empty();
            for (long deadline = System.nanoTime() + 10_000_000_000L; fill.isEmpty() && System.nanoTime() < deadline; LockSupport.parkNanos(100_000)) {
                fill = store.beginFill(key, BLOCK, ETAG);
            }
            if (fill.isPresent()) {
                fill.get().buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
                fill.get().commit().orElseThrow().close();
            }
            store.ssd().drain();
        }
    }

    private int countThere(BlockStore store)
    {
        int there = 0;
        for (int block = 0; block < BLOCKS; block++) {
            BlockKey key = file.id().block(block);
            Optional<PinnedBlock> loaded = store.load(key);
            if (loaded.isPresent()) {
                try (PinnedBlock pinned = loaded.get()) {
                    assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
                }
                there++;
            }
        }
        return there;
    }

    private static List<RecoveryFinding> findings(BlockStore store)
    {
        return store.recovery().stream().map(RecoveryOutcome::finding).toList();
    }

    private CacheWorkerId firstRun()
            throws StoreException
    {
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(NEW_DIRECTORY, NEW_DIRECTORY);
            assertThat(store.gauges().ssdDirectoriesOffline()).isZero();
            fill(store);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(BLOCKS);
            return store.workerId();
        }
    }

    @Test
    void startsWithoutADirectoryWhoseSuperblockCannotBeRead()
            throws Exception
    {
        CacheWorkerId workerId = firstRun();
        disk.setUnreadable(ill.resolve("superblock"), true);
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
            assertThat(store.workerId()).isEqualTo(workerId);
            assertThat(store.problem()).isPresent().get().asString()
                    .startsWith("SSD directory %s is not used since the start (read of ".formatted(ill))
                    .endsWith("retrying every 10 s: repair the disk");
            assertThat(store.gauges().ssdErrors().get(SsdErrorCause.IO_ERROR)).isPositive();
            assertThat(store.gauges().ssdDirectoriesOffline()).isEqualTo(1);
            assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(CAPACITY);
            long restored = store.gauges().restoredBlocks();
            assertThat(restored).isBetween(1L, BLOCKS - 1L);
            assertThat(countThere(store)).isEqualTo((int) restored);

            long tries = store.gauges().ssdErrors().get(SsdErrorCause.IO_ERROR);
            Await.until("it is tried again", () -> store.gauges().ssdErrors().get(SsdErrorCause.IO_ERROR) > tries);
            disk.setUnreadable(ill.resolve("superblock"), false);
            Await.until("it is used", () -> store.problem().isEmpty());
            assertThat(store.gauges().ssdDirectoriesOffline()).isZero();
            assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(2 * CAPACITY);
            assertThat(store.gauges().ssdErrors().get(SsdErrorCause.IO_ERROR)).as("what happened stays counted").isPositive();
            // it missed what was dropped meanwhile: nothing of before is there
            assertThat(store.gauges().ssdBlocks()).isEqualTo(restored);
            fill(store);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(BLOCKS);
            assertThat(countThere(store)).isEqualTo(BLOCKS);
            store.checkInvariants();
        }
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP, CLEAN_STOP);
            assertThat(countThere(store)).isEqualTo(BLOCKS);
            store.checkInvariants();
        }
    }

    @Test
    void droppedBlocksDoNotComeBackWithTheirDirectory()
            throws Exception
    {
        firstRun();
        disk.setUnreadable(ill, true);
        try (BlockStore store = open()) {
            store.flushes().dropFile(file.id());
            disk.setUnreadable(ill, false);
            Await.until("it is used", () -> store.problem().isEmpty());
            assertThat(countThere(store)).isZero();
        }
        try (BlockStore store = open()) {
            assertThat(countThere(store)).isZero();
        }
    }

    @Test
    void directoryThatIsOutForAWholeRunIsEmptyAfterIt()
            throws Exception
    {
        firstRun();
        disk.setUnreadable(ill, true);
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
        }
        disk.setUnreadable(ill, false);
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CHECKPOINT_OUTDATED, CLEAN_STOP);
        }
    }

    @Test
    void failureInTheMiddleOfTheRecoveryLeavesNothingBehind()
            throws Exception
    {
        firstRun();
        // read after the files of the checkpoint were taken over
        disk.setFailing(ill.resolve("superblock"), true);
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
            assertThat(store.problem()).isPresent().get().asString().contains(ill.toString(), "write of ");
            int there = countThere(store);
            assertThat(there).isBetween(1, BLOCKS - 1);
            store.flushes().dropFile(file.id());
            assertThat(store.file(file.id())).as("held by nobody").isEmpty();
            disk.setFailing(ill.resolve("superblock"), false);
            Await.until("it is used", () -> store.problem().isEmpty());
            assertThat(countThere(store)).isZero();
            fill(store);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(BLOCKS);
            store.checkInvariants();
        }
    }

    @Test
    void startsInRamOnlyWhenAllDirectoriesAreOut()
            throws Exception
    {
        CacheWorkerId workerId = firstRun();
        disk.setUnreadable(ill, true);
        disk.setUnreadable(well, true);
        try (BlockStore store = open()) {
            assertThat(store.workerId()).isEqualTo(workerId);
            assertThat(store.gauges().ssdDirectoriesOffline()).isEqualTo(2);
            assertThat(store.gauges().ssdCapacityBytes()).isZero();
            fill(store);
            assertThat(store.gauges().ramBlocks()).isPositive();
            disk.setUnreadable(well, false);
            Await.until("one is used", () -> store.gauges().ssdDirectoriesOffline() == 1);
            assertThat(store.problem()).isPresent().get().asString().contains(ill.toString());
            fill(store);
            assertThat(store.gauges().ssdBlocks()).isPositive();
        }
    }

    @Test
    void missingDirectoryIsWaitedForIfItWasThereBefore()
            throws Exception
    {
        Files.delete(ill);
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.class)
                .hasMessage("SSD directory %s does not exist: create it, or remove it from cache.ssd.directories".formatted(ill));
        Files.createDirectory(ill);
        disk.setMountPoint(ill, directory);
        firstRun();

        Files.delete(ill);
        try (BlockStore store = open()) {
            assertThat(store.problem()).isPresent().get().asString()
                    .startsWith("SSD directory %s is gone, and was on the file system at %s before; retrying every 10 s".formatted(ill, directory))
                    .endsWith("mount it, or name another in cache.ssd.directories");
            assertThat(store.gauges().ssdErrors().get(SsdErrorCause.OTHER)).isPositive();
        }
        // still known
        try (BlockStore store = open()) {
            assertThat(store.gauges().ssdDirectoriesOffline()).isEqualTo(1);
            Files.createDirectory(ill);
            Await.until("it is used", () -> store.problem().isEmpty());
        }
    }

    @Test
    void emptyMountPointIsNotFilled()
            throws Exception
    {
        disk.setMountPoint(ill, ill);
        firstRun();
        long files = disk.files().stream().filter(path -> path.startsWith(ill)).count();
        for (Path path : disk.files()) {
            if (path.startsWith(ill)) {
                disk.delete(path);
            }
        }
        disk.setMountPoint(ill, directory);
        try (BlockStore store = open()) {
            assertThat(store.problem()).contains(
                    "SSD directory %s was on the file system at %s, where none is mounted now; retrying every 10 s: mount it, or, if it is to stay, stop and remove %s"
                            .formatted(ill, ill, directory.resolve("state/ssd-mounts")));
            assertThat(disk.files()).noneMatch(path -> path.startsWith(ill));
            // a new disk
            disk.setMountPoint(ill, ill);
            Await.until("it is used", () -> store.problem().isEmpty());
            assertThat(disk.files().stream().filter(path -> path.startsWith(ill)).count()).isEqualTo(files);
        }
    }

    @Test
    void noRoomForWhatIsMissingIsTroubleOnlyIfItHadRoomBefore()
            throws Exception
    {
        firstRun();
        Path slab = disk.files().stream().filter(path -> path.startsWith(ill) && path.getFileName().toString().startsWith("slab-")).findFirst().orElseThrow();
        disk.delete(slab);
        long used = 2L << 40;
        disk.setSizeBytes(used);
        disk.setSizeBytes(used - disk.usableBytes(ill) + (1 << 10));
        try (BlockStore store = open()) {
            assertThat(store.problem()).isPresent().get().asString().contains(ill.toString(), "its disk lacks ", "free disk space there");
            assertThat(store.gauges().ssdErrors().get(SsdErrorCause.NO_SPACE)).isPositive();
        }
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ill, new Capacity.Bytes(2 * CAPACITY)), new SsdDirectoryConfig(well, new Capacity.Bytes(CAPACITY))));
        assertThatThrownBy(this::open).isInstanceOf(StoreException.class).hasMessageContaining("reduce its");
    }
}
