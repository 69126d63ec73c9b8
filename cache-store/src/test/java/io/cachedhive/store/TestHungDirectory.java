package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store with two SSD directories, of which the first hangs: it costs its own blocks only. All calls to the store are
 * made by the test's thread, which a call that waits for the directory would stop.
 */
@Timeout(300)
class TestHungDirectory
{
    private static final int BLOCK = 64 << 10;
    private static final int MAX_LOADS = 256;
    // more than twice as many as may be loaded at a time, because half of them are in each directory
    private static final int FILES = 700;
    private static final String ETAG = "etag";
    private static final Duration PATIENCE = Duration.ofMillis(800);
    private static final Duration HUNG = Duration.ofSeconds(5);
    private static final Duration SUSPENSION = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();
    private final HeldDisk held = new HeldDisk(disk);
    private final List<FileVersion> first = new ArrayList<>();
    private final List<FileVersion> second = new ArrayList<>();
    private StoreConfig config;
    private Random random;
    private BlockStore store;

    private static final class Result
            implements LoadListener
    {
        private final CompletableFuture<String> result = new CompletableFuture<>();

        @Override
        public void loaded(PinnedBlock block)
        {
            block.close();
            result.complete("loaded");
        }

        @Override
        public void absent()
        {
            result.complete("absent");
        }

        @Override
        public void refused(LoadRefusal cause)
        {
            result.complete(cause.toString());
        }
    }

    @BeforeEach
    void setUp()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        random = new Random(seed);
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 16 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withSsdDirectories(IntStream.range(0, 2).mapToObj(number -> new SsdDirectoryConfig(ssd(number), new Capacity.Bytes(8 << 20))).toList());
        open();
        for (int i = 0; i < FILES; i++) {
            fill(TestingBlocks.file(i, 1000));
        }
        store.ssd().drain();
        for (int i = 0; i < FILES; i++) {
            FileVersion file = TestingBlocks.file(i, 1000);
            SsdBlock block = store.ssd().find(key(file).digest()).orElseThrow();
            (block.directory() == 0 ? first : second).add(file);
        }
        assertThat(first).hasSizeGreaterThan(MAX_LOADS + 10);
        assertThat(second).hasSizeGreaterThan(MAX_LOADS + 10);
        store.close();
        // everything is on SSD, and nothing in RAM
        open();
    }

    @AfterEach
    void tearDown()
    {
        held.release();
        store.close();
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

    private void open()
            throws StoreException
    {
        store = BlockStore.open(config, StoreEnvironment.system().withDisk(held.disk()).withClock(clock));
    }

    private static BlockKey key(FileVersion file)
    {
        return file.id().block(0);
    }

    private void fill(FileVersion file)
    {
        int length = file.blockLength(0, BLOCK);
        assertThat(store.bind(file, Optional.of(ETAG), false, "schema.table")).isTrue();
        try (Fill fill = store.beginFill(key(file), length, ETags.digest(ETAG)).orElseThrow()) {
            fill.buffer().put(TestingBlocks.bytes(key(file), ETags.digest(ETAG), length));
            fill.commit().orElseThrow().close();
        }
    }

    private Result load(FileVersion file)
    {
        Result result = new Result();
        store.load(key(file), result);
        return result;
    }

    /**
     * A read that was released ends a moment later.
     */
    private void awaitLoaded(List<FileVersion> files)
    {
        Await.until("the blocks are loaded", () -> files.stream().allMatch(file -> await(load(file).result).equals("loaded")));
    }

    private void assertLoaded(FileVersion file)
    {
        try (PinnedBlock block = store.load(key(file)).orElseThrow()) {
            assertThat(TestingBlocks.copy(block.payload())).isEqualTo(TestingBlocks.bytes(key(file), ETags.digest(ETAG), block.length()));
        }
    }

    /**
     * Fills new files, of which each directory gets some.
     */
    private void assertFills(int firstNumber)
    {
        for (int i = 0; i < 50; i++) {
            FileVersion file = TestingBlocks.file(firstNumber + i, 1000);
            fill(file);
            try (PinnedBlock block = store.pin(key(file)).orElseThrow()) {
                assertThat(block.tier()).isEqualTo(BlockOrigin.RAM);
            }
        }
    }

    private boolean isFirst(Path file, String prefix)
    {
        return file.startsWith(ssd(0)) && file.getFileName().toString().startsWith(prefix);
    }

    @Test
    void readsOfOneDirectoryHang()
    {
        held.hold("read", file -> isFirst(file, "slab-"));
        List<Result> waiting = new ArrayList<>();
        for (FileVersion file : first.subList(0, MAX_LOADS)) {
            waiting.add(load(file));
        }
        Await.until("reads hang", () -> held.held() == 16);
        assertThat(load(first.get(MAX_LOADS)).result).as("at once").isCompletedWithValue("DIRECTORY");
        // joins a read, which takes no thread
        waiting.add(load(first.get(0)));

        second.subList(0, 100).forEach(this::assertLoaded);
        assertFills(10_000);
        assertThat(store.flushes().dropFile(second.get(150).id())).isTrue();
        assertThat(store.load(key(second.get(150)))).isEmpty();
        assertThat(waiting).noneMatch(each -> each.result.isDone());
        assertThat(store.gauges().refusedFills()).isZero();

        // readers get an answer before they stop waiting
        clock.advanceWithStopwatch(PATIENCE);
        waiting.forEach(each -> assertThat(await(each.result)).isEqualTo("DIRECTORY"));
        assertThat(load(first.get(0)).result).as("its read hangs").isCompletedWithValue("DIRECTORY");
        second.subList(100, 140).forEach(this::assertLoaded);

        clock.advanceWithStopwatch(HUNG);
        assertThat(load(first.get(MAX_LOADS)).result).as("without the directory, it can be fetched").isCompletedWithValue("absent");
        second.subList(151, 170).forEach(this::assertLoaded);
        assertFills(11_000);

        held.release();
        Await.until("the reads end", () -> held.held() == 0);
        clock.advance(SUSPENSION);
        Await.until("the directory is read again", () -> store.isOnSsd(key(first.get(MAX_LOADS))));
        awaitLoaded(first.subList(0, MAX_LOADS));
        first.subList(0, MAX_LOADS + 1).forEach(this::assertLoaded);
    }

    @Test
    void readsOfTwoDirectoriesHang()
            throws Exception
    {
        store.close();
        config = config.withSsdDirectories(IntStream.range(0, 3).mapToObj(number -> new SsdDirectoryConfig(ssd(2 + number), new Capacity.Bytes(8 << 20))).toList());
        open();
        List<List<FileVersion>> files = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 300; i++) {
            fill(TestingBlocks.file(20_000 + i, 1000));
        }
        store.ssd().drain();
        for (int i = 0; i < 300; i++) {
            FileVersion file = TestingBlocks.file(20_000 + i, 1000);
            files.get(store.ssd().find(key(file).digest()).orElseThrow().directory()).add(file);
        }
        store.close();
        open();

        held.hold("read", file -> file.getFileName().toString().startsWith("slab-") && (file.startsWith(ssd(2)) || file.startsWith(ssd(3))));
        for (List<FileVersion> hung : files.subList(0, 2)) {
            hung.subList(0, 20).forEach(this::load);
        }
        Await.until("reads hang", () -> held.held() == 2 * 16);
        files.getLast().forEach(this::assertLoaded);
    }

    /**
     * The block is there, so its readers must not fetch it.
     */
    @Test
    void threadsAreShort()
            throws Exception
    {
        store.close();
        Thread caller = Thread.currentThread();
        AtomicBoolean threadsAreShort = new AtomicBoolean();
        StoreEnvironment system = StoreEnvironment.system();
        ThreadFactory threads = task -> {
            if (threadsAreShort.get() && Thread.currentThread() == caller) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return system.threads().newThread(task);
        };
        store = BlockStore.open(config, new StoreEnvironment(clock, held.disk(), threads, system.random(), system.ssdFormat(), system.memory(), system.locks()));
        threadsAreShort.set(true);
        for (FileVersion file : first.subList(0, MAX_LOADS + 10)) {
            assertThat(load(file).result).isCompletedWithValue("DIRECTORY");
        }
        threadsAreShort.set(false);
        clock.advanceWithStopwatch(PATIENCE);
        first.subList(0, 20).forEach(this::assertLoaded);
    }

    @Test
    void aFewReadsThatHangStopTheDirectory()
    {
        held.hold("read", file -> isFirst(file, "slab-"));
        List<Result> waiting = first.subList(0, 3).stream().map(this::load).toList();
        Await.until("reads hang", () -> held.held() == 3);
        clock.advanceWithStopwatch(PATIENCE);
        waiting.forEach(each -> assertThat(await(each.result)).isEqualTo("DIRECTORY"));
        // no other load waits for a directory that does not answer
        first.subList(3, 100).forEach(file -> assertThat(load(file).result).isCompletedWithValue("DIRECTORY"));
        second.subList(0, 100).forEach(this::assertLoaded);
        held.release();
        awaitLoaded(first.subList(0, 3));
        first.subList(0, 100).forEach(this::assertLoaded);
    }

    /**
     * Replaces files while the journal of the first directory cannot be synced.
     */
    @Test
    void syncsOfAJournalHang()
            throws Exception
    {
        List<FileVersion> replaced = List.of(first.get(0), second.get(0), first.get(1));
        held.hold("sync", file -> isFirst(file, "journal"));
        List<CompletableFuture<Boolean>> drops = replaced.stream().map(file -> store.flushes().drop(file.id())).toList();
        replaced.forEach(this::assertNotServed);
        Await.until("a sync hangs", () -> held.held() > 0);

        assertFills(10_000);
        second.subList(1, 100).forEach(this::assertLoaded);
        first.subList(2, 100).forEach(this::assertLoaded);
        assertThat(drops).noneMatch(CompletableFuture::isDone);

        clock.advanceWithStopwatch(HUNG);
        drops.forEach(drop -> assertThat(await(drop)).isTrue());
        // the directory is void already, so no drop waits for it, although the clock stands still
        for (FileVersion file : first.subList(100, 120)) {
            assertThat(await(store.flushes().drop(file.id()))).isTrue();
            assertNotServed(file);
        }
        assertFills(11_000);

        List<FileVersion> dropped = new ArrayList<>(replaced);
        dropped.addAll(first.subList(100, 120));
        // the process is killed, and keeps what it wrote; or the power fails
        for (int i = 0; i < 12; i++) {
            FakeDisk copy = i == 0 ? disk.copy() : disk.afterPowerCut(random);
            try (BlockStore reopened = BlockStore.open(reopenedConfig(i), StoreEnvironment.system().withDisk(copy).withClock(clock))) {
                assertThat(dropped).allMatch(file -> reopened.file(file.id()).isEmpty() && reopened.load(key(file)).isEmpty());
                assertThat(reopened.recovery()).anyMatch(outcome -> outcome.finding() == RecoveryFinding.CHECKPOINT_OUTDATED && outcome.where().equals(ssd(0)));
                assertThat(second.subList(200, 210)).as("the other directory").allMatch(file -> reopened.file(file.id()).isPresent());
            }
        }
    }

    /**
     * After a directory was voided, its next checkpoint has the drops, and makes it valid again.
     */
    @Test
    void aVoidDirectoryRecovers()
            throws Exception
    {
        held.hold("sync", file -> isFirst(file, "journal"));
        CompletableFuture<Boolean> drop = store.flushes().drop(first.get(0).id());
        Await.until("a sync hangs", () -> held.held() > 0);
        clock.advanceWithStopwatch(HUNG);
        assertThat(await(drop)).isTrue();
        assertThat(store.problem()).isPresent();
        assertThat(store.ssd().lacksDrops()).isTrue();
        held.release();
        Await.until("the syncs end", () -> held.held() == 0);
        clock.advance(SUSPENSION);
        Await.until("a checkpoint is written", () -> !store.ssd().lacksDrops());
        assertThat(await(store.flushes().drop(first.get(1).id()))).isTrue();
        for (int i = 0; i < 3; i++) {
            FakeDisk copy = disk.afterPowerCut(random);
            try (BlockStore reopened = BlockStore.open(reopenedConfig(i), StoreEnvironment.system().withDisk(copy).withClock(clock))) {
                assertThat(first.subList(0, 2)).allMatch(file -> reopened.file(file.id()).isEmpty());
                assertThat(first.subList(2, 100)).allMatch(file -> reopened.file(file.id()).isPresent());
            }
        }
    }

    /**
     * Waits with a deadline, since nothing interrupts {@link CompletableFuture#join}.
     */
    private static <T> T await(CompletableFuture<T> future)
    {
        Await.until("the result is there", future::isDone);
        return future.join();
    }

    private void assertNotServed(FileVersion file)
    {
        assertThat(store.file(file.id())).isEmpty();
        assertThat(store.load(key(file))).isEmpty();
        assertThat(store.isOnSsd(key(file))).isFalse();
    }

    /**
     * The shared memory of the running store is its own.
     */
    private StoreConfig reopenedConfig(int number)
            throws IOException
    {
        return config.withRam(Files.createDirectories(directory.resolve("ram-" + number)), 16 << 20);
    }
}
