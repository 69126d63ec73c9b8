package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One scripted life of a store over four runs, with checkpoints, without, and with them again, in which the power goes at every single write, sync,
 * making, renaming and deleting of a file; and in every third of these lives once more while the store is opened again.
 *
 * <p>Whatever the fate of each page that was not synced: what is read is the bytes of that block under the ETag that its file has, an ETag that was
 * dropped for good never comes back, and what a checkpoint told of and did not leave since is there.
 */
@Tag("slow")
class TestPowerCuts
{
    private static final int BLOCK = 64 << 10;
    private static final long CAPACITY = 3 << 20;
    private static final int FILES = 6;
    // far more than there are: the life ends before
    private static final int MAX_CUTS = 2000;

    @TempDir
    private Path directory;

    private StoreConfig config;

    private static final class PowerCutException
            extends Exception {}

    /**
     * Returns where the key of the directories comes from, if they are encrypted.
     */
    Optional<KeySource> encryptionKey()
    {
        return Optional.empty();
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, number == 0 ? 3000 : 8L * BLOCK - 100);
    }

    @Test
    void everyWriteAndSync()
            throws Exception
    {
        cutEverywhere(1);
    }

    @Test
    @Tag("exhaustive")
    void everyWriteAndSyncManyTimes()
            throws Exception
    {
        cutEverywhere(10);
    }

    private void cutEverywhere(int rounds)
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Map<String, Integer> calls = new TreeMap<>();
        Map<RecoveryFinding, Integer> findings = new EnumMap<>(RecoveryFinding.class);
        long expected = 0;
        int cuts = 0;
        for (int round = 0; round < rounds; round++) {
            boolean cut = true;
            for (int writes = 0; cut; writes++) {
                assertThat(writes).isLessThan(MAX_CUTS);
                Life life = new Life(new Random(seed + 31L * writes + 7919L * round));
                cut = life.run(writes);
                life.lastCall.ifPresent(call -> calls.merge(call.replaceAll("slab-.*", "slab").replaceAll("checkpoint-.", "checkpoint"), 1, Integer::sum));
                expected += life.checkAfterPowerCut(writes % 3 == 0, findings);
                cuts += cut ? 1 : 0;
            }
        }
        System.out.printf("%s power cuts, %s blocks had to come back, findings: %s%ncuts: %s%n", cuts, expected, findings, calls);
        assertThat(expected).isPositive();
        // nothing that a store does with its disk was left out
        assertThat(calls).containsKeys(
                "create superblock", "allocate superblock", "write superblock", "sync superblock",
                "create journal", "allocate journal", "write journal", "sync journal",
                "create checkpoint", "allocate checkpoint", "write checkpoint", "sync checkpoint",
                "create slab", "allocate slab", "write slab", "sync slab",
                "sync ssd", "write run.new", "sync run.new", "rename run", "rename worker-id", "sync state");
    }

    private record Place(int file, int block) {}

    private final class Life
    {
        private final Random random;
        private final FakeDisk disk = new FakeDisk();
        // of each file, the ETags that were ever bound, and those that were dropped for good
        private final Map<Integer, Set<String>> bound = new HashMap<>();
        private final Set<String> dropped = new HashSet<>();
        // what a checkpoint told of
        private final Set<Place> durable = new HashSet<>();
        private Set<Place> expected = Set.of();
        private Optional<BlockStore> opened = Optional.empty();
        Optional<String> lastCall = Optional.empty();

        Life(Random random)
                throws Exception
        {
            this.random = random;
            Path own = Files.createTempDirectory(directory, "life-");
            config = StoreConfig.ramOnly(own.resolve("state"))
                    .withBlockSize(BLOCK)
                    .withRam(Files.createDirectories(own.resolve("ram")), 4 << 20)
                    .withCheckpointInterval(Duration.ofDays(365))
                    .withEncryptionKey(encryptionKey())
                    .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(own.resolve("ssd")), new Capacity.Bytes(CAPACITY))));
        }

        /**
         * @param writes after which the power goes
         * @return whether it went before the end
         */
        boolean run(int writes)
                throws Exception
        {
            disk.turnOffAfter(writes);
            boolean cut = false;
            try {
                live();
                // the end of a life that was long enough
                disk.turnOff();
            }
            catch (PowerCutException e) {
                cut = true;
                lastCall = disk.lastCall();
            }
            if (opened.isPresent()) {
                BlockStore store = opened.get();
                Set<Place> still = new HashSet<>(durable);
                still.removeIf(place -> !store.isOnSsd(file(place.file).id().block(place.block)));
                expected = still;
                store.abandon();
            }
            else {
                expected = durable;
            }
            return cut;
        }

        private void live()
                throws Exception
        {
            // with checkpoints
            open();
            bind(0, "a");
            fill(0, 0, 1);
            bind(1, "b");
            fill(1, 0, 5);
            bind(2, "c");
            fill(2, 0, 4);
            flush();
            checkpoint();
            store().confirm(file(1).id());
            fill(1, 5, 8);
            drop(2);
            bind(2, "d");
            fill(2, 0, 3);
            flush();
            checkpoint();
            fill(2, 3, 5);
            close();

            // without: what was dropped is written over, and only the journal knows
            open();
            drop(1);
            bind(1, "e");
            fill(1, 0, 6);
            bind(3, "f");
            fill(3, 0, 6);
            drop(2);
            flush();
            kill();

            // and without once more
            open();
            bind(2, "g");
            fill(2, 0, 5);
            drop(3);
            flush();
            kill();

            // with them again, and with more than there is room for
            open();
            checkpoint();
            bind(3, "h");
            bind(4, "i");
            bind(5, "j");
            fill(3, 0, 8);
            fill(4, 0, 8);
            fill(5, 0, 8);
            checkpoint();
            fill(0, 0, 1);
            fill(1, 0, 8);
            fill(2, 0, 8);
            close();
        }

        private BlockStore store()
        {
            return opened.orElseThrow();
        }

        private void checkPower()
                throws PowerCutException
        {
            if (disk.isOff()) {
                throw new PowerCutException();
            }
        }

        private void open()
                throws PowerCutException, StoreException
        {
            try {
                opened = Optional.of(BlockStore.open(config, environment()));
            }
            catch (StoreException e) {
                checkPower();
                throw e;
            }
            checkPower();
        }

        private StoreEnvironment environment()
        {
            return StoreEnvironment.system().withDisk(disk).withClock(new FastClock());
        }

        private void close()
                throws PowerCutException
        {
            Set<Place> present = present();
            store().close();
            if (disk.isOff()) {
                // what it has in memory tells no more what is on disk
                opened = Optional.empty();
                durable.retainAll(present);
                throw new PowerCutException();
            }
            opened = Optional.empty();
            durable.clear();
            durable.addAll(present);
        }

        private void kill()
                throws PowerCutException
        {
            durable.retainAll(present());
            store().abandon();
            opened = Optional.empty();
            checkPower();
        }

        private Set<Place> present()
        {
            Set<Place> present = new HashSet<>();
            for (int number = 0; number < FILES; number++) {
                for (int block = 0; block < file(number).blockCount(BLOCK); block++) {
                    if (store().isOnSsd(file(number).id().block(block))) {
                        present.add(new Place(number, block));
                    }
                }
            }
            return present;
        }

        private void checkpoint()
                throws PowerCutException
        {
            Set<Place> present = present();
            store().ssd().checkpoint();
            checkPower();
            durable.clear();
            durable.addAll(present);
        }

        private void flush()
                throws PowerCutException
        {
            store().ssd().flush();
            checkPower();
        }

        private void bind(int number, String etag)
                throws PowerCutException
        {
            bound.computeIfAbsent(number, _ -> new HashSet<>()).add(etag);
            assertThat(store().bind(file(number), Optional.of(etag), false, "schema.table")).isTrue();
            checkPower();
        }

        private void drop(int number)
                throws PowerCutException
        {
            Optional<String> etag = store().file(file(number).id()).flatMap(FileMetadata::etag);
            durable.removeIf(place -> place.file == number);
            store().flushes().dropFile(file(number).id());
            checkPower();
            etag.ifPresent(dropped::add);
        }

        private void fill(int number, int first, int end)
                throws PowerCutException
        {
            FileVersion file = file(number);
            for (int block = first; block < end; block++) {
                BlockKey key = file.id().block(block);
                int length = file.blockLength(block, BLOCK);
                Optional<String> etag = store().file(file.id()).flatMap(FileMetadata::etag);
                if (etag.isEmpty()) {
                    // all its blocks left, and it with them
                    bind(number, bound.get(number).stream().filter(each -> !dropped.contains(each)).findFirst().orElseThrow());
                    etag = store().file(file.id()).flatMap(FileMetadata::etag);
                }
                if (!store().isOnSsd(key)) {
                    // it left; no checkpoint tells of its new place
                    durable.remove(new Place(number, block));
                }
                long etagDigest = ETags.digest(etag.orElseThrow());
                Fill fill = TestingBlocks.awaitFrame(() -> store().beginFill(key, length, etagDigest));
                fill.buffer().put(TestingBlocks.bytes(key, etagDigest, length));
                fill.commit().ifPresent(PinnedBlock::close);
                store().ssd().drain();
                checkPower();
            }
        }

        /**
         * @param again whether the power goes a second time, while the store is opened
         * @return how many blocks had to be there
         */
        int checkAfterPowerCut(boolean again, Map<RecoveryFinding, Integer> findings)
                throws Exception
        {
            disk.turnOn(random);
            if (again) {
                disk.turnOffAfter(random.nextInt(8));
                try {
                    BlockStore.open(config, environment()).abandon();
                }
                catch (StoreException e) {
                    assertThat(disk.isOff()).as(e.getMessage()).isTrue();
                }
                disk.turnOff();
                disk.turnOn(random);
            }
            try (BlockStore store = BlockStore.open(config, environment())) {
                assertThat(store.recovery()).isNotEmpty();
                store.recovery().forEach(outcome -> findings.merge(outcome.finding(), 1, Integer::sum));
                Set<Place> there = new HashSet<>();
                for (int number = 0; number < FILES; number++) {
                    FileVersion file = file(number);
                    Optional<String> etag = store.file(file.id()).flatMap(FileMetadata::etag);
                    if (etag.isPresent()) {
                        assertThat(bound.get(number)).contains(etag.get());
                        assertThat(dropped).doesNotContain(etag.get());
                    }
                    for (int block = 0; block < file.blockCount(BLOCK); block++) {
                        BlockKey key = file.id().block(block);
                        Optional<PinnedBlock> loaded = store.load(key);
                        if (loaded.isPresent()) {
                            try (PinnedBlock pinned = loaded.get()) {
                                long etagDigest = ETags.digest(etag.orElseThrow());
                                assertThat(pinned.etagDigest()).isEqualTo(etagDigest);
                                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, etagDigest, file.blockLength(block, BLOCK)));
                            }
                            there.add(new Place(number, block));
                        }
                    }
                }
                assertThat(there).as(() -> "cut after %s; recovery: %s".formatted(lastCall, store.recovery())).containsAll(expected);
                store.checkInvariants();
            }
            return expected.size();
        }
    }
}
