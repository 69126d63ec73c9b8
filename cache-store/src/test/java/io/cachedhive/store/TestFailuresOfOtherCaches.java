package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Failures of other caches for SQL engines, as their public issues describe them, in the store of one host. {@link TestBudgets} covers trino issue 25105 (a
 * cache that is larger than configured), and {@link TestExpiry} doris issue 68345 (expiry times that a restart loses).
 */
class TestFailuresOfOtherCaches
{
    private static final int BLOCK = 64 << 10;
    private static final long CAPACITY = 8 << 20;
    private static final long RAM_CAPACITY = 6 << 20;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    // a directory takes no blocks for 10 s after a failed write, and frames rest for 100 ms before they are used again
    private static final Duration SUSPENSION = Duration.ofSeconds(11);
    private static final int MAX_ATTEMPTS = 10;

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();
    private final HookedDisk hooked = new HookedDisk(disk);
    private final ManualClock clock = new ManualClock();
    private Path ssd;
    private StoreConfig ramOnly;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ssd = Files.createDirectories(directory.resolve("ssd"));
        ramOnly = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), RAM_CAPACITY)
                .withCheckpointInterval(Duration.ofDays(1));
        config = ramOnly.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(CAPACITY))));
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return open(config, hooked.disk());
    }

    private BlockStore open(StoreConfig config, Disk disk)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    /**
     * @return whether the block came to the SSD
     */
    private boolean fill(BlockStore store, FileVersion file, int block)
    {
        return fill(store, file, block, Duration.ofMillis(101));
    }

    private boolean fill(BlockStore store, FileVersion file, int block, Duration pause)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(block);
        Fill fill = TestingBlocks.awaitFrame(() -> {
            clock.advance(pause);
            return store.beginFill(key, BLOCK, ETAG);
        });
        fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
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
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
            }
        });
        return loaded.isPresent();
    }

    /**
     * rubix issue 372 and trino issue 3580: a reader learned that a block is cached. The block is evicted, and another file takes its place before the reader
     * reads there. The reader got the parts of the other file that were not written yet, and queries failed.
     */
    @Test
    void aReaderOfAnEvictedBlockSeesNothingOfItsSuccessor()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, BLOCK);
        FileVersion successor = TestingBlocks.file(2, 1000L * BLOCK);
        BlockKey key = file.id().block(0);
        try (BlockStore store = open(ramOnly); SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            fill(store, file, 0);
            int frame;
            long offset;
            long generation;
            try (PinnedBlock pinned = store.pin(key).orElseThrow()) {
                frame = pinned.frame();
                offset = pinned.frameOffset();
                generation = pinned.generation();
            }
            assertMiss(reader, frame, offset, generation, key, false);

            store.flushes().dropFile(file.id());
            assertThat(store.bind(successor, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            List<Fill> fills = new ArrayList<>();
            clock.advance(Duration.ofSeconds(1));
            Optional<Fill> begun = store.beginFill(successor.id().block(0), BLOCK, ETAG);
            while (begun.isPresent()) {
                Fill fill = begun.get();
                // one half of it has arrived
                fill.buffer().put(TestingBlocks.bytes(successor.id().block(fills.size()), ETAG, BLOCK), 0, BLOCK / 2);
                fills.add(fill);
                begun = store.beginFill(successor.id().block(fills.size()), BLOCK, ETAG);
            }
            assertMiss(reader, frame, offset, generation, key, true);

            boolean reused = false;
            for (int block = 0; block < fills.size(); block++) {
                fills.get(block).buffer().put(TestingBlocks.bytes(successor.id().block(block), ETAG, BLOCK), BLOCK / 2, BLOCK / 2);
                try (PinnedBlock pinned = fills.get(block).commit().orElseThrow()) {
                    reused |= pinned.frameOffset() == offset;
                }
            }
            assertThat(reused).as("the frame has another block").isTrue();
            assertMiss(reader, frame, offset, generation, key, true);
        }
    }

    private static void assertMiss(SharedMemoryReader reader, int frame, long offset, long generation, BlockKey key, boolean miss)
    {
        byte[] target = new byte[BLOCK];
        assertThat(reader.readFrame(frame, offset, generation, key.high(), key.low(), 0, target, 0, BLOCK)).as("read where the block was").isEqualTo(!miss);
        assertThat(reader.read(key.high(), key.low(), 0, target, 0, BLOCK, new BlockInfo()) == -1).as("read by the index").isEqualTo(miss);
    }

    /**
     * rubix issue 372 and trino issue 3580, on SSD: the block is evicted and its place has another block, after the reader looked it up and before it reads.
     */
    @Test
    void aBlockEvictedBeforeItIsReadFromSsdGivesNoWrongByte()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, BLOCK);
        FileVersion others = TestingBlocks.file(2, 1000L * BLOCK);
        // all of it fits into RAM: a slow read is another failure, so the time stands still while the disk is written
        config = ramOnly.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(RAM_CAPACITY / 2))));
        Place place;
        try (BlockStore store = open(config)) {
            assertThat(fill(store, file, 0)).isTrue();
            place = find(file, 0);
        }
        try (BlockStore store = open(config)) {
            assertThat(store.isOnSsd(file.id().block(0))).isTrue();
            hooked.onNextRead(() -> {
                store.flushes().dropFile(file.id());
                for (int block = 0; hasBlock(place, file, 0); block++) {
                    assertThat(block).as("blocks, of which none took the place").isLessThan((int) RAM_CAPACITY / BLOCK);
                    fill(store, others, block, Duration.ZERO);
                }
                assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            });
            assertThat(isThere(store, file, 0)).isFalse();
            assertThat(fill(store, file, 0)).isTrue();
            assertThat(isThere(store, file, 0)).isTrue();
            store.checkInvariants();
        }
    }

    /**
     * rubix issue 472: what was damaged in the cache failed every query that read it, until the process was restarted.
     */
    @Test
    void damagedBlocksAreReplacedWithoutARestart()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10L * BLOCK);
        try (BlockStore store = open(config)) {
            for (int block = 0; block < 10; block++) {
                assertThat(fill(store, file, block)).isTrue();
            }
        }
        try (BlockStore store = open(config)) {
            for (int block = 0; block < 10; block++) {
                Place place = find(file, block);
                disk.flip(place.slab(), place.position() + 1000 * block, 1);
            }
            for (int block = 0; block < 10; block++) {
                assertThat(isThere(store, file, block)).as("damaged block %s", block).isFalse();
            }
            assertThat(store.gauges().corruptBlocks()).isEqualTo(10);
            for (int block = 0; block < 10; block++) {
                assertThat(fill(store, file, block)).isTrue();
                assertThat(isThere(store, file, block)).isTrue();
            }
        }
        try (BlockStore store = open(config)) {
            for (int block = 0; block < 10; block++) {
                assertThat(isThere(store, file, block)).as("block %s on SSD", block).isTrue();
            }
            assertThat(store.gauges().corruptBlocks()).isZero();
        }
    }

    /**
     * trino issue 25899: a block of which the disk has only the first part failed the query that read it.
     */
    @Test
    void aBlockThatWasWrittenInPartIsAMiss()
            throws Exception
    {
        List<Integer> lengths = List.of(0, 1, 4096, BLOCK / 2, BLOCK - 4096, BLOCK - 1);
        FileVersion file = TestingBlocks.file(1, (long) lengths.size() * BLOCK);
        try (BlockStore store = open(config)) {
            for (int block = 0; block < lengths.size(); block++) {
                assertThat(fill(store, file, block)).isTrue();
            }
        }
        try (BlockStore store = open(config)) {
            for (int block = 0; block < lengths.size(); block++) {
                Place place = find(file, block);
                byte[] bytes = TestingBlocks.bytes(file.id().block(block), ETAG, BLOCK);
                for (int position = lengths.get(block); position < BLOCK; position++) {
                    // zero instead of what was not written
                    disk.flip(place.slab(), place.position() + position, bytes[position]);
                }
            }
            for (int block = 0; block < lengths.size(); block++) {
                assertThat(isThere(store, file, block)).as("block of which %s bytes were written", lengths.get(block)).isFalse();
                assertThat(fill(store, file, block)).isTrue();
                assertThat(isThere(store, file, block)).isTrue();
            }
            store.checkInvariants();
        }
    }

    private record Place(Path slab, int position) {}

    private Place find(FileVersion file, int block)
    {
        byte[] wanted = TestingBlocks.bytes(file.id().block(block), ETAG, BLOCK);
        for (Path slab : disk.files()) {
            if (slab.getFileName().toString().startsWith("slab-")) {
                byte[] bytes = disk.bytes(slab);
                for (int position = 0; position + BLOCK <= bytes.length; position += 64) {
                    if (bytes[position] == wanted[0] && Arrays.equals(bytes, position, position + BLOCK, wanted, 0, BLOCK)) {
                        return new Place(slab, position);
                    }
                }
            }
        }
        throw new AssertionError("block %s is in no slab".formatted(block));
    }

    private boolean hasBlock(Place place, FileVersion file, int block)
    {
        byte[] wanted = TestingBlocks.bytes(file.id().block(block), ETAG, BLOCK);
        return Arrays.equals(disk.bytes(place.slab()), place.position(), place.position() + BLOCK, wanted, 0, BLOCK);
    }

    /**
     * rubix issue 113: the limit of the cache was divided among the segments of its index, so that files were evicted while most of the disk was free. All
     * blocks are of one file here, and everything fits until the capacity is used.
     */
    @Test
    void nothingIsEvictedWhileThereIsSpace()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 1000L * BLOCK);
        try (BlockStore store = open(config)) {
            int filled = 0;
            while (store.gauges().ssdEvictions() == 0) {
                assertThat(fill(store, file, filled) || store.gauges().ssdEvictions() > 0).as("block %s is on SSD", filled).isTrue();
                filled++;
            }
            System.out.printf("%s bytes of %s were used when the first block was evicted%n", filled * BLOCK, CAPACITY);
            assertThat((long) filled * BLOCK).isBetween(CAPACITY * 3 / 4, CAPACITY);
        }
        try (BlockStore store = open(ramOnly)) {
            int filled = 0;
            while (store.gauges().ramEvictions() == 0) {
                fill(store, file, filled++);
            }
            System.out.printf("%s bytes of %s were used when the first block was evicted%n", filled * BLOCK, RAM_CAPACITY);
            assertThat((long) filled * BLOCK).isBetween(RAM_CAPACITY / 2, RAM_CAPACITY);
        }
    }

    /**
     * trino issue 27267: after a day the cache took no more blocks, because evictions and failed writes had left its space in no usable state.
     */
    @Test
    void spaceIsUsableAfterManyEvictionsAndFailedWrites()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 10_000L * BLOCK);
        try (BlockStore store = open(config)) {
            int block = 0;
            int failures = 0;
            // more failed writes than there are places
            while (failures < CAPACITY / BLOCK * 3 / 2) {
                AtomicBoolean failed = new AtomicBoolean();
                hooked.onNextWrite(() -> {
                    failed.set(true);
                    throw new DiskException(DiskException.Cause.IO_ERROR, "write failed: planted");
                });
                // a block that finds no free extent yet is not written
                for (int attempt = 0; !failed.get() && attempt < MAX_ATTEMPTS; attempt++) {
                    fill(store, file, block++);
                }
                assertThat(failed).isTrue();
                failures++;
                // one of the next goes to the SSD
                boolean written = false;
                for (int attempt = 0; !written && attempt < MAX_ATTEMPTS; attempt++) {
                    clock.advance(SUSPENSION);
                    written = fill(store, file, block++);
                }
                assertThat(written).as("block %s after %s failed writes: %s", block, failures, store.problem()).isTrue();
            }
            assertThat(store.gauges().ssdEvictions()).isPositive();
            assertThat(store.problem()).isEmpty();
            assertThat(store.gauges().ssdUsedBytes()).isGreaterThan(CAPACITY * 8 / 10);
            store.checkInvariants();
        }
    }
}
