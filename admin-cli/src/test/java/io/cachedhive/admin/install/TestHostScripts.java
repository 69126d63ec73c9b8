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
import java.nio.file.attribute.PosixFileAttributes;
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
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The scripts on this machine, below a directory of the test's.
 */
@Tag("slow")
class TestHostScripts
{
    private static final boolean ROOT = "root".equals(System.getProperty("user.name"));

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
                .call("eval", "tar() { printf 'the'; echo 'No space left on device' >&2; return 1; }; export -f tar")
                .call("put", file.toString(), "0644", "", base64("ours")));
        assertThat(failed.facts().get("problem")).contains("cannot be changed (No space left on device)");
        assertThat(file).hasContent("the original");

        bash(script("uninstall.sh").set("PURGE", "no").call("uninstall"));
        assertThat(file).hasContent("the original");

        // a second installation takes the copy anew
        bash(script("install.sh")
                .call("prepare")
                .call("eval", "tar() { printf 'the'; echo 'No space left on device' >&2; return 1; }; export -f tar")
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
        Files.setPosixFilePermissions(ssd, PosixFilePermissions.fromString("r-xr-xr-x"));
        Map<String, String> refused = bash(facts(install).set("RUN_AS", ROOT ? "nobody" : System.getProperty("user.name"))).facts();
        assertThat(refused.get("ssd.0.refuses")).isEqualTo(ssd.toString());
        if (ROOT) {
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
        Path config = install.resolve("etc/config.properties");
        bash(script("install.sh").call("prepare").call("put_owned", config.toString(), base64("secret")));
        RemoteScript again = script("install.sh").call("put_owned", config.toString(), base64("secret"));
        assertThat(bash(again).values("change")).isEmpty();

        Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(bash(again).values("change")).containsExactly("owner and mode of " + config);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(config))).isEqualTo("rw-------");
        assertThat(config).hasContent("secret");
        assertThat(bash(again).values("change")).isEmpty();

        if (ROOT) {
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
                systemd-tmpfiles() { printf 'called=tmpfiles %%s\n' "$*" >&3; }
                exec 3>&1
                """;
        // /dev/shm is empty after a reboot
        RemoteResult repaired = bash(script("install.sh", "run-as: root\nram-directory: /dev/shm/cachedhive-missing\n").set("SERVICE", "SYSTEMD")
                .call("eval", systemd.formatted("yes", "disabled"))
                .call("unit", "1.0-a", base64("")));
        assertThat(repaired.values("called")).containsExactly(
                "tmpfiles --create /etc/tmpfiles.d/cachedhive-cache-admin.conf",
                "daemon-reload",
                "enable cachedhive-worker.service");
        assertThat(repaired.values("change")).containsExactly("systemd reads its units again", "enable cachedhive-worker.service");

        RemoteResult sound = bash(script("install.sh", "run-as: root\nram-directory: %s\n".formatted(Files.createDirectories(directory.resolve("ram")))).set("SERVICE", "SYSTEMD")
                .call("eval", systemd.formatted("no", "enabled"))
                .call("unit", "1.0-a", base64("")));
        assertThat(sound.values("called")).isEmpty();
        assertThat(sound.values("change")).isEmpty();
    }

    @Test
    void testDirectoryOfMemoryAtBoot()
            throws Exception
    {
        String print = "put() { fact put \"$1 $2 $(base64 -d <<< \"$4\")\"; }; systemd-tmpfiles() { :; }";
        RemoteScript own = script("install.sh", "run-as: daemon\nsocket-group: users\n").call("eval", print).call("memory_directory");
        assertThat(bash(own).facts()).containsEntry("put", "/etc/tmpfiles.d/cachedhive-cache-admin.conf 0644 d /dev/shm/cachedhive 0750 daemon users -");
        RemoteScript alone = script("install.sh", "run-as: daemon\nram-directory: /dev/shm/lake\n").call("eval", print).call("memory_directory");
        assertThat(bash(alone).facts()).containsEntry("put", "/etc/tmpfiles.d/cachedhive-cache-admin.conf 0644 d /dev/shm/lake 0700 daemon daemon -");
        // a directory of all users, or of the operator, keeps its owner
        for (String other : List.of("/dev/shm", "/mnt/huge/cachedhive")) {
            assertThat(bash(script("install.sh", "run-as: daemon\nram-directory: %s\n".formatted(other)).call("eval", print).call("memory_directory")).facts()).isEmpty();
        }
    }

    @Test
    void testDirectoryOfMemoryGoes()
            throws Exception
    {
        Path memory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        try {
            RemoteScript remove = script("uninstall.sh", "ram-directory: %s\n".formatted(memory)).call("remove_memory_directory");
            Path other = Files.createFile(memory.resolve("cachedhive-other-0123456789abcdef.ram"));
            bash(remove);
            assertThat(other).exists();
            Files.delete(other);
            bash(remove);
            assertThat(memory).doesNotExist();
        }
        finally {
            if (Files.exists(memory)) {
                try (Stream<Path> files = Files.list(memory)) {
                    for (Path file : files.toList()) {
                        Files.delete(file);
                    }
                }
                Files.delete(memory);
            }
        }
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

        // what everybody could read
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rw-r--r--"));
        RemoteScript again = script("install.sh").call("put_trino", old.toString(), base64("ours"));
        assertThat(bash(again).values("change")).containsExactly("owner and mode of " + old);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(old))).isEqualTo("rw-r-----");
        assertThat(bash(again).values("change")).isEmpty();

        if (ROOT) {
            // etc is root's, and Trino is another user
            Path others = trino.resolve("etc/catalog/others.properties");
            RemoteScript other = script("install.sh", "trino-run-as: nobody\n").call("put_trino", others.toString(), base64("ours"));
            assertThat(bash(other).values("change")).containsExactly("file " + others);
            assertThat(Files.readAttributes(others, PosixFileAttributes.class)).satisfies(attributes -> {
                assertThat(attributes.owner()).hasToString("root");
                assertThat(attributes.group()).hasToString("nogroup");
                assertThat(PosixFilePermissions.toString(attributes.permissions())).isEqualTo("rw-r-----");
            });
            assertThat(bash(other).values("change")).isEmpty();
        }
    }

    @Test
    void testSecretsThatEveryUserCanRead()
            throws Exception
    {
        Path lake = Files.writeString(trino.resolve("etc/catalog/lake.properties"), "connector.name=cachedhive\ns3.aws-secret-key=abc\n");
        Files.writeString(trino.resolve("etc/catalog/plain.properties"), "connector.name=cachedhive\n#s3.aws-secret-key=abc\n");
        Files.writeString(trino.resolve("etc/catalog/other.properties"), "connector.name=postgresql\nconnection-password=abc\n");
        try (Stream<Path> files = Files.list(lake.getParent())) {
            for (Path file : files.toList()) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            }
        }
        assertThat(bash(facts(install)).values("readable_secret")).containsExactly(lake.toString());
        Files.setPosixFilePermissions(lake, PosixFilePermissions.fromString("rw-r-----"));
        assertThat(bash(facts(install)).values("readable_secret")).isEmpty();
    }

    @Test
    void testUserOfTrino()
            throws Exception
    {
        RemoteScript user = script("install.sh").call("eval", "find_trino_user; fact trino_user \"$trino_user\"");
        assertThat(bash(user).facts()).containsEntry("trino_user", System.getProperty("user.name"));
        assertThat(bash(script("install.sh", "trino-run-as: joe\n").call("eval", "find_trino_user; fact trino_user \"$trino_user\"")).facts())
                .containsEntry("trino_user", "joe");

        assumeTrue(ROOT, "only root can give directories to others");
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.setOwner(data, data.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        Files.writeString(trino.resolve("etc/node.properties"), "node.environment=test\nnode.data-dir = %s \n".formatted(data));
        assertThat(bash(user).facts()).containsEntry("trino_user", "nobody");
    }

    /**
     * The programs that change users are replaced: the test leaves those of the machine alone.
     */
    @Test
    void testUsersOfTheCacheWorker()
            throws Exception
    {
        assumeTrue(ROOT, "only root creates users");
        Path accounts = Files.writeString(directory.resolve("accounts"), "");
        String programs = """
                database='%s'
                account() { grep -qxF -- "$*" "$database"; }
                id() {
                    case $* in
                        "-u cachedhive") account user cachedhive && echo 997 ;;
                        "-Gn cachedhive") ! account member cachedhive cachedhive-socket || echo cachedhive cachedhive-socket ;;
                        "-Gn nobody") ! account member nobody cachedhive-socket || echo cachedhive-socket ;;
                        *) command id "$@" ;;
                    esac
                }
                getent() { account group "$2"; }
                groupadd() { echo "group $2" >> "$database"; }
                useradd() { echo "user ${@: -1}" >> "$database"; }
                usermod() { echo "member $4 $3" >> "$database"; }
                userdel() { sed -i -e "/^user $1$/d" -e "/^member $1 /d" -e "/^group $1$/d" "$database"; }
                gpasswd() { sed -i "/^member $2 $3$/d" "$database"; }
                groupdel() { sed -i -e "/^group $1$/d" -e "/^member .* $1$/d" "$database"; }
                """.formatted(accounts);
        String settings = "run-as: cachedhive\ntrino-run-as: nobody\n";
        RemoteScript users = script("install.sh", settings).call("eval", programs).call("prepare").call("users");
        Path data = install.resolve("data");

        assertThat(bash(users).values("change")).contains(
                "user cachedhive", "group cachedhive-socket", "member cachedhive of the group cachedhive-socket", "member nobody of the group cachedhive-socket");
        assertThat(accounts).hasContent("""
                group cachedhive
                user cachedhive
                group cachedhive-socket
                member cachedhive cachedhive-socket
                member nobody cachedhive-socket
                """);
        assertThat(bash(users).values("change")).isEmpty();

        // what the user owns stays, and so does the user
        Files.writeString(Files.createDirectories(data).resolve("log"), "");
        Files.writeString(install.resolve("kept/record"), "directory\t%s\n".formatted(data), APPEND);
        assertThat(bash(script("uninstall.sh", settings).set("PURGE", "no").call("eval", programs).call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(accounts).content().hasLineCount(5);
        RemoteScript purge = script("uninstall.sh", settings).set("PURGE", "yes").call("eval", programs).call("uninstall");
        assertThat(bash(purge).values("change")).contains("remove user cachedhive", "remove group cachedhive-socket");
        assertThat(accounts).hasContent("");
        assertThat(install).doesNotExist();
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
    void testReleaseOfFormerTrinoHomeStays()
            throws Exception
    {
        Path former = directory.resolve("former");
        Files.createDirectories(former.resolve("plugin"));
        bash(script("install.sh").call("prepare"));
        for (String release : List.of("1.0-a", "1.1-b", "1.2-c")) {
            Files.createDirectories(install.resolve("releases").resolve(release).resolve("plugin"));
        }
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.2-c"));
        bash(script("install.sh").call("link", former.resolve("plugin/cachedhive").toString(), install.resolve("releases/1.0-a/plugin").toString()));

        bash(script("install.sh").call("prune"));
        assertThat(facts()).containsEntry("releases", "1.0-a 1.2-c ");

        Files.delete(former.resolve("plugin/cachedhive"));
        bash(script("install.sh").call("prune"));
        assertThat(facts()).containsEntry("releases", "1.2-c ");
    }

    @Test
    void testUninstallWithoutFormerTrinoHome()
            throws Exception
    {
        Path former = directory.resolve("former");
        Path launcher = Files.writeString(Files.createDirectories(former.resolve("bin")).resolve("launcher.properties"), "main-class=io.trino.server.TrinoServer\n");
        Path file = Files.writeString(trino.resolve("etc/lake.properties"), "the original");
        bash(script("install.sh")
                .call("prepare")
                .call("put", launcher.toString(), "0644", "", base64("ours"))
                .call("put", file.toString(), "0644", "", base64("ours")));
        Files.delete(launcher);
        Files.delete(launcher.getParent());

        assertThat(bash(script("uninstall.sh").set("PURGE", "no").call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(file).hasContent("the original");
        assertThat(launcher.getParent()).doesNotExist();
        assertThat(install).doesNotExist();
    }

    @Test
    void testRollbackKeepsPluginOfUpgradedTrino()
            throws Exception
    {
        bash(script("install.sh").call("prepare"));
        for (String release : List.of("1.0-a", "1.1-b", "1.2-c")) {
            Files.createDirectories(install.resolve("releases").resolve(release).resolve("plugin"));
            Files.writeString(install.resolve("releases").resolve(release).resolve("VERSION"), "trino.version=%s\n".formatted(release.equals("1.0-a") ? "48" : "484"));
        }
        Files.writeString(trino.resolve("lib/trino-spi-484-corp.2.jar"), "");
        Path plugin = trino.resolve("plugin/cachedhive");
        Files.createSymbolicLink(install.resolve("current"), Path.of("releases/1.2-c"));
        bash(script("install.sh").call("link", plugin.toString(), install.resolve("releases/1.2-c/plugin").toString()));

        assertThat(bash(script("install.sh").call("rollback", "1.0-a")).values("change")).containsExactly("current release 1.0-a");
        assertThat(Files.readSymbolicLink(plugin)).isEqualTo(install.resolve("releases/1.2-c/plugin"));
        assertThat(facts()).containsEntry("release_trino:1.0-a", "48").containsEntry("release_trino:1.2-c", "484").containsEntry("trino.version", "484-corp.2");

        bash(script("install.sh").call("rollback", "1.1-b"));
        assertThat(Files.readSymbolicLink(plugin)).isEqualTo(install.resolve("releases/1.1-b/plugin"));
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
        boolean ownUser = settings.lines().noneMatch(line -> line.startsWith("run-as:"));
        Path file = Files.writeString(directory.resolve("hosts.yaml"), """
                workers: [127.0.0.1]
                service: launcher
                install-directory: %s
                trino-home: %s
                socket-path: %s/w.sock
                """.formatted(install, trino, directory) + (ownUser ? "run-as: %s\n".formatted(System.getProperty("user.name")) : "") + settings);
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
