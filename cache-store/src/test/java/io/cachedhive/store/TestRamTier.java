package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The store without an SSD tier.
 */
class TestRamTier
{
    private static final int BLOCK = 64 << 10;
    private static final long ETAG = ETags.digest("etag");
    private static final String TABLE = "schema.table";

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();

    private StoreConfig config()
            throws IOException
    {
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 6 << 20);
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withClock(clock));
    }

    private static void fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(tryFill(store, file, block)).isTrue();
    }

    private static boolean tryFill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of("etag"), false, TABLE)).isTrue();
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Optional<Fill> fill = store.beginFill(key, length, ETAG);
        if (fill.isEmpty()) {
            return false;
        }
        fill.get().buffer().put(TestingBlocks.bytes(key, ETAG, length));
        fill.get().commit().orElseThrow().close();
        return true;
    }

    private static boolean isReadable(SharedMemoryReader reader, FileVersion file, int block)
    {
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        byte[] target = new byte[length];
        BlockInfo info = new BlockInfo();
        if (reader.read(key.high(), key.low(), 0, target, 0, length, info) == -1) {
            return false;
        }
        assertThat(target).isEqualTo(TestingBlocks.bytes(key, ETAG, length));
        assertThat(info.etagDigest()).isEqualTo(ETAG);
        return true;
    }

    @Test
    void filledBlockIsReadByClients()
            throws Exception
    {
        try (BlockStore store = open(config()); SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            assertThat(reader.state()).isEqualTo(MemoryState.LIVE);
            assertThat(reader.instance()).isEqualTo(store.instance());
            assertThat(reader.workerId()).isEqualTo(store.workerId());
            assertThat(reader.blockSizeBytes()).isEqualTo(BLOCK);
            assertThat(reader.heartbeatMillis()).isEqualTo(clock.currentTimeMillis());

            FileVersion file = TestingBlocks.file(1, 3 * BLOCK + 100);
            BlockKey key = file.id().block(3);
            assertThat(store.pin(key)).isEmpty();
            assertThat(store.load(key)).isEmpty();
            assertThat(store.beginFill(key, 100, ETAG)).describedAs("not bound").isEmpty();
            assertThat(store.bind(file, Optional.of("etag"), true, TABLE)).isTrue();
            assertThat(store.file(file.id())).contains(new FileMetadata(file, Optional.of("etag"), true, TABLE));
            assertThat(store.beginFill(key, 100, ETAG + 1)).describedAs("another ETag").isEmpty();
            assertThatThrownBy(() -> store.beginFill(key, 101, ETAG)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("has 100 bytes, not 101");
            assertThatThrownBy(() -> store.beginFill(file.id().block(4), 100, ETAG)).isInstanceOf(IllegalArgumentException.class);

            byte[] bytes = TestingBlocks.bytes(key, ETAG, 100);
            try (Fill fill = store.beginFill(key, 100, ETAG).orElseThrow()) {
                assertThat(fill.buffer().isDirect()).isTrue();
                assertThat(fill.buffer().capacity()).isEqualTo(100);
                fill.buffer().put(bytes);
                assertThat(isReadable(reader, file, 3)).isFalse();
                assertThat(store.pin(key)).isEmpty();
                try (PinnedBlock pinned = fill.commit().orElseThrow()) {
                    assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(bytes);
                    assertThat(pinned.payload().isReadOnly()).isTrue();
                    assertThat(pinned.length()).isEqualTo(100);
                    assertThat(pinned.etagDigest()).isEqualTo(ETAG);
                    assertThat(pinned.tier()).isEqualTo(BlockOrigin.RAM);
                    assertThat(pinned.frameOffset()).isGreaterThan(0);
                    byte[] target = new byte[50];
                    assertThat(reader.readFrame(pinned.frame(), pinned.frameOffset(), pinned.generation(), key.high(), key.low(), 50, target, 0, 50)).isTrue();
                    assertThat(target).isEqualTo(Arrays.copyOfRange(bytes, 50, 100));
                    assertThat(pinned.checksums(0, 100).orElseThrow().whole()).isEqualTo(crc(bytes));
                }
                assertThatThrownBy(fill::commit).isInstanceOf(IllegalStateException.class);
            }
            assertThat(isReadable(reader, file, 3)).isTrue();
            try (PinnedBlock pinned = store.load(key).orElseThrow()) {
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(bytes);
            }
            store.confirm(file.id());
            assertThat(store.file(file.id()).orElseThrow().provisional()).isFalse();
            assertThat(store.gauges().ramBlocks()).isEqualTo(1);
            assertThat(store.gauges().ramUsedBytes()).isEqualTo(100);
            assertThat(store.gauges().ramCapacityBytes()).isBetween((5L << 20) + (1 << 19), 6L << 20);
            assertThat(Files.size(store.memoryFile())).isEqualTo(store.gauges().ramCapacityBytes());
            assertThat(store.gauges().files()).isEqualTo(1);
        }
    }

    private static int crc(byte[] bytes)
    {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    @Test
    void abandonedFillLeavesNothing()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion file = TestingBlocks.file(1, 1000L * BLOCK);
            store.bind(file, Optional.of("etag"), false, TABLE);
            for (int i = 0; i < 1000; i++) {
                store.beginFill(file.id().block(i), BLOCK, ETAG).orElseThrow().close();
            }
            assertThat(store.gauges().ramBlocks()).isZero();
            assertThat(store.pin(file.id().block(0))).isEmpty();
        }
    }

    @Test
    void secondFillOfABlockGivesTheFirst()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion file = TestingBlocks.file(1, BLOCK);
            store.bind(file, Optional.of("etag"), false, TABLE);
            BlockKey key = file.id().block(0);
            Fill first = store.beginFill(key, BLOCK, ETAG).orElseThrow();
            Fill second = store.beginFill(key, BLOCK, ETAG).orElseThrow();
            first.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
            second.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
            try (PinnedBlock one = first.commit().orElseThrow(); PinnedBlock other = second.commit().orElseThrow()) {
                assertThat(other.frame()).isEqualTo(one.frame());
                assertThat(other.generation()).isEqualTo(one.generation());
            }
            assertThat(store.gauges().ramBlocks()).isEqualTo(1);
        }
    }

    @Test
    void otherETagIsRefused()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion file = TestingBlocks.file(1, BLOCK);
            assertThat(store.bind(file, Optional.of("a"), false, TABLE)).isTrue();
            assertThat(store.bind(file, Optional.of("a"), false, TABLE)).isTrue();
            assertThat(store.bind(file, Optional.of("b"), false, TABLE)).isFalse();
            assertThat(store.bind(file, Optional.empty(), false, TABLE)).isFalse();
            store.flushes().dropFile(file.id());
            assertThat(store.bind(file, Optional.of("b"), false, TABLE)).isTrue();
        }
    }

    @Test
    void droppedFileIsGoneAtOnce()
            throws Exception
    {
        try (BlockStore store = open(config()); SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
            FileVersion other = TestingBlocks.file(2, 2L * BLOCK);
            for (int i = 0; i < 10; i++) {
                fill(store, file, i);
            }
            fill(store, other, 1);
            BlockKey key = file.id().block(4);
            PinnedBlock pinned = store.pin(key).orElseThrow();
            Fill begun = store.beginFill(key, BLOCK, ETAG).orElseThrow();
            begun.buffer().put(new byte[BLOCK]);

            store.flushes().dropFile(file.id());
            assertThat(store.file(file.id())).isEmpty();
            for (int i = 0; i < 10; i++) {
                assertThat(store.pin(file.id().block(i))).isEmpty();
                assertThat(isReadable(reader, file, i)).isFalse();
            }
            byte[] target = new byte[10];
            assertThat(reader.readFrame(pinned.frame(), pinned.frameOffset(), pinned.generation(), key.high(), key.low(), 0, target, 0, 10)).isFalse();
            assertThat(isReadable(reader, other, 1)).isTrue();
            assertThat(store.gauges().ramBlocks()).isEqualTo(1);

            // bound anew: the fill that began before belongs to nothing, and the pinned bytes are still the old block's
            store.bind(file, Optional.of("etag"), false, TABLE);
            assertThat(begun.commit()).isEmpty();
            assertThat(store.pin(key)).isEmpty();
            FileVersion more = TestingBlocks.file(3, 60L * BLOCK);
            for (int i = 0; i < 60; i++) {
                tryFill(store, more, i);
            }
            assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
            pinned.close();
            store.checkInvariants();
        }
    }

    @Test
    void coldBlocksMakeRoomAndRestBefore()
            throws Exception
    {
        try (BlockStore store = open(config()); SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            int capacity = frames(store);
            FileVersion file = TestingBlocks.file(1, 1000L * BLOCK);
            int filled = 0;
            while (filled < 1000 && tryFill(store, file, filled)) {
                filled++;
            }
            // time stands still: what was evicted is still resting
            assertThat(filled).isLessThanOrEqualTo(capacity);
            assertThat(store.beginFill(file.id().block(999), BLOCK, ETAG)).isEmpty();
            assertThat(store.gauges().refusedFills()).isPositive();
            assertThat(store.gauges().ramEvictions()).isZero();
            long resting = 0;
            for (int i = 0; i < filled; i++) {
                BlockKey key = file.id().block(i);
                if (!isReadable(reader, file, i)) {
                    resting++;
                    // it comes back when it is asked for
                    try (PinnedBlock pinned = store.pin(key).orElseThrow()) {
                        assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
                    }
                    assertThat(isReadable(reader, file, i)).isTrue();
                }
            }
            assertThat(resting).isPositive();

            // none rests now: the first attempt only makes some rest
            assertThat(tryFill(store, file, filled)).isFalse();
            for (int i = filled; i < 1000; i++) {
                clock.advance(Duration.ofMillis(101));
                fill(store, file, i);
                store.checkInvariants();
            }
            assertThat(store.gauges().ramEvictions()).isPositive();
            int readable = 0;
            for (int i = 0; i < 1000; i++) {
                readable += isReadable(reader, file, i) ? 1 : 0;
            }
            assertThat(readable).isBetween(capacity / 2, capacity);
        }
    }

    private static int frames(BlockStore store)
    {
        MemoryLayout layout = MemoryLayout.forFileSize(store.gauges().ramCapacityBytes(), BLOCK);
        return (int) (layout.slabCount() * layout.slabBytes() / BLOCK);
    }

    @Test
    void usedBlocksOutliveAScan()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion hot = TestingBlocks.file(1, 10L * BLOCK);
            FileVersion scan = TestingBlocks.file(2, 1000L * BLOCK);
            for (int i = 0; i < 10; i++) {
                fill(store, hot, i);
            }
            for (int i = 0; i < 1000; i++) {
                clock.advance(Duration.ofMillis(101));
                if (i % 20 == 0) {
                    for (int j = 0; j < 10; j++) {
                        BlockKey key = hot.id().block(j);
                        store.recordHit(key.high(), key.low());
                        store.drainHits();
                        assertThat(store.pin(key)).describedAs("block %s after %s of the scan", j, i).isPresent().get().satisfies(PinnedBlock::close);
                    }
                }
                fill(store, scan, i);
            }
        }
    }

    @Test
    void pinnedFramesStay()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion file = TestingBlocks.file(1, 2000L * BLOCK);
            List<PinnedBlock> pins = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                clock.advance(Duration.ofMillis(101));
                if (!tryFill(store, file, i)) {
                    break;
                }
                store.pin(file.id().block(i)).ifPresent(pins::add);
                store.checkInvariants();
            }
            assertThat(pins.size()).isLessThan(500);
            // everything is pinned: no frame for anybody, at once
            clock.advance(Duration.ofSeconds(1));
            assertThat(tryFill(store, file, 1000)).isFalse();
            for (PinnedBlock pin : pins) {
                BlockKey key = file.id().block(pins.indexOf(pin));
                assertThat(TestingBlocks.copy(pin.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
                pin.close();
                pin.close();
            }
            tryFill(store, file, 1000);
            clock.advance(Duration.ofSeconds(1));
            assertThat(tryFill(store, file, 1000)).isTrue();
            store.checkInvariants();
        }
    }

    @Test
    void slabsMoveToTheSizesThatAreNeeded()
            throws Exception
    {
        try (BlockStore store = open(config())) {
            FileVersion large = TestingBlocks.file(0, 1000L * BLOCK);
            for (int i = 0; i < 200; i++) {
                clock.advance(Duration.ofMillis(50));
                tryFill(store, large, i);
            }
            long full = store.gauges().ramUsedBytes();
            assertThat(full).isGreaterThan(3 * (6 << 20) / 4 / 2);
            for (int length : new int[] {10_000, 64 << 10, 33_000, 4096}) {
                int files = 5000;
                for (int i = 0; i < files; i++) {
                    clock.advance(Duration.ofMillis(50));
                    tryFill(store, TestingBlocks.file(length * 10_000 + i, length), 0);
                    if (i % 100 == 0) {
                        store.checkInvariants();
                    }
                }
                // only blocks of this size have come for long: they fill most of the memory
                assertThat(store.gauges().ramUsedBytes()).describedAs("blocks of %s bytes", length).isGreaterThan(2 * full / 3);
            }
        }
    }

    @Test
    void budgetIsAllocatedAtOnceAndGivenBack()
            throws Exception
    {
        StoreConfig config = config().withRam(memoryDirectory(), 20 << 20);
        Path file;
        try (BlockStore store = open(config)) {
            file = store.memoryFile();
            assertThat(HeldMemory.allocatedBytes(file)).isEqualTo(store.gauges().ramCapacityBytes());
            assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void sharedWithAGroup()
            throws Exception
    {
        String group = Files.readAttributes(directory, PosixFileAttributes.class).group().getName();
        try (BlockStore store = open(config().withSharedGroup(Optional.of(group)))) {
            assertThat(Files.getPosixFilePermissions(store.memoryFile())).isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
        }
        StoreConfig config = config().withSharedGroup(Optional.of("no-such-group"));
        assertThatThrownBy(() -> open(config))
                .isInstanceOf(StoreException.class)
                .hasMessage("cache.worker.socket-group names the group no-such-group, which does not exist: create it, or name another");
        assertThat(list(config.ramDirectory())).isEmpty();
    }

    @Test
    void restartFreesTheMemoryThatClientsKeepMapped()
            throws Exception
    {
        StoreConfig config = config().withRam(memoryDirectory(), 20 << 20);
        List<SharedMemoryReader> idle = new ArrayList<>();
        List<HeldMemory> files = new ArrayList<>();
        try {
            for (int run = 0; run < 5; run++) {
                BlockStore store = open(config);
                FileVersion file = TestingBlocks.file(run, 50L * BLOCK);
                for (int i = 0; i < 50; i++) {
                    fill(store, file, i);
                }
                SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile());
                assertThat(isReadable(reader, file, 0)).isTrue();
                idle.add(reader);
                files.add(HeldMemory.open(store.memoryFile()));
                store.abandon();
                assertThat(store.memoryFile()).exists();

                try (BlockStore next = open(config)) {
                    assertThat(next.recovery()).extracting(RecoveryOutcome::finding).containsExactly(RecoveryFinding.MEMORY_FILE_RECLAIMED);
                    assertThat(next.workerId()).isEqualTo(store.workerId());
                    assertThat(store.memoryFile()).doesNotExist();
                    assertThat(reader.state()).isEqualTo(MemoryState.DEAD);
                    assertThat(isReadable(reader, file, 0)).isFalse();
                    long left = 0;
                    for (HeldMemory old : files) {
                        left += old.allocatedBytes();
                    }
                    assertThat(left + HeldMemory.allocatedBytes(next.memoryFile())).isLessThanOrEqualTo(next.gauges().ramCapacityBytes() * 105 / 100);
                }
            }
        }
        finally {
            idle.forEach(SharedMemoryReader::close);
            for (HeldMemory old : files) {
                old.close();
            }
        }
    }

    @Test
    void memoryFileInAnyStateIsReclaimed()
            throws Exception
    {
        StoreConfig config = config();
        CacheWorkerId workerId;
        try (BlockStore store = open(config)) {
            workerId = store.workerId();
        }
        // killed after each step of making and of giving up: empty, allocated without header, header only, damaged
        Random random = new Random(1);
        for (long size : new long[] {0, 1, 4096, 5000, 3 << 20}) {
            byte[] bytes = new byte[(int) size];
            random.nextBytes(bytes);
            Path left = Files.write(config.ramDirectory().resolve("cachedhive-%s-0123456789abcdef.ram".formatted(workerId)), bytes);
            Path other = Files.write(config.ramDirectory().resolve("cachedhive-other-0123456789abcdef.ram"), bytes);
            Path foreign = Files.write(config.ramDirectory().resolve("something-else"), bytes);
            try (BlockStore store = open(config)) {
                // an empty one may also be of a worker that starts at this moment, which takes another name then
                assertThat(store.recovery()).extracting(RecoveryOutcome::where).containsExactlyInAnyOrderElementsOf(size == 0 ? List.of() : List.of(left, other));
                assertThat(left).doesNotExist();
                assertThat(other).doesNotExist();
                assertThat(foreign).exists();
            }
        }
    }

    @Test
    void secondWorkerIsRefused()
            throws Exception
    {
        StoreConfig config = config();
        try (BlockStore store = open(config)) {
            assertThatThrownBy(() -> open(config))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("cache.state-directory %s is in use by another cache worker: stop it, or name another directory".formatted(config.stateDirectory()));

            // a copy of the state directory: the same id
            StoreConfig copy = StoreConfig.ramOnly(directory.resolve("copy")).withBlockSize(BLOCK).withRam(config.ramDirectory(), 6 << 20);
            Files.createDirectories(copy.stateDirectory());
            Files.copy(config.stateDirectory().resolve("worker-id"), copy.stateDirectory().resolve("worker-id"));
            assertThatThrownBy(() -> open(copy))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("cache worker %s is running on this host".formatted(store.workerId()));

            // a worker of another id is welcome, and leaves the first one's file alone
            StoreConfig other = StoreConfig.ramOnly(directory.resolve("other")).withBlockSize(BLOCK).withRam(config.ramDirectory(), 6 << 20);
            try (BlockStore second = open(other)) {
                assertThat(second.workerId()).isNotEqualTo(store.workerId());
                assertThat(store.memoryFile()).exists();
            }
        }
    }

    @Test
    void refusesWhatTheMachineDoesNotHave()
            throws Exception
    {
        StoreConfig config = config();
        long free = Files.getFileStore(config.ramDirectory()).getUsableSpace();
        assertThatThrownBy(() -> open(config.withRam(config.ramDirectory(), 2 * free)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("cache.ram.max-size needs ")
                .hasMessageContaining(" are free in " + config.ramDirectory());
        assertThatThrownBy(() -> open(config.withRam(directory.resolve("missing"), 6 << 20)))
                .isInstanceOf(StoreException.class)
                .hasMessage("cache.ram.directory %s is not a directory: create it, or name one on tmpfs".formatted(directory.resolve("missing")));
        assertThatThrownBy(() -> open(config.withRam(config.ramDirectory(), 1 << 20)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("cache.ram.max-size (1MB) and cache.block-size (64kB) are not compatible");
        assertThatThrownBy(() -> open(config.withBlockSize(100_000)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("block size is not a power of two");
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> open(StoreConfig.ramOnly(file.resolve("state")).withBlockSize(BLOCK).withRam(config.ramDirectory(), 6 << 20)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("cache.state-directory %s cannot be used".formatted(file.resolve("state")));
        assertThat(list(config.ramDirectory())).isEmpty();
    }

    @Test
    void damagedWorkerIdIsTold()
            throws Exception
    {
        StoreConfig config = config();
        Files.createDirectories(config.stateDirectory());
        Files.writeString(config.stateDirectory().resolve("worker-id"), "not an id\n");
        assertThatThrownBy(() -> open(config))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(config.stateDirectory().resolve("worker-id") + " does not hold a cache worker id");
    }

    @Test
    void ringsAreShown()
            throws Exception
    {
        try (BlockStore store = open(config()); SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            PublishedRing ring = new PublishedRing(HashRing.of(List.of(new RingMember(store.workerId(), 5, Optional.empty()))), Map.of(), 7);
            store.publishRings(List.of(ring));
            assertThat(reader.rings()).containsExactly(ring);
        }
    }

    @Test
    void closedStoreHasNothing()
            throws Exception
    {
        BlockStore store = open(config());
        FileVersion file = TestingBlocks.file(1, 2 * BLOCK);
        fill(store, file, 0);
        PinnedBlock pinned = store.pin(file.id().block(0)).orElseThrow();
        Fill fill = store.beginFill(file.id().block(1), BLOCK, ETAG).orElseThrow();
        store.close();
        store.close();
        assertThat(store.pin(file.id().block(0))).isEmpty();
        assertThat(store.load(file.id().block(0))).isEmpty();
        assertThat(store.beginFill(file.id().block(0), BLOCK, ETAG)).isEmpty();
        assertThat(fill.commit()).isEmpty();
        pinned.close();
        store.publishRings(List.of());
    }

    /**
     * tmpfs, where there is one: what is measured is its memory.
     */
    private Path memoryDirectory()
            throws IOException
    {
        Path shared = Path.of("/dev/shm");
        if (!Files.isDirectory(shared)) {
            return config().ramDirectory();
        }
        Path made = Files.createTempDirectory(shared, "cachedhive-test");
        made.toFile().deleteOnExit();
        return made;
    }

    private static List<Path> list(Path directory)
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }
}
