package io.cachedhive.packages;

import io.cachedhive.packages.BuiltPackages.Deb;
import io.cachedhive.packages.BuiltPackages.Member;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static io.cachedhive.packages.BuiltPackages.systemVersion;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("slow")
class TestDebianPackages
{
    private static final String WORKER = "cachedhive-worker";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"cachedhive-worker", "cachedhive-trino-plugin", "cachedhive-admin"})
    void testForm(String name)
            throws IOException
    {
        Deb deb = BuiltPackages.readDeb(name);
        // in this order, says deb(5)
        assertThat(deb.memberNames()).containsExactly("debian-binary", "control.tar.gz", "data.tar.gz");
        assertThat(deb.controlText("control"))
                .contains("Package: %s\n".formatted(name))
                .contains("Version: %s\n".formatted(systemVersion()))
                .contains("Architecture: all\n")
                .endsWith("\n")
                .doesNotContain("\n\n");
        assertThat(deb.data()).containsKeys("./usr/share/doc/%s/copyright".formatted(name), "./usr/share/doc/%s/changelog.gz".formatted(name));
        assertThat(deb.data().values()).extracting(member -> member.header().getLongUserId()).containsOnly(0L);

        // dpkg --verify goes by it: each file once, and nothing else
        Map<String, String> sums = deb.controlText("md5sums").lines()
                .map(line -> line.split(" {2}", 2))
                .collect(toMap(line -> "./" + line[1], line -> line[0]));
        assertThat(sums.keySet()).containsExactlyInAnyOrderElementsOf(
                deb.data().values().stream().filter(member -> member.isFile()).map(Member::name).toList());
    }

    @Test
    void testCacheWorker()
            throws IOException
    {
        Deb deb = BuiltPackages.readDeb(WORKER);
        assertThat(deb.controlText("conffiles").lines()).containsExactly(
                "/etc/cachedhive/config.properties",
                "/etc/cachedhive/jvm.config",
                "/etc/cachedhive/log.properties",
                "/etc/cachedhive/node.properties",
                "/etc/cachedhive/origins/default.properties");
        assertThat(deb.data()).containsKeys(
                "./usr/lib/cachedhive/bin/cache-worker",
                "./usr/lib/cachedhive/VERSION",
                "./usr/lib/systemd/system/cachedhive-worker.service",
                "./usr/lib/tmpfiles.d/cachedhive-worker.conf",
                "./var/lib/cachedhive/");
        assertThat(deb.data().get("./usr/bin/cache-worker").header().getLinkName()).isEqualTo("../lib/cachedhive/bin/cache-worker");
        // it runs as a user of its own, so that Trino's has to be let in
        assertThat(deb.data().get("./etc/cachedhive/config.properties").text())
                .contains("\ncache.worker.socket-group=cachedhive-socket\n", "\ncache.ram.directory=/dev/shm/cachedhive\n");
        assertThat(deb.data().get("./etc/cachedhive/config.properties").header().getMode() & 0777).isEqualTo(0640);
        // programs of one processor are no part of a package for all
        assertThat(deb.data().keySet()).noneMatch(file -> file.contains("/linux-"));
    }

    /**
     * Not the plugin's package, whose jars take minutes: it has the same form.
     */
    @ParameterizedTest
    @ValueSource(strings = {"cachedhive-worker", "cachedhive-admin"})
    void testLintianFindsNothing(String name)
            throws Exception
    {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/lintian")), "lintian is not installed here");
        Path deb = BuiltPackages.file("%s_%s_all.deb".formatted(name, systemVersion()));
        // root is whoever builds in a container
        Process process = new ProcessBuilder("lintian", "--allow-root", "--fail-on", "error,warning", deb.toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).describedAs(output).isEqualTo(0);
        assertThat(output.lines().filter(line -> line.matches("[EW]: .*"))).isEmpty();
    }

    @Test
    void testInstallationMakesTheUserAndStartsNothing()
            throws Exception
    {
        List<String> commands = run("postinst", "configure");
        assertThat(commands)
                .contains("groupadd --system cachedhive", "groupadd --system cachedhive-socket", "usermod --append --groups cachedhive-socket cachedhive")
                .anyMatch(command -> command.startsWith("useradd --system --gid cachedhive "))
                .contains("chown cachedhive:cachedhive /var/lib/cachedhive")
                // the private directory for shared memory
                .contains("systemd-tmpfiles --create cachedhive-worker.conf")
                .noneMatch(command -> command.matches("systemctl .*\\b(start|restart|enable)\\b.*") && !command.contains("try-restart"))
                .noneMatch(command -> command.contains("try-restart"));

        // a newer version: what runs is restarted, what does not is not
        assertThat(run("postinst", "configure", "1"))
                .noneMatch(command -> command.matches("systemctl (start|restart|enable) .*"))
                .filteredOn(command -> command.startsWith("systemctl"))
                .allMatch(command -> command.contains("daemon-reload") || command.equals("systemctl try-restart cachedhive-worker.service"));
    }

    @Test
    void testRemovalKeepsDataAndPurgeDoesNot()
            throws Exception
    {
        assertThat(run("postrm", "remove")).noneMatch(command -> command.matches("(rm|userdel|groupdel|usermod) .*"));
        assertThat(run("postrm", "upgrade", "2")).noneMatch(command -> command.matches("(rm|userdel|groupdel|usermod) .*"));
        assertThat(run("prerm", "upgrade", "2")).isEmpty();
        assertThat(run("postrm", "purge"))
                .contains("rm -rf /var/lib/cachedhive /dev/shm/cachedhive", "userdel cachedhive")
                // nothing that the operator named: it may be a disk with other things
                .filteredOn(command -> command.startsWith("rm "))
                .containsExactly("rm -rf /var/lib/cachedhive /dev/shm/cachedhive", "rm -rf /etc/systemd/system/cachedhive-worker.service.d");
    }

    @Test
    void testPurgeDestroysTheDataKey()
            throws Exception
    {
        Path state = Files.createDirectories(directory.resolve("data/state"));
        byte[] content = new byte[128];
        Path key = Files.write(state.resolve("encryption-key"), content);
        Path foreign = Files.write(directory.resolve("foreign"), content);
        Files.createSymbolicLink(state.resolve("encryption-key.new"), foreign);

        List<String> commands = run("postrm", "purge");

        // by the user who owns the key, and before the removal
        assertThat(commands.getFirst()).startsWith("runuser -u cachedhive -- dd if=/dev/urandom of=%s ".formatted(key));
        assertThat(Files.readAllBytes(key)).hasSize(4096).isNotEqualTo(new byte[4096]);
        assertThat(Files.readAllBytes(foreign)).isEqualTo(content);
        run("postrm", "remove");
        assertThat(Files.readAllLines(directory.resolve("log"))).noneMatch(command -> command.startsWith("runuser"));
    }

    /**
     * Runs a maintainer script where all that it may call only writes down how it was called, and returns that.
     */
    private List<String> run(String script, String... arguments)
            throws Exception
    {
        Path log = directory.resolve("log");
        Files.deleteIfExists(log);
        Files.createFile(log);
        Path bin = Files.createDirectories(directory.resolve("bin"));
        for (String command : List.of("groupadd", "useradd", "groupdel", "userdel", "usermod", "systemctl", "systemd-tmpfiles", "chown", "chmod", "rm", "mkdir")) {
            Files.writeString(bin.resolve(command), "#!/bin/sh\necho \"%s $*\" >> '%s'\n".formatted(command, log));
            assertThat(bin.resolve(command).toFile().setExecutable(true)).isTrue();
        }
        Files.writeString(bin.resolve("runuser"), "#!/bin/sh\necho \"runuser $*\" >> '%s'\nPATH=/usr/bin:/bin\nshift 3\nexec \"$@\"\n".formatted(log));
        assertThat(bin.resolve("runuser").toFile().setExecutable(true)).isTrue();
        // a host that has the user only when it is to be removed
        Files.writeString(bin.resolve("getent"), "#!/bin/sh\nexit %s\n".formatted(script.equals("postinst") ? 2 : 0));
        assertThat(bin.resolve("getent").toFile().setExecutable(true)).isTrue();

        Path program = directory.resolve(script);
        Files.writeString(program, BuiltPackages.readDeb(WORKER).controlText(script)
                .replace("/var/lib/cachedhive/state", directory.resolve("data/state").toString()));
        List<String> command = new ArrayList<>(List.of("/bin/sh", program.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PATH", bin.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).describedAs(output).isEqualTo(0);
        assertThat(output).isEmpty();
        return Files.readAllLines(log);
    }
}
