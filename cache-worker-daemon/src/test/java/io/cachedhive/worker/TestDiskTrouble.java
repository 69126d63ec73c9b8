package io.cachedhive.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.CacheClientConfig.Limits;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.store.disk.Posix;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.worker.testing.FaultInjection;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.Shell;
import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A cache worker, in a process of its own, whose SSD directory fills up, turns read-only, fails, is slow, or cannot do without the page cache: readers go on and
 * get the right bytes, the status says what is wrong, and the directory is used again once it is mended.
 *
 * <p>The file systems are real ones. What they do not do by themselves, strace(1) does to the worker's system calls.
 */
@Timeout(300)
@Tag("slow")
class TestDiskTrouble
{
    private static final int BLOCK = 256 << 10;
    private static final int FILE_BYTES = 4 << 20;
    private static final int BLOCKS_PER_FILE = FILE_BYTES / BLOCK;
    // of all files together twice what RAM holds
    private static final int FILES = 8;
    // blocks are read by the second, the rest by the first
    private static final String READS = "pread64,preadv";
    private static final int ON_SSD = FILES * BLOCKS_PER_FILE * 3 / 4;
    private static final String RAM = "16MB";
    private static final String SSD = "64MB";
    // a frame of an evicted block is free after 100 ms, and a quarter of the few may wait to be written: who reads faster than that has nothing kept
    private static final Duration PAUSE_PER_FILE = Duration.ofMillis(60);

    private static final Duration PAUSE_PER_BLOCK = Duration.ofMillis(5);

    @TempDir
    private Path directory;

    private final List<Process> processes = new ArrayList<>();
    private final List<StoredFile> files = new ArrayList<>();
    private final ObjectMapper json = new ObjectMapper();
    private Path ramDirectory;
    private Path ssd;
    private Optional<Path> secondSsd = Optional.empty();
    private Path config;
    private int httpPort;
    private Lake lake;
    private Process worker;
    private Optional<CacheClient> client = Optional.empty();
    private Optional<Path> mounted = Optional.empty();

    @BeforeEach
    void setUp()
            throws IOException
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        ssd = Files.createDirectories(directory.toRealPath().resolve("ssd"));
        lake = Lake.start(directory.resolve("s3"));
        for (int i = 0; i < FILES; i++) {
            files.add(lake.putSettled("table/" + i, FILE_BYTES, i));
        }
    }

    @AfterEach
    void tearDown()
            throws IOException, InterruptedException
    {
        client.ifPresent(CacheClient::close);
        for (Process process : processes) {
            // a worker under strace is strace's child, and would outlive it
            List<ProcessHandle> children = process.descendants().toList();
            process.destroyForcibly().waitFor();
            for (ProcessHandle child : children) {
                child.destroyForcibly();
                child.onExit().join();
            }
        }
        mounted.ifPresent(path -> Shell.run("umount", path.toString()));
        lake.close();
        try (Stream<Path> left = Files.list(ramDirectory)) {
            for (Path file : left.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(ramDirectory);
    }

    @Test
    @Tag("conformance")
    void fullFileSystem()
            throws Exception
    {
        mountExt4();
        start();
        fillSsd();

        // everything was allocated at the start: a file system without a free byte is nothing to a worker that has its own
        Path filler = ssd.resolve("filler");
        fillUp(filler);
        long before = gauge(CounterNames.SSD_EVICTIONS);
        for (int i = FILES; i < 3 * FILES; i++) {
            files.add(lake.putSettled("table/" + i, FILE_BYTES, i));
        }
        Await.until("blocks are replaced", () -> {
            readAll();
            return gauge(CounterNames.SSD_EVICTIONS) > before + BLOCKS_PER_FILE;
        });
        assertThat(errors()).isEmpty();
        assertThat(problem()).isEmpty();

        // somebody makes the files sparse, as backups and copies do, and the room is taken
        for (Path file : storeFiles("")) {
            if (file.endsWith("superblock")) {
                // without it nothing is worth anything after a restart
                continue;
            }
            int descriptor = Posix.open(file, Posix.O_RDWR, 0);
            try {
                Posix.punchHole(file, descriptor, 0, Posix.size(file, descriptor));
            }
            finally {
                Posix.close(file, descriptor);
            }
        }
        fillUp(filler);
        Await.until("the worker has noticed", () -> {
            readAll();
            return problem().isPresent();
        });
        assertThat(problem().orElseThrow()).contains(ssd.toString(), "takes no blocks", "no space left on device", "repair the disk");
        assertThat(errors()).containsOnlyKeys(CounterNames.SSD_ERRORS_NO_SPACE);
        readAll();

        Files.delete(filler);
        awaitMended();
        fillSsd();
        // blocks that were in RAM all the while, and whose bytes on SSD were punched out, are found out after the restart only
        assertRestartServes();
    }

    @Test
    @Tag("exhaustive")
    void readOnlyFileSystem()
            throws Exception
    {
        String device = mountExt4();
        Path trigger = Path.of("/sys/fs/ext4").resolve(Path.of(device).getFileName()).resolve("trigger_fs_error");
        assumeTrue(Files.exists(trigger), "the kernel cannot be told that an ext4 file system has an error");
        start();
        fillSsd();

        // what the kernel does to a file system in which it finds something wrong
        Files.writeString(trigger, "test");
        Await.until("the worker has noticed", () -> {
            files.add(lake.putSettled("late/" + files.size(), FILE_BYTES, files.size()));
            readAll();
            return problem().isPresent();
        });
        assertThat(problem().orElseThrow()).contains(ssd.toString(), "takes no blocks", "read-only file system", "repair the disk");
        assertThat(errors()).containsOnlyKeys(CounterNames.SSD_ERRORS_READ_ONLY);
        awaitHits();

        // such a file system has to be checked and mounted again, for which nobody may use it
        stop();
        unmount();
        Shell.run("sh", "-c", "e2fsck -fy %s; test $? -le 1".formatted(image()));
        mount();
        start();
        assertThat(gauge(CounterNames.RESTORED_BLOCKS)).isGreaterThanOrEqualTo(ON_SSD);
        assertThat(problem()).isEmpty();
        long before = gauge(CounterNames.SSD_BLOCKS);
        Await.until("new blocks are kept", () -> {
            readAll();
            return gauge(CounterNames.SSD_BLOCKS) > before;
        });
        assertThat(errors()).isEmpty();
    }

    @Test
    @Tag("exhaustive")
    void writesFail()
            throws Exception
    {
        assumeInjection();
        start();
        fillSsd();
        try (FaultInjection _ = inject(storeFiles(""), "pwrite64,fdatasync", "error=EROFS")) {
            assertTakesNoBlocks("read-only file system", CounterNames.SSD_ERRORS_READ_ONLY);
        }
        awaitMended();

        try (FaultInjection _ = inject(storeFiles(""), "pwrite64,fdatasync", "error=EIO")) {
            assertTakesNoBlocks("input/output error", CounterNames.SSD_ERRORS_READ_ONLY, CounterNames.SSD_ERRORS_IO_ERROR);
        }
        awaitMended();
        assertRestartIsWarm();
    }

    private void assertTakesNoBlocks(String reason, String... errors)
    {
        Await.until("the worker has noticed", () -> {
            files.add(lake.putSettled("late/" + files.size(), FILE_BYTES, files.size()));
            readAll();
            return problem().isPresent();
        });
        assertThat(problem().orElseThrow()).contains(ssd.toString(), "takes no blocks", reason, "repair the disk");
        assertThat(errors()).containsOnlyKeys(errors);
        awaitHits();
    }

    @Test
    @Tag("conformance")
    void readsFail()
            throws Exception
    {
        assumeInjection();
        start();
        fillSsd();
        long blocks = gauge(CounterNames.SSD_BLOCKS);
        try (FaultInjection _ = inject(storeFiles("slab-"), READS, "error=EIO")) {
            Await.until("the worker has noticed", () -> {
                readAll();
                return problem().isPresent();
            });
            assertThat(problem().orElseThrow()).contains(ssd.toString(), "is not used", "input/output error", "repair the disk");
            assertThat(errors()).containsOnlyKeys(CounterNames.SSD_ERRORS_IO_ERROR);
            Await.until("reads through the cache, without the disk", () -> {
                ReadObserver observer = readAll();
                assertThat(observer.bytes(ReadSource.SSD_HIT)).isZero();
                return observer.bytes(ReadSource.REMOTE_READ) > 0;
            });
        }
        awaitMended();
        // one for each of the reads at the same time, of which there are 16
        assertThat(gauge(CounterNames.SSD_BLOCKS)).as("a disk that fails does not lose its blocks").isGreaterThan(blocks - 20);
        awaitHits();
    }

    @Test
    @Tag("exhaustive")
    void readsAreSlow()
            throws Exception
    {
        assumeInjection();
        start();
        fillSsd();
        long blocks = gauge(CounterNames.SSD_BLOCKS);
        try (FaultInjection _ = inject(storeFiles("slab-"), READS, "delay_enter=1500000")) {
            Await.until("the worker has noticed", () -> {
                readAll();
                return problem().isPresent();
            });
            assertThat(problem().orElseThrow()).contains(ssd.toString(), "is not used", "reads took 1", "repair the disk");
            assertThat(gauge(CounterNames.SSD_ERRORS_SLOW)).isPositive();
            assertThat(errors()).isEmpty();
            // nobody waits for it any more
            Await.until("reads go on without the directory", () -> {
                ReadObserver observer = readAll();
                return observer.bytes(ReadSource.BYPASS) == 0 && observer.bytes(ReadSource.SSD_HIT) == 0;
            });
        }
        awaitMended();
        assertThat(gauge(CounterNames.SSD_BLOCKS)).isGreaterThanOrEqualTo(blocks);
        assertThat(gauge(CounterNames.CORRUPT_BLOCKS)).isZero();
        awaitHits();
    }

    @Test
    @Tag("exhaustive")
    void writesHang()
            throws Exception
    {
        assumeInjection();
        start();
        fillSsd();
        try (FaultInjection _ = inject(storeFiles("slab-"), "pwrite64", "delay_enter=7000000")) {
            Await.until("the worker has noticed", () -> {
                files.add(lake.putSettled("late/" + files.size(), FILE_BYTES, files.size()));
                assertThat(readAll().bytes(ReadSource.BYPASS)).isZero();
                return problem().isPresent();
            });
            assertThat(problem().orElseThrow()).contains(ssd.toString(), "takes no blocks", "writes hang for more than 5 s", "repair the disk");
            assertThat(gauge(CounterNames.SSD_ERRORS_SLOW)).isPositive();
            assertThat(errors()).isEmpty();
            awaitHits();
        }
        awaitMended();
    }

    /**
     * Reads of one of two directories hang, for {@code cachedhive.test.hang-seconds}. The other directory's blocks are
     * hits as before, blocks are filled, and files are replaced.
     */
    @Test
    @Tag("exhaustive")
    void readsOfOneDirectoryHang()
            throws Exception
    {
        assumeInjection();
        Path other = Files.createDirectories(directory.toRealPath().resolve("ssd-2"));
        secondSsd = Optional.of(other);
        start();
        fillSsd();
        long seconds = Long.getLong("cachedhive.test.hang-seconds", 15);
        Duration phase = Duration.ofSeconds(seconds);
        Hits before;
        // tracing itself makes a worker slower
        try (FaultInjection _ = inject(List.of(ssd.resolve("none")), READS, "error=EIO")) {
            before = readBlocks(phase);
        }
        Hits during;
        try (FaultInjection _ = inject(storeFiles("slab-"), READS, "delay_enter=" + (2 * seconds) * 1_000_000)) {
            during = readBlocks(phase);
        }
        System.out.printf("directory that hangs: before %s%n                      during %s%n", before.first(), during.first());
        System.out.printf("the other directory:  before %s%n                      during %s%n", before.second(), during.second());
        System.out.printf("new files:            before %s%n                      during %s%n", before.fills(), during.fills());
        assertThat(before.second().ssdHits()).isPositive();
        assertThat(during.second().hitRate()).isGreaterThanOrEqualTo(0.9 * before.second().hitRate());
        assertThat(during.second().bypassed()).isLessThanOrEqualTo(during.second().reads() / 20);
        assertThat(during.fills().bypassed()).as("no fill is refused").isZero();
        // so little RAM does not keep all of them either way
        assertThat(during.fills().hitRate()).as("blocks that are kept").isGreaterThanOrEqualTo(0.8 * before.fills().hitRate());
    }

    /**
     * Counts reads of blocks.
     */
    private record Reads(long reads, long ramHits, long ssdHits, long remote, long bypassed)
    {
        double hitRate()
        {
            return (double) (ramHits + ssdHits) / reads;
        }

        Reads plus(ReadObserver observer)
        {
            return new Reads(
                    reads + 1,
                    ramHits + (observer.bytes(ReadSource.RAM_HIT) > 0 ? 1 : 0),
                    ssdHits + (observer.bytes(ReadSource.SSD_HIT) > 0 ? 1 : 0),
                    remote + (observer.bytes(ReadSource.REMOTE_READ) > 0 ? 1 : 0),
                    bypassed + (observer.bytes(ReadSource.BYPASS) > 0 ? 1 : 0));
        }
    }

    private record Hits(Reads first, Reads second, Reads fills) {}

    /**
     * Reads blocks of both directories and of new files, each in threads of their own.
     */
    private Hits readBlocks(Duration duration)
            throws Exception
    {
        long end = System.nanoTime() + duration.toNanos();
        List<StoredFile> known = List.copyOf(files.subList(0, FILES));
        try (ExecutorService readers = Executors.newCachedThreadPool()) {
            // the digest of a block selects the directory, in proportion to the capacities
            Future<Reads> first = readers.submit(() -> readBlocks(known, digest -> digest.high() >= 0, end));
            Future<Reads> second = readers.submit(() -> readBlocks(known, digest -> digest.high() < 0, end));
            Future<Reads> fills = readers.submit(() -> {
                Reads reads = new Reads(0, 0, 0, 0, 0);
                for (int i = 0; System.nanoTime() < end; i++) {
                    StoredFile stored = lake.putSettled("new/%s/%s".formatted(end, i), BLOCK, i);
                    reads = reads.plus(readBlock(stored, 0)).plus(readBlock(stored, 0));
                }
                return reads;
            });
            return new Hits(first.get(), second.get(), fills.get());
        }
    }

    private Reads readBlocks(List<StoredFile> from, Predicate<Digest128> selected, long end)
    {
        Reads reads = new Reads(0, 0, 0, 0, 0);
        while (true) {
            for (StoredFile stored : from) {
                for (int block = 0; block < BLOCKS_PER_FILE; block++) {
                    if (!selected.test(stored.file().id().block(block).digest())) {
                        continue;
                    }
                    if (System.nanoTime() >= end) {
                        return reads;
                    }
                    reads = reads.plus(readBlock(stored, block));
                }
            }
        }
    }

    private ReadObserver readBlock(StoredFile stored, int block)
    {
        ReadObserver observer = new ReadObserver();
        byte[] bytes = new byte[BLOCK];
        try {
            client.orElseThrow()
                    .open(0, stored.file(), new ReadScope("schema.table", Optional.empty(), true, observer), lake.input(stored))
                    .readFully((long) block * BLOCK, bytes, 0, bytes.length);
        }
        catch (IOException e) {
            throw new AssertionError("a read failed, which a query would have", e);
        }
        assertThat(bytes).isEqualTo(Arrays.copyOfRange(stored.bytes(), block * BLOCK, (block + 1) * BLOCK));
        LockSupport.parkNanos(PAUSE_PER_BLOCK.toNanos());
        return observer;
    }

    @Test
    @Tag("exhaustive")
    void missingMountAtTheStart()
            throws Exception
    {
        mountExt4();
        start();
        fillSsd();
        stop();
        unmount();
        start();
        assertStartedWithout("was on the file system at " + ssd, CounterNames.SSD_ERRORS_OTHER);
        assertThat(storeFiles("")).as("the file system below is not filled").isEmpty();
        mount();
        awaitTakenIn();
    }

    @Test
    @Tag("exhaustive")
    void readOnlyMountAtTheStart()
            throws Exception
    {
        mountExt4();
        start();
        fillSsd();
        stop();
        Shell.run("mount", "-o", "remount,ro", ssd.toString());
        start();
        assertStartedWithout("read-only file system", CounterNames.SSD_ERRORS_READ_ONLY);
        Shell.run("mount", "-o", "remount,rw", ssd.toString());
        awaitTakenIn();
    }

    @Test
    @Tag("exhaustive")
    void unreadableSuperblockAtTheStart()
            throws Exception
    {
        assumeInjection();
        start();
        fillSsd();
        stop();
        start(FaultInjection.wrapper(ssd.resolve("superblock"), READS, "error=EIO", directory.resolve("read.trace")));
        try (FaultInjection _ = FaultInjection.of(worker)) {
            assertThat(Files.readString(directory.resolve("read.trace"))).contains("(INJECTED)");
            assertThat(output()).contains("Starting without a directory", "input/output error");
            assertThat(problem()).isPresent();
        }
        awaitTakenIn();
    }

    private void assertStartedWithout(String reason, String error)
    {
        assertThat(problem().orElseThrow()).contains(ssd.toString(), reason, "every 10 s");
        assertThat(errors()).containsOnlyKeys(error);
        assertThat(gauge(CounterNames.SSD_DIRECTORIES_OFFLINE)).isEqualTo(1);
        assertThat(gauge(CounterNames.SSD_CAPACITY_BYTES)).isZero();
        ReadObserver observer = readAll();
        assertThat(observer.bytes(ReadSource.SSD_HIT)).isZero();
        assertThat(observer.bytes(ReadSource.REMOTE_READ)).as("through the cache, in RAM only").isPositive();
    }

    private void awaitTakenIn()
    {
        Await.until("the directory is taken in", Await.DEADLINE, () -> problem().isEmpty());
        assertThat(gauge(CounterNames.SSD_DIRECTORIES_OFFLINE)).isZero();
        assertThat(gauge(CounterNames.SSD_CAPACITY_BYTES)).isPositive();
        fillSsd();
        awaitHits();
    }

    @Test
    void fileSystemWithoutDirectAccess()
            throws Exception
    {
        assumeInjection();
        // the first slab is opened first, and once more without O_DIRECT if that was refused
        start("strace", "-f", "--seccomp-bpf", "-o", directory.resolve("open.trace").toString(), "-e", "trace=openat",
                "-P", ssd.resolve("slab-00000").toString(), "-e", "inject=openat:error=EINVAL:when=1");
        fillSsd();
        assertThat(Files.readString(directory.resolve("open.trace"))).contains("O_DIRECT").contains("(INJECTED)");
        assertThat(output()).contains("does not support O_DIRECT: using the page cache");
        awaitHits();
        assertThat(errors()).isEmpty();
        assertRestartIsWarm();
    }

    /**
     * @return the device
     */
    private String mountExt4()
            throws IOException
    {
        assumeTrue(Shell.run("id", "-u").equals("0"), "only root can mount file systems");
        Shell.run("truncate", "-s", "96M", image().toString());
        Shell.run("mkfs.ext4", "-q", "-F", "-m", "0", image().toString());
        return mount();
    }

    private Path image()
    {
        return directory.resolve("image");
    }

    private String mount()
    {
        assumeTrue(Shell.works("mount", "-o", "loop,errors=remount-ro", image().toString(), ssd.toString()), "this machine cannot mount an ext4 image");
        mounted = Optional.of(ssd);
        return Shell.run("findmnt", "-no", "SOURCE", ssd.toString());
    }

    private void unmount()
    {
        Shell.run("umount", ssd.toString());
        mounted = Optional.empty();
    }

    private static void assumeInjection()
    {
        assumeTrue(FaultInjection.isPossible(), "there is no strace(1) that may trace other processes");
    }

    private FaultInjection inject(List<Path> concerned, String calls, String fault)
    {
        return FaultInjection.begin(worker, concerned, calls, fault, directory.resolve("injected"));
    }

    private List<Path> storeFiles(String prefix)
            throws IOException
    {
        try (Stream<Path> all = Files.list(ssd)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !file.endsWith("lock") && !file.endsWith("filler"))
                    .filter(file -> file.getFileName().toString().startsWith(prefix))
                    .toList();
        }
    }

    private static void fillUp(Path filler)
            throws IOException
    {
        byte[] zeros = new byte[1 << 20];
        long end = Files.exists(filler) ? Files.size(filler) : 0;
        for (int size = zeros.length; size >= 512; size /= 2) {
            try (FileChannel channel = FileChannel.open(filler, CREATE, WRITE)) {
                while (true) {
                    end += channel.write(ByteBuffer.wrap(zeros, 0, size), end);
                }
            }
            catch (IOException e) {
                // full, for pieces of this size
            }
        }
    }

    private void start(String... wrapper)
            throws IOException
    {
        Path origins = Files.createDirectories(directory.resolve("origins"));
        WorkerProcess.write(origins.resolve("default.properties"), lake.s3().clientProperties());
        httpPort = WorkerProcess.freePort();
        Map<String, String> properties = new HashMap<>(Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(httpPort),
                "http-server.log.enabled", "false",
                "cache.worker.port", Integer.toString(WorkerProcess.freePort()),
                "cache.worker.socket-path", socket().toString(),
                "cache.ram.directory", ramDirectory.toString(),
                "cache.ram.max-size", RAM,
                "cache.state-directory", directory.resolve("state").toString(),
                "cache.origins-directory", origins.toString()));
        properties.putAll(Map.of(
                "cache.block-size", BLOCK + "B",
                "cache.ssd.directories", ssd + secondSsd.map(second -> "," + second).orElse(""),
                "cache.ssd.max-sizes", SSD + secondSsd.map(_ -> "," + SSD).orElse("")));
        config = directory.resolve("worker.properties");
        WorkerProcess.write(config, properties);
        worker = WorkerProcess.start(config, directory.resolve("worker.log"), wrapper);
        processes.add(worker);
        CacheClient started = CacheClient.start(new CacheClientConfig(
                socket(),
                new ClientIdentity("cluster", "lake", "node", List.of(new NamedOrigin("default", lake.originId())), Secrets.NONE),
                8 << 20,
                Limits.DEFAULT,
                Timeouts.DEFAULT));
        client = Optional.of(started);
        Await.until("the client is connected", () -> started.local().connected());
    }

    private Path socket()
    {
        return directory.resolve("w.sock");
    }

    private void stop()
            throws InterruptedException
    {
        client.ifPresent(CacheClient::close);
        client = Optional.empty();
        // the worker itself, not what it was started by
        worker.descendants().findFirst().orElse(worker.toHandle()).destroy();
        assertThat(worker.waitFor(60, TimeUnit.SECONDS)).as("the worker stops").isTrue();
    }

    private String output()
    {
        try {
            return Files.readString(directory.resolve("worker.log"));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reads every byte of every file, as a query would: past the cache where that does not serve. Not faster than so little RAM can take.
     */
    /**
     * A client does not ask a cache worker for a while whose answers were late, as on a busy machine.
     */
    private void awaitHits()
    {
        Await.until("what the directory has can be read", () -> readAll().bytes(ReadSource.SSD_HIT) > 0);
    }

    private ReadObserver readAll()
    {
        ReadObserver observer = new ReadObserver();
        for (StoredFile stored : files) {
            byte[] bytes = new byte[FILE_BYTES];
            try {
                client.orElseThrow()
                        .open(0, stored.file(), new ReadScope("schema.table", Optional.empty(), true, observer), lake.input(stored))
                        .readFully(0, bytes, 0, bytes.length);
            }
            catch (IOException e) {
                throw new AssertionError("a read failed, which a query would have", e);
            }
            assertThat(bytes).isEqualTo(stored.bytes());
            LockSupport.parkNanos(PAUSE_PER_FILE.toNanos());
        }
        return observer;
    }

    /**
     * Until most blocks are on SSD: some that came faster than they could be written stay in RAM.
     */
    private void fillSsd()
    {
        Await.until("the files are on SSD", () -> {
            readAll();
            return gauge(CounterNames.SSD_BLOCKS) >= ON_SSD;
        });
    }

    private void awaitMended()
    {
        long start = System.nanoTime();
        Await.until("the directory is used again", () -> {
            files.add(lake.putSettled("mended/" + files.size(), FILE_BYTES, files.size()));
            readAll();
            return problem().isEmpty();
        });
        System.out.printf("used again after %s ms%n", Duration.ofNanos(System.nanoTime() - start).toMillis());
    }

    private void assertRestartIsWarm()
            throws Exception
    {
        assertRestartServes();
        assertThat(gauge(CounterNames.CORRUPT_BLOCKS)).isZero();
    }

    private void assertRestartServes()
            throws Exception
    {
        long blocks = gauge(CounterNames.SSD_BLOCKS);
        stop();
        start();
        assertThat(gauge(CounterNames.RESTORED_BLOCKS)).isGreaterThanOrEqualTo(blocks - 1);
        awaitHits();
    }

    private JsonNode status()
    {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s/v1/status".formatted(httpPort))).build();
            return json.readTree(http.send(request, HttpResponse.BodyHandlers.ofString(UTF_8)).body());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private long gauge(String name)
    {
        return status().get("gauges").get(name).asLong();
    }

    private Optional<String> problem()
    {
        return Optional.ofNullable(status().get("problem")).map(JsonNode::asText);
    }

    /**
     * Those that are not zero, but for slow operations: any disk may have some while the machine is busy.
     */
    private Map<String, Long> errors()
    {
        Map<String, Long> errors = new HashMap<>();
        status().get("gauges").properties().forEach(gauge -> {
            if (gauge.getKey().startsWith("ssd_errors_") && !gauge.getKey().equals(CounterNames.SSD_ERRORS_SLOW) && gauge.getValue().asLong() > 0) {
                errors.put(gauge.getKey(), gauge.getValue().asLong());
            }
        });
        return errors;
    }
}
