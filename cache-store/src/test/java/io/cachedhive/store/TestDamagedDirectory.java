package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.encryption.OperatorKey;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdCandidates;
import io.cachedhive.store.ssd.SsdMounts;
import io.cachedhive.store.ssd.SsdTier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_CORRUPT;
import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_MISSING;
import static io.cachedhive.store.block.RecoveryFinding.CHECKPOINT_OUTDATED;
import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.CRASH;
import static io.cachedhive.store.block.RecoveryFinding.JOURNAL_CORRUPT;
import static io.cachedhive.store.block.RecoveryFinding.JOURNAL_TORN;
import static io.cachedhive.store.block.RecoveryFinding.SUPERBLOCK_CORRUPT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each byte of superblock, journal and checkpoints changed, one at a time, and each of these files cut off, in directories as a crash and as a
 * clean stop leave them. Whatever is damaged: the store opens, names what it found when anything is lost by it, and shows of each block either
 * nothing or the block's own bytes under the ETag that was bound last. Files were dropped and bound anew, so that what comes back from
 * before a drop is a wrong byte.
 *
 * <p>Pages that were never written are damaged all at once, each in one byte; and beyond its last byte that is not zero a file is cut off at
 * the ends of its pages only, since what a reader sees of it is the same in between. A plain build tries a sample, another one each time; the
 * profile exhaustive tries all of it.
 */
@Tag("slow")
class TestDamagedDirectory
{
    private static final int BLOCK = 64 << 10;
    private static final int PAGE = 4096;
    private static final int FILES = 8;
    private static final List<String> METADATA = List.of("superblock", "journal", "checkpoint-0", "checkpoint-1");
    // every so-manyth damage is tried on a whole store as well, which takes a hundred times as long
    private static final int WHOLE_STORE_STRIDE = 997;

    // kept here: the level of a logger that nobody holds is forgotten
    private final Logger log = Logger.getLogger("io.cachedhive.store");

    @TempDir
    private Path directory;

    private Path ssd;
    private StoreConfig config;
    private long seed;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        ssd = Files.createDirectories(directory.resolve("ssd"));
        config = config("store");
        // each damage is a warning
        log.setLevel(Level.SEVERE);
    }

    @AfterEach
    void restoreLog()
    {
        log.setLevel(null);
    }

    /**
     * Returns where the key of the directory comes from, if it is encrypted.
     */
    Optional<KeySource> encryptionKey()
    {
        return Optional.empty();
    }

    private Optional<OperatorKey> operatorKey()
            throws StoreException
    {
        return encryptionKey().isPresent() ? Optional.of(encryptionKey().get().read()) : Optional.empty();
    }

    private StoreConfig config(String name)
            throws IOException
    {
        return StoreConfig.ramOnly(directory.resolve(name + "-state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve(name + "-ram")), 3 << 20)
                // checkpoints are written when the test says so
                .withCheckpointInterval(Duration.ofDays(1))
                .withEncryptionKey(encryptionKey())
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(1280 << 10))));
    }

    private BlockStore open(FakeDisk disk, StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, 1000 + 300L * number);
    }

    /**
     * A directory, and what may be found in it.
     *
     * @param bound of each file the ETag that was bound last; without those that were dropped after that
     */
    private record Scene(FakeDisk disk, CacheWorkerId workerId, long lastRun, Map<Integer, String> bound) {}

    private interface Script
    {
        /**
         * @return whether the store stops cleanly
         */
        boolean run(BlockStore store, FakeDisk disk, Map<Integer, String> bound);
    }

    private Scene scene(Script script)
            throws Exception
    {
        FakeDisk disk = new FakeDisk();
        Map<Integer, String> bound = new TreeMap<>();
        try (BlockStore store = open(disk, config)) {
            for (int i = 0; i < 5; i++) {
                fill(store, i, "old", bound);
            }
        }
        BlockStore store = open(disk, config);
        drop(store, 0, bound);
        fill(store, 0, "new", bound);
        fill(store, 5, "old", bound);
        store.ssd().checkpoint();
        drop(store, 1, bound);
        fill(store, 1, "new", bound);
        drop(store, 2, bound);
        boolean clean = script.run(store, disk, bound);
        long lastRun = store.ssd().run();
        if (clean) {
            store.close();
        }
        else {
            store.abandon();
        }
        METADATA.forEach(file -> disk.setFailing(ssd.resolve(file), false));
        return new Scene(disk.copy(), store.workerId(), lastRun, bound);
    }

    private static void fill(BlockStore store, int number, String etag, Map<Integer, String> bound)
    {
        FileVersion file = file(number);
        bound.put(number, etag);
        assertThat(store.bind(file, Optional.of(etag), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(0);
        int length = file.blockLength(0, BLOCK);
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETags.digest(etag)));
        fill.buffer().put(TestingBlocks.bytes(key, ETags.digest(etag), length));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
    }

    private static void drop(BlockStore store, int number, Map<Integer, String> bound)
    {
        store.flushes().dropFile(file(number).id());
        bound.remove(number);
    }

    @Test
    void afterACrash()
            throws Exception
    {
        afterACrash(13, 41);
    }

    @Test
    void afterACrashWithBlocksLast()
            throws Exception
    {
        afterACrashWithBlocksLast(11, 41);
    }

    @Test
    void afterACleanStop()
            throws Exception
    {
        afterACleanStop(31, 83);
    }

    @Test
    void afterADropThatOnlyTheSuperblockTells()
            throws Exception
    {
        afterADropThatOnlyTheSuperblockTells(7, 23);
    }

    @Test
    @Tag("exhaustive")
    void everywhere()
            throws Exception
    {
        afterACrash(1, 1);
        removeStore();
        afterACrashWithBlocksLast(1, 1);
        removeStore();
        afterACleanStop(1, 1);
        removeStore();
        afterADropThatOnlyTheSuperblockTells(1, 1);
    }

    /**
     * The shared memory of the last scene, which a store of another worker would leave alone; its disks are in this process's memory.
     */
    private void removeStore()
            throws IOException
    {
        try (Stream<Path> files = Files.list(config.ramDirectory())) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    /**
     * A run that checkpoints, one that does not, and one that does again, each ended by a power cut: what the checkpoint of the first knows of
     * was dropped and filled anew in the second.
     */
    @Test
    void checkpointsOnThenOffThenOnAgain()
            throws Exception
    {
        FakeDisk disk = new FakeDisk();
        Map<Integer, String> bound = new TreeMap<>();
        Random random = new Random(seed);
        CacheWorkerId workerId = null;
        int shown = 0;
        for (int run = 0; run < 12; run++) {
            boolean checkpoints = run % 3 != 1;
            StoreConfig runConfig = config.withCheckpointInterval(checkpoints ? Duration.ofMillis(1) : Duration.ofDays(1000));
            BlockStore store = open(disk, runConfig);
            workerId = store.workerId();
            shown += shown(new Scene(disk, workerId, 0, bound), store).size();
            for (int i = 0; i < FILES; i++) {
                if (random.nextInt(3) != 0) {
                    drop(store, i, bound);
                    if (random.nextInt(4) != 0) {
                        fill(store, i, "run-%s".formatted(run), bound);
                    }
                }
                if (checkpoints && random.nextInt(4) == 0) {
                    store.ssd().checkpoint();
                }
            }
            store.ssd().flush();
            if (random.nextInt(4) == 0) {
                store.close();
            }
            else {
                disk.turnOff();
                store.abandon();
                disk.turnOn(random);
            }
        }
        try (BlockStore store = open(disk, config)) {
            shown += shown(new Scene(disk, workerId, 0, bound), store).size();
        }
        assertThat(shown).isPositive();
    }

    private void afterACrash(int flipStride, int truncationStride)
            throws Exception
    {
        // the drop is the last that the journal tells
        Scene scene = scene((store, _, bound) -> {
            fill(store, 6, "old", bound);
            drop(store, 3, bound);
            return false;
        });
        Found undamaged = look(scene, scene.disk.copy());
        assertThat(undamaged.findings()).containsExactly(CRASH);
        assertThat(undamaged.shown).containsExactly(0, 1, 4, 5, 6);

        assertThat(damageAll(scene, undamaged, METADATA, flipStride, truncationStride))
                .containsKeys(CRASH, SUPERBLOCK_CORRUPT, CHECKPOINT_CORRUPT, CHECKPOINT_MISSING, JOURNAL_CORRUPT, JOURNAL_TORN);
    }

    private void afterACrashWithBlocksLast(int flipStride, int truncationStride)
            throws Exception
    {
        // what a torn batch loses are blocks
        Scene scene = scene((store, _, bound) -> {
            fill(store, 6, "old", bound);
            store.ssd().flush();
            return false;
        });
        Found undamaged = look(scene, scene.disk.copy());
        assertThat(undamaged.findings()).containsExactly(CRASH);
        assertThat(undamaged.shown).containsExactly(0, 1, 3, 4, 5, 6);

        assertThat(damageAll(scene, undamaged, List.of("journal"), flipStride, truncationStride)).containsKeys(CRASH, JOURNAL_CORRUPT, JOURNAL_TORN);
    }

    private void afterACleanStop(int flipStride, int truncationStride)
            throws Exception
    {
        Scene scene = scene((store, _, bound) -> {
            fill(store, 6, "old", bound);
            drop(store, 3, bound);
            return true;
        });
        Found undamaged = look(scene, scene.disk.copy());
        assertThat(undamaged.findings()).containsExactly(CLEAN_STOP);
        assertThat(undamaged.shown).containsExactly(0, 1, 4, 5, 6);

        assertThat(damageAll(scene, undamaged, List.of("superblock", "checkpoint-0", "checkpoint-1"), flipStride, truncationStride))
                .containsKeys(CLEAN_STOP, CRASH, SUPERBLOCK_CORRUPT, CHECKPOINT_CORRUPT);
        // the journal has nothing that the checkpoint has not
        assertThat(damageAll(scene, undamaged, List.of("journal"), flipStride, truncationStride)).containsKeys(CLEAN_STOP, JOURNAL_CORRUPT);
    }

    private void afterADropThatOnlyTheSuperblockTells(int flipStride, int truncationStride)
            throws Exception
    {
        Scene scene = scene((store, disk, bound) -> {
            disk.setFailing(ssd.resolve("journal"), true);
            drop(store, 3, bound);
            return false;
        });
        Found undamaged = look(scene, scene.disk.copy());
        assertThat(undamaged.findings()).contains(CHECKPOINT_OUTDATED);
        assertThat(undamaged.shown).isEmpty();

        assertThat(damageAll(scene, undamaged, List.of("superblock"), flipStride, truncationStride)).containsKeys(SUPERBLOCK_CORRUPT);
    }

    private sealed interface Damage
    {
        void inflict(FakeDisk disk);

        record Flip(List<Long> positions, Path file, int bits)
                implements Damage
        {
            @Override
            public void inflict(FakeDisk disk)
            {
                positions.forEach(position -> disk.flip(file, position, bits));
            }
        }

        record Truncation(Path file, long size)
                implements Damage
        {
            @Override
            public void inflict(FakeDisk disk)
            {
                disk.truncate(file, size);
            }
        }
    }

    private List<Damage> damages(Scene scene, List<String> names, int flipStride, int truncationStride)
    {
        Random random = new Random(seed);
        List<Damage> flips = new ArrayList<>();
        List<Damage> truncations = new ArrayList<>();
        for (String name : names) {
            Path file = ssd.resolve(name);
            byte[] bytes = scene.disk.bytes(file);
            List<Long> unwritten = new ArrayList<>();
            int used = 0;
            for (int page = 0; page < bytes.length; page += PAGE) {
                if (isZero(bytes, page)) {
                    unwritten.add((long) page);
                    continue;
                }
                for (int i = page; i < page + PAGE; i++) {
                    flips.add(new Damage.Flip(List.of((long) i), file, 1 << random.nextInt(8)));
                    if (bytes[i] != 0) {
                        used = i + 1;
                    }
                }
            }
            for (int i = 0; i < PAGE; i++) {
                int offset = i;
                flips.add(new Damage.Flip(unwritten.stream().map(page -> page + offset).toList(), file, 1 << random.nextInt(8)));
            }
            for (int size = 0; size <= used; size++) {
                truncations.add(new Damage.Truncation(file, size));
            }
            for (int size = used / PAGE * PAGE + PAGE; size <= bytes.length; size += PAGE) {
                truncations.add(new Damage.Truncation(file, size - 1));
                if (size < bytes.length) {
                    truncations.add(new Damage.Truncation(file, size));
                }
            }
        }
        List<Damage> damages = new ArrayList<>();
        for (int i = random.nextInt(flipStride); i < flips.size(); i += flipStride) {
            damages.add(flips.get(i));
        }
        for (int i = random.nextInt(truncationStride); i < truncations.size(); i += truncationStride) {
            damages.add(truncations.get(i));
        }
        return damages;
    }

    private static boolean isZero(byte[] bytes, int page)
    {
        return Arrays.equals(bytes, page, page + PAGE, new byte[PAGE], 0, PAGE);
    }

    /**
     * @return how often each finding was made
     */
    private Map<RecoveryFinding, Integer> damageAll(Scene scene, Found undamaged, List<String> names, int flipStride, int truncationStride)
            throws Exception
    {
        List<Damage> damages = damages(scene, names, flipStride, truncationStride);
        int threads = Runtime.getRuntime().availableProcessors();
        Map<RecoveryFinding, Integer> counts = new EnumMap<>(RecoveryFinding.class);
        int wholeStores = 0;
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<List<Found>>> futures = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int first = thread;
                StoreConfig own = config("store-" + thread);
                Files.createDirectories(own.stateDirectory());
                futures.add(executor.submit(() -> {
                    List<Found> all = new ArrayList<>();
                    for (int i = first; i < damages.size(); i += threads) {
                        Damage damage = damages.get(i);
                        FakeDisk disk = scene.disk.copy();
                        damage.inflict(disk);
                        boolean whole = i % WHOLE_STORE_STRIDE == 0;
                        try {
                            all.add(check(scene, undamaged, whole ? openAndGoOn(scene, disk, own) : look(scene, disk)));
                        }
                        catch (Exception | AssertionError e) {
                            throw new AssertionError("after %s: %s".formatted(damage, e), e);
                        }
                    }
                    return all;
                }));
            }
            for (Future<List<Found>> future : futures) {
                for (Found found : future.get()) {
                    found.findings().forEach(finding -> counts.merge(finding, 1, Integer::sum));
                }
            }
        }
        System.out.printf("%s damages: %s%n", damages.size(), counts);
        return counts;
    }

    /**
     * @param shown files whose block was shown
     */
    private record Found(List<RecoveryOutcome> outcomes, Set<Integer> shown)
    {
        List<RecoveryFinding> findings()
        {
            return outcomes.stream().map(RecoveryOutcome::finding).toList();
        }
    }

    private static Found check(Scene scene, Found undamaged, Found found)
    {
        assertThat(found.outcomes).isNotEmpty();
        assertThat(scene.bound.keySet()).containsAll(found.shown);
        if (!found.shown.containsAll(undamaged.shown)) {
            assertThat(found.findings())
                    .describedAs("what is lost (found: %s, before: %s) has a name", found.shown, undamaged.shown)
                    .anyMatch(finding -> (finding.isDoubt() || finding == JOURNAL_TORN) && !undamaged.findings().contains(finding));
        }
        return found;
    }

    private static void checkBytes(Scene scene, int number, Optional<String> etag, byte[] bytes)
    {
        assertThat(etag).describedAs("file %s", number).isEqualTo(Optional.ofNullable(scene.bound.get(number))).isPresent();
        assertThat(bytes).isEqualTo(TestingBlocks.bytes(file(number).id().block(0), ETags.digest(etag.get()), (int) file(number).length()));
    }

    /**
     * What the SSD tier makes of the directory, without the rest of a store.
     */
    private Found look(Scene scene, FakeDisk disk)
            throws Exception
    {
        Set<Integer> shown = new TreeSet<>();
        SsdMounts mounts = new SsdMounts(Path.of("ssd-mounts"), Map.of());
        try (SsdCandidates candidates = SsdCandidates.probe(config.ssdDirectories(), BLOCK, disk, operatorKey(), mounts, SsdFormat.CURRENT)) {
            SsdTier tier = SsdTier.open(
                    candidates,
                    scene.workerId,
                    // the worker keeps it beside the directories too
                    scene.lastRun,
                    config.checkpointInterval(),
                    Long.MAX_VALUE,
                    new FileTable(),
                    new ReentrantLock(),
                    StoreEnvironment.system().withDisk(disk));
            for (int i = 0; i < FILES; i++) {
                Optional<SsdBlock> block = tier.find(file(i).id().block(0).digest());
                if (block.isPresent()) {
                    Optional<String> etag = block.get().file().metadata().etag();
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment target = arena.allocate(block.get().length());
                        if (tier.read(block.get(), target).isPresent()) {
                            checkBytes(scene, i, etag, target.toArray(JAVA_BYTE));
                            shown.add(i);
                        }
                    }
                }
            }
            return new Found(tier.recovery(), shown);
        }
    }

    /**
     * The same with a store, which goes on: what it writes over the damage is there after the next crash, and nothing else.
     */
    private Found openAndGoOn(Scene scene, FakeDisk disk, StoreConfig config)
            throws Exception
    {
        disk.setBytes(config.stateDirectory().resolve("worker-id"), scene.workerId.value().getBytes(UTF_8));
        disk.setBytes(config.stateDirectory().resolve("run"), "%s %s".formatted(scene.workerId, scene.lastRun).getBytes(UTF_8));
        Found found;
        Map<Integer, String> bound = new TreeMap<>(scene.bound);
        Scene after = new Scene(disk, scene.workerId, scene.lastRun, bound);
        BlockStore store = open(disk, config);
        try {
            found = new Found(store.recovery().stream().filter(outcome -> outcome.finding() != RecoveryFinding.MEMORY_FILE_RECLAIMED).toList(), shown(scene, store));
            fill(store, 7, "last", bound);
            drop(store, 0, bound);
            fill(store, 0, "last", bound);
            store.ssd().flush();
        }
        finally {
            store.abandon();
        }
        try (BlockStore next = open(disk, config)) {
            assertThat(shown(after, next)).contains(0, 7);
            next.checkInvariants();
        }
        return found;
    }

    private static Set<Integer> shown(Scene scene, BlockStore store)
    {
        Set<Integer> shown = new TreeSet<>();
        for (int i = 0; i < FILES; i++) {
            int number = i;
            Optional<String> etag = store.file(file(i).id()).flatMap(FileMetadata::etag);
            store.load(file(i).id().block(0)).ifPresent(pinned -> {
                try (pinned) {
                    checkBytes(scene, number, etag, TestingBlocks.copy(pinned.payload()));
                    shown.add(number);
                }
            });
        }
        return shown;
    }
}
