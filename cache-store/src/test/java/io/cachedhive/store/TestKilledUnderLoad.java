package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.ssd.DirectoryCheck;
import io.cachedhive.store.ssd.DirectoryCheck.Finding;
import io.cachedhive.store.ssd.DirectoryCheck.Verdict;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that fills, drops and fills anew, and is killed (SIGKILL) at a moment that nobody chose, again and again on the same directory. What it
 * told to be on SSD more than a second before comes back, with the bytes of each block's identity; what it told to be dropped does not.
 */
@Tag("slow")
class TestKilledUnderLoad
{
    private static final int BLOCK = 64 << 10;
    private static final int KEPT_FILES = 5;
    private static final int FILES = 30;
    private static final int BLOCKS = 20;
    private static final String TABLE = "schema.table";
    private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    // a park that takes so long is one of a machine that stood still
    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    // ten times as long as what was told may wait for the journal
    private static final long AFTER_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    // a process that is being forked holds all files of its parent for a moment, and with them their locks
    private static final ReadWriteLock FORKS = new ReentrantReadWriteLock();
    private static final Lock NO_FORKS = FORKS.readLock();

    @TempDir
    private Path directory;

    private static StoreConfig config(Path directory)
            throws IOException
    {
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 8 << 20)
                .withCheckpointInterval(Duration.ofMillis(300))
                // room for all of it, so that nothing leaves for space
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(96 << 20))));
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, (long) BLOCKS * BLOCK);
    }

    private record Place(int file, int block) {}

    /**
     * What the process told.
     */
    private static final class Told
    {
        // ETag and time of the telling
        final Map<Place, Long> versions = new HashMap<>();
        final Map<Place, Long> times = new HashMap<>();
        final Set<Integer> beingDropped = new HashSet<>();
        // of all processes: the newest version that is dropped for good
        final Map<Integer, Long> dropped = new HashMap<>();

        synchronized void accept(String line)
        {
            String[] parts = line.split(" ");
            int file = Integer.parseInt(parts[1]);
            switch (parts[0]) {
                case "S" -> {
                    Place place = new Place(file, Integer.parseInt(parts[2]));
                    versions.put(place, Long.parseLong(parts[3]));
                    times.put(place, System.nanoTime());
                }
                case "B" -> {
                    beingDropped.add(file);
                    versions.keySet().removeIf(place -> place.file == file);
                    times.keySet().removeIf(place -> place.file == file);
                }
                case "D" -> {
                    beingDropped.remove(file);
                    dropped.merge(file, Long.parseLong(parts[2]), Math::max);
                }
                default -> throw new AssertionError("not understood: " + line);
            }
        }

        synchronized void newProcess()
        {
            versions.clear();
            times.clear();
            beingDropped.clear();
        }
    }

    @Test
    void someKills()
            throws Exception
    {
        kill(Integer.getInteger("cachedhive.test.kills", 2), 1);
    }

    /**
     * Of several stores at a time, for the load, and since most of the time of one is waiting.
     */
    @Test
    @Tag("exhaustive")
    void manyKills()
            throws Exception
    {
        kill(Integer.getInteger("cachedhive.test.kills", 200), 4);
    }

    private void kill(int kills, int stores)
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        List<Victim> victims = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(stores)) {
            List<Future<?>> running = new ArrayList<>();
            for (int store = 0; store < stores; store++) {
                Victim victim = new Victim(Files.createDirectories(directory.resolve("store-" + store)), new Random(seed + store));
                victims.add(victim);
                int share = kills * (store + 1) / stores - kills * store / stores;
                running.add(executor.submit(() -> {
                    for (int i = 0; i < share; i++) {
                        victim.killAndCheck();
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
        long expected = victims.stream().mapToLong(victim -> victim.expected).sum();
        long found = victims.stream().mapToLong(victim -> victim.found).sum();
        long replaced = victims.stream().mapToLong(victim -> victim.replaced).sum();
        Map<RecoveryFinding, Integer> findings = new EnumMap<>(RecoveryFinding.class);
        victims.forEach(victim -> victim.findings.forEach((finding, count) -> findings.merge(finding, count, Integer::sum)));
        System.out.printf("%s kills: %s of %s blocks came back, %s were replaced during a drop, findings: %s%n", kills, found, expected, replaced, findings);
        assertThat(expected).isPositive();
        assertThat(found).isGreaterThanOrEqualTo(Math.ceilDiv(expected * 99, 100));
    }

    /**
     * A store whose processes are killed.
     */
    private static final class Victim
    {
        private final Path directory;
        private final Random random;
        private final Told told = new Told();
        final Map<RecoveryFinding, Integer> findings = new EnumMap<>(RecoveryFinding.class);
        long expected;
        long found;
        long replaced;

        Victim(Path directory, Random random)
        {
            this.directory = directory;
            this.random = random;
        }

        void killAndCheck()
                throws Exception
        {
            told.newProcess();
            long killed = runAndKill(directory, told, random);
            long noted;
            long replacedNow = 0;
            BlockStore opened;
            NO_FORKS.lock();
            try {
                noted = check();
                opened = BlockStore.open(config(directory), StoreEnvironment.system().withClock(new FastClock()));
            }
            finally {
                NO_FORKS.unlock();
            }
            try (BlockStore store = opened) {
                store.recovery().forEach(outcome -> findings.merge(outcome.finding(), 1, Integer::sum));
                assertThat(store.recovery()).isNotEmpty().noneMatch(outcome -> outcome.finding().isDoubt() && outcome.finding() != RecoveryFinding.CHECKPOINT_MISSING);
                for (int i = 0; i < FILES; i++) {
                    FileVersion file = file(i);
                    Optional<String> etag = store.file(file.id()).flatMap(FileMetadata::etag);
                    etag.ifPresent(version -> assertThat(Long.parseLong(version)).isGreaterThan(told.dropped.getOrDefault(number(file), -1L)));
                    for (int block = 0; block < BLOCKS; block++) {
                        Place place = new Place(i, block);
                        long corrupt = store.gauges().corruptBlocks();
                        boolean isThere = isThere(store, file.id().block(block), etag);
                        if (store.gauges().corruptBlocks() > corrupt) {
                            // its extent was free already, and written anew, while the journal did not tell of the drop yet
                            assertThat(told.beingDropped).as("files whose drop had begun and not returned, when %s was found replaced", place).contains(number(file));
                            replacedNow++;
                        }
                        Long version = told.versions.get(place);
                        if (version != null && killed - told.times.get(place) > SECONDS.toNanos(1)) {
                            expected++;
                            found += isThere && etag.equals(Optional.of(version.toString())) ? 1 : 0;
                        }
                    }
                }
                assertThat(store.gauges().ssdErrors().values()).containsOnly(0L);
            }
            assertThat(noted).as("blocks that fsck says were replaced").isEqualTo(replacedNow);
            replaced += replacedNow;
        }

        /**
         * What fsck says of a directory as the killed process left it.
         *
         * @return blocks in whose extents there are others
         */
        private long check()
                throws Exception
        {
            List<Finding> found = DirectoryCheck.check(directory.resolve("ssd"), new LocalDisk(), Optional.empty());
            assertThat(found).noneMatch(finding -> finding.verdict() == Verdict.DAMAGED);
            return found.stream()
                    .filter(finding -> finding.subject().equals("blocks") && finding.verdict() == Verdict.NOTE)
                    .mapToLong(finding -> Long.parseLong(finding.text().substring(0, finding.text().indexOf(' '))))
                    .sum();
        }
    }

    private static int number(FileVersion file)
    {
        return Integer.parseInt(file.location().substring(file.location().lastIndexOf('-') + 1));
    }

    private static boolean isThere(BlockStore store, BlockKey key, Optional<String> etag)
    {
        Optional<PinnedBlock> loaded = store.load(key);
        loaded.ifPresent(pinned -> {
            try (pinned) {
                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(key, ETags.digest(etag.orElseThrow()), BLOCK));
            }
        });
        return loaded.isPresent();
    }

    /**
     * @return when it was killed
     */
    private static long runAndKill(Path directory, Told told, Random random)
            throws Exception
    {
        Path log = directory.resolve("worker.log");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"),
                Worker.class.getName(),
                directory.toString(),
                Long.toString(random.nextLong()))
                .redirectError(Redirect.to(log.toFile()));
        Process worker;
        FORKS.writeLock().lock();
        try {
            worker = builder.start();
        }
        finally {
            FORKS.writeLock().unlock();
        }
        try (BufferedReader output = worker.inputReader(UTF_8)) {
            CompletableFuture<Void> started = new CompletableFuture<>();
            Thread reader = Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (String line = output.readLine(); line != null && line.endsWith(" ."); line = output.readLine()) {
                        told.accept(line);
                        started.complete(null);
                    }
                }
                catch (IOException e) {
                    started.completeExceptionally(new UncheckedIOException(e));
                }
            });
            try {
                started.get(60, SECONDS);
            }
            catch (Exception e) {
                throw new AssertionError("worker did not start: " + Files.readString(log), e);
            }
            // the time to live is what the test is about
            parkUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1100 + random.nextInt(1000)));
            assertThat(worker.isAlive()).describedAs("worker").isTrue();
            long killed = System.nanoTime();
            worker.destroyForcibly().waitFor();
            // what it wrote before it died
            reader.join(10_000);
            return killed;
        }
        finally {
            worker.destroyForcibly().waitFor();
        }
    }

    /**
     * Or longer, after the machine stood still: the worker wrote nothing to its journal meanwhile, and what it had told grew older than a second all the same.
     */
    private static void parkUntil(long endNanos)
    {
        long end = endNanos;
        for (long last = System.nanoTime(); last < end; ) {
            LockSupport.parkNanos(Math.min(end - last, PARK_NANOS));
            long now = System.nanoTime();
            if (now - last > STALL_NANOS) {
                end = Math.max(end, now + AFTER_STALL_NANOS);
            }
            last = now;
        }
    }

    static final class Worker
    {
        private final BlockStore store;
        private final Random random;
        private final AtomicLong versions = new AtomicLong(System.currentTimeMillis() * 1000);

        private Worker(BlockStore store, Random random)
        {
            this.store = store;
            this.random = random;
        }

        static void main(String[] args)
                throws Exception
        {
            Path parent = ProcessHandle.current().parent().map(handle -> Path.of("/proc/" + handle.pid())).orElseThrow();
            new Worker(BlockStore.open(config(Path.of(args[0])), StoreEnvironment.system()), new Random(Long.parseLong(args[1]))).run(parent);
        }

        private void run(Path parent)
        {
            Set<Place> told = new HashSet<>();
            // ends by itself if nobody kills it
            for (long start = System.nanoTime(); System.nanoTime() - start < SECONDS.toNanos(60) && Files.exists(parent); ) {
                List<Integer> dropped = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    int number = random.nextInt(FILES);
                    // the first ones stay, so that something is left also where a machine is fast
                    if (number >= KEPT_FILES && random.nextInt(200) == 0) {
                        drop(number);
                        dropped.add(number);
                    }
                    else {
                        fill(number, random.nextInt(BLOCKS));
                    }
                }
                told.removeIf(place -> dropped.contains(place.file));
                List<String> found = new ArrayList<>();
                for (int number = 0; number < FILES; number++) {
                    FileVersion file = file(number);
                    Optional<String> etag = store.file(file.id()).flatMap(FileMetadata::etag);
                    for (int block = 0; block < BLOCKS; block++) {
                        if (etag.isPresent() && store.isOnSsd(file.id().block(block)) && told.add(new Place(number, block))) {
                            found.add("S %s %s %s .".formatted(number, block, etag.get()));
                        }
                    }
                }
                // a kill loses what is not in the journal, however long it takes to sync it
                store.ssd().flush();
                found.forEach(System.out::println);
            }
        }

        private void drop(int number)
        {
            FileVersion file = file(number);
            Optional<String> etag = store.file(file.id()).flatMap(FileMetadata::etag);
            if (etag.isPresent()) {
                System.out.printf("B %s .%n", number);
                store.flushes().dropFile(file.id());
                System.out.printf("D %s %s .%n", number, etag.get());
            }
        }

        private void fill(int number, int block)
        {
            FileVersion file = file(number);
            BlockKey key = file.id().block(block);
            if (store.isOnSsd(key)) {
                return;
            }
            String etag = store.file(file.id()).flatMap(FileMetadata::etag).orElseGet(() -> Long.toString(versions.incrementAndGet()));
            assertThat(store.bind(file, Optional.of(etag), false, TABLE)).isTrue();
            store.beginFill(key, BLOCK, ETags.digest(etag)).ifPresentOrElse(
                    fill -> {
                        fill.buffer().put(TestingBlocks.bytes(key, ETags.digest(etag), BLOCK));
                        fill.commit().ifPresent(PinnedBlock::close);
                    },
                    // all frames are waiting to be written
                    () -> LockSupport.parkNanos(1_000_000));
        }
    }
}
