package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class TestSystemdDropIn
{
    private static final String OTHER_PLACES = """
            socket-path: /run/lake/worker.sock
            ssd: [{directory: /mnt/a/cachedhive, percentage: 80}, {directory: /mnt/b/cachedhive, percentage: 80}]
            """;

    @TempDir
    private Path directory;

    @Test
    void testWritesWhereItIsToldTo()
            throws IOException, ClusterFileException
    {
        List<String> plain = dropIn("").lines().toList();
        assertThat(plain).contains("ReadWritePaths=/opt/cachedhive/data -/dev/shm/cachedhive", "RuntimeDirectory=cachedhive");

        List<String> other = dropIn(OTHER_PLACES).lines().toList();
        assertThat(other).contains(
                "ReadWritePaths=/opt/cachedhive/data -/dev/shm/cachedhive /mnt/a/cachedhive /mnt/b/cachedhive",
                "RequiresMountsFor=/mnt/a/cachedhive /mnt/b/cachedhive");
        // /run is empty after a reboot, and root runs nothing there that follows links
        assertThat(other).contains("RuntimeDirectory=", "RuntimeDirectory=lake").noneMatch(line -> line.startsWith("ExecStartPre=+"));

        assertThat(dropIn("socket-path: /srv/lake/w.sock\n").lines())
                .contains("ReadWritePaths=/opt/cachedhive/data -/dev/shm/cachedhive /srv/lake")
                .noneMatch(line -> line.startsWith("RuntimeDirectory="));
    }

    @Test
    void testLogIsWhereItIsLookedFor()
            throws IOException, ClusterFileException
    {
        assertThat(dropIn("").lines()).filteredOn(line -> line.startsWith("ExecStart=/")).singleElement().asString()
                .contains(" -D log.path=/opt/cachedhive/data/var/log/server.log -D log.enable-console=false run");
    }

    @Test
    void testSystemdAgrees()
            throws Exception
    {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/systemd-analyze")), "systemd-analyze is not installed here");
        // the programs are not installed here
        Path base = Path.of(System.getProperty("user.dir")).resolveSibling("etc/systemd/cachedhive-worker.service");
        Path unit = Files.writeString(directory.resolve("cachedhive-worker.service"), Files.readString(base).replaceAll("(?m)^ExecStart=\\S+", "ExecStart=/bin/true"));
        Path dropIn = Files.createDirectories(directory.resolve("cachedhive-worker.service.d")).resolve("cache-admin.conf");

        for (String settings : List.of("", OTHER_PLACES)) {
            String text = dropIn(settings).replace("@RUN_AS@", "root").replace("@GROUP@", "root").replace("@JAVA_HOME@", "/jdk");
            Files.writeString(dropIn, text.replaceAll("(?m)^ExecStart=/\\S+", "ExecStart=/bin/true"));
            assertThat(verify(unit)).isEmpty();
        }
        // it does look at the drop-in
        Files.writeString(dropIn, "[Service]\nReadWritePaths=no-path\n");
        assertThat(verify(unit)).isNotEmpty();
    }

    /// @return what is said of our files; it also looks at the machine's own units that ours names
    private static List<String> verify(Path unit)
            throws Exception
    {
        Process process = new ProcessBuilder("systemd-analyze", "verify", unit.toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        process.waitFor();
        return output.lines().filter(line -> line.contains("cachedhive") || line.contains("cache-admin")).toList();
    }

    private String dropIn(String settings)
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1]\n" + settings);
        return Installation.systemdDropIn(ClusterFile.read(file).hosts().getFirst());
    }
}
