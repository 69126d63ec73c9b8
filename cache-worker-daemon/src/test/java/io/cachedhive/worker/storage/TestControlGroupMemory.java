package io.cachedhive.worker.storage;

import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestControlGroupMemory
{
    private static final long GIGABYTE = 1L << 30;

    private Path mount;
    private Path processGroups;

    @BeforeEach
    void setUp(@TempDir Path directory)
            throws IOException
    {
        mount = Files.createDirectories(directory.resolve("cgroup"));
        processGroups = directory.resolve("self");
    }

    private void write(String file, String content)
            throws IOException
    {
        Path path = mount.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content + "\n");
    }

    private void group(String lines)
            throws IOException
    {
        Files.writeString(processGroups, lines);
    }

    @Test
    void testSmallestLimitOfAllGroups()
            throws IOException
    {
        group("0::/system.slice/cachedhive.service\n");
        write("system.slice/cachedhive.service/memory.max", "8589934592");
        write("system.slice/memory.max", "4294967296");
        assertThat(ControlGroupMemory.find(processGroups, mount))
                .contains(new ControlGroupMemory(mount.resolve("system.slice/memory.max"), 4 * GIGABYTE));

        write("system.slice/memory.max", "max");
        assertThat(ControlGroupMemory.find(processGroups, mount).map(ControlGroupMemory::limitBytes)).contains(8 * GIGABYTE);
    }

    @Test
    void testContainer()
            throws IOException
    {
        write("memory.max", "2147483648");
        // with a namespace of its own
        group("0::/\n");
        assertThat(ControlGroupMemory.find(processGroups, mount).map(ControlGroupMemory::limitBytes)).contains(2 * GIGABYTE);
        // with the names of the host
        group("0::/kubepods/pod1\n");
        assertThat(ControlGroupMemory.find(processGroups, mount).map(ControlGroupMemory::limitBytes)).contains(2 * GIGABYTE);
        // beside the container's own group
        group("0::/../other\n");
        assertThat(ControlGroupMemory.find(processGroups, mount).map(ControlGroupMemory::limitBytes)).contains(2 * GIGABYTE);
    }

    @Test
    void testVersion1()
            throws IOException
    {
        group("5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/a\n");
        write("memory/a/memory.limit_in_bytes", "3221225472");
        write("memory/a/b/memory.limit_in_bytes", "9223372036854771712");
        assertThat(ControlGroupMemory.find(processGroups, mount).map(ControlGroupMemory::limitBytes)).contains(3 * GIGABYTE);
    }

    @Test
    void testNoLimit()
            throws IOException
    {
        assertThat(ControlGroupMemory.find(processGroups, mount)).as("no control groups").isEmpty();
        group("0::/a\nnonsense\n");
        assertThat(ControlGroupMemory.find(processGroups, mount)).isEmpty();
        write("a/memory.max", "max");
        assertThat(ControlGroupMemory.find(processGroups, mount)).isEmpty();
    }

    @Test
    void testRoom()
    {
        ControlGroupMemory memory = new ControlGroupMemory(Path.of("/sys/fs/cgroup/memory.max"), 4 * GIGABYTE);
        assertThatCode(() -> memory.requireRoom(3 * GIGABYTE, GIGABYTE)).doesNotThrowAnyException();
        assertThatThrownBy(() -> memory.requireRoom(3 * GIGABYTE + 1, GIGABYTE))
                .isInstanceOf(StartupException.class)
                .hasMessageMatching("cache.ram.max-size=.* and the heap of .* exceed the memory limit of .* in /sys/fs/cgroup/memory.max: reduce .*");
    }
}
