package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random operations, and random ends, against what a store may know at most: of each file the ETag that was bound last.
 * What holds throughout: whatever is read are the bytes of that block under that ETag, and an ETag that was dropped never comes back.
 */
class TestBlockStoreModel
{
    private static final int BLOCK = 64 << 10;
    private static final int FILES = 12;
    private static final long SSD_BYTES = 6 << 20;

    @TempDir
    private Path directory;

    /**
     * Returns where the key of the directories comes from, if they are encrypted.
     */
    Optional<KeySource> encryptionKey()
    {
        return Optional.empty();
    }

    private StoreConfig config()
            throws Exception
    {
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withCheckpointInterval(Duration.ofDays(1))
                .withEncryptionKey(encryptionKey())
                .withSsdDirectories(List.of(
                        new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-1")), new Capacity.Bytes(SSD_BYTES)),
                        new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-2")), new Capacity.Bytes(SSD_BYTES))));
    }

    private static FileVersion file(int number)
    {
        // from one byte to many blocks
        return TestingBlocks.file(number, Math.max(1, (long) number * number * 50_000));
    }

    /**
     * What the test knows of a file.
     */
    private static final class Model
    {
        int lastVersion;
        Optional<String> bound = Optional.empty();
    }

    @RepeatedTest(3)
    void randomOperationsAndPowerCuts()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        FakeDisk disk = new FakeDisk();
        StoreConfig config = config();
        Model[] models = new Model[FILES];
        for (int i = 0; i < FILES; i++) {
            models[i] = new Model();
        }
        long restored = 0;
        long hits = 0;
        for (int run = 0; run < 25; run++) {
            // in turns all at once, and while it is in use
            long blocksRestoredFirst = run % 2 == 0 ? Long.MAX_VALUE : 0;
            SteppedMemory memory = new SteppedMemory();
            BlockStore store = BlockStore.open(
                    config,
                    StoreEnvironment.system().withDisk(disk).withClock(new FastClock()).withRandom(random).withMemory(memory),
                    blocksRestoredFirst);
            restored += store.gauges().restoredBlocks();
            try (SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
                for (int i = 0; i < FILES; i++) {
                    // after a crash a file may be gone; what is there was never dropped
                    Model model = models[i];
                    Optional<FileMetadata> metadata = store.file(file(i).id());
                    if (metadata.isPresent() && !metadata.get().etag().equals(model.bound)) {
                        // of a file without blocks, which is forgotten when all of them are there
                        assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
                        metadata = store.file(file(i).id());
                    }
                    if (metadata.isPresent()) {
                        assertThat(metadata.get().etag()).describedAs("file %s in run %s", i, run).isEqualTo(model.bound);
                    }
                    else {
                        model.bound = Optional.empty();
                    }
                }
                boolean crash = random.nextInt(4) != 0;
                int operations = 40 + random.nextInt(160);
                if (crash) {
                    disk.turnOffAfter(1 + random.nextInt(120));
                }
                for (int operation = 0; operation < operations && !disk.isOff(); operation++) {
                    int number = random.nextInt(FILES);
                    FileVersion file = file(number);
                    Model model = models[number];
                    int block = random.nextInt(file.blockCount(BLOCK));
                    BlockKey key = file.id().block(block);
                    switch (random.nextInt(20)) {
                        case 0 -> {
                            store.flushes().dropFile(file.id());
                            if (!disk.isOff()) {
                                model.bound = Optional.empty();
                                assertThat(store.load(key)).isEmpty();
                            }
                            else if (store.file(file.id()).isEmpty()) {
                                // it may or may not come back: the process died before the call returned
                                break;
                            }
                        }
                        case 1 -> store.confirm(file.id());
                        case 2 -> store.ssd().flush();
                        case 3 -> store.ssd().drain();
                        case 4 -> {
                            if (random.nextInt(5) == 0) {
                                store.ssd().checkpoint();
                            }
                        }
                        case 5, 6, 7, 8, 9, 10, 11, 12 -> {
                            if (model.bound.isEmpty()) {
                                model.lastVersion++;
                                model.bound = Optional.of("etag-%s-%s".formatted(number, model.lastVersion));
                            }
                            assertThat(store.bind(file, model.bound, random.nextBoolean(), "schema.table")).isTrue();
                            fill(store, file, block, model.bound.get());
                        }
                        case 13 -> {
                            store.recordHit(key.high(), key.low());
                            if (random.nextBoolean()) {
                                store.drainHits();
                            }
                        }
                        case 14 -> store.setClass(key.digest(), BlockClass.values()[1 + random.nextInt(3)]);
                        case 15 -> {
                            if (random.nextInt(4) == 0) {
                                memory.failStep(store);
                            }
                            else {
                                memory.step(store);
                            }
                        }
                        default -> hits += check(store, reader, file, block, model) ? 1 : 0;
                    }
                }
                memory.permitAll();
                if (disk.isOff() || crash) {
                    disk.turnOff();
                    store.abandon();
                    disk.turnOn(random);
                }
                else {
                    store.checkInvariants();
                    for (int i = 0; i < FILES; i++) {
                        for (int block = 0; block < file(i).blockCount(BLOCK); block++) {
                            hits += check(store, reader, file(i), block, models[i]) ? 1 : 0;
                        }
                    }
                    store.close();
                }
            }
        }
        System.out.printf("%s blocks restored, %s hits%n", restored, hits);
        assertThat(restored).isPositive();
        assertThat(hits).isPositive();
    }

    private static void fill(BlockStore store, FileVersion file, int block, String etag)
    {
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        long etagDigest = ETags.digest(etag);
        store.beginFill(key, length, etagDigest).ifPresent(fill -> {
            try (fill) {
                fill.buffer().put(TestingBlocks.bytes(key, etagDigest, length));
                fill.commit().ifPresent(PinnedBlock::close);
            }
        });
    }

    private static boolean check(BlockStore store, SharedMemoryReader reader, FileVersion file, int block, Model model)
    {
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Optional<PinnedBlock> loaded = store.load(key);
        if (loaded.isEmpty()) {
            return false;
        }
        try (PinnedBlock pinned = loaded.get()) {
            long etagDigest = ETags.digest(model.bound.orElseThrow());
            byte[] expected = TestingBlocks.bytes(key, etagDigest, length);
            assertThat(pinned.etagDigest()).isEqualTo(etagDigest);
            assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(expected);
            byte[] target = new byte[length];
            BlockInfo info = new BlockInfo();
            if (reader.read(key.high(), key.low(), 0, target, 0, length, info) != -1) {
                assertThat(target).isEqualTo(expected);
                assertThat(info.etagDigest()).isEqualTo(etagDigest);
            }
            assertThat(reader.readFrame(pinned.frame(), pinned.frameOffset(), pinned.generation(), key.high(), key.low(), 0, target, 0, length)).isTrue();
            assertThat(target).isEqualTo(expected);
        }
        return true;
    }

    @Test
    void manyThreads()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        FakeDisk disk = new FakeDisk();
        StoreConfig config = config().withCheckpointInterval(Duration.ofSeconds(10));
        AtomicInteger hits = new AtomicInteger();
        AtomicInteger drops = new AtomicInteger();
        AtomicInteger shared = new AtomicInteger();
        SteppedMemory memory = new SteppedMemory();
        memory.permitAll();
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()).withMemory(memory));
                SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile());
                ExecutorService executor = Executors.newCachedThreadPool()) {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Random random = new Random(seed + i);
                futures.add(executor.submit(() -> {
                    long start = System.nanoTime();
                    // a busy machine may leave the threads with nearly nothing of two seconds
                    while (System.nanoTime() - start < 2_000_000_000L || (System.nanoTime() - start < 60_000_000_000L && (hits.get() == 0 || drops.get() == 0))) {
                        operate(store, reader, random, hits, drops, shared);
                    }
                }));
            }
            for (Future<?> future : futures) {
                future.get();
            }
            store.ssd().drain();
            store.checkInvariants();
            assertThat(hits.get()).isPositive();
            assertThat(drops.get()).isPositive();
            assertThat(shared.get()).isPositive();
            System.out.printf("%s hits, %s of them in shared memory, %s drops, %s%n", hits, shared, drops, store.gauges());

            // nothing is pinned or being filled any more: after drops of everything no memory is in use
            for (int i = 0; i < FILES; i++) {
                store.flushes().dropFile(file(i).id());
            }
            assertThat(store.gauges().ramBlocks()).isZero();
            assertThat(store.gauges().ssdBlocks()).isZero();
            assertThat(store.gauges().ssdUsedBytes()).isZero();
            assertThat(store.gauges().files()).isZero();
            store.checkInvariants();
        }
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()))) {
            assertThat(store.gauges().restoredBlocks()).isZero();
        }
    }

    private static void operate(BlockStore store, SharedMemoryReader reader, Random random, AtomicInteger hits, AtomicInteger drops, AtomicInteger shared)
    {
        int number = random.nextInt(FILES);
        FileVersion file = file(number);
        int block = random.nextInt(file.blockCount(BLOCK));
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        switch (random.nextInt(100)) {
            case 0 -> {
                store.flushes().dropFile(file.id());
                drops.incrementAndGet();
            }
            case 1 -> store.confirm(file.id());
            case 2 -> store.gauges();
            case 3, 4, 5 -> store.setClass(key.digest(), BlockClass.values()[1 + random.nextInt(3)]);
            default -> {
                // whatever the others do: bytes and ETag belong together
                Optional<PinnedBlock> loaded = random.nextBoolean() ? store.load(key) : store.pin(key);
                if (loaded.isPresent()) {
                    try (PinnedBlock pinned = loaded.get()) {
                        assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, pinned.etagDigest(), length));
                    }
                    hits.incrementAndGet();
                    byte[] target = new byte[length];
                    BlockInfo info = new BlockInfo();
                    if (reader.read(key.high(), key.low(), 0, target, 0, length, info) != -1) {
                        assertThat(target).isEqualTo(TestingBlocks.bytes(key, info.etagDigest(), length));
                        shared.incrementAndGet();
                    }
                    return;
                }
                String etag = "etag-" + random.nextInt(3);
                if (store.bind(file, Optional.of(etag), false, "schema.table")) {
                    fill(store, file, block, etag);
                }
            }
        }
    }
}
