package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.disk.MemoryAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestMemoryFile
{
    private static final int BLOCK = 64 << 10;
    private static final int WORKERS = 4;
    private static final int STARTS = 500;

    private Path directory;

    @BeforeEach
    void setUp()
            throws Exception
    {
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
    }

    @AfterEach
    void tearDown()
            throws Exception
    {
        for (Path file : files()) {
            Files.delete(file);
        }
        Files.delete(directory);
    }

    /**
     * Each takes what it finds without a lock for a dead run's: also what another one has made, and not locked yet.
     */
    @Test
    void testWorkersStartAtTheSameMoment()
            throws Exception
    {
        CyclicBarrier together = new CyclicBarrier(WORKERS);
        try (ExecutorService executor = Executors.newFixedThreadPool(WORKERS)) {
            List<Future<?>> workers = new ArrayList<>();
            for (int worker = 0; worker < WORKERS; worker++) {
                CacheWorkerId id = new CacheWorkerId("worker-" + worker);
                workers.add(executor.submit(() -> {
                    for (int start = 0; start < STARTS; start++) {
                        together.await(1, TimeUnit.MINUTES);
                        try (LeftMemory left = LeftMemory.takeOver(directory, id);
                                MemoryFile file = create(id, start, left)) {
                            together.await(1, TimeUnit.MINUTES);
                            assertThat(file.path()).exists();
                            assertThat(files()).hasSize(WORKERS);
                            // nothing that anybody has left
                            assertThat(left.outcomes()).isEmpty();
                            together.await(1, TimeUnit.MINUTES);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        }
        assertThat(files()).isEmpty();
    }

    private MemoryFile create(CacheWorkerId id, int start, LeftMemory left)
            throws Exception
    {
        MemoryLayout layout = MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(BLOCK), BLOCK);
        return MemoryFile.create(directory, layout, new Digest128(start, start), id, Optional.empty(), MemoryAllocator.SYSTEM, left);
    }

    private List<Path> files()
            throws Exception
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }
}
