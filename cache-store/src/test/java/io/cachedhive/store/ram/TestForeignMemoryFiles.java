package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.MemoryAllocator;
import io.cachedhive.store.disk.Posix;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Files that another user laid into a shared-memory directory that is open to all.
 */
@Timeout(60)
class TestForeignMemoryFiles
{
    private static final int BLOCK = 64 << 10;
    private static final CacheWorkerId ID = new CacheWorkerId("worker");
    private static final String NAME = "cachedhive-worker-0123456789abcdef.ram";

    @TempDir
    private Path victimDirectory;

    private Path directory;
    private Path victim;
    private byte[] content;

    @BeforeEach
    void setUp()
            throws Exception
    {
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        content = new byte[1 << 20];
        Arrays.fill(content, (byte) 7);
        victim = Files.write(victimDirectory.resolve("victim"), content);
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

    @Test
    void testLink()
            throws Exception
    {
        Path link = Files.createSymbolicLink(directory.resolve(NAME), victim);
        assertSkipped(link, "it is a symbolic link");
        assertThat(victim).hasBinaryContent(content);
    }

    @Test
    void testHardLink()
            throws Exception
    {
        Path original = Files.write(directory.resolve("other"), content);
        Path link = Files.createLink(directory.resolve(NAME), original);
        assertSkipped(link, "it has 2 names (hard links) instead of one");
        assertThat(original).hasBinaryContent(content);
    }

    /**
     * The open of a FIFO would wait for its other end.
     */
    @Test
    void testFifo()
            throws Exception
    {
        Path fifo = directory.resolve(NAME);
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).inheritIO().start().waitFor()).isZero();
        assertSkipped(fifo, "it is not a regular file");
    }

    @Test
    void testDirectory()
            throws Exception
    {
        assertSkipped(Files.createDirectory(directory.resolve(NAME)), "open of %s failed".formatted(directory.resolve(NAME)));
    }

    @Test
    void testForeignOwner()
            throws Exception
    {
        assumeTrue(Posix.userId() == FileStatus.ROOT_ID, "only root can give files to another user");
        Path foreign = Files.write(directory.resolve(NAME), content);
        Files.setAttribute(foreign, "unix:uid", 65534);
        assertSkipped(foreign, "it belongs to the user with the id 65534 instead of 0");
        assertThat(foreign).hasBinaryContent(content);

        // an empty one, which a run leaves that is killed at its start
        Files.write(foreign, new byte[0]);
        assertSkipped(foreign, "it belongs to the user with the id 65534 instead of 0");
    }

    /**
     * The file of this run is never one that is there already, nor what a link refers to.
     */
    @Test
    void testNameOfNewFile()
            throws Exception
    {
        Path laid = directory.resolve(MemoryFile.namePrefix(ID) + HexFormat.of().toHexDigits(17L) + ".ram");
        Files.createSymbolicLink(laid, victimDirectory.resolve("missing"));
        try (LeftMemory left = LeftMemory.takeOver(directory, ID)) {
            assertThatThrownBy(() -> create(left)).isInstanceOf(StoreException.class).hasMessageContaining("file exists");
        }
        assertThat(laid).isSymbolicLink();
        assertThat(victimDirectory.resolve("missing")).doesNotExist();
    }

    /**
     * A name that refers to another file by now is not removed.
     */
    @Test
    void testReplacedName()
            throws Exception
    {
        try (LeftMemory left = LeftMemory.takeOver(directory, ID)) {
            MemoryFile file = create(left);
            Files.delete(file.path());
            Files.write(file.path(), content);
            file.close();
            assertThat(file.path()).hasBinaryContent(content);
        }
    }

    /**
     * Skipped files do not keep the cache worker from starting, nor from freeing what it has left itself.
     */
    private void assertSkipped(Path file, String problem)
            throws Exception
    {
        FileStatus before = FileStatus.ofPath(file);
        try (LeftMemory left = LeftMemory.takeOver(directory, ID)) {
            assertThat(left.outcomes()).singleElement().satisfies(outcome -> {
                assertThat(outcome.finding()).isEqualTo(RecoveryFinding.MEMORY_FILE_FOREIGN);
                assertThat(outcome.finding().isDoubt()).isTrue();
                assertThat(outcome.where()).isEqualTo(file);
                assertThat(outcome.decision()).startsWith("skipped, because it may be another user's (").contains(problem, "set cache.ram.directory");
            });
            assertThat(left.bytes()).isZero();
            try (MemoryFile memory = create(left)) {
                assertThat(FileStatus.ofPath(memory.path()).problemForOwner(Posix.userId())).isEmpty();
                assertThat(FileStatus.ofPath(memory.path()).permissions()).isEqualTo("0600");
                memory.abandon();
            }
        }
        try (LeftMemory left = LeftMemory.takeOver(directory, ID)) {
            assertThat(left.outcomes()).extracting(RecoveryOutcome::finding)
                    .containsExactlyInAnyOrder(RecoveryFinding.MEMORY_FILE_FOREIGN, RecoveryFinding.MEMORY_FILE_RECLAIMED);
        }
        assertThat(files().stream().filter(left -> left.getFileName().toString().endsWith(".ram"))).containsExactly(file);
        assertThat(FileStatus.ofPath(file)).isEqualTo(before);
    }

    private MemoryFile create(LeftMemory left)
            throws Exception
    {
        MemoryLayout layout = MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(BLOCK), BLOCK);
        return MemoryFile.create(directory, layout, new Digest128(17, 0), ID, Optional.empty(), MemoryAllocator.SYSTEM, left);
    }

    private List<Path> files()
            throws Exception
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }
}
