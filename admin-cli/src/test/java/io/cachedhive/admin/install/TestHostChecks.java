package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.fault.Fault.Kind;
import io.cachedhive.admin.ssh.RemoteResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

class TestHostChecks
{
    private static final long GB = 1L << 30;
    private static final long NOW = 1_000_000_000_000L;

    @TempDir
    private Path directory;

    private final Map<String, String> facts = new LinkedHashMap<>();

    @BeforeEach
    void setUpSoundHost()
    {
        facts.put("time_millis", Long.toString(NOW + 50));
        facts.put("user", "trino");
        facts.put("uid", "1000");
        facts.put("kernel", "Linux");
        facts.put("java_home", "/jdk");
        facts.put("java_seen", "25");
        facts.put("run_as", "trino");
        facts.put("run_as_exists", "yes");
        facts.put("run_as_groups", "trino");
        facts.put("memory_bytes", Long.toString(64 * GB));
        facts.put("memory_from", "host");
        facts.put("install.writable", "yes");
        facts.put("install.nearest", "/opt");
        facts.put("install.free_bytes", Long.toString(10 * GB));
        facts.put("ram.exists", "yes");
        facts.put("ram.size_bytes", Long.toString(32 * GB));
        facts.put("ram.free_bytes", Long.toString(32 * GB));
        facts.put("ssd.0.writable", "yes");
        facts.put("ssd.0.free_bytes", Long.toString(100 * GB));
        facts.put("ssd.0.device", "1");
        facts.put("ssd.1.writable", "yes");
        facts.put("ssd.1.free_bytes", Long.toString(100 * GB));
        facts.put("ssd.1.device", "2");
        facts.put("port.8484", "free");
        facts.put("port.8485", "free");
        facts.put("trino.exists", "yes");
        facts.put("trino.version", "483");
        facts.put("trino.heap", "40G");
        facts.put("trino.etc", "yes");
        facts.put("plugins.exists", "yes");
        facts.put("plugins.writable", "yes");
    }

    @Test
    void testSound()
            throws IOException, ClusterFileException
    {
        assertThat(check("")).isEmpty();
        facts.put("trino.version", "483-corp.2");
        assertThat(check("")).isEmpty();
    }

    @Test
    void testMemorySum()
            throws IOException, ClusterFileException
    {
        // 40 + 16 + 1.75 + 6.4
        assertThat(check("ram-size: 16GB\n")).singleElement().satisfies(fault -> {
            assertThat(fault.kind()).isEqualTo(Kind.MEMORY);
            assertThat(fault.sentence()).contains("64.1GB of memory are needed and it has 64.0GB", "-Xmx 40.0GB", "lower ram-size");
        });
        assertThat(check("ram-size: 15GB\n")).isEmpty();
        facts.put("memory_from", "cgroup");
        facts.put("memory_bytes", Long.toString(32 * GB));
        assertThat(check("")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("its control group has 32.0GB"));
        facts.put("trino.heap", "");
        facts.put("trino.heap_percent", "90");
        assertThat(check("ram-size: 1GB\n")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("-Xmx 28.8GB"));
    }

    @Test
    void testEveryFault()
            throws IOException, ClusterFileException
    {
        assertFault(Kind.PROGRAM_MISSING, "missing_program", "tar");
        assertFault(Kind.CLOCK, "time_millis", Long.toString(NOW - 60_000));
        assertFault(Kind.CLOCK, "time_millis", Long.toString(NOW + 60_000));
        assertFault(Kind.JAVA, "java_home", "");
        assertFault(Kind.USER, "run_as_exists", "");
        assertFault(Kind.USER, "user", "joe");
        assertFault(Kind.PERMISSION, "install.writable", "");
        assertFault(Kind.DIRECTORY, "install.blocked_by", "/opt");
        assertFault(Kind.DISK_SPACE, "install.free_bytes", "1000");
        assertFault(Kind.DIRECTORY, "ram.exists", "");
        // the cache worker creates it
        facts.put("ram.exists", "");
        facts.put("ram.nearest", "/dev/shm");
        assertThat(check("")).isEmpty();
        facts.put("ram.nearest", "/dev");
        assertThat(check("")).extracting(Fault::kind).containsExactly(Kind.DIRECTORY);
        setUpSoundHost();
        assertFault(Kind.SHARED_MEMORY, "ram.size_bytes", Long.toString(GB / 2));
        assertFault(Kind.SHARED_MEMORY, "ram.free_bytes", Long.toString(GB / 2));
        assertFault(Kind.PERMISSION, "ssd.1.writable", "");
        assertFault(Kind.DISK_SPACE, "ssd.1.free_bytes", Long.toString(50 * GB));
        // two directories of 60 GB on one disk of 100 GB
        assertFault(Kind.DISK_SPACE, "ssd.1.device", "1");
        assertFault(Kind.PORT, "port.8484", "busy");
        assertFault(Kind.TRINO, "trino.exists", "");
        assertFault(Kind.TRINO, "trino.version", "440");
        assertFault(Kind.PERMISSION, "plugins.writable", "");
        assertFault(Kind.PERMISSION, "trino.unsafe", "/trino/etc/catalog belongs to joe: let one user own both.");
        assertFault(Kind.DIRECTORY, "install.noexec", "/mnt");
        assertFault(Kind.DIRECTORY, "install.foreign", "/opt/cachedhive/etc");
        assertFault(Kind.DIRECTORY, "install.overlaps", "/trino");
        for (String name : List.of("install", "data", "ram", "ssd.0", "ssd.1")) {
            assertFault(Kind.PERMISSION, name + ".refuses", "/mnt/other");
        }
    }

    @Test
    void testShareOfADisk()
            throws IOException, ClusterFileException
    {
        facts.put("ssd.0.size_bytes", Long.toString(200 * GB));
        // of 80 GB, 100 are free
        assertThat(check(group("ssd: [{directory: /mnt/a, percentage: 40}]"))).isEmpty();
        assertThat(check(group("ssd: [{directory: /mnt/a, percentage: 60}]"))).singleElement().satisfies(fault -> {
            assertThat(fault.kind()).isEqualTo(Kind.DISK_SPACE);
            assertThat(fault.sentence()).contains("100.0GB free, but 120.0GB more", "(percentage 60)");
        });
    }

    @Test
    void testWhatTheUnitCannotSee()
            throws IOException, ClusterFileException
    {
        String everywhere = """
                install-directory: /home/trino/cachedhive
                ram-directory: /var/tmp
                socket-path: /tmp/w.sock
                """ + group("ssd: [{directory: /root/cache, size: 1GB}]");
        facts.put("java_home", "/home/trino/jdk");
        facts.put("service", "launcher");
        assertThat(check(everywhere)).isEmpty();

        facts.put("service", "systemd");
        assertThat(check(everywhere)).hasSize(5).allSatisfy(fault -> {
            assertThat(fault.kind()).isEqualTo(Kind.DIRECTORY);
            assertThat(fault.sentence()).contains("sees nothing", "set service to launcher");
        });
        facts.put("java_home", "/jdk");
        assertThat(check("install-directory: /homes/cachedhive\n")).isEmpty();
    }

    @Test
    void testUsers()
            throws IOException, ClusterFileException
    {
        // a login that can start its own processes only
        facts.put("run_as", "cachedhive");
        assertThat(check("run-as: cachedhive\n")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("set sudo to true", "set run-as to trino"));

        facts.put("uid", "0");
        facts.put("user", "root");
        facts.put("trino.user", "trino");
        assertThat(check("run-as: cachedhive\n")).isEmpty();
        // these the installation creates, and no others
        facts.remove("run_as_exists");
        facts.put("run_as_groups", "");
        assertThat(check("run-as: cachedhive\n")).isEmpty();
        facts.put("run_as", "joe");
        assertThat(check("run-as: joe\n")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("the user joe does not exist"));
        facts.put("run_as_exists", "yes");
        assertThat(check("run-as: joe\nsocket-group: others\n")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("usermod -a -G others joe"));

        for (String user : List.of("root", "")) {
            facts.put("trino.user", user);
            assertThat(check("run-as: joe\n")).singleElement().satisfies(fault -> assertThat(fault.sentence()).contains("name trino-run-as"));
            assertThat(check("run-as: joe\ntrino-run-as: root\n")).isEmpty();
        }
    }

    @Test
    void testInstallDirectoryOfAnotherUser()
            throws IOException, ClusterFileException
    {
        assertFault(Kind.PERMISSION, "install.controller", "joe");
        assertFault(Kind.PERMISSION, "install.unsafe", "/opt belongs to root, and other users may write there: run chmod go-w /opt.");
    }

    @Test
    void testOwnCacheWorkerIsNoFault()
            throws IOException, ClusterFileException
    {
        facts.put("pid", "17");
        facts.put("port.8484", "busy");
        facts.put("port.8485", "busy");
        facts.put("ram.free_bytes", "0");
        facts.put("ssd.0.free_bytes", "0");
        facts.put("ssd.0.used_bytes", Long.toString(60 * GB));
        assertThat(check("")).isEmpty();
    }

    @Test
    void testSkewIsWhatTheWayDoesNotExplain()
    {
        assertThat(new HostFacts(new RemoteResult("time_millis=150\n"), 100, 200).skewMillis()).isZero();
        assertThat(new HostFacts(new RemoteResult("time_millis=250\n"), 100, 200).skewMillis()).isEqualTo(50);
        assertThat(new HostFacts(new RemoteResult("time_millis=60\n"), 100, 200).skewMillis()).isEqualTo(-40);
    }

    private void assertFault(Kind kind, String fact, String value)
            throws IOException, ClusterFileException
    {
        String before = facts.put(fact, value);
        assertThat(check("")).as("%s=%s", fact, value).singleElement().satisfies(fault -> {
            assertThat(fault.kind()).isEqualTo(kind);
            assertThat(fault.sentence()).matches("w1: .+: .+\\.");
        });
        if (before == null) {
            facts.remove(fact);
        }
        else {
            facts.put(fact, before);
        }
    }

    /// Settings over those of all.
    private static String group(String setting)
    {
        return "groups: {all: {hosts: [w1], %s}}\n".formatted(setting);
    }

    private List<Fault> check(String settings)
            throws IOException, ClusterFileException
    {
        ClusterHost host = ClusterFile.read(Files.writeString(directory.resolve("hosts.yaml"), """
                workers: [w1]
                trino-home: /trino
                run-as: trino
                ssd:
                  - {directory: /a, size: 60GB}
                  - {directory: /b, size: 60GB}
                """.replace("run-as: trino\n", settings.startsWith("run-as:") ? "" : "run-as: trino\n") + settings)).hosts().getFirst();
        String output = facts.entrySet().stream().map(fact -> fact.getKey() + "=" + fact.getValue() + "\n").collect(joining());
        return HostChecks.check(host, new HostFacts(new RemoteResult(output), NOW, NOW + 100), 5 * GB);
    }
}
