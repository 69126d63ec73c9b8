package io.cachedhive.protocol.memory;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A reader refuses files that another user may have laid where it expects the worker's.
 */
class TestCheckedFile
{
    private static final int BLOCK = 64 << 10;

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void setUp()
            throws IOException
    {
        file = directory.resolve("memory");
        TestingMemory.create(file, BLOCK).close();
        SharedMemoryReader.open(file).close();
    }

    @Test
    void testLink()
            throws IOException
    {
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertRefused(link, "it is a symbolic link");
        assertThat(FileStatus.ofPath(link).problemForOwner(FileStatus.ofPath(link).userId())).contains("it is a symbolic link");
        assertThat(FileStatus.ofTarget(link)).isEqualTo(FileStatus.ofPath(file));
    }

    @Test
    void testHardLink()
            throws IOException
    {
        Path second = Files.createLink(directory.resolve("second"), file);
        assertRefused(file, "it has 2 names (hard links) instead of one");
        Files.delete(second);
        SharedMemoryReader.open(file).close();
    }

    /**
     * Without a writer, open(2) of a FIFO waits by default.
     */
    @Test
    @Timeout(30)
    void testFifo()
            throws Exception
    {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).inheritIO().start().waitFor()).isZero();
        assertRefused(fifo, "it is not a regular file");
    }

    @Test
    void testSocketAndDirectory()
            throws IOException
    {
        assertRefused(directory, "it is not a regular file");
        Path socket = directory.resolve("s");
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(socket));
            assertThatThrownBy(() -> SharedMemoryReader.open(socket)).isInstanceOf(IOException.class).hasMessageContaining(socket.toString());
        }
    }

    @Test
    void testWritable()
            throws IOException
    {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        SharedMemoryReader.open(file).close();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r---w-"));
        assertRefused(file, "users other than its owner can write to it (mode 0642)");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
        assertRefused(file, "users other than its owner can write to it (mode 0660)");
    }

    @Test
    void testOwner()
            throws IOException
    {
        int user = FileStatus.ofPath(file).userId();
        if (user != FileStatus.ROOT_ID) {
            assertThatThrownBy(() -> SharedMemoryReader.open(file, HitVerification.SAMPLED, user + 1))
                    .isInstanceOf(UnsafeFileException.class)
                    .hasMessage("it belongs to the user with the id %s instead of %s".formatted(user, user + 1));
        }
        assumeTrue(user == FileStatus.ROOT_ID, "only root can give files to another user");
        SharedMemoryReader.open(file, HitVerification.SAMPLED, 65534).close();
        Files.setAttribute(file, "unix:uid", 65533);
        assertRefused(file, "it belongs to the user with the id 65533 instead of 0");
        assertThatThrownBy(() -> SharedMemoryReader.open(file, HitVerification.SAMPLED, 65534)).hasMessage("it belongs to the user with the id 65533 instead of 65534");
        SharedMemoryReader.open(file, HitVerification.SAMPLED, 65533).close();
    }

    @Test
    void testMissing()
    {
        assertThatThrownBy(() -> SharedMemoryReader.open(directory.resolve("none"))).isInstanceOf(NoSuchFileException.class);
    }

    /**
     * The status and the channel are those of the open file, also when its name refers to another one.
     */
    @Test
    void testReplacedName()
            throws IOException
    {
        FileStatus status = FileStatus.ofPath(file);
        long size = Files.size(file);
        try (CheckedFile checked = CheckedFile.open(file)) {
            Files.delete(file);
            Files.writeString(file, "other");
            assertThat(checked.status().inode()).isEqualTo(status.inode()).isNotEqualTo(FileStatus.ofPath(file).inode());
            assertThat(checked.status().linkCount()).isZero();
            try (var channel = checked.channel()) {
                assertThat(channel.size()).isEqualTo(size);
            }
        }
    }

    private static void assertRefused(Path file, String problem)
    {
        assertThatThrownBy(() -> SharedMemoryReader.open(file)).isInstanceOf(UnsafeFileException.class).hasMessage(problem);
    }
}
