package io.cachedhive.benchmark.memory;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.StoreConfig;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * RAM hits while the store fills and evicts other blocks as fast as it can, and while it does nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EvictingWriterBenchmark
{
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int READ_BYTES = 64 << 10;
    private static final int READ_BLOCKS = 64;
    private static final long RAM_BYTES = 256L << 20;
    private static final long FILE_BYTES = 1L << 40;

    @Param({"false", "true"})
    public boolean writing;

    private final BlockInfo info = new BlockInfo();
    private final byte[] target = new byte[READ_BYTES];
    private final SplittableRandom random = new SplittableRandom(483);
    private final List<PinnedBlock> pinned = new ArrayList<>();
    private final FileVersion file = new FileVersion(OriginId.of("s3", Optional.of("http://127.0.0.1:1"), Optional.empty()), "s3://bucket/file", FILE_BYTES, 1);
    private Path memory;
    private Path state;
    private BlockStore store;
    private long etagDigest;
    private SharedMemoryReader reader;
    private Thread writer;
    private volatile boolean ended;
    // by the writer alone
    private long written;

    @Setup
    public void setup()
            throws IOException, StoreException
    {
        memory = MemoryDirectory.create();
        state = Files.createTempDirectory("cachedhive-benchmark");
        store = BlockStore.open(StoreConfig.ramOnly(state).withRam(memory, RAM_BYTES).withBlockSize(BLOCK_BYTES), StoreEnvironment.system());
        store.bind(file, Optional.of("etag"), false, "schema.table");
        etagDigest = store.file(file.id()).orElseThrow().etagDigest();
        for (int block = 0; block < READ_BLOCKS; block++) {
            // those that are read stay
            pinned.add(fill(block, new byte[BLOCK_BYTES]).orElseThrow(() -> new IllegalStateException("no frame for a block")));
        }
        reader = SharedMemoryReader.open(store.memoryFile());
        if (writing) {
            writer = new Thread(this::write, "evicting-writer");
            writer.start();
        }
    }

    private void write()
    {
        byte[] bytes = new byte[BLOCK_BYTES];
        random.split().nextBytes(bytes);
        for (int block = READ_BLOCKS; !ended; block++) {
            Optional<PinnedBlock> filled = fill(block, bytes);
            if (filled.isPresent()) {
                filled.get().close();
                written++;
            }
            else {
                // all that can be evicted was freed just now, and rests
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }

    private Optional<PinnedBlock> fill(int block, byte[] bytes)
    {
        return store.beginFill(file.id().block(block), BLOCK_BYTES, etagDigest).flatMap(fill -> {
            try (fill) {
                fill.buffer().put(0, bytes);
                return fill.commit();
            }
        });
    }

    @TearDown
    public void tearDown()
            throws IOException, InterruptedException
    {
        ended = true;
        if (writer != null) {
            writer.join();
            if (written < RAM_BYTES / BLOCK_BYTES) {
                throw new IllegalStateException("the writer wrote %s blocks: it evicted nothing".formatted(written));
            }
        }
        pinned.forEach(PinnedBlock::close);
        store.close();
        deleteAll(memory);
        deleteAll(state);
    }

    private static void deleteAll(Path directory)
            throws IOException
    {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Benchmark
    public byte[] hit()
    {
        BlockKey block = file.id().block(random.nextInt(READ_BLOCKS));
        int read = reader.read(block.high(), block.low(), random.nextInt(BLOCK_BYTES - READ_BYTES), target, 0, READ_BYTES, info);
        if (read != READ_BYTES) {
            throw new IllegalStateException("a pinned block was not read");
        }
        return target;
    }
}
