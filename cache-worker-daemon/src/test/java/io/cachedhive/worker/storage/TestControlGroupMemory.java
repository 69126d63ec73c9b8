package io.cachedhive.worker.storage;

import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.MemoryAllocator;
import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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

    @Test
    void testFreeBytes()
            throws IOException
    {
        ControlGroupMemory version2 = new ControlGroupMemory(mount.resolve("memory.max"), 4 * GIGABYTE);
        assertThat(version2.freeBytes()).isEmpty();
        write("memory.current", Long.toString(3 * GIGABYTE));
        assertThat(version2.freeBytes()).isEmpty();
        // "file" includes the pages of tmpfs
        write("memory.stat", "anon 1000000000\nfile 2000000000\nshmem 1700000000\nactive_file 200000000\ninactive_file 100000000");
        assertThat(version2.freeBytes()).hasValue(GIGABYTE + 300_000_000);

        ControlGroupMemory version1 = new ControlGroupMemory(mount.resolve("memory/memory.limit_in_bytes"), 4 * GIGABYTE);
        write("memory/memory.usage_in_bytes", Long.toString(GIGABYTE));
        write("memory/memory.stat", "active_file 1\ntotal_active_file 5000\ntotal_inactive_file 500");
        assertThat(version1.freeBytes()).hasValue(3 * GIGABYTE + 5500);
    }

    @Test
    void testAllocatesWithinTheLimit()
            throws IOException
    {
        ControlGroupMemory group = new ControlGroupMemory(mount.resolve("memory.max"), 4 * GIGABYTE);
        List<Long> allocated = new ArrayList<>();
        MemoryAllocator allocator = new ControlGroupAllocator(group, (_, _, _, length) -> allocated.add(length));
        Path file = Path.of("/dev/shm/file");
        // where the usage is unknown, the limit was checked at the start
        allocator.allocate(file, 1, 0, 5 * GIGABYTE);
        assertThat(allocated).containsExactly(5 * GIGABYTE);

        write("memory.stat", "anon 0");
        write("memory.current", Long.toString(3 * GIGABYTE));
        long free = GIGABYTE - ControlGroupAllocator.RESERVE_BYTES;
        allocator.allocate(file, 1, 0, free);
        assertThat(allocated).containsExactly(5 * GIGABYTE, free);
        assertThatThrownBy(() -> allocator.allocate(file, 1, 0, free + 1))
                .isInstanceOf(DiskException.class)
                .hasMessageMatching("the memory limit of .* in .*/memory.max leaves .*");
        assertThat(allocated).hasSize(2);
    }
}
