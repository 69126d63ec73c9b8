package io.cachedhive.benchmark.ssd;

import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.benchmark.store.StoreBenchmark;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
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
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Blocks that a store writes to SSD one after the other, as fast as it can, against writes of the same size that go past the page cache. What is measured is the time
 * between two blocks while the queue of the writer has some.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SsdWriteBenchmark
{
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final int BLOCKS_PER_FILE = 512;
    private static final int PLAIN_BLOCKS = 2048;
    private static final long RAM_BYTES = 1L << 30;
    private static final long SSD_BYTES = 4L << 30;
    // an eighth of what the queue takes
    private static final int MAX_QUEUED = 32;

    /// empty for the temporary directory of this machine
    @Param("")
    public String directory;

    private final byte[] bytes = new byte[BLOCK_BYTES];
    // a block and its trailer
    private final ByteBuffer pages = ByteBuffer.allocateDirect(BLOCK_BYTES + 2 * PAGE_BYTES).alignedSlice(PAGE_BYTES).slice(0, BLOCK_BYTES + PAGE_BYTES);
    private Path path;
    private Path memory;
    private BlockStore store;
    private FileChannel plain;
    private FileVersion file;
    private long etagDigest;
    private long fileNumber;
    private long offered;
    private long plainWrites;

    @Setup
    public void setup()
            throws IOException, StoreException
    {
        new SplittableRandom(483).nextBytes(bytes);
        pages.put(0, bytes);
        path = DirectFiles.createDirectory(directory);
        memory = MemoryDirectory.create();
        StoreConfig config = StoreConfig.ramOnly(path.resolve("state"))
                .withRam(memory, RAM_BYTES)
                .withBlockSize(BLOCK_BYTES)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(path.resolve("ssd")), new SsdDirectoryConfig.Capacity.Bytes(SSD_BYTES))));
        store = BlockStore.open(config, StoreEnvironment.system());
        bind();
        plain = FileChannel.open(path.resolve("plain"), CREATE, WRITE, DirectFiles.directOption());
        // allocated before it is measured, as slabs are
        for (int i = 0; i < PLAIN_BLOCKS; i++) {
            plainWrite();
        }
        plain.force(true);
    }

    private void bind()
    {
        file = new FileVersion(OriginId.of("s3", Optional.of("http://127.0.0.1:1"), Optional.empty()), "s3://bucket/file-" + fileNumber, (long) BLOCKS_PER_FILE * BLOCK_BYTES, 1);
        store.bind(file, Optional.of("etag"), false, "schema.table");
        etagDigest = store.file(file.id()).orElseThrow().etagDigest();
    }

    @Benchmark
    public void write()
    {
        int block = (int) (offered % BLOCKS_PER_FILE);
        if (block == 0 && offered > 0) {
            // there is always room for more, and nothing is evicted
            FileVersion full = file;
            awaitQueued(0);
            store.flushes().drop(full.id()).join();
            offered = 0;
            fileNumber++;
            bind();
        }
        awaitQueued(MAX_QUEUED);
        Optional<Fill> fill = store.beginFill(file.id().block(block), BLOCK_BYTES, etagDigest);
        while (fill.isEmpty()) {
            LockSupport.parkNanos(100_000);
            fill = store.beginFill(file.id().block(block), BLOCK_BYTES, etagDigest);
        }
        try (Fill begun = fill.get()) {
            begun.buffer().put(0, bytes);
            begun.commit().orElseThrow(() -> new IllegalStateException("block %s belongs to nothing".formatted(block))).close();
        }
        offered++;
    }

    private void awaitQueued(int blocks)
    {
        while (offered - store.gauges().ssdBlocks() > blocks) {
            LockSupport.parkNanos(50_000);
        }
    }

    @Benchmark
    public void plainWrite()
            throws IOException
    {
        pages.clear();
        if (plain.write(pages, plainWrites++ % PLAIN_BLOCKS * (BLOCK_BYTES + PAGE_BYTES)) != BLOCK_BYTES + PAGE_BYTES) {
            throw new IOException("a short write");
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
    }
}
