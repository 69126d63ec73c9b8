package io.cachedhive.benchmark.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.StoreGauges;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.worker.CacheWorker;
import io.cachedhive.worker.service.CacheWorkerService;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The process that is measured: a cache worker as it ships, with all that serves requests, of which only the disk under the slabs is another. Told by
 * lines on its standard input what to do; answers with lines of a word and numbers.
 *
 * <pre>
 *   hit SEED             HIT                     it serves, and a random block of the last run was read and verified
 *   restored             RESTORED blocks         all blocks are restored
 *   fill TOTAL SECONDS   FILLED blocks           so many are on SSD, unless the time ended before
 *   grown                GROWN bytes             the RAM tier has all its memory
 *   memory               MEMORY heap resident    bytes in use after a collection; bytes of the process without shared memory, before it
 *   reads SEED           READS count nanos       reads from SSD during a checkpoint, and the 99.9th percentile of them
 *   close                CLOSED                  clean stop
 * </pre>
 */
final class StoreWorker
{
    // longer than the interval between checkpoints of any store that this benchmark makes
    private static final Duration CHECKPOINT_DUE = Duration.ofDays(1);
    // the queue of the writer takes a quarter of the RAM tier
    private static final int MAX_WAITING = 256;
    private static final int PROBES = 64;
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final double GROWN = 0.95;
    // without a block that reaches the SSD: a fill writes thousands of blocks in a second
    private static final Duration FILL_STOPPED = Duration.ofMinutes(3);

    private final SyntheticBlocks blocks;
    private final long blockCount;
    private final SyntheticSlabDisk disk;
    private final ForwardClock clock;
    private final CacheWorkerService service;
    private final BlockStore store;
    private final CountDownLatch started;
    private int nextFile;

    private StoreWorker(SyntheticSlabDisk disk, ForwardClock clock, CacheWorkerService service, CountDownLatch started, long blockCount, int blocksPerFile)
    {
        this.disk = requireNonNull(disk, "disk is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.service = requireNonNull(service, "service is null");
        this.store = service.store();
        this.started = requireNonNull(started, "started is null");
        this.blocks = new SyntheticBlocks(blocksPerFile);
        this.blockCount = blockCount;
    }

    /**
     * @param args directory, blocks, blocks in a file
     */
    public static void main(String[] args)
    {
        // the worker's log takes the stream over
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
        SyntheticSlabDisk disk = new SyntheticSlabDisk(Path.of(args[0]).resolve("trailers"));
        ForwardClock clock = new ForwardClock();
        CountDownLatch started = new CountDownLatch(1);
        CacheWorker.run(
                StoreEnvironment.system().withDisk(disk).withClock(clock),
                service -> {
                    StoreWorker worker = new StoreWorker(disk, clock, service, started, Long.parseLong(args[1]), Integer.parseInt(args[2]));
                    new Thread(() -> worker.obey(answers), "commands").start();
                });
        started.countDown();
    }

    private void obey(PrintStream answers)
    {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] words = line.split(" ");
                answers.println(switch (words[0]) {
                    case "hit" -> firstHit(Long.parseLong(words[1]));
                    case "restored" -> restored();
                    case "fill" -> fill(Long.parseLong(words[1]), Duration.ofSeconds(Long.parseLong(words[2])));
                    case "grown" -> grown();
                    case "memory" -> memory();
                    case "reads" -> reads(Long.parseLong(words[1]));
                    case "close" -> close();
                    default -> throw new IllegalArgumentException("unknown command: " + line);
                });
            }
        }
        catch (IOException | InterruptedException | RuntimeException e) {
            answers.println("FAILED " + e);
        }
        // threads of the worker would keep the process
        System.exit(0);
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

    private String fill(long total, Duration patience)
    {
        fillUpTo(total, patience);
        return "FILLED " + store.gauges().ssdBlocks();
    }

    private void fillUpTo(long total, Duration patience)
    {
        long deadline = System.nanoTime() + patience.toNanos();
        long offered = store.gauges().ssdBlocks();
        long reached = offered;
        long reachedNanos = System.nanoTime();
        // a block that was refused, because the journal waits for a checkpoint, is made up for by one of a further file
        while (store.gauges().ssdBlocks() < total && System.nanoTime() < deadline) {
            long onSsd = store.gauges().ssdBlocks();
            if (onSsd > reached) {
                reached = onSsd;
                reachedNanos = System.nanoTime();
            }
            else if (System.nanoTime() - reachedNanos > FILL_STOPPED.toNanos()) {
                throw new IllegalStateException("no block reached the SSD in %s: server.log says why".formatted(FILL_STOPPED));
            }
            FileVersion file = blocks.file(nextFile);
            String etag = blocks.etag(nextFile);
            nextFile++;
            FileVersionId id = file.id();
            if (store.isOnSsd(id.block(0)) && store.isOnSsd(id.block(blocks.blocksPerFile() - 1))) {
                // by an earlier process
                continue;
            }
            if (!store.bind(file, Optional.of(etag), false, SyntheticBlocks.TABLE)) {
                continue;
            }
            for (int i = 0; i < blocks.blocksPerFile(); i++) {
                if (store.isOnSsd(id.block(i))) {
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
                fill(id.block(i), ETags.digest(etag));
                offered++;
            }
        }
    }

    private void fill(BlockKey key, long etagDigest)
    {
        Optional<Fill> begun = store.beginFill(key, SyntheticBlocks.BLOCK_BYTES, etagDigest);
        while (begun.isEmpty()) {
            // frames rest
            LockSupport.parkNanos(200_000);
            begun = store.beginFill(key, SyntheticBlocks.BLOCK_BYTES, etagDigest);
        }
        try (Fill fill = begun.get()) {
            SyntheticBlocks.write(key.high(), key.low(), fill.buffer());
            fill.commit().ifPresent(PinnedBlock::close);
        }
    }

    private String grown()
    {
        for (long deadline = deadline(); System.nanoTime() < deadline; LockSupport.parkNanos(50_000_000)) {
            StoreGauges gauges = store.gauges();
            // what is left is less than a slab
            if (gauges.ramAllocatedBytes() >= gauges.ramCapacityBytes() * GROWN) {
                return "GROWN " + gauges.ramAllocatedBytes();
            }
        }
        throw new IllegalStateException("%s in %s".formatted(store.gauges(), PATIENCE));
    }

    private String memory()
            throws IOException, InterruptedException
    {
        // all that a cache worker has
        started.await();
        long resident = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("RssAnon:") || line.startsWith("RssFile:")) {
                resident += Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        long heap = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            heap = Math.min(heap, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return "MEMORY %s %s".formatted(heap, resident);
    }

    private String reads(long seed)
    {
        Random random = new Random(seed);
        long[] nanos = new long[1 << 20];
        int count = 0;
        int fillEvery = 64;
        long deadline = deadline();
        fillUpTo(store.gauges().ssdBlocks() + 1, PATIENCE);
        int before = disk.checkpointing();
        clock.putForward(CHECKPOINT_DUE);
        // until one that began here was written to its end
        for (int i = 0; System.nanoTime() < deadline; i++) {
            if (i % fillEvery == fillEvery - 1) {
                // something to write a checkpoint for
                fillUpTo(store.gauges().ssdBlocks() + 1, PATIENCE);
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
        service.close();
        return "CLOSED";
    }
}
