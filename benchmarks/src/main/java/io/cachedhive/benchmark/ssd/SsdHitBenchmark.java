package io.cachedhive.benchmark.ssd;

import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.benchmark.store.StoreBenchmark;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.BlockOrigin;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.KeySource;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Blocks that only the SSD has, read into a frame, verified and copied out, against reads of the device that go past the page cache.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SsdHitBenchmark
{
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int BLOCKS = 3072;
    private static final long RAM_BYTES = 1L << 30;
    private static final int PAGE_BYTES = 4096;
    private static final int KEY_BYTES = 32;

    /// empty for the temporary directory of this machine
    @Param("")
    public String directory;

    @Param("false")
    public boolean encrypted;

    private final SplittableRandom random = new SplittableRandom(483);
    private final byte[] target = new byte[BLOCK_BYTES];
    private final ByteBuffer pages = ByteBuffer.allocateDirect(BLOCK_BYTES + PAGE_BYTES).alignedSlice(PAGE_BYTES).slice(0, BLOCK_BYTES);
    private final FileVersion file = new FileVersion(
            OriginId.of("s3", Optional.of("http://127.0.0.1:1"), Optional.empty()),
            "s3://bucket/file",
            (long) BLOCKS * BLOCK_BYTES,
            1);
    private int[] order;
    private int next;
    private long ramHits;
    private Path path;
    private Path memory;
    private BlockStore store;
    private FileChannel plain;

    @Setup
    public void setup()
            throws IOException, StoreException
    {
        path = DirectFiles.createDirectory(directory);
        memory = MemoryDirectory.create();
        StoreConfig config = StoreConfig.ramOnly(path.resolve("state"))
                .withRam(memory, RAM_BYTES)
                .withBlockSize(BLOCK_BYTES)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(
                        Files.createDirectories(path.resolve("ssd")),
                        new SsdDirectoryConfig.Capacity.Bytes(BLOCKS / 2 * 3L * BLOCK_BYTES))));
        if (encrypted) {
            byte[] key = new byte[KEY_BYTES];
            random.nextBytes(key);
            Path keyFile = Files.createFile(path.resolve("key"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(keyFile, Base64.getEncoder().encodeToString(key));
            config = config.withEncryptionKey(Optional.of(new KeySource.OfFile(keyFile)));
        }
        store = BlockStore.open(config, StoreEnvironment.system());
        store.bind(file, Optional.of("etag"), false, "schema.table");
        long etagDigest = store.file(file.id()).orElseThrow().etagDigest();
        Path plainFile = path.resolve("plain");
        try (FileChannel out = FileChannel.open(plainFile, CREATE, WRITE)) {
            byte[] bytes = new byte[BLOCK_BYTES];
            for (int index = 0; index < BLOCKS; index++) {
                random.nextBytes(bytes);
                store(index, etagDigest, bytes);
                out.write(ByteBuffer.wrap(bytes), (long) index * BLOCK_BYTES);
            }
            out.force(true);
        }
        plain = FileChannel.open(plainFile, READ, DirectFiles.directOption());
        // on SSD everything comes back, in RAM nothing
        store.close();
        store = BlockStore.open(config, StoreEnvironment.system());

        // each once before any again
        order = new int[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            int at = random.nextInt(i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        // virtual disks may read a file several times slower the first time
        for (int i = 0; i < BLOCKS; i++) {
            plainRead();
        }
        for (int i = 0; i < BLOCKS; i++) {
            hit();
        }
    }

    private void store(int index, long etagDigest, byte[] bytes)
    {
        while (true) {
            Optional<Fill> fill = store.beginFill(file.id().block(index), BLOCK_BYTES, etagDigest);
            if (fill.isPresent()) {
                fill.get().buffer().put(0, bytes);
                fill.get().commit().orElseThrow(() -> new IllegalStateException("block %s belongs to nothing".formatted(index))).close();
                while (!store.isOnSsd(file.id().block(index))) {
                    LockSupport.parkNanos(100_000);
                }
                return;
            }
            // all frames rest or wait to be written
            LockSupport.parkNanos(1_000_000);
        }
    }

    @TearDown
    public void tearDown()
            throws IOException
    {
        plain.close();
        store.close();
        StoreBenchmark.delete(path);
        StoreBenchmark.delete(memory);
        if (ramHits > 0) {
            throw new IllegalStateException("%s of %s blocks were in RAM".formatted(ramHits, next));
        }
    }

    @Benchmark
    public byte[] hit()
    {
        int index = nextOnSsd();
        try (PinnedBlock block = store.load(file.id().block(index)).orElseThrow(() -> new IllegalStateException("block %s is lost".formatted(index)))) {
            if (block.tier() != BlockOrigin.SSD) {
                ramHits++;
            }
            block.payload().get(0, target);
        }
        return target;
    }

    /// a few are in RAM still when it is their turn again
    private int nextOnSsd()
    {
        while (true) {
            int index = order[next++ % BLOCKS];
            Optional<PinnedBlock> inRam = store.pin(file.id().block(index));
            if (inRam.isEmpty()) {
                return index;
            }
            inRam.get().close();
        }
    }

    @Benchmark
    public ByteBuffer plainRead()
            throws IOException
    {
        pages.clear();
        if (plain.read(pages, (long) order[next++ % BLOCKS] * BLOCK_BYTES) != BLOCK_BYTES) {
            throw new IOException("a short read");
        }
        return pages;
    }
}
