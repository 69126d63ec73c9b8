package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileMetadata;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
 * One scripted life of a store with two SSD directories, in which each write, sync, creation and renaming of a file
 * fails in turn with EIO, and the power goes some writes later, or the process is killed and the power goes while its
 * successor drops the same files again.
 *
 * <p>Whatever was lost: what is read is the bytes of that block under the ETag that its file has, and an ETag whose
 * drop was reported as durable never comes back.
 */
@Timeout(1800)
@Tag("slow")
class TestPowerCutsAfterErrors
{
    private static final int BLOCK = 64 << 10;
    private static final int LENGTH = 3000;
    private static final int FILES = 8;
    // with no more, one after the other, a drop is taken by the journal or the superblock of its directory, or by that
    // of the other one
    private static final int FEW_FAULTS = 2;
    // with so many, nothing takes the drop, and the next checkpoint of either directory fails as well
    private static final int MAX_FAULTS = 6;
    private static final int MAX_WRITES_AFTER = 36;
    // far more than a life has
    private static final int MAX_WRITES = 2000;

    @TempDir
    private Path directory;

    private static final class PowerCutException
            extends Exception {}

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, LENGTH);
    }

    @Test
    void eachWriteFailsOnce()
            throws Exception
    {
        failEverywhere(1, false);
    }

    @Test
    @Tag("conformance")
    void eachWriteFailsOnceFromTheFirstStartOn()
            throws Exception
    {
        failEverywhere(1, true);
    }

    @Test
    @Tag("exhaustive")
    void eachWriteFailsManyTimes()
            throws Exception
    {
        failEverywhere(40, false);
        failEverywhere(10, true);
    }

    /**
     * @param first whether the directories are made in each life; otherwise they are full when it begins
     */
    private void failEverywhere(int rounds, boolean first)
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Life before = new Life(new Random(seed));
        before.prepare();
        Map<String, Integer> failed = new TreeMap<>();
        int lives = 0;
        int drops = 0;
        int blocks = 0;
        for (int round = 0; round < rounds; round++) {
            boolean reached = true;
            for (int writes = 0; reached; writes++) {
                assertThat(writes).isLessThan(MAX_WRITES);
                Random random = new Random(seed + 31L * writes + 7919L * round);
                boolean many = false;
                do {
                    Life life = first ? new Life(random) : new Life(random, before);
                    reached = many ? life.runUntilFlushed(writes, MAX_FAULTS) : life.run(writes, 1 + random.nextInt(MAX_FAULTS));
                    life.failedCall.ifPresent(call -> failed.merge(call, 1, Integer::sum));
                    lives++;
                    drops += life.dropped.size();
                    blocks += life.check();
                    // a drop that the journal lost is worth a second life
                    many = !many && life.failedCall.filter(call -> call.endsWith(" journal")).isPresent();
                }
                while (many);
            }
        }
        System.out.printf("%s lives, %s durable drops, %s blocks came back%nfailed: %s%n", lives, drops, blocks, failed);
        // neither does everything start empty, nor is anything left out that a store does with its disk
        assertThat(blocks).isGreaterThan(lives);
        assertThat(drops).isGreaterThan(lives);
        assertThat(failed).containsKeys(
                "write superblock", "sync superblock", "write journal", "sync journal", "write checkpoint", "sync checkpoint", "write slab", "sync slab",
                "create run.new", "write run.new", "sync run.new", "rename run", "sync state");
        if (first) {
            assertThat(failed).containsKeys("create slab", "allocate slab", "sync ssd", "rename worker-id");
        }
    }

    private final class Life
    {
        private final Random random;
        private final FakeDisk disk;
        private final ManualClock clock = new ManualClock();
        private final StoreConfig config;
        // of each file, the ETags that were ever bound
        private final Map<Integer, Set<String>> bound = new HashMap<>();
        private final Set<String> dropped = new HashSet<>();
        // files whose drop began and was not reported as durable
        private final Set<Integer> doubtful = new HashSet<>();
        private Optional<CacheWorkerId> workerId = Optional.empty();
        private boolean endsWhenFlushed;
        private Optional<BlockStore> opened = Optional.empty();
        Optional<String> failedCall = Optional.empty();

        Life(Random random)
                throws Exception
        {
            this(random, new FakeDisk());
        }

        Life(Random random, Life before)
                throws Exception
        {
            this(random, before.disk.copy());
            before.bound.forEach((number, etags) -> bound.put(number, new HashSet<>(etags)));
            workerId = before.workerId;
        }

        private Life(Random random, FakeDisk disk)
                throws Exception
        {
            this.random = random;
            this.disk = disk;
            // the same for all lives: directories on the fake disk are named so
            config = StoreConfig.ramOnly(directory.resolve("state"))
                    .withBlockSize(BLOCK)
                    .withRam(Files.createDirectories(directory.resolve("ram")), 3 << 20)
                    .withCheckpointInterval(Duration.ofDays(365))
                    .withSsdDirectories(List.of(ssd(0), ssd(1)));
        }

        void prepare()
                throws Exception
        {
            open();
            fillAll();
            close();
        }

        private SsdDirectoryConfig ssd(int number)
                throws Exception
        {
            return new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-" + number)), new Capacity.Bytes(2 << 20));
        }

        /**
         * @param writes after which EIO begins
         * @param faults how many writes and syncs fail then
         * @return whether the life was long enough for it
         */
        boolean run(int writes, int faults)
                throws Exception
        {
            disk.failAfter(writes, faults, random);
            disk.turnOffAfter(writes + 1 + random.nextInt(MAX_WRITES_AFTER));
            return run();
        }

        /**
         * As {@link #run}, and the power goes as soon as the drops that failed are reported as durable.
         */
        boolean runUntilFlushed(int writes, int faults)
                throws Exception
        {
            disk.failAfter(writes, faults, random);
            endsWhenFlushed = true;
            return run();
        }

        private boolean run()
                throws Exception
        {
            end(this::live);
            boolean reached = disk.faults() > 0;
            failedCall = disk.firstFault().map(call -> call.replaceAll("slab-.*", "slab").replaceAll("checkpoint-.", "checkpoint").replaceAll("ssd-.", "ssd"));
            if (!endsWhenFlushed && random.nextBoolean()) {
                disk.restartProcess();
                disk.turnOffAfter(random.nextInt(3 * MAX_WRITES_AFTER));
                end(this::dropAgain);
            }
            disk.turnOn(random);
            return reached;
        }

        private interface Script
        {
            void run()
                    throws Exception;
        }

        private void end(Script script)
                throws Exception
        {
            try {
                script.run();
            }
            catch (PowerCutException e) {
                // what was reported before counts
            }
            disk.turnOff();
            opened.ifPresent(BlockStore::abandon);
            opened = Optional.empty();
        }

        private void live()
                throws Exception
        {
            open();
            fillAll();
            // of two drops, one after the other, the second finds a sealed journal
            drop(0);
            drop(1);
            checkpoint();
            flushDoubtful();
            drop(2);
            checkpoint();
            flushDoubtful();
            fillAll();
            flush(3);
            kill();

            open();
            drop(4);
            drop(5);
            checkpoint();
            flushDoubtful();
            // what failed is tried again
            clock.advance(Duration.ofSeconds(11));
            fillAll();
            flush(6);
            drop(7);
            close();
        }

        /**
         * The next run of a process that was killed: what is on disk is not all synced.
         */
        private void dropAgain()
                throws Exception
        {
            open();
            flushDoubtful();
            drop(random.nextInt(FILES));
            checkpoint();
            flush(random.nextInt(FILES));
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
            // a start that fails is tried again
            for (int failures = 0; opened.isEmpty(); failures++) {
                try {
                    opened = Optional.of(BlockStore.open(config, environment()));
                }
                catch (StoreException e) {
                    checkPower();
                    if (failures == MAX_FAULTS) {
                        throw e;
                    }
                }
            }
            checkPower();
            if (workerId.isEmpty()) {
                workerId = Optional.of(store().workerId());
            }
            assertThat(workerId).contains(store().workerId());
        }

        private StoreEnvironment environment()
        {
            return StoreEnvironment.system().withDisk(disk).withClock(clock);
        }

        private void close()
                throws PowerCutException
        {
            store().close();
            opened = Optional.empty();
            checkPower();
        }

        private void kill()
                throws PowerCutException
        {
            store().abandon();
            opened = Optional.empty();
            checkPower();
        }

        private void checkpoint()
                throws PowerCutException
        {
            store().ssd().checkpoint();
            checkPower();
        }

        private void drop(int number)
                throws PowerCutException
        {
            doubtful.add(number);
            int faults = disk.faults();
            store().flushes().dropFile(file(number).id());
            checkPower();
            if (disk.faults() - faults <= FEW_FAULTS) {
                setDropped(number);
            }
        }

        private void flush(int number)
                throws PowerCutException
        {
            doubtful.add(number);
            int faults = disk.faults();
            FlushResult result = store().flushes().flush(file(number)::equals);
            checkPower();
            assertThat(result.durable() || disk.faults() - faults > FEW_FAULTS).as("%s", result).isTrue();
            if (result.durable()) {
                setDropped(number);
            }
        }

        private void flushDoubtful()
                throws PowerCutException
        {
            for (int number : List.copyOf(doubtful)) {
                flush(number);
            }
            if (endsWhenFlushed && disk.faults() > 0) {
                throw new PowerCutException();
            }
        }

        private void setDropped(int number)
        {
            doubtful.remove(number);
            dropped.addAll(bound.getOrDefault(number, Set.of()));
        }

        private void fillAll()
                throws PowerCutException
        {
            for (int number = 0; number < FILES; number++) {
                if (store().file(file(number).id()).isEmpty()) {
                    fill(number);
                }
            }
        }

        private void fill(int number)
                throws PowerCutException
        {
            FileVersion file = file(number);
            Set<String> etags = bound.computeIfAbsent(number, _ -> new HashSet<>());
            String etag = "etag-%s-%s".formatted(number, etags.size());
            etags.add(etag);
            assertThat(store().bind(file, Optional.of(etag), false, "schema.table")).isTrue();
            BlockKey key = file.id().block(0);
            long etagDigest = ETags.digest(etag);
            Optional<Fill> fill = store().beginFill(key, LENGTH, etagDigest);
            for (int i = 0; fill.isEmpty() && i < 10; i++) {
                // frames rest a moment before they are given away
                clock.advance(Duration.ofMillis(20));
                fill = store().beginFill(key, LENGTH, etagDigest);
            }
            fill.orElseThrow().buffer().put(TestingBlocks.bytes(key, etagDigest, LENGTH));
            fill.get().commit().ifPresent(PinnedBlock::close);
            store().ssd().drain();
            checkPower();
        }

        /**
         * @return how many blocks are there
         */
        int check()
                throws Exception
        {
            int blocks = 0;
            try (BlockStore store = BlockStore.open(config, environment())) {
                workerId.ifPresent(id -> assertThat(store.workerId()).isEqualTo(id));
                for (int number = 0; number < FILES; number++) {
                    FileVersion file = file(number);
                    Optional<String> etag = store.file(file.id()).flatMap(FileMetadata::etag);
                    if (etag.isPresent()) {
                        assertThat(bound.get(number)).contains(etag.get());
                        assertThat(dropped).as(() -> "first failure: %s; recovery: %s".formatted(failedCall, store.recovery())).doesNotContain(etag.get());
                    }
                    BlockKey key = file.id().block(0);
                    Optional<PinnedBlock> loaded = store.load(key);
                    if (loaded.isPresent()) {
                        try (PinnedBlock pinned = loaded.get()) {
                            long etagDigest = ETags.digest(etag.orElseThrow());
                            assertThat(pinned.etagDigest()).isEqualTo(etagDigest);
                            assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, etagDigest, LENGTH));
                        }
                        blocks++;
                    }
                }
                store.checkInvariants();
            }
            return blocks;
        }
    }
}
