package io.cachedhive.benchmark.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.SsdDirectoryConfig;
import io.cachedhive.store.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.StoreEnvironment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A store in a process of its own, told by lines on its standard input what to do; answers with lines of a word and numbers.
 *
 * <pre>
 *   hit SEED       HIT                          a random block of the last run was read and verified
 *   restored       RESTORED blocks              all blocks are restored
 *   fill COUNT     FILLED blocks                so many are on SSD, and in the journal
 *   memory         MEMORY heap resident         bytes in use after a collection, bytes of the process without shared memory
 *   reads SEED     READS count nanos            reads from SSD during a checkpoint, and the 99.9th percentile of them
 *   close          CLOSED                       clean stop
 * </pre>
 */
final class StoreWorker
{
    private static final long RAM_BYTES = 256 << 20;
    // the queue of the writer takes a quarter of the RAM tier
    private static final int MAX_WAITING = 256;
    private static final int PROBES = 64;
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    private final SyntheticBlocks blocks;
    private final long blockCount;
    private final SyntheticSlabDisk disk;
    private final BlockStore store;
    private int nextFile;

    private StoreWorker(Path directory, long blockCount, int blocksPerFile, int nextFile, Duration checkpointInterval)
            throws Exception
    {
        this.blocks = new SyntheticBlocks(blocksPerFile);
        this.blockCount = blockCount;
        this.nextFile = nextFile;
        this.disk = new SyntheticSlabDisk(directory.resolve("trailers"));
        StoreConfig config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(SyntheticBlocks.BLOCK_BYTES)
                .withRam(directory.resolve(StoreBenchmark.RAM_DIRECTORY), RAM_BYTES)
                .withCheckpointInterval(checkpointInterval)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(directory.resolve("ssd"), new Capacity.Bytes(capacityBytes(blockCount)))));
        this.store = BlockStore.open(config, StoreEnvironment.system().withDisk(disk));
    }

    /// With a tenth to spare, and what the geometry takes.
    private static long capacityBytes(long blockCount)
    {
        return Math.max(1L << 30, blockCount * (SyntheticBlocks.BLOCK_BYTES + 4096) / 100 * 115);
    }

    /**
     * @param args directory, blocks, blocks in a file, number of the first file to fill, seconds between checkpoints
     */
    public static void main(String[] args)
            throws Exception
    {
        Path directory = Path.of(args[0]);
        for (String name : List.of("ssd", "trailers")) {
            Files.createDirectories(directory.resolve(name));
        }
        StoreWorker worker = new StoreWorker(
                directory,
                Long.parseLong(args[1]),
                Integer.parseInt(args[2]),
                Integer.parseInt(args[3]),
                Duration.ofSeconds(Integer.parseInt(args[4])));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            System.out.println(switch (words[0]) {
                case "hit" -> worker.firstHit(Long.parseLong(words[1]));
                case "restored" -> worker.restored();
                case "fill" -> worker.fill(Long.parseLong(words[1]));
                case "memory" -> worker.memory();
                case "reads" -> worker.reads(Long.parseLong(words[1]));
                case "close" -> worker.close();
                default -> throw new IllegalArgumentException("unknown command: " + line);
            });
        }
    }

    private String firstHit(long seed)
    {
        Random random = new Random(seed);
        BlockKey[] probes = new BlockKey[PROBES];
        for (int i = 0; i < PROBES; i++) {
            probes[i] = randomBlock(random);
        }
        for (long deadline = deadline(); System.nanoTime() < deadline; LockSupport.parkNanos(200_000)) {
            for (BlockKey probe : probes) {
                if (isHit(probe)) {
                    return "HIT";
                }
            }
        }
        throw new IllegalStateException("no hit in %s".formatted(PATIENCE));
    }

    private BlockKey randomBlock(Random random)
    {
        long number = random.nextLong(blockCount);
        return blocks.block(blocks.file(blocks.fileNumber(number)).id(), number);
    }

    private boolean isHit(BlockKey key)
    {
        Optional<PinnedBlock> loaded = store.load(key);
        if (loaded.isEmpty()) {
            return false;
        }
        try (PinnedBlock pinned = loaded.get()) {
            if (!SyntheticBlocks.matches(key.high(), key.low(), pinned.payload())) {
                throw new IllegalStateException("block %s has wrong bytes".formatted(key));
            }
            return true;
        }
    }

    private static long deadline()
    {
        return System.nanoTime() + PATIENCE.toNanos();
    }

    private String restored()
    {
        if (!store.awaitRestored(PATIENCE)) {
            throw new IllegalStateException("not restored in %s".formatted(PATIENCE));
        }
        return "RESTORED " + store.gauges().restoredBlocks();
    }

    private String fill(long count)
    {
        long wanted = store.gauges().ssdBlocks() + count;
        long deadline = deadline();
        long offered = store.gauges().ssdBlocks();
        // a block that was refused, because the journal waits for a checkpoint, is made up for by one of a further file
        while (store.gauges().ssdBlocks() < wanted && System.nanoTime() < deadline) {
            FileVersion file = blocks.file(nextFile);
            String etag = blocks.etag(nextFile);
            nextFile++;
            if (!store.bind(file, Optional.of(etag), false, SyntheticBlocks.TABLE)) {
                continue;
            }
            for (int i = 0; i < blocks.blocksPerFile(); i++) {
                if (store.isOnSsd(file.id().block(i))) {
                    continue;
                }
                long waitUntil = System.nanoTime() + 100_000_000;
                while (offered - store.gauges().ssdBlocks() > MAX_WAITING) {
                    LockSupport.parkNanos(50_000);
                    if (System.nanoTime() - waitUntil > 0) {
                        // they were refused
                        offered = store.gauges().ssdBlocks();
                    }
                }
                if (fill(file.id().block(i), ETags.digest(etag))) {
                    offered++;
                }
            }
        }
        return "FILLED " + store.gauges().ssdBlocks();
    }

    private boolean fill(BlockKey key, long etagDigest)
    {
        Optional<Fill> begun = store.beginFill(key, SyntheticBlocks.BLOCK_BYTES, etagDigest);
        if (begun.isEmpty()) {
            // frames rest
            LockSupport.parkNanos(200_000);
            return false;
        }
        try (Fill fill = begun.get()) {
            SyntheticBlocks.write(key.high(), key.low(), fill.buffer());
            fill.commit().ifPresent(PinnedBlock::close);
            return true;
        }
    }

    private static String memory()
            throws IOException
    {
        long heap = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            heap = Math.min(heap, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        long resident = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("RssAnon:") || line.startsWith("RssFile:")) {
                resident += Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        return "MEMORY %s %s".formatted(heap, resident);
    }

    private String reads(long seed)
    {
        Random random = new Random(seed);
        int before = disk.checkpointing();
        long[] nanos = new long[1 << 20];
        int count = 0;
        int fillEvery = 64;
        long deadline = deadline();
        // until one that began here was written to its end
        for (int i = 0; System.nanoTime() < deadline; i++) {
            if (i % fillEvery == 0) {
                // something to write a checkpoint for
                fill(1);
            }
            BlockKey key = randomBlock(random);
            int state = disk.checkpointing();
            long start = System.nanoTime();
            Optional<PinnedBlock> loaded = store.load(key);
            long taken = System.nanoTime() - start;
            loaded.ifPresent(PinnedBlock::close);
            if (state % 2 == 1 && loaded.isPresent() && count < nanos.length) {
                nanos[count] = taken;
                count++;
            }
            if (disk.checkpointing() % 2 == 0 && disk.checkpointing() > before + before % 2) {
                break;
            }
        }
        Arrays.sort(nanos, 0, count);
        return "READS %s %s".formatted(count, count == 0 ? 0 : nanos[(int) (count * 0.999)]);
    }

    private String close()
    {
        store.close();
        return "CLOSED";
    }
}
