package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.CRASH;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store in use while the blocks of its last checkpoint are being restored.
 */
class TestRestoring
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS_IN_CHUNK = 4096;
    // what is read at once
    private static final int MAX_CHUNKS_IN_BUFFER = 3;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String ETAG = "\"etag\"";

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();
    private StoreConfig config;

    @BeforeEach
    void configure()
            throws IOException
    {
        config = config(12 << 20);
    }

    private StoreConfig config(long capacityBytes)
            throws IOException
    {
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(capacityBytes))));
    }

    private BlockStore open(Disk disk, long blocksRestoredFirst)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()), blocksRestoredFirst);
    }

    private static void fill(BlockStore store, FileVersion file, int block, String etag)
    {
        assertThat(store.bind(file, Optional.of(etag), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETags.digest(etag)));
        fill.buffer().put(TestingBlocks.bytes(key, ETags.digest(etag), length));
        fill.commit().orElseThrow().close();
    }

    private static void fillAll(BlockStore store, FileVersion file)
    {
        for (int i = 0; i < file.blockCount(BLOCK); i++) {
            fill(store, file, i, ETAG);
            store.ssd().drain();
        }
    }

    /**
     * @return whether the block is there; its bytes are right then
     */
    private static boolean isThere(BlockStore store, FileVersion file, int block, String etag)
    {
        BlockKey key = file.id().block(block);
        Optional<PinnedBlock> loaded = store.load(key);
        loaded.ifPresent(pinned -> {
            try (pinned) {
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETags.digest(etag), file.blockLength(block, BLOCK)));
            }
        });
        return loaded.isPresent();
    }

    private static int countThere(BlockStore store, FileVersion file)
    {
        int there = 0;
        for (int i = 0; i < file.blockCount(BLOCK); i++) {
            there += isThere(store, file, i, ETAG) ? 1 : 0;
        }
        return there;
    }

    private static List<RecoveryFinding> findings(BlockStore store)
    {
        return store.recovery().stream().map(RecoveryOutcome::finding).toList();
    }

    @Test
    void servesWhatIsThereAndTakesWhatIsNew()
            throws Exception
    {
        config = config(1 << 30);
        int fileCount = (MAX_CHUNKS_IN_BUFFER + 2) * BLOCKS_IN_CHUNK + 100;
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            for (int i = 0; i < fileCount; i++) {
                fill(store, TestingBlocks.file(i, 100), 0, ETAG);
                if (i % 100 == 0) {
                    store.ssd().drain();
                }
            }
            store.ssd().drain();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(fileCount);
        }

        GatedDisk gated = new GatedDisk(disk);
        try (BlockStore store = open(gated, 1)) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
            // a chunk has blocks of one age
            int restored = (int) store.gauges().restoredBlocks();
            assertThat(restored).isBetween(BLOCKS_IN_CHUNK / 8, BLOCKS_IN_CHUNK);
            assertThat(store.gauges().files()).isEqualTo(fileCount);
            assertThat(store.awaitRestored(Duration.ZERO)).isFalse();
            int there = 0;
            for (int i = 0; i < fileCount; i += 10) {
                there += isThere(store, TestingBlocks.file(i, 100), 0, ETAG) ? 1 : 0;
            }
            assertThat(there).isBetween(restored / 10 - 100, restored / 10 + 100);

            FileVersion added = TestingBlocks.file(fileCount, 3 * BLOCK);
            fillAll(store, added);
            for (int i = 0; i < 3; i++) {
                assertThat(store.isOnSsd(added.id().block(i))).isTrue();
            }
            // some that are there, some that are not there yet, each to be found once in the end
            for (int i = 0; i < fileCount; i += 50) {
                if (store.load(TestingBlocks.file(i, 100).id().block(0)).map(pinned -> {
                    pinned.close();
                    return pinned;
                }).isEmpty()) {
                    fill(store, TestingBlocks.file(i, 100), 0, ETAG);
                }
            }
            store.ssd().drain();
            store.checkInvariants();

            gated.openGate();
            assertThat(store.awaitRestored(LONG)).isTrue();
            store.checkInvariants();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(fileCount + 3);
            for (int i = 0; i < fileCount; i += 7) {
                assertThat(isThere(store, TestingBlocks.file(i, 100), 0, ETAG)).isTrue();
            }
            assertThat(countThere(store, added)).isEqualTo(3);
            assertThat(store.gauges().corruptBlocks()).isZero();
        }
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            assertThat(findings(store)).containsExactly(CLEAN_STOP);
            assertThat(store.gauges().restoredBlocks()).isEqualTo(fileCount + 3);
        }
    }

    @Test
    void whatIsDroppedMeanwhileDoesNotComeBack()
            throws Exception
    {
        FileVersion dropped = TestingBlocks.file(1, 40 * BLOCK);
        FileVersion bound = TestingBlocks.file(2, 40 * BLOCK);
        FileVersion kept = TestingBlocks.file(3, 40 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, dropped);
            fillAll(store, bound);
            fillAll(store, kept);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(120);
        }

        GatedDisk gated = new GatedDisk(disk);
        BlockStore store = open(gated, 0);
        assertThat(store.gauges().restoredBlocks()).isZero();
        store.flushes().dropFile(dropped.id());
        store.flushes().dropFile(bound.id());
        fill(store, bound, 5, "\"other\"");
        store.ssd().drain();
        gated.openGate();
        assertThat(store.awaitRestored(LONG)).isTrue();
        assertAfterDrops(store, dropped, bound, kept);
        store.ssd().flush();
        store.abandon();

        try (BlockStore restarted = open(disk, Long.MAX_VALUE)) {
            assertThat(findings(restarted)).contains(CRASH);
            assertAfterDrops(restarted, dropped, bound, kept);
        }
        try (BlockStore restarted = open(disk, Long.MAX_VALUE)) {
            assertThat(findings(restarted)).containsExactly(CLEAN_STOP);
            assertAfterDrops(restarted, dropped, bound, kept);
        }
    }

    private static void assertAfterDrops(BlockStore store, FileVersion dropped, FileVersion bound, FileVersion kept)
    {
        store.checkInvariants();
        assertThat(countThere(store, dropped)).isZero();
        assertThat(store.file(dropped.id())).isEmpty();
        for (int i = 0; i < 40; i++) {
            assertThat(isThere(store, bound, i, "\"other\"")).describedAs("block %s", i).isEqualTo(i == 5);
        }
        assertThat(countThere(store, kept)).isEqualTo(40);
        assertThat(store.gauges().ssdBlocks()).isEqualTo(41);
        assertThat(store.gauges().corruptBlocks()).isZero();
    }

    @Test
    void aDropThatOnlyTheJournalKnowsHoldsAfterAKill()
            throws Exception
    {
        FileVersion dropped = TestingBlocks.file(1, 40 * BLOCK);
        FileVersion evicted = TestingBlocks.file(2, 40 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, dropped);
            fillAll(store, evicted);
        }
        BlockStore store = open(disk, Long.MAX_VALUE);
        store.flushes().dropFile(dropped.id());
        fill(store, dropped, 0, "\"other\"");
        store.ssd().drain();
        store.flushes().dropFile(dropped.id());
        fill(store, dropped, 1, "\"other\"");
        store.ssd().drain();
        store.ssd().flush();
        store.abandon();

        GatedDisk gated = new GatedDisk(disk);
        try (BlockStore restarted = open(gated, 0)) {
            assertThat(findings(restarted)).contains(CRASH);
            // the journal's own block is there from the beginning
            assertThat(isThere(restarted, dropped, 1, "\"other\"")).isTrue();
            assertThat(countThere(restarted, evicted)).isZero();
            gated.openGate();
            assertThat(restarted.awaitRestored(LONG)).isTrue();
            restarted.checkInvariants();
            for (int i = 0; i < 40; i++) {
                assertThat(isThere(restarted, dropped, i, "\"other\"")).describedAs("block %s", i).isEqualTo(i == 1);
            }
            assertThat(countThere(restarted, evicted)).isEqualTo(40);
        }
    }

    @Test
    void aFullStoreEvictsOnlyWhatItKnows()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 400 * BLOCK);
        long blocks;
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, file);
            blocks = store.gauges().ssdBlocks();
            assertThat(store.gauges().ssdEvictions()).isPositive();
        }

        FileVersion added = TestingBlocks.file(2, 10 * BLOCK);
        GatedDisk gated = new GatedDisk(disk);
        try (BlockStore store = open(gated, 0)) {
            // no slab is free and no block is known: they are kept in RAM
            fillAll(store, added);
            assertThat(countThere(store, added)).isEqualTo(10);
            // when they were asked for, they were offered again
            store.ssd().drain();
            assertThat(store.gauges().ssdBlocks()).isZero();
            gated.openGate();
            assertThat(store.awaitRestored(LONG)).isTrue();
            store.checkInvariants();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(blocks);
            assertThat(countThere(store, file)).isEqualTo((int) blocks);
            // and now there is something to evict
            FileVersion late = TestingBlocks.file(3, 30 * BLOCK);
            fillAll(store, late);
            assertThat(countThere(store, late)).isEqualTo(30);
            store.checkInvariants();
            assertThat(store.gauges().corruptBlocks()).isZero();
        }
    }

    @Test
    void aKillWhileRestoringLosesNothing()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 60 * BLOCK);
        FileVersion added = TestingBlocks.file(2, 10 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, file);
        }
        for (int run = 0; run < 3; run++) {
            GatedDisk gated = new GatedDisk(disk);
            BlockStore store = open(gated, 0);
            fill(store, added, run, ETAG);
            store.ssd().drain();
            store.ssd().flush();
            Thread kill = Thread.ofPlatform().start(store::abandon);
            gated.openGate();
            kill.join();
        }
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            assertThat(findings(store)).contains(CRASH);
            store.checkInvariants();
            assertThat(countThere(store, file)).isEqualTo(60);
            assertThat(countThere(store, added)).isEqualTo(3);
        }
    }

    @Test
    void goesOnWithoutWhatCannotBeRead()
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 60 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, file);
        }
        GatedDisk gated = new GatedDisk(disk);
        try (BlockStore store = open(gated, 0)) {
            gated.fail();
            assertThat(store.awaitRestored(LONG)).isTrue();
            assertThat(store.gauges().restoredBlocks()).isZero();
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 1L);
            store.checkInvariants();
            fillAll(store, file);
            assertThat(countThere(store, file)).isEqualTo(60);
            store.checkInvariants();
        }
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            // the checkpoint that could not be read may still be there, and does not count
            assertThat(findings(store)).contains(CLEAN_STOP).doesNotContain(CRASH);
            assertThat(countThere(store, file)).isEqualTo(60);
        }
    }

    @Test
    void whatIsFlushedAfterARestoreThatEndedEarlyDoesNotComeBack()
            throws Exception
    {
        whatIsGoneAfterARestoreThatEndedEarlyDoesNotComeBack(false, (store, file) ->
                assertThat(store.flushes().flush(file::equals).durable()).isTrue());
    }

    @Test
    void whatIsDroppedAfterARestoreThatEndedEarlyDoesNotComeBack()
            throws Exception
    {
        whatIsGoneAfterARestoreThatEndedEarlyDoesNotComeBack(false, (store, file) -> store.flushes().dropFile(file.id()));
    }

    @Test
    void whatIsDroppedAfterARestoreThatEndedEarlyDoesNotComeBackWhereNothingCanBeDeclaredVoid()
            throws Exception
    {
        whatIsGoneAfterARestoreThatEndedEarlyDoesNotComeBack(true, (store, file) -> assertThat(store.flushes().dropFile(file.id())).isTrue());
    }

    private void whatIsGoneAfterARestoreThatEndedEarlyDoesNotComeBack(boolean superblockFails, BiConsumer<BlockStore, FileVersion> goes)
            throws Exception
    {
        FileVersion file = TestingBlocks.file(1, 40 * BLOCK);
        FileVersion added = TestingBlocks.file(2, 10 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, file);
        }
        Path superblock = directory.resolve("ssd").resolve("superblock");
        GatedDisk gated = new GatedDisk(disk);
        BlockStore store = open(gated, 0);
        disk.setFailing(superblock, superblockFails);
        gated.fail();
        assertThat(store.awaitRestored(LONG)).isTrue();
        assertThat(countThere(store, file)).isZero();
        goes.accept(store, file);
        fillAll(store, added);
        store.ssd().flush();
        store.abandon();
        disk.setFailing(superblock, false);
        try (BlockStore next = open(disk, Long.MAX_VALUE)) {
            next.checkInvariants();
            assertThat(countThere(next, file)).isZero();
            assertThat(next.file(file.id())).isEmpty();
        }
    }

    @Test
    void theNextCheckpointCountsAfterARestoreThatEndedEarly()
            throws Exception
    {
        FileVersion added = TestingBlocks.file(2, 10 * BLOCK);
        try (BlockStore store = open(disk, Long.MAX_VALUE)) {
            fillAll(store, TestingBlocks.file(1, 40 * BLOCK));
        }
        GatedDisk gated = new GatedDisk(disk);
        BlockStore store = open(gated, 0);
        gated.fail();
        assertThat(store.awaitRestored(LONG)).isTrue();
        fillAll(store, added);
        store.ssd().checkpoint();
        FileVersion later = TestingBlocks.file(3, 5 * BLOCK);
        fillAll(store, later);
        store.ssd().flush();
        store.abandon();
        try (BlockStore next = open(disk, Long.MAX_VALUE)) {
            assertThat(countThere(next, added)).isEqualTo(10);
            assertThat(countThere(next, later)).isEqualTo(5);
        }
    }
}
