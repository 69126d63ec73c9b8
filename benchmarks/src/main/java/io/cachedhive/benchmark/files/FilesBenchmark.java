package io.cachedhive.benchmark.files;

import io.cachedhive.benchmark.figure.Figure;
import io.cachedhive.client.counters.ReadSource;
import io.trino.filesystem.TrinoInput;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

import static java.util.Objects.requireNonNull;

/**
 * What many small files cost: once they are cached, against the same bytes in few large files; and when they are cached for the first time,
 * against plain Hive, which reads them from the object store each time.
 *
 * <p>Files are read as Trino's ORC and Parquet readers do: a small one whole, a large one in ranges of 8 MiB (their {@code max-buffer-size}),
 * each into a new array. As on a Trino worker, each thread reads one file after another.
 */
public final class FilesBenchmark
{
    private static final int SMALL_FILE_BYTES = 50 << 10;
    private static final int SMALL_FILES_IN_LARGE = 500;
    // an 8 MiB range is what readers ask for at most, a column of a row group often has 1 MiB
    private static final int LARGE_READ_BYTES = 8 << 20;
    private static final int COLUMN_READ_BYTES = 1 << 20;
    private static final int PASSES = 5;
    private static final double WARM_BUDGET = 1.5;
    private static final double FILL_WALL_BUDGET = 1;
    // an object store is never that fast
    private static final double FILL_WALL_BUDGET_WITHOUT_LATENCY = 1.1;
    private static final double FILL_CPU_BUDGET = 1.2;
    private static final double FILL_REQUESTS_BUDGET = 1;

    private final Scale scale;
    private final Consumer<String> progress;
    private final Consumer<Figure> done;

    /**
     * @param files small ones
     * @param runs of each kind, in turns
     * @param readers threads that read what is cached
     * @param fillers threads that read what is not, and mostly wait
     * @param latencies of the object store, one measurement for each
     * @param cached whether to measure what is cached too
     * @param announced whether files are announced to the cache worker before they are read, as the coordinator does
     */
    public record Scale(int files, int runs, int readers, int fillers, List<Duration> latencies, boolean cached, boolean announced)
    {
        public Scale
        {
            latencies = List.copyOf(latencies);
            if (files < SMALL_FILES_IN_LARGE || files % SMALL_FILES_IN_LARGE != 0) {
                throw new IllegalArgumentException("count of files is not a multiple of %s: %s".formatted(SMALL_FILES_IN_LARGE, files));
            }
            if (runs < 2 || readers < 1 || fillers < 1) {
                throw new IllegalArgumentException("fewer than 2 runs, or no threads: runs %s, readers %s, fillers %s".formatted(runs, readers, fillers));
            }
        }
    }

    public FilesBenchmark(Scale scale, Consumer<String> progress, Consumer<Figure> done)
    {
        this.scale = requireNonNull(scale, "scale is null");
        this.progress = requireNonNull(progress, "progress is null");
        this.done = requireNonNull(done, "done is null");
    }

    public void measure()
            throws Exception
    {
        LakeFiles small = new LakeFiles("small", scale.files(), SMALL_FILE_BYTES);
        LakeFiles large = new LakeFiles("large", scale.files() / SMALL_FILES_IN_LARGE, SMALL_FILES_IN_LARGE * SMALL_FILE_BYTES);
        // twice: no frame is as long as a block that is not a power of two
        int ramMegabytes = 64 + Math.toIntExact((2 * (small.totalBytes() + large.totalBytes())) >> 20);
        try (LakeHost host = LakeHost.start(ramMegabytes)) {
            progress.accept("writing %s files of %s KiB, and the same bytes in %s files".formatted(small.count(), small.fileBytes() >> 10, large.count()));
            host.write(small);
            host.write(large);
            if (scale.cached()) {
                try (ExecutorService threads = Executors.newFixedThreadPool(scale.readers())) {
                    Pool readers = new Pool(host, threads, scale.readers());
                    fillMemory(readers, small, SMALL_FILE_BYTES);
                    fillMemory(readers, large, LARGE_READ_BYTES);
                    measureWarm("", readers, small, large, LARGE_READ_BYTES);
                    measureWarm("_in_1MiB_reads", readers, small, large, COLUMN_READ_BYTES);
                }
            }
            try (ExecutorService threads = Executors.newFixedThreadPool(scale.fillers())) {
                Pool fillers = new Pool(host, threads, scale.fillers());
                for (Duration latency : scale.latencies()) {
                    measureFill(latency, fillers, small);
                }
            }
        }
    }

    private record Pool(LakeHost host, ExecutorService threads, int count) {}

    /**
     * @param readerCpuNanos of the threads that read
     * @param cpuNanos of this process and the cache worker
     */
    private record Pass(long wallNanos, long readerCpuNanos, long cpuNanos)
    {
        Pass plus(Pass other)
        {
            return new Pass(wallNanos + other.wallNanos, readerCpuNanos + other.readerCpuNanos, cpuNanos + other.cpuNanos);
        }
    }

    private void fillMemory(Pool pool, LakeFiles files, int readBytes)
            throws Exception
    {
        progress.accept("filling the cache with the %s files".formatted(files.name()));
        long filled = bytesFrom(pool, EnumSet.of(ReadSource.REMOTE_READ), () -> readAll(pool, inOrder(), files, readBytes, pool.host()::openCached, true));
        if (filled != files.totalBytes()) {
            throw new IllegalStateException("of %s bytes only %s were read to fill".formatted(files.totalBytes(), filled));
        }
        // verifies every byte, and is the first of the warm-up
        hit(pool, files, readBytes, true);
    }

    private void measureWarm(String suffix, Pool pool, LakeFiles small, LakeFiles large, int largeReadBytes)
            throws Exception
    {
        List<Pass> smalls = new ArrayList<>();
        List<Pass> larges = new ArrayList<>();
        // the first is of warm-up
        for (int run = 0; run <= scale.runs(); run++) {
            progress.accept("cached files%s, run %s of %s".formatted(suffix, run, scale.runs()));
            Pass smallPasses = new Pass(0, 0, 0);
            Pass largePasses = new Pass(0, 0, 0);
            for (int pass = 0; pass < PASSES; pass++) {
                smallPasses = smallPasses.plus(hit(pool, small, SMALL_FILE_BYTES, false));
                largePasses = largePasses.plus(hit(pool, large, largeReadBytes, false));
            }
            if (run > 0) {
                smalls.add(smallPasses);
                larges.add(largePasses);
            }
        }
        String name = "cached_small_files_to_large" + suffix;
        done.accept(Figure.ofRatio(name + "_wall", OptionalDouble.of(WARM_BUDGET), wall(smalls), wall(larges)));
        done.accept(Figure.ofRatio(name + "_cpu", OptionalDouble.of(WARM_BUDGET), readerCpu(smalls), readerCpu(larges)));
        double fileReads = PASSES * small.count();
        done.accept(Figure.of(name + "_measured", "ns of CPU for 50 KiB", OptionalDouble.empty(), scaled(readerCpu(smalls), fileReads)));
        done.accept(Figure.of(name + "_peer", "ns of CPU for 50 KiB", OptionalDouble.empty(), scaled(readerCpu(larges), fileReads)));
    }

    private Pass hit(Pool pool, LakeFiles files, int readBytes, boolean verify)
            throws Exception
    {
        Pass[] result = new Pass[1];
        long hits = bytesFrom(pool, EnumSet.of(ReadSource.RAM_HIT), () -> result[0] = readAll(pool, inOrder(), files, readBytes, pool.host()::openCached, verify));
        if (hits != files.totalBytes()) {
            throw new IllegalStateException("of %s bytes only %s were in RAM".formatted(files.totalBytes(), hits));
        }
        return result[0];
    }

    private void measureFill(Duration latency, Pool pool, LakeFiles files)
            throws Exception
    {
        LakeHost host = pool.host();
        host.setLatency(latency);
        List<Pass> fills = new ArrayList<>();
        List<Pass> plains = new ArrayList<>();
        double[] fillRequests = new double[scale.runs()];
        double[] plainRequests = new double[scale.runs()];
        // the first is of warm-up
        for (int run = 0; run <= scale.runs(); run++) {
            progress.accept("filling at %s ms of latency, run %s of %s".formatted(latency.toMillis(), run, scale.runs()));
            for (boolean cached : run % 2 == 0 ? new boolean[] {true, false} : new boolean[] {false, true}) {
                host.renew(files);
                long mark = host.requestMark();
                Pass[] pass = new Pass[1];
                // the files are new: a RAM hit is of one that was fetched ahead in this pass
                long filled = bytesFrom(
                        pool,
                        EnumSet.of(ReadSource.REMOTE_READ, ReadSource.RAM_HIT),
                        () -> pass[0] = readAll(
                                pool,
                                cached && scale.announced() ? new SplitEnumeration(host, files)::next : inOrder(),
                                files,
                                SMALL_FILE_BYTES,
                                cached ? host::openCached : host::openPlain,
                                false));
                if (cached && filled != files.totalBytes()) {
                    throw new IllegalStateException("of %s bytes only %s were read to fill: %s".formatted(files.totalBytes(), filled, host.counters()));
                }
                if (run > 0) {
                    (cached ? fills : plains).add(pass[0]);
                    (cached ? fillRequests : plainRequests)[run - 1] = host.requestCount(mark);
                }
            }
        }
        String name = (scale.announced() ? "fill_of_small_files_at_%sms_to_plain" : "unannounced_fill_of_small_files_at_%sms_to_plain").formatted(latency.toMillis());
        done.accept(Figure.ofRatio(name + "_wall", OptionalDouble.of(latency.isZero() ? FILL_WALL_BUDGET_WITHOUT_LATENCY : FILL_WALL_BUDGET), wall(fills), wall(plains)));
        done.accept(Figure.ofRatio(name + "_cpu", OptionalDouble.of(FILL_CPU_BUDGET), cpu(fills), cpu(plains)));
        done.accept(Figure.ofRatio(name + "_requests", OptionalDouble.of(FILL_REQUESTS_BUDGET), fillRequests, plainRequests));
        done.accept(Figure.of(name + "_measured", "ms", OptionalDouble.empty(), scaled(wall(fills), 1e6)));
        done.accept(Figure.of(name + "_peer", "ms", OptionalDouble.empty(), scaled(wall(plains), 1e6)));
    }

    private static long bytesFrom(Pool pool, Set<ReadSource> sources, Callable<Pass> work)
            throws Exception
    {
        Map<String, Long> before = pool.host().counters();
        work.call();
        Map<String, Long> after = pool.host().counters();
        return sources.stream()
                .mapToLong(source -> LakeHost.bytes(after, source) - LakeHost.bytes(before, source))
                .sum();
    }

    private static IntSupplier inOrder()
    {
        return new AtomicInteger()::getAndIncrement;
    }

    /**
     * @param next numbers of files, until one is not of a file
     */
    private static Pass readAll(Pool pool, IntSupplier next, LakeFiles files, int readBytes, LakeHost.Reader reader, boolean verify)
            throws Exception
    {
        List<Callable<Long>> tasks = new ArrayList<>();
        for (int thread = 0; thread < pool.count(); thread++) {
            tasks.add(() -> {
                long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                for (int file = next.getAsInt(); file < files.count(); file = next.getAsInt()) {
                    readFile(files, file, readBytes, reader, verify);
                }
                return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
            });
        }
        long cpuBefore = pool.host().cpuNanos();
        long start = System.nanoTime();
        long readerCpuNanos = 0;
        for (Future<Long> task : pool.threads().invokeAll(tasks)) {
            readerCpuNanos += task.get();
        }
        long wallNanos = System.nanoTime() - start;
        return new Pass(wallNanos, readerCpuNanos, pool.host().cpuNanos() - cpuBefore);
    }

    private static void readFile(LakeFiles files, int file, int readBytes, LakeHost.Reader reader, boolean verify)
            throws IOException
    {
        try (TrinoInput input = reader.open(files, file)) {
            byte[] whole = verify ? new byte[files.fileBytes()] : null;
            for (int position = 0; position < files.fileBytes(); position += readBytes) {
                byte[] bytes = new byte[Math.min(readBytes, files.fileBytes() - position)];
                input.readFully(position, bytes, 0, bytes.length);
                if (position == 0) {
                    files.checkMark(file, bytes);
                }
                if (verify) {
                    System.arraycopy(bytes, 0, whole, position, bytes.length);
                }
            }
            if (verify) {
                files.check(file, whole);
            }
        }
    }

    private static double[] wall(List<Pass> passes)
    {
        return passes.stream().mapToDouble(Pass::wallNanos).toArray();
    }

    private static double[] readerCpu(List<Pass> passes)
    {
        return passes.stream().mapToDouble(Pass::readerCpuNanos).toArray();
    }

    private static double[] cpu(List<Pass> passes)
    {
        return passes.stream().mapToDouble(Pass::cpuNanos).toArray();
    }

    private static double[] scaled(double[] values, double divisor)
    {
        double[] scaled = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            scaled[i] = values[i] / divisor;
        }
        return scaled;
    }
}
