package io.cachedhive.testing.cluster;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
class TestClusterPorts
{
    private static final List<String> HOSTS = List.of("127.0.0.2", "127.0.0.3");

    @TempDir
    private Path directory;

    @Test
    void testPortsAreRemembered()
            throws Exception
    {
        Path file = directory.resolve("ports.properties");
        ClusterPorts first = ClusterPorts.open(file);
        int s3 = first.port("s3", List.of("127.0.0.1"));
        int worker = first.port("worker", HOSTS);
        assertThat(worker).isNotEqualTo(s3);
        first.save();

        ClusterPorts second = ClusterPorts.open(file);
        assertThat(second.port("s3", List.of("127.0.0.1"))).isEqualTo(s3);
        // free on one of the hosts is not enough
        try (ServerSocket other = new ServerSocket()) {
            other.bind(new InetSocketAddress("127.0.0.3", worker));
            assertThat(second.port("worker", HOSTS)).isNotEqualTo(worker);
        }
    }
}
