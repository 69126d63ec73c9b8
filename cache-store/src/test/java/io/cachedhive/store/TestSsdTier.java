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
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_CORRUPT;
import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_MISSING;
import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_OUTDATED;
import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.CRASH;
import static io.cachedhive.store.block.RecoveryFinding.FOREIGN_STORE;
import static io.cachedhive.store.block.RecoveryFinding.GEOMETRY_CHANGED;
import static io.cachedhive.store.block.RecoveryFinding.MEMORY_FILE_RECLAIMED;
import static io.cachedhive.store.block.RecoveryFinding.NEW_DIRECTORY;
import static io.cachedhive.store.block.RecoveryFinding.SLAB_MISSING;
import static io.cachedhive.store.block.RecoveryFinding.SLAB_SIZE_CHANGED;
import static io.cachedhive.store.block.RecoveryFinding.SUPERBLOCK_CORRUPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("slow")
class TestSsdTier
{
    private static final int BLOCK = 64 << 10;
    private static final long CAPACITY = 12 << 20;
    private static final String TABLE = "schema.table";
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);

    @TempDir
    private Path directory;

    private Path ssd;
    private FakeDisk disk;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ssd = Files.createDirectories(directory.resolve("ssd"));
        disk = new FakeDisk();
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY))));
    }

    private BlockStore open()
            throws StoreException
    {
        return open(disk);
    }

    private BlockStore open(Disk disk)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private static boolean fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, TABLE)).isTrue();
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETAG));
        fill.buffer().put(TestingBlocks.bytes(key, ETAG, length));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
        return store.isOnSsd(key);
    }

    /**
     * @return whether the block is there; its bytes are right then
     */
    private static boolean isThere(BlockStore store, FileVersion file, int block)
    {
        BlockKey key = file.id().block(block);
        Optional<PinnedBlock> loaded = store.load(key);
        loaded.ifPresent(pinned -> {
            try (pinned) {
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, file.blockLength(block, BLOCK)));
                assertThat(pinned.etagDigest()).isEqualTo(ETAG);
            }
        });
        return loaded.isPresent();
    }

    private static int countThere(BlockStore store, FileVersion file)
    {
        int there = 0;
        for (int i = 0; i < file.blockCount(BLOCK); i++) {
            there += isThere(store, file, i) ? 1 : 0;
        }
        return there;
    }

    private static List<RecoveryFinding> findings(BlockStore store)
    {
        return store.recovery().stream().map(RecoveryOutcome::finding).toList();
    }

    @Test
    void restartsWarmAfterACleanStop()
            throws Exception
    {
        restartsWarmAfterACleanStop(disk);
    }

    @Test
    void restartsWarmOnTheMachinesDisk()
            throws Exception
    {
        restartsWarmAfterACleanStop(new LocalDisk());
    }

    private void restartsWarmAfterACleanStop(Disk disk)
            throws Exception
    {
        FileVersion large = TestingBlocks.file(1, 60L * BLOCK + 1);
        List<FileVersion> small = new ArrayList<>();
        CacheWorkerId workerId;
        try (BlockStore store = open(disk)) {
            assertThat(findings(store)).containsExactly(NEW_DIRECTORY);
            workerId = store.workerId();
            for (int i = 0; i < 61; i++) {
                assertThat(fill(store, large, i)).isTrue();
            }
            for (int length : new int[] {1, 63, 4031, 4032, 4033, 4096, 10_000, BLOCK - 64, BLOCK - 1}) {
                FileVersion file = TestingBlocks.file(100 + length, length);
                small.add(file);
                assertThat(fill(store, file, 0)).isTrue();
            }
            store.bind(TestingBlocks.file(2, 10), Optional.empty(), true, "other.table");
            assertThat(store.gauges().ssdBlocks()).isEqualTo(70);
            store.checkInvariants();
        }
        for (int run = 0; run < 3; run++) {
            try (BlockStore store = open(disk)) {
                assertThat(findings(store)).containsExactly(CLEAN_STOP);
                assertThat(store.workerId()).isEqualTo(workerId);
                assertThat(store.gauges().restoredBlocks()).isEqualTo(70);
                assertThat(store.gauges().ramBlocks()).isZero();
                assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(CAPACITY);
                assertThat(store.file(large.id())).contains(new FileMetadata(large, Optional.of(ETAG_TEXT), false, TABLE));
                assertThat(store.file(TestingBlocks.file(2, 10).id())).describedAs("never had a block").isEmpty();
                assertThat(countThere(store, large)).isEqualTo(61);
                for (FileVersion file : small) {
                    assertThat(isThere(store, file, 0)).isTrue();
                }
                assertThat(store.gauges().corruptBlocks()).isZero();
                store.checkInvariants();
            }
        }
    }

    @Test
    void blockFromSsdIsShownInShared()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, BLOCK);
        BlockKey key = file.id().block(0);
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        try (BlockStore store = open()) {
            assertThat(store.pin(key)).isEmpty();
            assertThat(store.isOnSsd(key)).isTrue();
            try (PinnedBlock pinned = store.load(key).orElseThrow()) {
                assertThat(pinned.tier()).isEqualTo(BlockOrigin.SSD);
            }
            try (PinnedBlock pinned = store.pin(key).orElseThrow()) {
                assertThat(pinned.tier()).isEqualTo(BlockOrigin.RAM);
            }
            // its place on SSD stays
            assertThat(store.isOnSsd(key)).isTrue();
        }
    }

    @Test
    void crashLosesNothingThatWasJournaled()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 100L * BLOCK);
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        for (int run = 0; run < 5; run++) {
            BlockStore store = open();
            for (int i = 0; i < 15; i++) {
                assertThat(fill(store, file, 1 + run * 15 + i)).isTrue();
                if (run == 3 && i == 7) {
                    store.ssd().checkpoint();
                }
            }
            store.ssd().flush();
            disk.turnOff();
            store.abandon();
            disk.turnOn(new Random(run));
            try (BlockStore next = open()) {
                assertThat(findings(next)).contains(CRASH, MEMORY_FILE_RECLAIMED);
                assertThat(next.gauges().restoredBlocks()).isEqualTo(1 + (run + 1) * 15);
                // slabs are never synced: what the power took is found out when it is read
                countThere(next, file);
                next.checkInvariants();
                for (int i = 0; i < 1 + (run + 1) * 15; i++) {
                    fill(next, file, i);
                }
            }
        }
    }

    @Test
    void killedProcessLosesNothing()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 40L * BLOCK);
        BlockStore store = open();
        for (int i = 0; i < 40; i++) {
            fill(store, file, i);
        }
        store.confirm(file.id());
        store.ssd().flush();
        store.abandon();
        try (BlockStore next = open()) {
            assertThat(findings(next)).contains(CHECKPOINT_MISSING);
            assertThat(countThere(next, file)).isEqualTo(40);
        }
    }

    @Test
    void droppedFileStaysGone()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 20L * BLOCK);
        FileVersion other = TestingBlocks.file(2, 5L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 20; i++) {
                fill(store, file, i);
            }
            for (int i = 0; i < 5; i++) {
                fill(store, other, i);
            }
        }
        BlockStore store = open();
        store.flushes().dropFile(file.id());
        // power goes at the moment that the call returns
        disk.turnOff();
        assertThat(countThere(store, file)).isZero();
        store.abandon();
        disk.turnOn(new Random(7));
        try (BlockStore next = open()) {
            assertThat(findings(next)).contains(CRASH);
            assertThat(next.file(file.id())).isEmpty();
            assertThat(countThere(next, file)).isZero();
            assertThat(countThere(next, other)).isEqualTo(5);
            next.checkInvariants();

            // the same name with another ETag: nothing of the old one
            assertThat(next.bind(file, Optional.of("new"), false, TABLE)).isTrue();
            for (int i = 0; i < 20; i++) {
                assertThat(next.load(file.id().block(i))).isEmpty();
            }
        }
    }

    @Test
    void dropWithoutAJournalVoidsTheDirectory()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 3L * BLOCK);
        BlockStore store = open();
        for (int i = 0; i < 3; i++) {
            fill(store, file, i);
        }
        store.ssd().checkpoint();
        disk.setFailing(ssd.resolve("journal"), true);
        disk.setFailing(ssd.resolve("checkpoint-0"), true);
        store.flushes().dropFile(file.id());
        assertThat(store.problem()).isPresent().get().asString().contains("takes no blocks since a failure").contains("repair the disk");
        disk.turnOff();
        store.abandon();
        disk.turnOn(new Random(1));
        disk.setFailing(ssd.resolve("journal"), false);
        disk.setFailing(ssd.resolve("checkpoint-0"), false);
        try (BlockStore next = open()) {
            assertThat(findings(next)).contains(CHECKPOINT_OUTDATED);
            assertThat(countThere(next, file)).isZero();
            assertThat(fill(next, file, 0)).isTrue();
        }
        try (BlockStore next = open()) {
            assertThat(findings(next)).contains(CLEAN_STOP);
            assertThat(countThere(next, file)).isEqualTo(1);
        }
    }

    @Test
    void capacityIsNeverExceededAndFilesAreConstant()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        Set<String> names = new HashSet<>();
        try (BlockStore store = open(new LocalDisk())) {
            long written = 0;
            for (int i = 0; written < 5 * CAPACITY; i++) {
                int length = 1 + (int) (BLOCK * Math.pow(random.nextDouble(), 4));
                fill(store, TestingBlocks.file(i, length), 0);
                written += Math.max(length, 4096);
                if (i % 500 == 0) {
                    store.checkInvariants();
                    assertThat(allocatedBytes(ssd)).isLessThanOrEqualTo(CAPACITY);
                    Set<String> now = names(ssd);
                    assertThat(names.isEmpty() || names.equals(now)).describedAs("%s, then %s", names, now).isTrue();
                    names = now;
                }
            }
            assertThat(store.gauges().ssdEvictions()).describedAs(() -> store.gauges().toString()).isPositive();
            assertThat(store.gauges().corruptBlocks()).isZero();
        }
        assertThat(allocatedBytes(ssd)).isLessThanOrEqualTo(CAPACITY);
        assertThat(names(ssd)).isEqualTo(names);
        try (BlockStore store = open(new LocalDisk())) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
            assertThat(store.gauges().restoredBlocks()).isPositive();
            store.checkInvariants();
        }
    }

    private static Set<String> names(Path directory)
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return new HashSet<>(files.map(file -> file.getFileName().toString()).toList());
        }
    }

    private static long allocatedBytes(Path directory)
            throws Exception
    {
        Process process = new ProcessBuilder("du", "-s", "-B1", directory.toString()).start();
        return Long.parseLong(new String(process.getInputStream().readAllBytes()).split("\t")[0]);
    }

    @Test
    void smallFilesWasteLittle()
            throws Exception
    {
        try (BlockStore store = open()) {
            for (int i = 0; i < 400; i++) {
                fill(store, TestingBlocks.file(i, 50 << 10), 0);
            }
            // of what is left for slabs
            assertThat(store.gauges().ssdUsedBytes()).isGreaterThan(3 * (CAPACITY - (1 << 20)) / 4);
            assertThat(store.gauges().ramUsedBytes()).isGreaterThan(2 * (4 << 20) / 5 / 2);
        }
    }

    @Test
    void usedBlocksOutliveAScan()
            throws Exception
    {
        try (BlockStore store = open()) {
            FileVersion hot = TestingBlocks.file(1, 10L * BLOCK);
            FileVersion scan = TestingBlocks.file(2, 600L * BLOCK);
            for (int i = 0; i < 10; i++) {
                fill(store, hot, i);
            }
            for (int i = 0; i < 600; i++) {
                fill(store, scan, i);
                for (int j = 0; j < 10 && i % 20 == 0; j++) {
                    BlockKey key = hot.id().block(j);
                    store.recordHit(key.high(), key.low());
                    store.drainHits();
                }
            }
            for (int j = 0; j < 10; j++) {
                assertThat(store.isOnSsd(hot.id().block(j))).isTrue();
            }
            assertThat(store.gauges().ssdEvictions()).isPositive();
        }
    }

    @Test
    void readersOfOneBlockShareOneRead()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, BLOCK);
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        try (BlockStore store = open(); ExecutorService executor = Executors.newCachedThreadPool()) {
            CyclicBarrier barrier = new CyclicBarrier(4);
            List<Future<Long>> generations = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                generations.add(executor.submit(() -> {
                    barrier.await();
                    try (PinnedBlock pinned = store.load(file.id().block(0)).orElseThrow()) {
                        assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(file.id().block(0), ETAG, BLOCK));
                        return pinned.generation();
                    }
                }));
            }
            Set<Long> distinct = new HashSet<>();
            for (Future<Long> generation : generations) {
                distinct.add(generation.get());
            }
            assertThat(distinct).hasSize(1);
            assertThat(store.gauges().ramBlocks()).isEqualTo(1);
        }
    }

    @Test
    void everyDamageHasAName()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 10; i++) {
                fill(store, file, i);
            }
        }
        FakeDisk good = disk;
        Path checkpoint = good.bytes(ssd.resolve("checkpoint-1"))[0] != 0 ? ssd.resolve("checkpoint-1") : ssd.resolve("checkpoint-0");

        // a flipped byte here and there in everything that is not a slab, and a cut
        Random random = new Random(3);
        for (Path path : List.of(ssd.resolve("superblock"), checkpoint, ssd.resolve("journal"))) {
            byte[] bytes = good.bytes(path);
            int used = Math.min(bytes.length, 16 << 10);
            for (int i = 0; i < 60; i++) {
                byte[] damaged = bytes.clone();
                int position = random.nextInt(used);
                damaged[position] ^= (byte) (1 << random.nextInt(8));
                assertDamage(good, path, damaged, file);
            }
            for (int length : new int[] {0, 1, 4095, 4096, 5000, bytes.length / 2}) {
                assertDamage(good, path, Arrays.copyOf(bytes, length), file);
            }
            assertDamage(good, path, new byte[bytes.length], file);
        }
    }

    private void assertDamage(FakeDisk good, Path path, byte[] damaged, FileVersion file)
            throws Exception
    {
        disk = copy(good);
        disk.setBytes(path, damaged);
        try (BlockStore store = open()) {
            assertThat(store.recovery()).isNotEmpty();
            int there = countThere(store, file);
            if (there < 10) {
                assertThat(store.recovery()).describedAs("%s of %s bytes", path, damaged.length).anyMatch(outcome -> outcome.finding().isDoubt());
            }
            assertThat(fill(store, file, 0)).isTrue();
            store.checkInvariants();
        }
        // whatever was decided, the next start is a clean one
        try (BlockStore store = open()) {
            assertThat(findings(store)).contains(CLEAN_STOP);
            assertThat(isThere(store, file, 0)).isTrue();
        }
    }

    private static FakeDisk copy(FakeDisk source)
    {
        FakeDisk copy = new FakeDisk();
        for (Path path : source.files()) {
            copy.setBytes(path, source.bytes(path));
        }
        return copy;
    }

    @Test
    void damagedSlabsGiveNoWrongByte()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 30L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 30; i++) {
                fill(store, file, i);
            }
        }
        // one byte in every 16 KiB
        Random random = new Random(5);
        for (Path path : disk.files()) {
            if (path.getFileName().toString().startsWith("slab-")) {
                byte[] bytes = disk.bytes(path);
                for (int position = 0; position < bytes.length; position += 16 << 10) {
                    bytes[position + random.nextInt(16 << 10)] ^= 1;
                }
                disk.setBytes(path, bytes);
            }
        }
        try (BlockStore store = open()) {
            assertThat(store.gauges().restoredBlocks()).isEqualTo(30);
            assertThat(countThere(store, file)).isZero();
            assertThat(store.gauges().corruptBlocks()).isEqualTo(30);
            assertThat(store.gauges().ssdBlocks()).isZero();
            store.checkInvariants();
            assertThat(fill(store, file, 3)).isTrue();
        }
    }

    @Test
    void exchangedSlabsGiveNoWrongByte()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 30L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 30; i++) {
                fill(store, file, i);
            }
        }
        byte[] first = disk.bytes(ssd.resolve("slab-00000"));
        disk.setBytes(ssd.resolve("slab-00000"), disk.bytes(ssd.resolve("slab-00001")));
        disk.setBytes(ssd.resolve("slab-00001"), first);
        try (BlockStore store = open()) {
            assertThat(countThere(store, file)).isLessThan(30);
            assertThat(store.gauges().corruptBlocks()).isPositive();
        }
    }

    @Test
    void outdatedIndexGivesNoWrongByte()
            throws Exception
    {
        // blocks of one file, of one length: only the extent itself can tell them apart
        FileVersion file = TestingBlocks.file(1, 500L * BLOCK);
        BlockStore store = open();
        for (int i = 0; i < 150; i++) {
            fill(store, file, i);
        }
        store.ssd().checkpoint();
        List<Path> indexFiles = disk.files().stream()
                .filter(path -> path.getParent().equals(ssd) && !path.getFileName().toString().startsWith("slab-"))
                .toList();
        List<byte[]> outdated = indexFiles.stream().map(disk::bytes).toList();
        for (int i = 150; i < 220; i++) {
            fill(store, file, i);
        }
        assertThat(store.gauges().ssdEvictions()).isPositive();
        store.abandon();
        for (int i = 0; i < indexFiles.size(); i++) {
            disk.setBytes(indexFiles.get(i), outdated.get(i));
        }
        try (BlockStore next = open()) {
            assertThat(next.gauges().restoredBlocks()).isEqualTo(150);
            assertThat(countThere(next, file)).isBetween(1, 149);
            assertThat(next.gauges().corruptBlocks()).isPositive();
            next.checkInvariants();
        }
    }

    @Test
    void missingAndCutSlabsCostTheirBlocksOnly()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 30L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 30; i++) {
                fill(store, file, i);
            }
        }
        disk.delete(ssd.resolve("slab-00000"));
        byte[] second = disk.bytes(ssd.resolve("slab-00001"));
        disk.setBytes(ssd.resolve("slab-00001"), Arrays.copyOf(second, second.length / 2));
        try (BlockStore store = open()) {
            assertThat(findings(store)).contains(SLAB_MISSING, SLAB_SIZE_CHANGED, CLEAN_STOP);
            int there = countThere(store, file);
            assertThat(there).isBetween(1, 29);
            assertThat(store.gauges().corruptBlocks()).isZero();
            for (int i = 0; i < 30; i++) {
                fill(store, file, i);
            }
            assertThat(countThere(store, file)).isEqualTo(30);
            store.checkInvariants();
        }
    }

    @Test
    void damagedCheckpointIsReplacedByTheOneBefore()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 30L * BLOCK);
        BlockStore store = open();
        for (int i = 0; i < 30; i++) {
            fill(store, file, i);
            if (i % 10 == 9) {
                store.ssd().checkpoint();
            }
        }
        store.flushes().dropFile(TestingBlocks.file(9, 1).id());
        store.abandon();
        Path newest = ssd.resolve("checkpoint-1");
        byte[] bytes = disk.bytes(newest);
        bytes[5000] ^= 1;
        disk.setBytes(newest, bytes);
        try (BlockStore next = open()) {
            assertThat(findings(next)).contains(CHECKPOINT_CORRUPT, CRASH);
            assertThat(countThere(next, file)).isEqualTo(30);
        }
        try (BlockStore next = open()) {
            assertThat(findings(next)).containsExactly(CLEAN_STOP);
            assertThat(countThere(next, file)).isEqualTo(30);
        }
    }

    @Test
    void otherGeometryStartsEmpty()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(2 * CAPACITY))));
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(GEOMETRY_CHANGED);
            assertThat(countThere(store, file)).isZero();
            fill(store, file, 1);
        }
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY))));
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(GEOMETRY_CHANGED);
            assertThat(countThere(store, file)).isZero();
        }
    }

    @Test
    void directoryThatMissedARunStartsEmpty()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        StoreConfig withSsd = config;
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        // in this run the file could be dropped without the directory hearing of it
        config = config.withSsdDirectories(List.of());
        try (BlockStore store = open()) {
            assertThat(store.gauges().ssdCapacityBytes()).isZero();
            assertThat(countThere(store, file)).isZero();
        }
        config = withSsd;
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CHECKPOINT_OUTDATED);
            assertThat(countThere(store, file)).isZero();
        }
    }

    @Test
    void workerIdIsTheSuperblocks()
            throws Exception
    {
        CacheWorkerId workerId;
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = open()) {
            workerId = store.workerId();
            fill(store, file, 0);
        }
        // the state directory is lost, as with a new container
        disk.delete(directory.resolve("state/worker-id"));
        disk.delete(directory.resolve("state/run"));
        try (BlockStore store = open()) {
            assertThat(store.workerId()).isEqualTo(workerId);
            assertThat(countThere(store, file)).isEqualTo(1);
        }
        // the superblock is lost: the state directory knows
        disk.setBytes(ssd.resolve("superblock"), new byte[8192]);
        try (BlockStore store = open()) {
            assertThat(store.workerId()).isEqualTo(workerId);
            assertThat(findings(store)).containsExactly(SUPERBLOCK_CORRUPT);
        }
    }

    @Test
    void severalDirectories()
            throws Exception
    {
        Path second = Files.createDirectories(directory.resolve("ssd-2"));
        StoreConfig one = config;
        config = config.withSsdDirectories(List.of(
                new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY)),
                new SsdDirectoryConfig(second, new Capacity.Bytes(2 * CAPACITY))));
        FileVersion file = TestingBlocks.file(1, 90L * BLOCK);
        try (BlockStore store = open()) {
            for (int i = 0; i < 90; i++) {
                assertThat(fill(store, file, i)).isTrue();
            }
            assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(3 * CAPACITY);
        }
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP, CLEAN_STOP);
            assertThat(countThere(store, file)).isEqualTo(90);
        }
        // without the second: only its blocks are missing
        config = one;
        try (BlockStore store = open()) {
            assertThat(countThere(store, file)).isBetween(15, 45);
        }
        // another worker's directory
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(second, new Capacity.Bytes(2 * CAPACITY))));
        disk.delete(directory.resolve("state/worker-id"));
        CacheWorkerId same;
        try (BlockStore store = open()) {
            same = store.workerId();
        }
        Path third = Files.createDirectories(directory.resolve("ssd-3"));
        config = StoreConfig.ramOnly(directory.resolve("state-2"))
                .withBlockSize(BLOCK)
                .withRam(config.ramDirectory(), 4 << 20)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(third, new Capacity.Bytes(CAPACITY))));
        try (BlockStore store = open()) {
            assertThat(store.workerId()).isNotEqualTo(same);
            fill(store, file, 1);
        }
        config = config.withSsdDirectories(List.of(
                new SsdDirectoryConfig(third, new Capacity.Bytes(CAPACITY)),
                new SsdDirectoryConfig(second, new Capacity.Bytes(2 * CAPACITY))));
        try (BlockStore store = open()) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP, FOREIGN_STORE);
            assertThat(store.workerId()).isNotEqualTo(same);
            assertThat(isThere(store, file, 1)).isTrue();
        }
    }

    @Test
    void refusesWhatCannotBe()
            throws Exception
    {
        Path missing = ssd.resolve("missing");
        assertRefused(missing, new Capacity.Bytes(CAPACITY), "SSD directory %s does not exist: create it, or remove it from cache.ssd.directories".formatted(missing));
        Path file = Files.createFile(directory.resolve("file"));
        assertRefused(file, new Capacity.Bytes(CAPACITY), "%s in cache.ssd.directories is not a directory: name a directory".formatted(file));
        assertRefused(ssd, new Capacity.Bytes(1 << 20), "the capacity of SSD directory %s cannot be used: 1MB are too few for blocks of 64kB: at least ".formatted(ssd));
        disk.setSizeBytes(100 << 20);
        assertRefused(ssd, new Capacity.Bytes(101 << 20), "SSD directory %s needs 101MB, but its disk has 100MB: reduce its share in ".formatted(ssd));
        disk.setBytes(directory.resolve("somebody-elses"), new byte[60 << 20]);
        assertRefused(ssd, new Capacity.Bytes(50 << 20), "SSD directory %s needs 50MB, but its disk has 40MB available".formatted(ssd));

        config = config.withSsdDirectories(List.of(
                new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY)),
                new SsdDirectoryConfig(ssd.resolve("../ssd"), new Capacity.Bytes(CAPACITY))));
        assertThatThrownBy(this::open).isInstanceOf(StoreException.class).hasMessageContaining("is listed twice");
        if (!System.getProperty("user.name").equals("root")) {
            Path readOnly = Files.createDirectory(directory.resolve("read-only"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
            assertRefused(readOnly, new Capacity.Bytes(CAPACITY), "SSD directory %s is not writable".formatted(readOnly));
        }
        // nothing was left locked
        disk.setSizeBytes(1L << 40);
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY))));
        open().close();
    }

    private void assertRefused(Path path, Capacity capacity, String message)
    {
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(path, capacity)));
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void secondWorkerOnADirectoryIsRefused()
            throws Exception
    {
        LocalDisk local = new LocalDisk();
        try (BlockStore store = open(local)) {
            config = StoreConfig.ramOnly(directory.resolve("other-state"))
                    .withBlockSize(BLOCK)
                    .withRam(config.ramDirectory(), 4 << 20)
                    .withSsdDirectories(config.ssdDirectories());
            assertThatThrownBy(() -> open(local))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("SSD directory %s is in use by another cache worker: stop it, or name another directory in cache.ssd.directories".formatted(ssd));
            assertThat(fill(store, TestingBlocks.file(1, 10), 0)).isTrue();
        }
    }

    @Test
    void percentageOfTheDisk()
            throws Exception
    {
        disk.setSizeBytes(100 << 20);
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.DiskPercentage(20))));
        try (BlockStore store = open()) {
            assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(20 << 20);
        }
    }

    @Test
    void percentageOfADiskWhoseSizeMoves()
            throws Exception
    {
        config = config.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.DiskPercentage(50))));
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        disk.setSizeBytes(100 << 20);
        try (BlockStore store = open()) {
            assertThat(fill(store, file, 0)).isTrue();
        }
        for (long megabytes : List.of(104, 97, 100)) {
            disk.setSizeBytes(megabytes << 20);
            try (BlockStore store = open()) {
                assertThat(isThere(store, file, 0)).as("a disk of %s MiB", megabytes).isTrue();
                assertThat(store.gauges().ssdCapacityBytes()).isBetween(49L << 20, 50L << 20);
            }
        }
        // another disk, or another partition
        disk.setSizeBytes(150 << 20);
        try (BlockStore store = open()) {
            assertThat(isThere(store, file, 0)).isFalse();
            assertThat(store.gauges().ssdCapacityBytes()).isEqualTo(75 << 20);
        }
    }

    @Test
    void fileSystemWithoutDirectAccess()
            throws Exception
    {
        disk.setDirect(false);
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = open()) {
            fill(store, file, 0);
        }
        try (BlockStore store = open()) {
            assertThat(isThere(store, file, 0)).isTrue();
        }
    }

    @Test
    void failingSlabTakesNoBlocksUntilItIsMended()
            throws Exception
    {
        ManualClock clock = new ManualClock();
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock))) {
            assertThat(fill(store, file, 0)).isTrue();
            for (Path path : disk.files()) {
                if (path.getFileName().toString().startsWith("slab-")) {
                    disk.setFailing(path, true);
                }
            }
            assertThat(fill(store, file, 1)).isFalse();
            assertThat(store.problem()).isPresent().get().asString()
                    .startsWith("SSD directory %s takes no blocks since a failure (write of ".formatted(ssd))
                    .endsWith("repair the disk");
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 1L);
            // the RAM tier goes on, and what is on SSD can be read
            assertThat(isThere(store, file, 1)).isTrue();
            assertThat(store.isOnSsd(file.id().block(0))).isTrue();
            for (Path path : disk.files()) {
                disk.setFailing(path, false);
            }
            assertThat(fill(store, file, 2)).describedAs("not yet").isFalse();
            clock.advance(Duration.ofSeconds(11));
            assertThat(fill(store, file, 3)).isTrue();
            assertThat(store.problem()).isEmpty();
        }
    }

    @Test
    void oneBadPlaceCostsItsBlockOnly()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 40L * BLOCK);
        fillAndRestart(file, new FastClock(), store -> {
            Path slab = slabs().getFirst();
            disk.setUnreadable(slab, true);
            int lost = 0;
            // others are read in between, so that failures are not in a row
            for (int i = 0; i < 40 && lost < 2; i++) {
                lost += isThere(store, file, i) ? 0 : 1;
            }
            assertThat(lost).isPositive();
            assertThat(store.problem()).isEmpty();
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, (long) lost);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(40 - lost);
        });
    }

    @Test
    void failingDiskKeepsItsBlocksUntilItIsMended()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 40L * BLOCK);
        HaltedClock clock = new HaltedClock();
        fillAndRestart(file, clock, store -> {
            slabs().forEach(slab -> disk.setUnreadable(slab, true));
            assertThat(countThere(store, file)).isZero();
            assertThat(store.problem()).isPresent().get().asString()
                    .startsWith("SSD directory %s is not used since a failure (read of ".formatted(ssd))
                    .endsWith("repair the disk");
            // three reads in a row; nobody tried more
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 3L);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(37);
            assertThat(store.isOnSsd(file.id().block(39))).isFalse();
            assertThat(fill(store, file, 39)).describedAs("kept in RAM only").isFalse();
            assertThat(isThere(store, file, 39)).isTrue();

            slabs().forEach(slab -> disk.setUnreadable(slab, false));
            clock.run();
            // it is tried again in the background, after 10 s of a clock that runs a hundred times as fast
            Await.untilAsserted("the directory is used again", () -> assertThat(store.problem()).isEmpty());
            assertThat(store.gauges().ssdBlocks()).isEqualTo(37);
            assertThat(countThere(store, file)).isEqualTo(37);
            store.checkInvariants();
        });
    }

    /**
     * Stands still at first, so that the directory is not tried again, and then runs fast, so that frames need not rest long.
     */
    private static final class HaltedClock
            implements StoreClock
    {
        private final StoreClock fast = new FastClock();
        private final long haltedNanos = fast.nanoTime();
        private volatile boolean running;

        void run()
        {
            running = true;
        }

        @Override
        public long currentTimeMillis()
        {
            return fast.currentTimeMillis();
        }

        @Override
        public long nanoTime()
        {
            return running ? fast.nanoTime() : haltedNanos;
        }

        @Override
        public long stopwatchNanos()
        {
            return fast.stopwatchNanos();
        }
    }

    private interface StoreTest
    {
        void run(BlockStore store)
                throws Exception;
    }

    /**
     * @param clock after the restart
     */
    private void fillAndRestart(FileVersion file, StoreClock clock, StoreTest test)
            throws Exception
    {
        try (BlockStore store = open()) {
            for (int i = 0; i < file.blockCount(BLOCK); i++) {
                assertThat(fill(store, file, i)).isTrue();
            }
        }
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock))) {
            test.run(store);
        }
    }

    private List<Path> slabs()
    {
        return disk.files().stream().filter(path -> path.getFileName().toString().startsWith("slab-")).toList();
    }

    @Test
    void failureOfTheJournalIsCountedOnce()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        ManualClock clock = new ManualClock();
        StoreEnvironment environment = StoreEnvironment.system().withDisk(disk).withClock(clock);
        try (BlockStore store = BlockStore.open(config, environment)) {
            fill(store, file, 0);
            disk.setFailing(ssd.resolve("journal"), true);
            assertThat(fill(store, file, 1)).isTrue();
            for (int i = 0; i < 10; i++) {
                store.ssd().flush();
            }
            assertThat(store.problem()).isPresent().get().asString().contains("(write of %s failed: ".formatted(ssd.resolve("journal")));
            assertThat(store.gauges().ssdErrors().get(SsdErrorCause.IO_ERROR)).isBetween(1L, 3L);
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.OTHER, 0L);
            disk.setFailing(ssd.resolve("journal"), false);
            clock.advance(Duration.ofSeconds(11));
            // without another block: the checkpoint that begins the journal anew is tried again and again
            Await.untilAsserted("the directory is used again", () -> assertThat(store.problem()).isEmpty());
            assertThat(fill(store, file, 2)).isTrue();
        }
        try (BlockStore store = BlockStore.open(config, environment)) {
            assertThat(countThere(store, file)).isEqualTo(3);
        }
    }
}
