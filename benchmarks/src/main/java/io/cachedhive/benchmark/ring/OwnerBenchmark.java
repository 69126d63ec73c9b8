package io.cachedhive.benchmark.ring;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * What it costs to find a chunk's owner (at each read of a file's next chunk) and the beginning of its order (at a split's second attempt).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OwnerBenchmark
{
    private static final int CHUNK_COUNT = 1 << 10;

    @Param({"8", "64", "1000"})
    public int workers;

    /// Whether the workers have different disks, which needs logarithms.
    @Param({"false", "true"})
    public boolean weighted;

    private HashRing ring;
    private ChunkKey[] chunks;
    private int next;

    @Setup
    public void setup()
    {
        SplittableRandom random = new SplittableRandom(483);
        List<RingMember> members = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            long weight = (weighted ? 1 + i % 4 : 1) * 400_000_000_000L;
            members.add(new RingMember(new CacheWorkerId("worker-%016x".formatted(random.nextLong())), weight, Optional.empty()));
        }
        ring = HashRing.of(members);
        chunks = new ChunkKey[CHUNK_COUNT];
        for (int i = 0; i < CHUNK_COUNT; i++) {
            chunks[i] = new ChunkKey(random.nextLong(), random.nextInt(4));
        }
    }

    @Benchmark
    public Optional<CacheWorkerId> owner()
    {
        return ring.owner(chunks[next++ & (CHUNK_COUNT - 1)]);
    }

    @Benchmark
    public List<CacheWorkerId> nearest()
    {
        return ring.nearest(chunks[next++ & (CHUNK_COUNT - 1)], 4);
    }
}
