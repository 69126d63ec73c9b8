package io.cachedhive.store.ram;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.MemoryAllocator;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.policy.BlockTraces;
import io.cachedhive.store.policy.ChangeOfSizes;
import io.cachedhive.store.policy.TraceSimulator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;

import static io.cachedhive.store.policy.TraceSimulator.digest;
import static io.cachedhive.store.policy.TraceSimulator.percent;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plays traces of block requests through the RAM tier, whose frames rest before they are used again, through Caffeine's W-TinyLFU and through an LRU of as many
 * blocks, and changes the sizes of the blocks on it. Prints what it finds.
 */
@Tag("slow")
class TestRamHitRatio
{
    private static final long[] SEEDS = {7, 99};
    private static final int REQUESTS = 150_000;
    private static final int BLOCK = 64 << 10;
    private static final int SLAB_FRAMES = 4 * BLOCK / MemoryLayout.UNIT_BYTES;
    private static final BlockTerms TERMS = new BlockTerms(BlockClass.NORMAL, BlockTerms.NEVER);
    private static final long REQUEST_NANOS = 20_000;
    private static final long MISS_NANOS = 10_000_000;

    @TempDir
    private Path directory;

    private static final class RequestClock
            implements StoreClock
    {
        private long nanos;

        @Override
        public long currentTimeMillis()
        {
            return nanos / 1_000_000;
        }

        @Override
        public long nanoTime()
        {
            return nanos;
        }
    }

    enum Trace
    {
        ZIPF_08(1024, random -> BlockTraces.zipf(random, 20_000, 0.8, REQUESTS)),
        ZIPF_12(1024, random -> BlockTraces.zipf(random, 20_000, 1.2, REQUESTS)),
        HOT_SET_OF_HALF_AND_SCANS(1024, random -> BlockTraces.hotSetAndScans(random, 512, 2048, REQUESTS)),
        SCANS_OF_MANY_TABLES(1024, random -> BlockTraces.loopsOfManyTables(random, 12, 2048, REQUESTS)),
        STAR_SCHEMA(1024, random -> BlockTraces.starSchema(random, REQUESTS)),
        STAR_SCHEMA_LARGE_CACHE(4096, random -> BlockTraces.starSchema(random, REQUESTS)),
        NEWEST_DAYS(1024, random -> BlockTraces.newestDays(random, 256, 60, REQUESTS)),
        TPCDS(1024, _ -> BlockTraces.tpcds(32 << 10));

        private final int capacity;
        private final Function<Random, long[]> generator;

        Trace(int capacity, Function<Random, long[]> generator)
        {
            this.capacity = capacity;
            this.generator = generator;
        }
    }

    @ParameterizedTest
    @EnumSource(Trace.class)
    void notBelowCaffeineAndAboveLru(Trace trace)
            throws Exception
    {
        double overCaffeine = 0;
        for (long seed : SEEDS) {
            long[] blocks = trace.generator.apply(new Random(seed));
            double tier = tier(blocks, trace.capacity);
            double caffeine = TraceSimulator.caffeine(blocks, trace.capacity);
            double lru = TraceSimulator.lru(blocks, trace.capacity);
            System.out.printf("%-26s seed %5d, %4d blocks: RAM tier %6.2f %%, Caffeine %6.2f %%, LRU %6.2f %%%n", trace, seed, trace.capacity, tier, caffeine, lru);
            overCaffeine += tier - caffeine;
            // some frames rest, and hold what has been given up: nothing beats an LRU where only what is new counts
            assertThat(tier).isGreaterThan(TraceSimulator.lru(blocks, trace.capacity - trace.capacity / 32));
        }
        assertThat(overCaffeine / SEEDS.length).isGreaterThan(-1);
    }

    @Test
    void sameRequestsAtTheSameTimesHaveTheSameHits()
            throws Exception
    {
        long[] blocks = Trace.STAR_SCHEMA.generator.apply(new Random(SEEDS[0]));
        assertThat(tier(blocks, 512)).isEqualTo(tier(blocks, 512));
    }

    private double tier(long[] blocks, int capacity)
            throws StoreException
    {
        try (Tier tier = new Tier(capacity / SLAB_FRAMES)) {
            int hits = 0;
            for (long block : blocks) {
                if (tier.request(digest(block), MemoryLayout.UNIT_BYTES)) {
                    hits++;
                }
            }
            tier.ram.checkInvariants();
            return percent(hits, blocks.length);
        }
    }

    @ParameterizedTest
    @EnumSource(ChangeOfSizes.class)
    void memoryFollowsTheSizesOfBlocks(ChangeOfSizes change)
            throws Exception
    {
        double changed;
        try (Tier tier = new Tier(64)) {
            changed = change.percentOfBytesHit(true, tier::request);
            tier.ram.checkInvariants();
        }
        double fresh;
        try (Tier tier = new Tier(64)) {
            fresh = change.percentOfBytesHit(false, tier::request);
        }
        System.out.printf("%-30s bytes hit: %6.2f %% after the change, %6.2f %% in a new RAM tier%n", change, changed, fresh);
        assertThat(changed).isGreaterThan(fresh - 2);
    }

    private final class Tier
            implements AutoCloseable
    {
        private final RequestClock clock = new RequestClock();
        private final MemoryFile memory;
        private final RamTier ram;
        private final StoredFile file;

        Tier(int slabs)
                throws StoreException
        {
            long bytes = (long) slabs * SLAB_FRAMES * MemoryLayout.UNIT_BYTES;
            MemoryLayout layout = MemoryLayout.forFileSize(bytes + (2 << 20), BLOCK);
            while (layout.slabCount() < slabs) {
                bytes += MemoryLayout.UNIT_BYTES;
                layout = MemoryLayout.forFileSize(bytes + (2 << 20), BLOCK);
            }
            assertThat(layout.slabCount()).isEqualTo(slabs);
            CacheWorkerId workerId = new CacheWorkerId("trace");
            memory = MemoryFile.create(directory, layout, new Digest128(1, 1), workerId, Optional.empty(), MemoryAllocator.SYSTEM, LeftMemory.takeOver(directory, workerId));
            FileTable files = new FileTable();
            ram = new RamTier(memory, files, clock, 0, false);
            FileVersion version = new FileVersion(new OriginId(new Digest128(1, 2)), "s3://bucket/file", 1L << 40, 1);
            file = files.add(version.id(), new FileMetadata(version, Optional.empty(), false, "schema.table"));
        }

        boolean request(Digest128 digest, int length)
        {
            clock.nanos += REQUEST_NANOS;
            Optional<Frame> found = ram.find(digest);
            if (found.isPresent()) {
                ram.use(found.get());
                return true;
            }
            clock.nanos += MISS_NANOS;
            ram.allocate(length, TERMS, file).ifPresent(frame -> {
                ram.publish(frame, file, digest, new PieceChecksums(0, length, new int[PieceChecksums.count(0, length)]));
                ram.unpin(frame);
            });
            return false;
        }

        @Override
        public void close()
        {
            memory.close();
        }
    }
}
