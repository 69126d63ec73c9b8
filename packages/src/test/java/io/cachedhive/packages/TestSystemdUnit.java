package io.cachedhive.packages;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("slow")
class TestSystemdUnit
{
    private static final Path UNIT = ROOT.resolve("etc/systemd/cachedhive-worker.service");

    @TempDir
    private Path directory;

    @Test
    void testNamesWhatThePackageInstalls()
            throws IOException
    {
        Map<String, List<String>> unit = read();
        assertThat(unit.get("ExecStart")).containsExactly("/%s/bin/cache-worker run --etc-dir /%s --data-dir /%s".formatted(
                ReleaseContents.WORKER_HOME, ReleaseContents.WORKER_CONFIGURATION, ReleaseContents.WORKER_DATA));
        assertThat(unit.get("User")).containsExactly("cachedhive");
        assertThat("/var/lib/" + unit.get("StateDirectory").getFirst()).isEqualTo("/" + ReleaseContents.WORKER_DATA);
    }

    @Test
    void testTrinoReachesSocketAndMemory()
            throws IOException
    {
        Map<String, List<String>> unit = read();
        Properties configuration = configuration();
        Path socket = Path.of(configuration.getProperty("cache.worker.socket-path"));
        assertThat(socket.getParent()).isEqualTo(Path.of("/run", unit.get("RuntimeDirectory").getFirst()));
        // who is in the group of socket and memory is not in that of configuration and state
        assertThat(unit.get("RuntimeDirectoryMode")).containsExactly("0755");
        assertThat(configuration.getProperty("cache.worker.socket-group")).isEqualTo("cachedhive-socket").isNotEqualTo(unit.get("Group").getFirst());
        Path memory = Path.of(configuration.getProperty("cache.ram.directory"));
        assertThat(unit.get("ReadWritePaths")).contains(memory.getParent().toString());
        // only this group enters the directory of the memory, which exists from boot, so that no other user creates it first
        assertThat(Files.readAllLines(ROOT.resolve("etc/systemd/cachedhive-worker.conf")))
                .contains("d %s 0750 %s %s -".formatted(memory, unit.get("User").getFirst(), configuration.getProperty("cache.worker.socket-group")));
        assertThat(unit.get("RemoveIPC")).containsExactly("no");
        // each line changes what those before it allow, and @privileged has chown(2), by which the socket gets its group
        assertThat(unit.get("SystemCallFilter")).endsWith("~@privileged @resources", "@chown");
        // either would hide the socket or the network from everybody else
        assertThat(unit).doesNotContainKeys("PrivateNetwork", "RootDirectory", "DynamicUser", "InaccessiblePaths", "TemporaryFileSystem");
        assertThat(unit.get("RestrictAddressFamilies").getFirst().split(" ")).contains("AF_UNIX", "AF_INET", "AF_INET6");
    }

    @Test
    void testMemoryCoversTheDefaults()
            throws IOException
    {
        List<String> jvm = Files.readAllLines(ROOT.resolve("etc/cache-worker/jvm.config"));
        long needed = MemorySizes.ofCacheWorker(configuration(), jvm);
        assertThat(MemorySizes.parse(read().get("MemoryMax").getFirst())).isGreaterThanOrEqualTo(needed);
    }

    @Test
    void testNothingIsLeftOnDisk()
            throws IOException
    {
        Map<String, List<String>> unit = read();
        // memory has secrets and cached bytes: neither core dumps nor swap
        assertThat(unit.get("LimitCORE")).containsExactly("0");
        assertThat(unit.get("MemorySwapMax")).containsExactly("0");
    }

    @Test
    void testSystemdAgrees()
            throws Exception
    {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/systemd-analyze")), "systemd-analyze is not installed here");
        // the program is not installed here
        Path unit = directory.resolve("cachedhive-worker.service");
        Files.writeString(unit, Files.readString(UNIT).replaceAll("(?m)^ExecStart=\\S+", "ExecStart=/bin/true"));
        // it also looks at the machine's own units that ours names
        assertThat(run("systemd-analyze", "verify", unit.toString()).lines().filter(line -> line.contains("cachedhive"))).isEmpty();
        // tenths, as on the page about the packages; 96 is a service without any protection
        String security = run("systemd-analyze", "security", "--offline=true", "--threshold=16", "--no-pager", unit.toString());
        assumeTrue(!security.contains("unrecognized option"), "systemd-analyze of this host is older than 250");
        assertThat(security).startsWith("0 ").contains("Overall exposure level");
    }

    private static String run(String... command)
            throws Exception
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        return process.waitFor() + " " + output;
    }

    private static Properties configuration()
            throws IOException
    {
        Properties configuration = new Properties();
        configuration.load(new StringReader(new ReleaseContents(ROOT, "1", "1").configuration().get("config.properties")));
        return configuration;
    }

    /**
     * The settings of the unit, whose names are different in all of its sections.
     */
    private static Map<String, List<String>> read()
            throws IOException
    {
        Map<String, List<String>> settings = new LinkedHashMap<>();
        for (String line : Files.readAllLines(UNIT)) {
            int equals = line.indexOf('=');
            if (!line.startsWith("#") && equals > 0) {
                settings.computeIfAbsent(line.substring(0, equals), _ -> new ArrayList<>()).add(line.substring(equals + 1));
            }
        }
        return settings;
    }
}
