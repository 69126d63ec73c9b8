package io.cachedhive.quickstart.check;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

import static org.assertj.core.api.Assertions.assertThat;

final class TestPreflight
{
    private static final long GIB = 1L << 30;
    private static final Preflight PREFLIGHT = new Preflight(6 * GIB, GIB / 2, 4 * GIB);

    @Test
    void testNoProblem()
    {
        assertThat(PREFLIGHT.problems(machine("Linux", 25, 6 * GIB, OptionalLong.of(GIB / 2), 4 * GIB))).isEmpty();
        assertThat(PREFLIGHT.problems(machine("Linux", 26, 60 * GIB, OptionalLong.of(GIB), 400 * GIB))).isEmpty();
    }

    @Test
    void testOtherSystem()
    {
        assertThat(PREFLIGHT.problems(machine("Mac OS X", 25, 60 * GIB, OptionalLong.empty(), 400 * GIB)))
                .containsExactly("cache workers share memory with Trino through Linux's /dev/shm, but this is Mac OS X: run it on a Linux machine.");
    }

    @Test
    void testOldJava()
    {
        assertThat(PREFLIGHT.problems(machine("Linux", 17, 60 * GIB, OptionalLong.of(GIB), 400 * GIB)))
                .containsExactly("Trino 483 runs on JDK 25, but this is JDK 17: install JDK 25 and name its directory in JAVA_HOME.");
    }

    @Test
    void testLittleMemory()
    {
        assertThat(PREFLIGHT.problems(machine("Linux", 25, 6 * GIB - 1, OptionalLong.of(GIB), 400 * GIB)))
                .containsExactly("the cluster needs 6.0 GiB of memory, but 6.0 GiB are available: stop something else, or use fewer --workers.");
        assertThat(PREFLIGHT.problems(new Machine("Linux", 25, OptionalLong.empty(), OptionalLong.of(GIB), 400 * GIB, List.of()))).isEmpty();
    }

    @Test
    void testSharedMemory()
    {
        assertThat(PREFLIGHT.problems(machine("Linux", 25, 60 * GIB, OptionalLong.of(64 << 20), 400 * GIB)))
                .containsExactly("the cache workers need 512 MiB in /dev/shm, but 64 MiB are free: "
                        + "enlarge it (mount -o remount,size=1024m /dev/shm), in a container with --shm-size.");
        assertThat(PREFLIGHT.problems(machine("Linux", 25, 60 * GIB, OptionalLong.empty(), 400 * GIB)))
                .containsExactly("there is no /dev/shm: mount a tmpfs there (mount -t tmpfs tmpfs /dev/shm), in a container with --shm-size=512m.");
    }

    @Test
    void testLittleDisk()
    {
        assertThat(PREFLIGHT.problems(machine("Linux", 25, 60 * GIB, OptionalLong.of(GIB), GIB)))
                .containsExactly("the quickstart needs 4.0 GiB of disk, but 1.0 GiB are free: choose another place with --directory, or a smaller --scale.");
    }

    @Test
    void testEveryProblemIsNamed()
    {
        Machine machine = new Machine("Linux", 17, OptionalLong.of(0), OptionalLong.of(0), 0, List.of("127.0.0.2", "127.0.0.3"));
        assertThat(PREFLIGHT.problems(machine)).hasSize(6).allMatch(problem -> problem.endsWith(".")).contains(
                "no server can listen on 127.0.0.2, which stands for a host here: give the loopback device its whole network (ip addr add 127.0.0.1/8 dev lo).",
                "no server can listen on 127.0.0.3, which stands for a host here: give the loopback device its whole network (ip addr add 127.0.0.1/8 dev lo).");
    }

    @Test
    void testThisMachine(@TempDir Path directory)
            throws IOException
    {
        // 192.0.2.0/24 is for documentation: no machine has an address of it
        Machine machine = Machine.inspect(directory.resolve("not/yet/there"), List.of("127.0.0.1", "127.0.0.2", "192.0.2.1"));
        assertThat(machine.operatingSystem()).isEqualTo("Linux");
        assertThat(machine.javaVersion()).isGreaterThanOrEqualTo(25);
        assertThat(machine.availableMemoryBytes().orElseThrow()).isPositive();
        assertThat(machine.freeSharedMemoryBytes()).isPresent();
        assertThat(machine.freeDiskBytes()).isPositive();
        assertThat(machine.unusableAddresses()).containsExactly("192.0.2.1");
    }

    private static Machine machine(String operatingSystem, int javaVersion, long memoryBytes, OptionalLong sharedMemoryBytes, long diskBytes)
    {
        return new Machine(operatingSystem, javaVersion, OptionalLong.of(memoryBytes), sharedMemoryBytes, diskBytes, List.of());
    }
}
