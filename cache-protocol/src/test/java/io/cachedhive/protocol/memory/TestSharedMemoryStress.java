package io.cachedhive.protocol.memory;

import io.cachedhive.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.cachedhive.protocol.memory.TestingMemory.firstWrongByte;
import static io.cachedhive.testing.Await.DEADLINE;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers and a writer that puts other blocks into few frames as fast as it can: whatever a reader accepts is the block it asked for.
 */
class TestSharedMemoryStress
{
    private static final int BLOCK = 256 << 10;
    private static final int FRAMES = 4;
    private static final int BLOCKS = 6;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(HitVerification.class)
    void threadsOfOneProcess(HitVerification verification)
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file(), verification);
                ExecutorService executor = Executors.newCachedThreadPool()) {
            AtomicBoolean done = new AtomicBoolean();
            Future<Long> writes = executor.submit(() -> write(memory, new Random(seed), done::get));
            List<Future<Reads>> reads = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Random random = new Random(seed + 1 + i);
                reads.add(executor.submit(() -> read(reader, random, 5000)));
            }
            Reads total = new Reads(0, 0);
            try {
                for (Future<Reads> future : reads) {
                    total = total.plus(future.get());
                }
            }
            finally {
                done.set(true);
            }
            System.out.printf("%s, %s written%n", total, writes.get());
            assertThat(writes.get()).isPositive();
        }
    }

    @Test
    void twoProcesses()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Path file = directory.resolve("memory");
        Path log = directory.resolve("writer.log");
        Process writer = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp", System.getProperty("java.class.path"),
                WriterProcess.class.getName(),
                file.toString(),
                Long.toString(seed))
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(log.toFile()))
                .start();
        try {
            SharedMemoryReader opened = Await.untilPresent("the writer has started", DEADLINE, Duration.ofMillis(20), () -> {
                try {
                    return Optional.of(SharedMemoryReader.open(file));
                }
                catch (IOException e) {
                    assertThat(writer.isAlive()).describedAs(() -> "writer is alive: " + text(log)).isTrue();
                    return Optional.empty();
                }
            });
            try (SharedMemoryReader reader = opened; ExecutorService executor = Executors.newCachedThreadPool()) {
                Future<Reads> first = executor.submit(() -> read(reader, new Random(seed + 1), 10_000));
                Reads reads = read(reader, new Random(seed + 2), 10_000).plus(first.get());
                System.out.println(reads);
                assertThat(writer.isAlive()).describedAs(() -> text(log)).isTrue();
            }
        }
        finally {
            writer.destroyForcibly().waitFor();
        }
    }

    private static String text(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            return e.toString();
        }
    }

    private record Reads(long accepted, long missed)
    {
        Reads plus(Reads other)
        {
            return new Reads(accepted + other.accepted, missed + other.missed);
        }
    }

    /**
     * Reads until so many blocks were found, and so many were not.
     */
    private static Reads read(SharedMemoryReader reader, Random random, long count)
    {
        byte[] target = new byte[BLOCK];
        BlockInfo info = new BlockInfo();
        long accepted = 0;
        long missed = 0;
        long start = System.nanoTime();
        while (accepted < count || missed < count) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new AssertionError("accepted %s, missed %s".formatted(accepted, missed));
            }
            long block = random.nextInt(BLOCKS);
            int offset = random.nextInt(BLOCK);
            int length = 1 + random.nextInt(BLOCK - offset);
            if (reader.read(block, block * 31, offset, target, 0, length, info) == -1) {
                missed++;
                continue;
            }
            accepted++;
            int wrong = firstWrongByte(target, 0, length, block, block * 31, offset);
            if (wrong != -1) {
                throw new AssertionError("block %s, range %s + %s: wrong byte at %s".formatted(block, offset, length, wrong));
            }
        }
        return new Reads(accepted, missed);
    }

    private static long write(TestingMemory memory, Random random, Callable<Boolean> done)
            throws Exception
    {
        long[] blocks = new long[FRAMES];
        long written = 0;
        while (!done.call()) {
            int place = random.nextInt(FRAMES);
            int frame = place * (BLOCK / MemoryLayout.UNIT_BYTES);
            long old = blocks[place];
            if (random.nextBoolean()) {
                // sometimes the outdated entry stays: the frame's header has to be enough
                memory.writer().removeEntry(old, old * 31, frame);
            }
            long block = random.nextInt(BLOCKS);
            memory.put(frame, block, block * 31, BLOCK, block);
            blocks[place] = block;
            written++;
        }
        return written;
    }

    static final class WriterProcess
    {
        private WriterProcess() {}

        static void main(String[] args)
                throws Exception
        {
            Path parent = ProcessHandle.current().parent().map(handle -> Path.of("/proc/" + handle.pid())).orElseThrow();
            try (TestingMemory memory = TestingMemory.create(Path.of(args[0]), BLOCK)) {
                long start = System.nanoTime();
                write(memory, new Random(Long.parseLong(args[1])), () -> System.nanoTime() - start > SECONDS.toNanos(600) || !Files.exists(parent));
            }
        }
    }
}
