package io.cachedhive.worker.storage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class TestSwapSpace
{
    private static final String HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

    @TempDir
    private Path directory;

    @Test
    void testHosts()
            throws IOException
    {
        Path swaps = directory.resolve("swaps");
        assertThat(SwapSpace.problem(swaps)).isEmpty();
        Files.writeString(swaps, HEADER);
        assertThat(SwapSpace.problem(swaps)).isEmpty();
        Files.writeString(swaps, HEADER + "/dev/zram0                              partition\t4194300\t\t0\t\t100\n");
        assertThat(SwapSpace.problem(swaps)).isEmpty();
        Files.writeString(swaps, HEADER + "/swapfile                               file\t\t2097148\t\t0\t\t-2\n");
        assertThat(SwapSpace.problem(swaps)).contains("This host swaps to /swapfile, so that cached bytes and secrets may be written there: "
                + "run swapoff, or run the cache worker under its systemd unit, which sets MemorySwapMax=0");
    }

    /**
     * As MemorySwapMax=0 of the systemd unit sets it.
     */
    @Test
    void testControlGroup()
            throws IOException
    {
        Path groups = Files.writeString(directory.resolve("self"), "0::/system.slice/cachedhive.service\n");
        Path slice = Files.createDirectories(directory.resolve("cgroup/system.slice"));
        Path group = Files.createDirectories(slice.resolve("cachedhive.service"));
        Path mount = directory.resolve("cgroup");
        assertThat(ControlGroupMemory.forbidsSwap(groups, mount)).isFalse();
        Files.writeString(group.resolve("memory.swap.max"), "max\n");
        assertThat(ControlGroupMemory.forbidsSwap(groups, mount)).isFalse();
        Files.writeString(group.resolve("memory.swap.max"), "1048576\n");
        assertThat(ControlGroupMemory.forbidsSwap(groups, mount)).isFalse();
        Files.writeString(group.resolve("memory.swap.max"), "0\n");
        assertThat(ControlGroupMemory.forbidsSwap(groups, mount)).isTrue();
        Files.writeString(group.resolve("memory.swap.max"), "max\n");
        Files.writeString(slice.resolve("memory.swap.max"), "0\n");
        assertThat(ControlGroupMemory.forbidsSwap(groups, mount)).isTrue();
    }
}
