package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.FakeDisk;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.policy.TraceSimulator;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A directory of the SSD tier without threads, to which blocks are told and not written: index, policy, allocator, journal and checkpoints are the
 * tier's own. A request that is a miss is offered at once, as a fill of the store would be.
 */
final class TracedDirectory
        implements AutoCloseable
{
    static final int BLOCK = 64 << 10;

    private static final BlockTerms TERMS = new BlockTerms(BlockClass.NORMAL, BlockTerms.NEVER);
    private static final CacheWorkerId WORKER = new CacheWorkerId("trace");
    private static final int REQUESTS_BETWEEN_FLUSHES = 128;

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();
    private final long capacityBytes;
    private final Map<Digest128, Integer> numbers = new HashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private StoredFile file;
    private SsdDirectory directory;
    private int run;
    private int requests;
    private long misses;
    private long writes;

    static final class ManualClock
            implements StoreClock
    {
        private long millis = 1_700_000_000_000L;

        @Override
        public long currentTimeMillis()
        {
            return millis;
        }

        @Override
        public long nanoTime()
        {
            return millis * 1_000_000;
        }
    }

    /**
     * @param minPlaces how many of the largest blocks it has room for, at least
     */
    TracedDirectory(int minPlaces)
            throws StoreException
    {
        long bytes = (long) minPlaces * BLOCK;
        while (places(bytes) < minPlaces) {
            bytes += BLOCK;
        }
        capacityBytes = bytes;
        open();
    }

    private static int places(long capacityBytes)
    {
        try {
            Geometry geometry = Geometry.forCapacity(capacityBytes, BLOCK);
            return geometry.slabCount() * (geometry.unitsPerSlab() / Geometry.largestExtentUnits(BLOCK));
        }
        catch (IllegalArgumentException e) {
            return 0;
        }
    }

    /**
     * For how many of the largest blocks it has room.
     */
    int places()
    {
        return places(capacityBytes);
    }

    private void open()
            throws StoreException
    {
        FileTable files = new FileTable();
        try {
            SsdDirectoryConfig config = new SsdDirectoryConfig(Path.of("ssd"), new Capacity.Bytes(capacityBytes));
            DirectoryCandidate candidate = DirectoryCandidate.probe(0, config, capacityBytes, BLOCK, disk, Optional.empty(), SsdFormat.CURRENT, false);
            directory = SsdDirectory.open(candidate, new OpeningRun(WORKER, run, run, new Digest128(1, 1), SsdFormat.CURRENT.newest()), files, lock, clock, Thread::new);
            directory.setUsed();
        }
        catch (DirectoryOutException | IOException e) {
            throw new AssertionError("a sound disk fails", e);
        }
        run++;
        while (directory.restorer().restore(Long.MAX_VALUE)) {
            // until the end
        }
        FileVersion version = new FileVersion(new OriginId(new Digest128(1, 2)), "s3://bucket/file", 1L << 45, 1);
        file = files.get(version.id()).orElseGet(() -> files.add(version.id(), new FileMetadata(version, Optional.empty(), false, "schema.table")));
    }

    /**
     * @param clean whether with a checkpoint at the end; otherwise the journal tells what came after the last
     */
    void restart(boolean clean)
            throws StoreException
    {
        if (clean) {
            directory.checkpoints().write(true);
        }
        else {
            directory.flush();
        }
        close();
        open();
    }

    void checkpoint()
    {
        directory.checkpoints().write(false);
    }

    void removeExpired()
    {
        directory.removeExpired();
    }

    void advance(Duration duration)
    {
        clock.millis += duration.toMillis();
    }

    long nowSeconds()
    {
        return clock.millis / 1000;
    }

    /**
     * @return which percentage of them were hits
     */
    double play(long[] trace)
    {
        int hits = 0;
        for (long block : trace) {
            hits += request(TraceSimulator.digest(block), BLOCK) ? 1 : 0;
        }
        return TraceSimulator.percent(hits, trace.length);
    }

    boolean request(Digest128 name, int length)
    {
        return request(name, length, TERMS);
    }

    /**
     * @param name of a block, which gets a digest of its file's
     * @return whether it was there
     */
    boolean request(Digest128 name, int length, BlockTerms terms)
    {
        requests++;
        if (requests % REQUESTS_BETWEEN_FLUSHES == 0) {
            directory.flush();
            directory.checkpoints().writeIfDue(Duration.ofDays(1));
        }
        Digest128 digest = digest(name);
        lock.lock();
        try {
            if (directory.use(digest)) {
                return true;
            }
            misses++;
            if (directory.admits(digest, file, length, terms.blockClass())) {
                directory.reserve(file, length, terms.blockClass()).ifPresent(reservation -> {
                    writes++;
                    directory.add(reservation, file, digest, length, terms);
                });
            }
            return false;
        }
        finally {
            lock.unlock();
        }
    }

    private Digest128 digest(Digest128 name)
    {
        return file.id().block(numbers.computeIfAbsent(name, _ -> numbers.size())).digest();
    }

    /**
     * Without being a use of it.
     */
    boolean contains(Digest128 name)
    {
        Digest128 digest = digest(name);
        lock.lock();
        try {
            return directory.find(digest).isPresent();
        }
        finally {
            lock.unlock();
        }
    }

    void checkInvariants()
    {
        lock.lock();
        try {
            directory.checkInvariants();
        }
        finally {
            lock.unlock();
        }
    }

    long blocks()
    {
        return directory.blocks();
    }

    long evictions()
    {
        return directory.evictions();
    }

    long expirations()
    {
        return directory.expirations();
    }

    /**
     * Which percentage of the misses came to the directory.
     */
    double percentWritten()
    {
        return TraceSimulator.percent(writes, misses);
    }

    @Override
    public void close()
    {
        try {
            directory.close();
        }
        catch (IOException e) {
            throw new AssertionError("a disk in memory does not fail", e);
        }
    }
}
