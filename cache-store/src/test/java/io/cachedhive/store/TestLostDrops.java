package io.cachedhive.store;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Drops that were reported durable while files of the directory could not be written, each followed by the power cut
 * that would bring the blocks back.
 */
@Timeout(300)
class TestLostDrops
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG = "etag";
    private static final FileVersion DROPPED = TestingBlocks.file(1, 1000);
    private static final FileVersion OTHER = TestingBlocks.file(2, 1000);

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();
    private final ManualClock clock = new ManualClock();
    private Path state;
    private StoreConfig config;
    private Random random;

    @BeforeEach
    void configure()
            throws IOException
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        random = new Random(seed);
        state = directory.resolve("state");
        config = StoreConfig.ramOnly(state)
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1));
        useDirectories(1);
    }

    private void useDirectories(int count)
    {
        config = config.withSsdDirectories(IntStream.range(0, count).mapToObj(number -> new SsdDirectoryConfig(ssd(number), new Capacity.Bytes(3 << 20))).toList());
    }

    private Path ssd(int number)
    {
        try {
            return Files.createDirectories(directory.resolve("ssd-" + number));
        }
        catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private BlockStore open(FakeDisk disk)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private void fill(BlockStore store, FileVersion file)
    {
        assertThat(store.bind(file, Optional.of(ETAG), false, "schema.table")).isTrue();
        int length = file.blockLength(0, BLOCK);
        Optional<Fill> begun = store.beginFill(file.id().block(0), length, ETags.digest(ETAG));
        for (int i = 0; begun.isEmpty() && i < 10; i++) {
            // frames rest a moment before they are given away
            clock.advance(Duration.ofMillis(20));
            begun = store.beginFill(file.id().block(0), length, ETags.digest(ETAG));
        }
        try (Fill fill = begun.orElseThrow()) {
            fill.buffer().put(TestingBlocks.bytes(file.id().block(0), ETags.digest(ETAG), length));
            fill.commit().orElseThrow().close();
        }
        store.ssd().drain();
        assertThat(store.isOnSsd(file.id().block(0))).isTrue();
    }

    private void setFailing(FakeDisk disk, boolean fails, Path... files)
    {
        Stream.of(files).forEach(file -> disk.setFailing(file, fails));
    }

    private void assertDroppedAfterPowerCut(FakeDisk disk)
            throws StoreException
    {
        disk.turnOff();
        disk.turnOn(random);
        assertDropped(disk);
    }

    private void assertDropped(FakeDisk disk)
            throws StoreException
    {
        try (BlockStore store = open(disk)) {
            assertThat(store.file(DROPPED.id())).as("recovery: %s", store.recovery()).isEmpty();
            assertThat(store.load(DROPPED.id().block(0))).isEmpty();
        }
    }

    /**
     * The journal loses the record of a drop, and is restarted by a checkpoint that does not end: nothing on disk has
     * the drop yet.
     */
    @Test
    void aDropThatTheJournalLostIsNotDurableWhenItIsRestarted()
            throws Exception
    {
        Path[] index = {ssd(0).resolve("journal"), ssd(0).resolve("superblock"), state.resolve("run")};
        Path[] checkpoints = {ssd(0).resolve("checkpoint-0"), ssd(0).resolve("checkpoint-1")};
        BlockStore store = open(disk);
        fill(store, DROPPED);
        fill(store, OTHER);
        store.ssd().checkpoint();
        // leaves a sealed journal
        store.flushes().dropFile(OTHER.id());

        setFailing(disk, true, checkpoints);
        setFailing(disk, true, index);
        assertThat(store.flushes().dropFile(DROPPED.id())).isTrue();
        setFailing(disk, false, index);
        store.ssd().checkpoint();
        FlushResult flushed = store.flushes().flush(DROPPED::equals);
        assertThat(flushed.durable()).isTrue();
        store.abandon();

        assertDroppedAfterPowerCut(disk);
    }

    /**
     * A drop that another run wrote into the journal, and could not sync, is in the file as long as the power stays: a
     * run that finds it there, and does not know the file any more for that reason, has to sync it before it reports
     * the drop as durable.
     */
    @Test
    void aDropOfAKilledRunIsSynced()
            throws Exception
    {
        int survived = 0;
        for (int i = 0; i < 24; i++) {
            int writes = i % 4;
            FakeDisk copy = new FakeDisk();
            BlockStore killed = open(copy);
            fill(killed, DROPPED);
            killed.ssd().checkpoint();
            copy.turnOffAfter(writes);
            killed.flushes().dropFile(DROPPED.id());
            copy.turnOff();
            killed.abandon();
            copy.restartProcess();

            BlockStore store = open(copy);
            survived += store.file(DROPPED.id()).isPresent() ? 1 : 0;
            assertThat(store.flushes().flush(DROPPED::equals).durable()).isTrue();
            store.abandon();
            assertDroppedAfterPowerCut(copy);
        }
        // the first kill is before the record is written, the last one after
        assertThat(survived).isBetween(1, 23);
    }

    /**
     * A checkpoint that failed may be whole on disk all the same: it must not count when a later drop makes everything
     * void.
     */
    @Test
    void aFailedCheckpointIsVoidAfterADrop()
            throws Exception
    {
        boolean failed = true;
        int failures = 0;
        for (int writes = 0; failed; writes++) {
            FakeDisk copy = new FakeDisk();
            BlockStore store = open(copy);
            fill(store, DROPPED);
            store.ssd().flush();
            copy.failAfter(writes, 1, random);
            store.ssd().checkpoint();
            failed = copy.faults() > 0;
            failures += failed ? 1 : 0;
            setFailing(copy, true, ssd(0).resolve("journal"), ssd(0).resolve("checkpoint-0"), ssd(0).resolve("checkpoint-1"));
            assertThat(store.flushes().dropFile(DROPPED.id())).isTrue();
            store.abandon();
            setFailing(copy, false, ssd(0).resolve("journal"), ssd(0).resolve("checkpoint-0"), ssd(0).resolve("checkpoint-1"));
            // what was not synced is there all the same
            copy.restartProcess();
            assertDropped(copy);
        }
        assertThat(failures).isGreaterThan(5);
    }

    /**
     * A directory that could not write one of its two superblock pages may know of a run in which it lacks drops.
     */
    @Test
    void aDirectoryThatFailedAtTheStartLacksDrops()
            throws Exception
    {
        useDirectories(2);
        try (BlockStore store = open(disk)) {
            fill(store, DROPPED);
            fill(store, OTHER);
        }
        boolean failed = true;
        int without = 0;
        for (int writes = 0; failed; writes++) {
            FakeDisk copy = disk.copy();
            copy.failAfter(writes, 1, random);
            BlockStore store;
            try {
                store = open(copy);
            }
            catch (StoreException e) {
                assertThat(copy.faults()).as(e.getMessage()).isEqualTo(1);
                continue;
            }
            failed = copy.faults() > 0;
            without += store.gauges().ssdDirectoriesOffline() > 0 ? 1 : 0;
            store.flushes().dropFile(DROPPED.id());
            assertThat(store.flushes().flush(DROPPED::equals).durable()).isTrue();
            store.abandon();
            assertDroppedAfterPowerCut(copy);
        }
        assertThat(without).isPositive();
    }

    /**
     * A drop that is made while the store closes, whose last checkpoint fails.
     */
    @Test
    void aStoreThatClosesKeepsItsDrops()
            throws Exception
    {
        BlockStore store = open(disk);
        fill(store, DROPPED);
        store.ssd().checkpoint();
        Path[] checkpoints = {ssd(0).resolve("checkpoint-0"), ssd(0).resolve("checkpoint-1")};
        setFailing(disk, true, checkpoints);
        setFailing(disk, true, ssd(0).resolve("journal"), ssd(0).resolve("superblock"), state.resolve("run"));
        store.flushes().dropFile(DROPPED.id());
        setFailing(disk, false, ssd(0).resolve("superblock"));
        store.close();
        setFailing(disk, false, checkpoints);
        setFailing(disk, false, ssd(0).resolve("journal"), state.resolve("run"));
        assertDroppedAfterPowerCut(disk);
    }
}
