package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.FakeDisk;
import io.cachedhive.store.ManualClock;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many bytes a directory writes for its index, by a disk that counts them and a clock that the test moves. Nothing is written to slabs: what a
 * fill writes there is its payload and at most a unit of 4 KiB for the trailer.
 */
class TestCheckpointBytes
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS_PER_FILE = 16;
    private static final long BUDGET_BYTES = 1_000_000_000;
    private static final Duration MIN_INTERVAL = Duration.ofMinutes(1);
    private static final Duration CHECK = Duration.ofMillis(200);
    private static final BlockTerms TERMS = new BlockTerms(BlockClass.NORMAL, BlockTerms.NEVER);

    private final ManualClock clock = new ManualClock();
    private final ReentrantLock lock = new ReentrantLock();
    private final FileTable files = new FileTable();
    // by the first part of a file's name
    private final Map<String, Long> written = new TreeMap<>();
    private SsdDirectory directory;
    private StoredFile file;
    private int filled;

    private void open(long capacityBytes)
            throws Exception
    {
        DirectoryCandidate candidate = DirectoryCandidate.probe(
                0,
                new SsdDirectoryConfig(Path.of("ssd"), new Capacity.Bytes(capacityBytes)),
                capacityBytes,
                BLOCK,
                counting(new FakeDisk()),
                Optional.empty(),
                SsdFormat.CURRENT,
                false);
        OpeningRun run = new OpeningRun(new CacheWorkerId("worker"), 0, 0, new Digest128(1, 1), SsdFormat.CURRENT.newest());
        directory = SsdDirectory.open(candidate, run, files, lock, clock, Thread::new);
        directory.setUsed();
        assertThat(directory.restorer().restore(Long.MAX_VALUE)).isFalse();
    }

    private Disk counting(Disk disk)
    {
        return (Disk) Proxy.newProxyInstance(Disk.class.getClassLoader(), new Class<?>[] {Disk.class}, (_, method, arguments) -> {
            Object result = invoke(disk, method, arguments);
            return method.getName().equals("open") ? counting((DiskFile) result, ((Path) arguments[0]).getFileName().toString().replaceFirst("-.*", "")) : result;
        });
    }

    private DiskFile counting(DiskFile file, String kind)
    {
        return (DiskFile) Proxy.newProxyInstance(DiskFile.class.getClassLoader(), new Class<?>[] {DiskFile.class}, (_, method, arguments) -> {
            if (method.getName().equals("write")) {
                List<?> buffers = arguments[1] instanceof List<?> list ? list : List.of(arguments[1]);
                written.merge(kind, buffers.stream().mapToLong(buffer -> ((ByteBuffer) buffer).remaining()).sum(), Long::sum);
            }
            return invoke(file, method, arguments);
        });
    }

    private static Object invoke(Object target, Method method, Object[] arguments)
            throws Throwable
    {
        try {
            return method.invoke(target, arguments);
        }
        catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @AfterEach
    void close()
            throws IOException
    {
        directory.close();
    }

    private void fill()
    {
        lock.lock();
        try {
            if (filled % BLOCKS_PER_FILE == 0) {
                String location = "s3://company-data-lake/warehouse/sales.db/store_sales/ds=2026-01-%02d/20260101_120000_%05d_abcde_%s".formatted(
                        1 + filled / 1_000_000,
                        filled % 100_000,
                        new UUID(filled, filled));
                FileVersion version = new FileVersion(new OriginId(new Digest128(1, 2)), location, (long) BLOCKS_PER_FILE * BLOCK, 1);
                file = files.add(version.id(), new FileMetadata(version, Optional.of("\"0123456789abcdef0123456789abcdef\""), false, "sales.store_sales"));
            }
            SsdDirectory.Reservation reservation = directory.reserve(file, BLOCK, BlockClass.NORMAL).orElseThrow();
            directory.add(reservation, file, file.id().block(filled % BLOCKS_PER_FILE).digest(), BLOCK, TERMS);
            filled++;
        }
        finally {
            lock.unlock();
        }
    }

    private void fill(int count)
    {
        for (int i = 0; i < count; i++) {
            fill();
            if (i % 256 == 0) {
                directory.flush();
                directory.checkpoints().writeIfDue(MIN_INTERVAL);
            }
        }
        directory.flush();
    }

    /**
     * One fill each second.
     */
    private void idle(Duration duration)
    {
        for (long second = 0; second < duration.toSeconds(); second++) {
            fill();
            directory.flush();
            for (Duration in = Duration.ZERO; in.toSeconds() < 1; in = in.plus(CHECK)) {
                clock.advance(CHECK);
                directory.checkpoints().writeIfDue(MIN_INTERVAL);
            }
        }
    }

    private long checkpointBytes()
    {
        return written.getOrDefault("checkpoint", 0L);
    }

    /**
     * So many blocks that a checkpoint each minute would be twice the budget. The journal has the size that it has beside ten million blocks.
     */
    @Test
    void anIdleStoreStaysWithinItsBudget()
            throws Exception
    {
        open(600_000L * BLOCK);
        fill(500_000);
        directory.checkpoints().write(false);
        written.clear();
        directory.checkpoints().write(false);
        long image = checkpointBytes();
        assertThat(60 * image).isGreaterThan(BUDGET_BYTES * 3 / 2);
        written.clear();

        idle(Duration.ofHours(1));

        System.out.println("%s blocks, a checkpoint of %s bytes; written in an hour: %s".formatted(directory.blocks(), image, written));
        assertThat(written).doesNotContainKeys("slab");
        assertThat(written.values().stream().mapToLong(Long::longValue).sum()).isLessThan(BUDGET_BYTES * 6 / 10);
        // neither does it write none at all
        assertThat(checkpointBytes()).isGreaterThan(3 * image);
        assertThat(written.get("journal")).isBetween(3600L * 4096, 3700L * 4096);
    }

    @Test
    void aSmallStoreWritesACheckpointEachMinute()
            throws Exception
    {
        open(2_000L * BLOCK);
        fill(100);
        directory.checkpoints().write(false);
        written.clear();
        idle(Duration.ofSeconds(59));
        assertThat(checkpointBytes()).isZero();
        idle(Duration.ofSeconds(2));
        assertThat(checkpointBytes()).isPositive();
    }

    @Test
    void anUnchangedStoreWritesNothing()
            throws Exception
    {
        open(2_000L * BLOCK);
        fill(100);
        directory.checkpoints().write(false);
        written.clear();
        for (int i = 0; i < 100; i++) {
            clock.advance(Duration.ofMinutes(10));
            directory.flush();
            directory.checkpoints().writeIfDue(MIN_INTERVAL);
        }
        assertThat(written).isEmpty();
    }

    @Test
    void aQuarterOfTheJournalIsEnough()
            throws Exception
    {
        open(20_000L * BLOCK);
        fill(100);
        directory.checkpoints().write(false);
        written.clear();
        long quarter = Geometry.forCapacity(20_000L * BLOCK, BLOCK).journalBytes() / 4;
        while (checkpointBytes() == 0) {
            assertThat(written.getOrDefault("journal", 0L)).isLessThanOrEqualTo(quarter + 4096);
            fill();
            directory.flush();
            directory.checkpoints().writeIfDue(MIN_INTERVAL);
        }
        assertThat(written.get("journal")).isGreaterThan(quarter);
    }
}
