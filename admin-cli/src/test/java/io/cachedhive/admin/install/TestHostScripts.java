package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.ssh.RemoteResult;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.cachedhive.admin.ssh.RemoteScript.base64;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts on this machine, below a directory of the test's.
 */
@Tag("slow")
class TestHostScripts
{
    /// Files of other users without the right to make them: root's login, and owners by directory.
    private static final String OWNERS = """
            id() { if [ "$*" = -u ]; then echo 0; elif [ "$*" = -un ]; then echo root; else command id "$@"; fi; }
            chown() { printf 'chown=%s\\n' "$1" >&3; }
            exec 3>&1
            stat() {
                local owner=
                case "${*: -1}" in
                    */etc) owner=$owner_of_etc ;;
                    */data) owner=$owner_of_data ;;
                    */trino) owner=${owner_of_home:-$owner_of_data} ;;
                esac
                case "$*" in
                    *' %U '*) echo "$owner" ;;
                    *' %u '*) command id -u "$owner" ;;
                    *' %g '*) command id -g "$owner" ;;
                esac
            }
            """;

    @TempDir
    private Path directory;

    private Path trino;
    private Path install;

    @BeforeEach
    void setUp()
            throws IOException
    {
        trino = Files.createDirectories(directory.resolve("trino"));
        install = directory.resolve("opt");
        for (String name : new String[] {"etc/catalog", "lib", "bin", "plugin"}) {
            Files.createDirectories(trino.resolve(name));
        }
    }

    @Test
    void testKeptCopyThatIsCutOff()
            throws Exception
    {
        Path file = Files.writeString(trino.resolve("etc/lake.properties"), "the original");

        // a disk that becomes full under the copy
        RemoteResult failed = bash(script("install.sh")
                .call("prepare")
                .call("eval", "cp() { printf 'the' > \"${@: -1}\"; return 1; }")
                .call("put", file.toString(), "0644", "", base64("ours")));
        assertThat(failed.facts().get("problem")).contains("cp failed");
        assertThat(file).hasContent("the original");

        bash(script("uninstall.sh").set("PURGE", "no").call("uninstall"));
        assertThat(file).hasContent("the original");

        // a second installation takes the copy anew
        bash(script("install.sh")
                .call("prepare")
                .call("eval", "cp() { printf 'the' > \"${@: -1}\"; return 1; }")
                .call("put", file.toString(), "0644", "", base64("ours")));
        bash(script("install.sh").call("put", file.toString(), "0644", "", base64("ours")));
        assertThat(file).hasContent("ours");
        bash(script("uninstall.sh").set("PURGE", "no").call("uninstall"));
        assertThat(file).hasContent("the original");
        assertThat(install).doesNotExist();
    }

    @Test
    void testProgramsAndRightsOfTheCacheWorker()
            throws Exception
    {
        Path ssd = Files.createDirectories(directory.resolve("ssd"));
        Optional<String> noexec = Files.readAllLines(Path.of("/proc/mounts")).stream()
                .map(line -> line.split(" "))
                .filter(fields -> List.of(fields[3].split(",")).contains("noexec") && Files.isDirectory(Path.of(fields[1])) && !fields[1].contains("\\"))
                .map(fields -> fields[1])
                .filter(mount -> Path.of(mount).getNameCount() == 1)
                .findFirst();
        Map<String, String> facts = bash(facts(install)).facts();
        assertThat(facts.get("install.noexec")).isEmpty();
        assertThat(facts).doesNotContainKeys("ssd.0.refuses", "install.refuses", "data.refuses");
        if (noexec.isPresent()) {
            assertThat(bash(facts(Path.of(noexec.get()).resolve("cachedhive"))).facts().get("install.noexec")).isEqualTo(noexec.get());
        }

        // another user's directory
        boolean root = "root".equals(System.getProperty("user.name"));
        Files.setPosixFilePermissions(ssd, PosixFilePermissions.fromString("r-xr-xr-x"));
        Map<String, String> refused = bash(facts(install).set("RUN_AS", root ? "nobody" : "")).facts();
        assertThat(refused.get("ssd.0.refuses")).isEqualTo(ssd.toString());
        if (root) {
            // the directory of the test is root's alone
            assertThat(refused.get("install.refuses")).isEqualTo(directory.toString());
        }
    }

    @Test
    void testPurgeLeavesWhatIsNotOurs()
            throws Exception
    {
        Path ssd = Files.createDirectories(directory.resolve("ssd"));
        String settings = "ssd: [{directory: %s, size: 1GB}]\n".formatted(ssd);
        List<String> others = List.of("journal.txt", "journal-2024", "checkpoint-model", "slab-x", "slab-000001");
        for (String name : others) {
            Files.writeString(ssd.resolve(name), "somebody's");
        }
        Files.writeString(Files.createDirectories(ssd.resolve("checkpoint-0")).resolve("model"), "somebody's");
        // made by the operator, with something in it
        Files.writeString(Files.createDirectories(install.resolve("data")).resolve("notes"), "somebody's");
        RemoteScript purge = script("uninstall.sh", settings).set("PURGE", "yes").call("uninstall");

        bash(script("install.sh").call("prepare"));
        Files.writeString(ssd.resolve("lock"), "4711\n");
        assertThat(bash(purge).facts()).doesNotContainKey("problem");
        assertThat(list(ssd)).containsExactlyInAnyOrder("journal.txt", "journal-2024", "checkpoint-model", "slab-x", "slab-000001", "checkpoint-0");
        assertThat(install.resolve("data/notes")).exists();

        // a program with files of such names
        bash(script("install.sh").call("prepare"));
        Files.writeString(ssd.resolve("journal"), "somebody's");
        Files.write(ssd.resolve("superblock"), new byte[8192]);
        assertThat(bash(purge).facts().get("problem")).contains(ssd + "/superblock is not one of a cache worker");
        assertThat(ssd.resolve("journal")).exists();

        // ours, by the second page
        byte[] superblock = new byte[8192];
        System.arraycopy("CHVSUPER".getBytes(UTF_8), 0, superblock, 4096, 8);
        Files.write(ssd.resolve("superblock"), superblock);
        Files.writeString(ssd.resolve("checkpoint-1"), "");
        Files.writeString(ssd.resolve("slab-00000"), "");
        Files.writeString(ssd.resolve("lock"), "4711\n");
        bash(script("install.sh").call("prepare"));
        Process holder = lock(ssd.resolve("lock"));
        try {
            assertThat(bash(purge).facts().get("problem")).contains(ssd + " is in use by a process");
            assertThat(ssd.resolve("slab-00000")).exists();
        }
        finally {
            unlock(holder);
        }
        assertThat(bash(purge).values("change")).contains("remove data of " + ssd);
        assertThat(list(ssd)).containsExactlyInAnyOrder("journal.txt", "journal-2024", "checkpoint-model", "slab-x", "slab-000001", "checkpoint-0");

        // a first start that was cut off before the superblock, in a directory that install made
        bash(script("install.sh").call("prepare"));
        Files.writeString(ssd.resolve("journal"), "");
        assertThat(bash(purge).facts().get("problem")).contains(ssd + "/superblock is not one of a cache worker");
        Files.writeString(install.resolve("kept/record"), "directory\t%s\n".formatted(ssd), APPEND);
        assertThat(bash(purge).values("change")).contains("remove data of " + ssd);
        assertThat(ssd.resolve("journal")).doesNotExist();
    }

    private static List<String> list(Path directory)
            throws IOException
    {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.map(path -> path.getFileName().toString()).toList();
        }
    }

    @Test
    void testMemoryOfKilledWorkerGoes()
            throws Exception
    {
        Path ram = Files.createDirectories(directory.resolve("ram"));
        bash(script("install.sh").call("prepare"));
        Files.writeString(Files.createDirectories(install.resolve("data/state")).resolve("worker-id"), "w1\n");
        Path killed = Files.writeString(ram.resolve("cachedhive-w1-0123456789abcdef.ram"), "");
        Path running = Files.writeString(ram.resolve("cachedhive-w1-fedcba9876543210.ram"), "");
        Path other = Files.writeString(ram.resolve("cachedhive-w1-b-0123456789abcdef.ram"), "");
        RemoteScript uninstall = script("uninstall.sh", "ram-directory: %s\n".formatted(ram)).set("PURGE", "no").call("uninstall");
        Process holder = lock(running);
        try {
            assertThat(bash(uninstall).values("change")).contains("remove " + killed).doesNotContain("remove " + running, "remove " + other);
            assertThat(list(ram)).containsExactlyInAnyOrder(running.getFileName().toString(), other.getFileName().toString());
        }
        finally {
            unlock(holder);
        }
    }

    private static Process lock(Path file)
            throws IOException
    {
        // the lock is that of the open file, so that it goes with this one process
        Process holder = new ProcessBuilder("bash", "-c", "exec 9>> \"$0\"; flock 9; echo locked; exec sleep 600", file.toString()).start();
        assertThat(holder.inputReader().readLine()).isEqualTo("locked");
        return holder;
    }

    private static void unlock(Process holder)
            throws InterruptedException
    {
        holder.destroyForcibly().waitFor();
    }

    @Test
    void testOwnerAndModeAreMended()
            throws Exception
    {
        boolean root = "root".equals(System.getProperty("user.name"));
        Path config = install.resolve("etc/config.properties");
        bash(script("install.sh").call("prepare").call("put_owned", config.toString(), base64("secret")));
        RemoteScript again = script("install.sh").call("put_owned", config.toString(), base64("secret"));
        assertThat(bash(again).values("change")).isEmpty();

        Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(bash(again).values("change")).containsExactly("owner and mode of " + config);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(config))).isEqualTo("rw-------");
        assertThat(config).hasContent("secret");
        assertThat(bash(again).values("change")).isEmpty();

        if (root) {
            // run-as is another one now
            RemoteScript nobody = script("install.sh", "run-as: nobody\n").call("put_owned", config.toString(), base64("secret"));
            assertThat(bash(nobody).values("change")).containsExactly("owner and mode of " + config);
            assertThat(Files.getOwner(config)).hasToString("nobody");
            assertThat(bash(nobody).values("change")).isEmpty();
        }
    }

    @Test
    void testUnitThatWasNotEnabledIs()
            throws Exception
    {
        bash(script("install.sh").call("prepare"));
        Files.writeString(Files.createDirectories(install.resolve("releases/1.0-a/worker/systemd")).resolve("cachedhive-worker.service"), "[Service]\n");
        // the files are there, and the run ended behind them
        String systemd = """
                put() { :; }
                systemctl() {
                    case $1 in
                        show) echo %s ;;
                        is-enabled) echo %s ;;
                        *) printf 'called=%%s\n' "$*" >&3 ;;
                    esac
                }
                exec 3>&1
                """;
        RemoteResult mended = bash(script("install.sh", "run-as: root\n").set("SERVICE", "SYSTEMD")
                .call("eval", systemd.formatted("yes", "disabled"))
                .call("unit", "1.0-a", base64("")));
        assertThat(mended.values("called")).containsExactly("daemon-reload", "enable cachedhive-worker.service");
        assertThat(mended.values("change")).containsExactly("systemd reads its units again", "enable cachedhive-worker.service");

        RemoteResult sound = bash(script("install.sh", "run-as: root\n").set("SERVICE", "SYSTEMD")
                .call("eval", systemd.formatted("no", "enabled"))
                .call("unit", "1.0-a", base64("")));
        assertThat(sound.values("called")).isEmpty();
        assertThat(sound.values("change")).isEmpty();
    }

    @Test
    void testInstallDirectoryOfOthersIsTold()
            throws Exception
    {
        assertThat(bash(facts(install)).facts()).doesNotContainKeys("install.foreign", "install.overlaps");
        for (Path taken : List.of(trino, trino.resolve("opt"), trino.getParent())) {
            assertThat(bash(facts(taken)).facts()).as(taken.toString()).containsEntry("install.overlaps", trino.toString());
        }
        // no more than the beginning of the name
        assertThat(bash(facts(directory.resolve("trino2"))).facts()).doesNotContainKey("install.overlaps");
        Path link = Files.createSymbolicLink(directory.resolve("link"), trino.resolve("etc"));
        assertThat(bash(facts(link)).facts()).containsKey("install.overlaps");

        Files.createDirectories(install.resolve("etc"));
        assertThat(bash(facts(install)).facts()).containsEntry("install.foreign", install + "/etc");
        bash(script("install.sh").call("prepare"));
        assertThat(bash(facts(install)).facts()).doesNotContainKey("install.foreign");
    }

    private RemoteScript facts(Path install)
            throws Exception
    {
        return HostScripts.facts(host("""
                ssd:
                  - {directory: %s, size: 1GB}
                """.formatted(directory.resolve("ssd"))), Optional.empty(), List.of(), List.of())
                .set("INSTALL", install.toString());
    }

    @Test
    void testCatalogsStayReadableForTrino()
            throws Exception
    {
        Path old = Files.writeString(trino.resolve("etc/catalog/old.properties"), "connector.name=hive\n");
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rw-r-----"));
        Path fresh = trino.resolve("etc/catalog/fresh.properties");

        bash(script("install.sh").call("prepare").call("put_trino", old.toString(), base64("ours")).call("put_trino", fresh.toString(), base64("ours")));

        assertThat(old).hasContent("ours");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(old))).isEqualTo("rw-r-----");
        // Trino is the owner
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh))).isEqualTo("rw-------");

        // etc is root's, and Trino is another user
        Path others = trino.resolve("etc/catalog/others.properties");
        String group = bash(script("install.sh").call("eval", "fact group \"$(id -g nobody)\"")).facts().get("group");
        RemoteResult put = bash(script("install.sh")
                .call("eval", OWNERS + "owner_of_etc=root owner_of_data=nobody")
                .call("put_trino", others.toString(), base64("ours")));
        assertThat(put.values("chown")).containsExactly("0:" + group);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(others))).isEqualTo("rw-r-----");
    }

    @Test
    void testUserOfTheCacheWorker()
            throws Exception
    {
        Path data = Files.createDirectories(directory.resolve("data"));
        String home = OWNERS + "owner_of_etc=root owner_of_home=root owner_of_data=nobody; find_user; fact run_as \"$run_as\"";

        assertThat(bash(script("install.sh").call("eval", home)).facts()).containsEntry("run_as", "root");

        Files.writeString(trino.resolve("etc/node.properties"), "node.environment=test\nnode.data-dir = %s \n".formatted(data));
        assertThat(bash(script("install.sh").call("eval", home)).facts()).containsEntry("run_as", "nobody");
        assertThat(bash(script("install.sh", "run-as: joe\n").call("eval", home)).facts()).containsEntry("run_as", "joe");
    }

    @Test
    void testLogsUnderSystemd()
            throws Exception
    {
        Files.createDirectories(install.resolve("data/var/log"));
        String systemd = "uses_systemd() { return 0; }; journalctl() { case \"$*\" in *--unit=cachedhive-worker.service*) echo 'of the JVM'; echo \"$SAID\" ;; esac; }; ";

        RemoteScript launcher = script("service.sh").call("eval", systemd).call("show_log", "launcher", "7");
        assertThat(bash(launcher.set("SAID", "Cache worker cannot start: too small")).values("line")).containsExactly("of the JVM", "Cache worker cannot start: too small");
        String problem = systemd + "fact start_problem \"$(start_problem)\"";
        assertThat(bash(script("service.sh").set("SAID", "Cache worker cannot start: too small").call("eval", problem)).facts()).containsEntry("start_problem", "too small");

        RemoteScript server = script("service.sh").set("SAID", "").call("eval", systemd).call("show_log", "server", "1");
        assertThat(bash(server).facts().get("problem")).contains("data/var/log/server.log does not exist");
        Files.writeString(install.resolve("data/var/log/server.log"), "first\nsecond\n");
        assertThat(bash(server).values("line")).containsExactly("second");

        // without it the launcher writes a file
        Files.writeString(install.resolve("data/var/log/launcher.log"), "of the launcher\n");
        assertThat(bash(script("service.sh").call("show_log", "launcher", "7")).values("line")).containsExactly("of the launcher");
    }

    /**
     * One that was started by the launcher before the hosts file said systemd, or by a start that was cut off: it would be in the way of the next one for ever.
     */
    @Test
    void testWorkerThatTheServiceDoesNotKnow()
            throws Exception
    {
        String systemd = "uses_systemd() { return 0; }; systemctl() { case \"$*\" in show*) echo 0 ;; *) fact systemctl \"$*\" ;; esac; }";
        Process others = workerLike(directory.resolve("others/data"));
        try {
            for (String service : List.of("", systemd)) {
                Process worker = workerLike(install.resolve("data"));
                try {
                    Map<String, String> found = bash(script("service.sh").call("eval", service).call("eval", "fact found \"$(worker_pid)\"")).facts();
                    assertThat(found).containsEntry("found", Long.toString(worker.pid()));
                    RemoteResult stopped = bash(script("service.sh").set("WAIT_SECONDS", 60).call("eval", service).call("stop"));
                    assertThat(stopped.values("change")).containsExactly("stopped");
                    assertThat(stopped.facts()).doesNotContainKeys("problem", "systemctl");
                    assertThat(worker.waitFor(60, TimeUnit.SECONDS)).isTrue();
                }
                finally {
                    worker.destroyForcibly();
                }
                assertThat(bash(script("service.sh").call("eval", service).call("stop")).values("change")).isEmpty();
            }
            assertThat(others.isAlive()).isTrue();
        }
        finally {
            others.destroyForcibly();
        }
    }

    /**
     * A process with the arguments of a cache worker by which it is known, once it has them.
     */
    private static Process workerLike(Path data)
            throws Exception
    {
        // waits for its input, without a child
        Process process = new ProcessBuilder("sh", "-c", "echo begun; read line", "sh", "-Dnode.data-dir=" + data, "io.cachedhive.worker.CacheWorker").start();
        assertThat(process.inputReader(UTF_8).readLine()).isEqualTo("begun");
        return process;
    }

    @Test
    void testDirectoriesThatAreNotThere()
            throws Exception
    {
        Path ssd = directory.resolve("ssd");
        String settings = "ssd: [{directory: %s, size: 1GB}]\n".formatted(ssd);
        Path program = Files.createDirectories(install.resolve("current/worker/bin")).resolve("launcher");
        Files.writeString(program, "#!/bin/sh\n");
        Files.writeString(program.resolveSibling("cache-worker"), "#!/bin/sh\necho \"superblock damaged it is missing\"\nexit 1\n");
        for (Path file : List.of(program, program.resolveSibling("cache-worker"))) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }

        RemoteScript check = script("service.sh", settings).call("eval", "find_java() { java_home=/jdk; }").call("check_directories");
        assertThat(bash(check).values("damaged")).singleElement().asString().startsWith(ssd + " does not exist: ");
        Files.createDirectories(ssd);
        // it was never started
        assertThat(bash(check).values("damaged")).isEmpty();
        Files.createDirectories(install.resolve("data/var"));
        assertThat(bash(check).values("damaged")).singleElement().asString().contains("see that its disk is mounted");
        Files.writeString(ssd.resolve("slab-0"), "");
        assertThat(bash(check).values("damaged")).containsExactly(ssd + ": superblock damaged it is missing");
    }

    @Test
    void testLinkOfTheEngineExtensionIsTold()
            throws Exception
    {
        assertThat(facts()).doesNotContainKey("engine_extension");

        Files.createSymbolicLink(trino.resolve("lib/cachedhive-engine-extension.jar"), install.resolve("releases/gone/engine-extension/x.jar"));

        assertThat(facts()).containsEntry("engine_extension", "yes");
    }

    @Test
    void testRollbackDoesNotLeadForwardAgain()
            throws Exception
    {
        bash(script("install.sh").call("prepare"));
        Files.createDirectories(install.resolve("releases/1.0-a/plugin"));
        Files.createDirectories(install.resolve("releases/1.1-b/plugin"));
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.1-b"));
        Files.createSymbolicLink(install.resolve("previous"), Path.of("releases/1.0-a"));

        assertThat(bash(script("install.sh").call("rollback", "1.0-a")).values("change")).contains("current release 1.0-a");
        assertThat(Files.readSymbolicLink(install.resolve("current"))).isEqualTo(Path.of("releases/1.0-a"));
        assertThat(Files.readSymbolicLink(trino.resolve("plugin/cachedhive"))).isEqualTo(install.resolve("releases/1.0-a/plugin"));
        // while it is not through, the next one leads there, too
        assertThat(facts()).containsEntry("previous", "1.0-a");
        bash(script("install.sh").call("finish_rollback"));
        assertThat(Files.isSymbolicLink(install.resolve("previous"))).isFalse();
        assertThat(facts()).containsEntry("releases", "1.0-a 1.1-b ").containsEntry("previous", "");

        assertThat(bash(script("install.sh").call("rollback", "1.0-a")).values("change")).isEmpty();
        assertThat(bash(script("install.sh").call("rollback", "0.9-c")).facts().get("problem")).contains("release 0.9-c is not in");
    }

    @Test
    void testWayBackFromUpgradeThatNeverCameThrough()
            throws Exception
    {
        bash(script("install.sh").call("prepare"));
        for (String release : List.of("0.9-z", "1.0-a", "1.1-b", "1.2-c", "1.3-d")) {
            Files.createDirectories(install.resolve("releases").resolve(release));
        }
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.0-a"));
        Files.createSymbolicLink(install.resolve("previous"), Path.of("releases/0.9-z"));

        bash(script("install.sh").call("use_release", "1.1-b"));
        assertThat(facts()).containsEntry("current", "1.1-b").containsEntry("previous", "1.0-a");
        // another one instead: the first one that all hosts had is not given up for one that failed
        bash(script("install.sh").call("use_release", "1.2-c").call("prune"));
        assertThat(facts()).containsEntry("current", "1.2-c").containsEntry("previous", "1.0-a").containsEntry("releases", "1.0-a 1.2-c ");

        bash(script("install.sh").call("finish"));
        Files.createDirectories(install.resolve("releases/1.3-d"));
        bash(script("install.sh").call("use_release", "1.3-d").call("finish"));
        assertThat(facts()).containsEntry("current", "1.3-d").containsEntry("previous", "1.2-c").containsEntry("releases", "1.2-c 1.3-d ");
        assertThat(install.resolve("unfinished")).doesNotExist();
    }

    @Test
    void testReleaseThatIsUsedStays()
            throws Exception
    {
        bash(script("install.sh").call("prepare"));
        Path jar = Files.writeString(Files.createDirectories(install.resolve("releases/1.0-a/plugin")).resolve("plugin.jar"), "jar");
        Files.createDirectories(install.resolve("releases/1.0"));
        Files.createDirectories(install.resolve("releases/1.2-c"));
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.2-c"));

        try (InputStream _ = Files.newInputStream(jar)) {
            bash(script("install.sh").call("prune"));
            assertThat(facts()).containsEntry("releases", "1.0-a 1.2-c ");
        }
        bash(script("install.sh").call("prune"));
        assertThat(facts()).containsEntry("releases", "1.2-c ");
    }

    @Test
    void testRestartThatWasCutOffIsKnown()
            throws Exception
    {
        Path marker = install.resolve("restart-pending");
        bash(script("install.sh").call("prepare"));
        Files.createDirectories(install.resolve("data/var/run"));
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.1-b"));

        // whoever was stopped on purpose stays stopped
        assertThat(stopOutdated(7)).doesNotContainKeys("change", "restart_pending");

        Process worker = startWorker("1.1-b");
        try {
            assertThat(stopOutdated(7)).doesNotContainKeys("change", "restart_pending");
            assertThat(worker.isAlive()).isTrue();
        }
        finally {
            worker.destroyForcibly().waitFor();
        }

        worker = startWorker("1.0-a");
        try {
            assertThat(bash(script("service.sh").set("DRY_RUN", "yes").set("WAIT_SECONDS", 60).call("stop_outdated", "7")).facts()).containsEntry("change", "stopped");
            assertThat(worker.isAlive()).isTrue();
            assertThat(marker).doesNotExist();

            assertThat(stopOutdated(7)).containsEntry("change", "stopped").containsEntry("restart_pending", "7");
            assertThat(worker.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
        finally {
            worker.destroyForcibly().waitFor();
        }
        // its start failed, or it was never asked to
        assertThat(stopOutdated(0)).doesNotContainKey("change").containsEntry("restart_pending", "7");

        // it runs, and is not warm yet
        worker = startWorker("1.1-b");
        try {
            assertThat(stopOutdated(3)).doesNotContainKey("change").containsEntry("restart_pending", "7");
            // taken back before it had anything
            Files.delete(install.resolve("current"));
            Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.0-a"));
            assertThat(stopOutdated(0)).containsEntry("change", "stopped").containsEntry("restart_pending", "7");
        }
        finally {
            worker.destroyForcibly().waitFor();
        }
        bash(script("service.sh").call("restarted"));
        assertThat(stopOutdated(0)).doesNotContainKey("restart_pending");

        // the operator takes over
        Files.writeString(marker, "7\n");
        bash(script("service.sh").set("WAIT_SECONDS", 60).call("stop"));
        assertThat(marker).doesNotExist();

        Files.writeString(marker, "7\n");
        bash(script("uninstall.sh").set("PURGE", "yes").call("uninstall"));
        assertThat(marker).doesNotExist();
    }

    private Map<String, String> stopOutdated(int blocks)
            throws Exception
    {
        return bash(script("service.sh").set("WAIT_SECONDS", 60).call("stop_outdated", Integer.toString(blocks))).facts();
    }

    /// What looks like a cache worker of the release, started by the launcher.
    private Process startWorker(String release)
            throws IOException
    {
        Process process = new ProcessBuilder(
                "bash", "-c", "exec -a \"io.cachedhive.worker.CacheWorker $0\" sleep 600", install.resolve("releases").resolve(release).resolve("worker/lib").toString())
                .start();
        Files.writeString(install.resolve("data/var/run/launcher.pid"), process.pid() + "\n");
        Path arguments = Path.of("/proc/%s/cmdline".formatted(process.pid()));
        Await.until("the process has its name", () -> {
            assertThat(process.isAlive()).isTrue();
            return Files.readString(arguments).startsWith("io.cachedhive.worker.CacheWorker ");
        });
        return process;
    }

    private Map<String, String> facts()
            throws Exception
    {
        return bash(HostScripts.facts(host(""), Optional.empty(), List.of(), List.of())).facts();
    }

    private RemoteScript script(String name)
            throws IOException, ClusterFileException, TaskException
    {
        return script(name, "");
    }

    /// @param settings of the hosts file
    private RemoteScript script(String name, String settings)
            throws IOException, ClusterFileException, TaskException
    {
        return HostScripts.script(host(settings), name).set("DRY_RUN", "no");
    }

    private ClusterHost host(String settings)
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), """
                workers: [127.0.0.1]
                service: launcher
                install-directory: %s
                trino-home: %s
                socket-path: %s/w.sock
                """.formatted(install, trino, directory) + settings);
        return ClusterFile.read(file).hosts().getFirst();
    }

    private static RemoteResult bash(RemoteScript script)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder("bash", "-s").redirectErrorStream(true).start();
        process.getOutputStream().write(script.text().getBytes(UTF_8));
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new RemoteResult(output);
    }
}
