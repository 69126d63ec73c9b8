package io.cachedhive.benchmark.peer;

import io.airlift.units.DataSize;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.alluxio.AlluxioCacheStats;
import io.trino.filesystem.alluxio.AlluxioFileSystemCache;
import io.trino.filesystem.alluxio.AlluxioFileSystemCacheConfig;
import io.trino.filesystem.memory.MemoryFileSystem;
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
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Hits of the cache that Trino ships: its own classes with its own defaults, over a file system in memory.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AlluxioBenchmark
{
    private static final int FILE_BYTES = 128 << 20;

    @Param({"4096", "65536", "1048576"})
    public int readBytes;

    /// empty for the temporary directory of this machine: a disk whose pages the system caches
    @Param({"", "/dev/shm"})
    public String directory;

    private final SplittableRandom random = new SplittableRandom(483);
    private final AlluxioCacheStats stats = new AlluxioCacheStats();
    private Path cacheDirectory;
    private AlluxioFileSystemCache cache;
    private TrinoInput input;
    private byte[] target;
    private double externalReads;

    @Setup
    public void setup()
            throws IOException
    {
        cacheDirectory = directory.isEmpty() ? Files.createTempDirectory("cachedhive-benchmark") : Files.createTempDirectory(Path.of(directory), "cachedhive-benchmark");
        cache = new AlluxioFileSystemCache(
                OpenTelemetry.noop().getTracer("benchmark"),
                new AlluxioFileSystemCacheConfig()
                        .setCacheDirectories(List.of(cacheDirectory.toString()))
                        .setMaxCacheSizes(List.of(DataSize.ofBytes(2L * FILE_BYTES))),
                stats);
        MemoryFileSystem fileSystem = new MemoryFileSystem();
        Location location = Location.of("memory:///file");
        try (OutputStream out = fileSystem.newOutputFile(location).create()) {
            byte[] bytes = new byte[FILE_BYTES];
            new Random(483).nextBytes(bytes);
            out.write(bytes);
        }
        TrinoInputFile file = fileSystem.newInputFile(location);
        input = cache.cacheInput(file, "key");
        byte[] all = new byte[1 << 20];
        // pages are stored in the background
        for (int pass = 0; pass < 3; pass++) {
            for (int position = 0; position < FILE_BYTES; position += all.length) {
                input.readFully(position, all, 0, all.length);
            }
        }
        target = new byte[readBytes];
        externalReads = stats.getExternalReads().getAllTime().getCount();
    }

    @TearDown
    public void tearDown()
            throws Exception
    {
        double misses = stats.getExternalReads().getAllTime().getCount() - externalReads;
        input.close();
        cache.shutdown();
        try (Stream<Path> paths = Files.walk(cacheDirectory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
        if (misses != 0) {
            throw new IllegalStateException("%s reads were no hits".formatted(misses));
        }
    }

    @Benchmark
    public byte[] readFully()
            throws IOException
    {
        input.readFully(random.nextInt(FILE_BYTES / readBytes) * (long) readBytes, target, 0, readBytes);
        return target;
    }
}
