package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that is killed (SIGKILL) while it fills its store, again and again, and a client that keeps every one of its files mapped.
 */
@Tag("slow")
class TestKilledWorker
{
    private static final int BLOCK = 64 << 10;
    private static final long ETAG = ETags.digest("etag");
    private static final int RUNS = 2;

    @TempDir
    private Path directory;

    private static StoreConfig config(Path directory)
            throws IOException
    {
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 8 << 20)
                .withCheckpointInterval(Duration.ofMillis(300))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(256 << 20))));
    }

    private static FileVersion file()
    {
        return TestingBlocks.file(1, 3000L * BLOCK);
    }

    @Test
    void blocksComeBackAndMemoryDoesNotGrow()
            throws Exception
    {
        List<SharedMemoryReader> clients = new ArrayList<>();
        List<HeldMemory> oldFiles = new ArrayList<>();
        FileVersion file = file();
        int filled = 0;
        try {
            for (int run = 0; run < RUNS; run++) {
                int reached = runAndKill(filled, filled + 150 + 70 * run, clients, oldFiles);
                // its stopwatch stands still: a machine that stops is no slow disk
                try (BlockStore store = BlockStore.open(config(directory), StoreEnvironment.system().withClock(new FastClock()))) {
                    assertThat(store.recovery()).extracting(RecoveryOutcome::finding).contains(RecoveryFinding.MEMORY_FILE_RECLAIMED);
                    assertThat(store.recovery()).noneMatch(outcome -> outcome.finding().isDoubt() && outcome.finding() != RecoveryFinding.CHECKPOINT_MISSING);
                    int there = 0;
                    for (int i = 0; i < reached; i++) {
                        Optional<PinnedBlock> loaded = store.load(file.id().block(i));
                        if (loaded.isPresent()) {
                            there++;
                            try (PinnedBlock pinned = loaded.get()) {
                                assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(TestingBlocks.bytes(file.id().block(i), ETAG, BLOCK));
                            }
                        }
                    }
                    // what had been told to be on SSD, and synced
                    assertThat(there).isGreaterThanOrEqualTo(reached * 99 / 100);
                    assertThat(store.gauges().corruptBlocks()).isZero();
                    long memory = HeldMemory.allocatedBytes(store.memoryFile());
                    for (HeldMemory old : oldFiles) {
                        memory += old.allocatedBytes();
                    }
                    assertThat(memory).isLessThanOrEqualTo(store.gauges().ramCapacityBytes() * 105 / 100);
                    for (SharedMemoryReader client : clients) {
                        assertThat(client.state()).isEqualTo(MemoryState.DEAD);
                        BlockKey key = file.id().block(reached - 1);
                        assertThat(client.read(key.high(), key.low(), 0, new byte[BLOCK], 0, BLOCK, new BlockInfo())).isEqualTo(-1);
                    }
                }
                filled = reached;
            }
        }
        finally {
            clients.forEach(SharedMemoryReader::close);
            for (HeldMemory old : oldFiles) {
                old.close();
            }
        }
    }

    private int runAndKill(int first, int last, List<SharedMemoryReader> clients, List<HeldMemory> oldFiles)
            throws Exception
    {
        Path log = directory.resolve("worker.log");
        Process worker = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"),
                Worker.class.getName(),
                directory.toString(),
                Integer.toString(first))
                .redirectError(Redirect.to(log.toFile()))
                .start();
        try (BufferedReader output = worker.inputReader(UTF_8)) {
            int reached = first;
            while (reached < last) {
                String line = output.readLine();
                assertThat(line).describedAs(() -> text(log)).isNotNull();
                reached = Integer.parseInt(line);
            }
            Path memoryFile = list(directory.resolve("ram")).stream().filter(path -> path.getFileName().toString().endsWith(".ram")).findFirst().orElseThrow();
            oldFiles.add(HeldMemory.open(memoryFile));
            SharedMemoryReader client = SharedMemoryReader.open(memoryFile);
            clients.add(client);
            assertThat(client.state()).isEqualTo(MemoryState.LIVE);
            return reached;
        }
        finally {
            worker.destroyForcibly().waitFor();
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

    private static List<Path> list(Path directory)
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    static final class Worker
    {
        private Worker() {}

        static void main(String[] args)
                throws Exception
        {
            BlockStore store = BlockStore.open(config(Path.of(args[0])), StoreEnvironment.system().withClock(new FastClock()));
            FileVersion file = file();
            store.bind(file, Optional.of("etag"), false, "schema.table");
            int block = Integer.parseInt(args[1]);
            // ends by itself if nobody kills it
            for (long start = System.nanoTime(); System.nanoTime() - start < 300_000_000_000L && block < file.blockCount(BLOCK); ) {
                BlockKey key = file.id().block(block);
                Optional<Fill> fill = store.beginFill(key, BLOCK, ETAG);
                if (fill.isEmpty()) {
                    LockSupport.parkNanos(1_000_000);
                    continue;
                }
                fill.get().buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
                fill.get().commit().orElseThrow().close();
                block++;
                if (block % 10 == 0) {
                    store.ssd().drain();
                    store.ssd().flush();
                    System.out.println(block);
                }
            }
        }
    }
}
