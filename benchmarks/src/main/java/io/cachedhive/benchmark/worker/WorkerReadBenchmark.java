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
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Reads through the client as Trino makes them, from real cache workers: of this host (1 host), or of the owner on another (2 hosts).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WorkerReadBenchmark
{
    /**
     * The working set.
     */
    public static final int FILE_BYTES = 128 << 20;

    private static final long SEED = 483;

    @Param({"4096", "65536", "1048576"})
    public int readBytes;

    private SplittableRandom random;
    private CachedFile file;
    private byte[] target;

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

        @Setup
        public void setup()
                throws Exception
        {
            workerHosts = WorkerHosts.start(hosts, FILE_BYTES);
            source = hosts == 1 ? ReadSource.RAM_HIT : ReadSource.NON_LOCAL_HIT;
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
