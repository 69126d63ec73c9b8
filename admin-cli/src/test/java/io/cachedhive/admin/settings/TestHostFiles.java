package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestHostFiles
{
    @TempDir
    private Path directory;

    @Test
    void testScheme()
            throws IOException, ClusterFileException
    {
        assertThat(workerProperties("http-port: 9000\n"))
                .containsEntry("http-server.http.port", "9000")
                .doesNotContainKeys("http-server.http.enabled", "http-server.https.enabled");
        // a cache worker refuses to start with the port of what is switched off
        assertThat(workerProperties("http-port: 9000\nhttp-scheme: https\n"))
                .containsEntry("http-server.http.enabled", "false")
                .containsEntry("http-server.https.enabled", "true")
                .containsEntry("http-server.https.port", "9000")
                .doesNotContainKey("http-server.http.port");
    }

    private Map<String, String> workerProperties(String settings)
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [127.0.0.1]\n" + settings);
        Cluster cluster = ClusterFile.read(file);
        return HostFiles.read(cluster).of(cluster.hosts().getFirst()).stream()
                .filter(found -> found.path().endsWith("/etc/config.properties"))
                .map(found -> PropertiesText.read(found.content()))
                .findFirst()
                .orElseThrow();
    }
}
