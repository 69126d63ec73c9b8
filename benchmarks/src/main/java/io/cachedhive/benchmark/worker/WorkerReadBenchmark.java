package io.cachedhive.benchmark.worker;

import io.cachedhive.client.CachedFile;
import io.cachedhive.client.counters.ReadSource;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.ThreadParams;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static java.nio.file.StandardOpenOption.READ;

/**
 * Reads through the client as Trino makes them, from real cache workers: of this host (1 host), or of the owner on another (2 hosts).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WorkerReadBenchmark
{
    private static final int FILE_BYTES = 128 << 20;
    private static final int PIECE_BYTES = 64 << 10;
    private static final long SEED = 483;

    @Param({"4096", "65536", "1048576"})
    public int readBytes;

    private SplittableRandom random;
    private CachedFile file;
    private byte[] target;
    private MemorySegment memory;
    private int[] starts;

    /**
     * The cache workers that all threads read from.
     */
    @State(Scope.Benchmark)
    public static class Hosts
    {
        @Param({"1", "2"})
        public int hosts;

        private WorkerHosts workerHosts;
        private ReadSource source;
        private MemorySegment memory;
        // of the memory, those that have data
        private BitSet pieces;

        @Setup
        public void setup()
                throws Exception
        {
            workerHosts = WorkerHosts.start(hosts, FILE_BYTES);
            source = hosts == 1 ? ReadSource.RAM_HIT : ReadSource.NON_LOCAL_HIT;
            try (FileChannel channel = FileChannel.open(workerHosts.ownerMemory(), READ)) {
                memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            }
            pieces = new BitSet();
            for (int piece = 0; piece < memory.byteSize() / PIECE_BYTES; piece++) {
                // the file's bytes are random
                if (memory.get(ValueLayout.JAVA_LONG, (long) piece * PIECE_BYTES + PIECE_BYTES / 2) != 0) {
                    pieces.set(piece);
                }
            }
            if (pieces.cardinality() < FILE_BYTES / PIECE_BYTES) {
                throw new IllegalStateException("%s has %s pieces with data".formatted(workerHosts.ownerMemory(), pieces.cardinality()));
            }
        }

        @TearDown
        public void tearDown()
                throws Exception
        {
            long otherBytes = workerHosts.otherBytes(source);
            workerHosts.close();
            if (otherBytes != 0) {
                throw new IllegalStateException("%s bytes were no %s".formatted(otherBytes, source));
            }
        }
    }

    @Setup
    public void setup(Hosts hosts, ThreadParams thread)
            throws IOException
    {
        file = hosts.workerHosts.open();
        // each thread reads elsewhere
        random = new SplittableRandom(SEED + thread.getThreadIndex());
        target = new byte[readBytes];
        memory = hosts.memory;
        int length = Math.max(1, readBytes / PIECE_BYTES);
        starts = IntStream.range(0, hosts.pieces.length() - length + 1)
                .filter(start -> hosts.pieces.nextClearBit(start) >= start + length)
                .toArray();
    }

    /**
     * Copies as many bytes from the memory of the owner's cache worker, and so from pages of the same size.
     */
    @Benchmark
    public byte[] copy()
    {
        long position = (long) starts[random.nextInt(starts.length)] * PIECE_BYTES;
        if (readBytes < PIECE_BYTES) {
            position += (long) random.nextInt(PIECE_BYTES / readBytes) * readBytes;
        }
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, position, target, 0, readBytes);
        return target;
    }

    @Benchmark
    public byte[] readFully()
            throws IOException
    {
        // as whole blocks where the read is one: a peer that knows nothing of blocks sends as many bytes
        int position = random.nextInt(FILE_BYTES / readBytes) * readBytes;
        file.readFully(position, target, 0, readBytes);
        return target;
    }
}
