package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.admin.ssh.TestingSshHosts;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.SecretFile;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerLink;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * From bare hosts to running cache workers and back, with real sshd and real cache workers: a coordinator and two workers on addresses of the
 * loopback network, each with directories of its own. What of Trino the tool looks at is there as files.
 *
 * <p>Needs an OpenSSH server (apt-get install openssh-server), and is skipped with these words where there is none. Needs the packaged cache worker:
 * {@code mvn package}, not {@code mvn test}.
 */
@Tag("conformance")
class TestInstalledHosts
{
    private static final String COORDINATOR = "127.0.0.2";
    private static final List<String> WORKERS = List.of("127.0.0.3", "127.0.0.4");
    // the first answer of a cache worker takes long on a loaded machine
    private static final String TIMEOUT = "2m";
    private static final String CIPHER_OPTION = "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.01";

    private static final String RELEASE_FOR_484 = "2.0";

    // by version and contents, for all tests
    private static final Map<String, Path> BUNDLES = new TreeMap<>();
    private static Path bundles;

    // short, for the paths of Unix sockets
    private Path directory;
    private Path bundle;
    private TestingSshHosts hosts;

    @BeforeAll
    static void createBundleDirectory()
            throws IOException
    {
        bundles = Files.createTempDirectory("bundles").toRealPath();
    }

    @AfterAll
    static void deleteBundles()
            throws IOException, InterruptedException
    {
        BUNDLES.clear();
        execute("rm", "-rf", bundles.toString());
    }

    @BeforeEach
    void setUp()
            throws IOException, InterruptedException
    {
        assumeTrue(TestingSshHosts.findSshd().isPresent(), "no sshd on this machine: apt-get install openssh-server");
        directory = Files.createTempDirectory("admin").toRealPath();
        hosts = TestingSshHosts.start(directory.resolve("ssh"), COORDINATOR, WORKERS.get(0), WORKERS.get(1));
        bundle = bundle("1.0");
        for (String host : List.of(COORDINATOR, WORKERS.get(0), WORKERS.get(1))) {
            makeTrino(root(host).resolve("trino"));
        }
        Files.createDirectories(directory.resolve("conf/catalog"));
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), """
                connector.name=cachedhive
                hive.metastore.uri=thrift://metastore:9083
                s3.region=us-east-1
                s3.aws-access-key=AKIAOFTHETEST
                s3.aws-secret-key=secretkeyofthetest
                """);
        Files.createDirectories(directory.resolve("conf/origins"));
        Files.writeString(directory.resolve("conf/origins/default.properties"), """
                s3.region=us-east-1
                s3.aws-access-key=AKIAOFTHETEST
                s3.aws-secret-key=secretkeyofthetest
                """);
        writeHostsFile("");
    }

    @AfterEach
    void tearDown()
            throws IOException, InterruptedException
    {
        if (directory == null) {
            return;
        }
        Outcome stopped = run("stop");
        hosts.close();
        // what a test that failed could not stop with its own hosts file
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory + "/"))
                .forEach(process -> {
                    System.out.printf("%s was left running: %s%n", process.pid(), stopped);
                    process.destroyForcibly();
                });
        execute("rm", "-rf", directory.toString());
    }

    @Test
    void testInstallStartUninstall()
            throws IOException
    {
        Map<String, String> before = snapshot();

        Outcome planned = run("install", "--dry-run", "--engine-extension", "--package", bundle.toString());
        assertThat(planned.code()).as(planned.toString()).isEqualTo(ExitCode.OK);
        assertThat(planned.out()).contains("WOULD CHANGE", "release 1.0-");
        assertThat(snapshot()).isEqualTo(before);
        assertThat(directory.resolve("secret")).doesNotExist();

        Outcome installed = run("install", "--engine-extension", "--package", bundle.toString());
        assertThat(installed.code()).as(installed.toString()).isEqualTo(ExitCode.OK);
        assertThat(installed.error()).contains("A new shared secret", "3 hosts: 3 changed, 0 unchanged, 0 failed");
        Path trino = root(WORKERS.getFirst()).resolve("trino");
        assertThat(trino.resolve("plugin/cachedhive/plugin-cachedhive.jar")).hasContent("plugin 1.0");
        assertThat(trino.resolve("bin/launcher.properties")).content().contains("main-class=io.cachedhive.engine.CachedTrinoServer", "process-name=trino-server");
        assertThat(trino.resolve("lib/cachedhive-engine-extension.jar")).hasContent("extension 1.0");
        String secret = Files.readString(directory.resolve("secret")).strip();
        assertThat(trino.resolve("etc/catalog/lake.properties")).content()
                .contains("cachedhive.shared-secret-file=" + trino.resolve("etc/cachedhive-shared-secret"))
                .doesNotContain(secret);
        assertThat(trino.resolve("etc/cachedhive-shared-secret")).hasContent(secret + "\n");
        assertThat(root(COORDINATOR).resolve("opt/cachedhive/current/worker")).doesNotExist();

        // nothing is left to be done
        Map<String, String> afterFirst = snapshot();
        Outcome again = run("install", "--engine-extension", "--package", bundle.toString());
        assertThat(again.error()).contains("3 hosts: 0 changed, 3 unchanged, 0 failed");
        assertThat(snapshot()).isEqualTo(afterFirst);

        Outcome started = run("start");
        assertThat(started.code()).as(started.toString()).isEqualTo(ExitCode.OK);
        assertThat(run("start").error()).contains("0 changed, 2 unchanged");
        Outcome status = run("status", "--timeout", TIMEOUT);
        assertThat(status.code()).as(status.toString()).isEqualTo(ExitCode.OK);
        assertThat(status.out().lines().filter(line -> line.contains("RUNNING"))).hasSize(2);
        String worker = workerId(WORKERS.getFirst());

        Outcome restarted = run("restart", "--hosts", WORKERS.getFirst());
        assertThat(restarted.error()).as(restarted.toString()).contains("1 host: 1 changed, 0 unchanged, 0 failed");
        assertThat(workerId(WORKERS.getFirst())).isEqualTo(worker);

        // data and logs stay
        Outcome removed = run("uninstall");
        assertThat(removed.code()).as(removed.toString()).isEqualTo(ExitCode.OK);
        assertThat(run("status").code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(root(WORKERS.getFirst()).resolve("ssd/superblock")).exists();
        assertThat(root(WORKERS.getFirst()).resolve("opt/cachedhive/data/var/log/server.log")).exists();
        assertThat(root(WORKERS.getFirst()).resolve("opt/cachedhive/releases")).doesNotExist();
        Map<String, String> withoutData = snapshot();
        withoutData.keySet().removeIf(path -> path.contains("/opt") || path.contains("/ssd"));
        assertThat(withoutData).isEqualTo(before);

        // the JVM that writes the archive of classes for a cache worker outlives it, and ends by itself
        Await.until("no process of a cache worker is left", Duration.ofMinutes(10), () -> ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse(""))
                .noneMatch(command -> WORKERS.stream().anyMatch(host -> command.contains(root(host) + "/"))));
        Outcome purged = run("uninstall", "--purge");
        assertThat(purged.code()).as(purged.toString()).isEqualTo(ExitCode.OK);
        assertThat(snapshot()).isEqualTo(before);
    }

    @Test
    void testFailedHostsLeaveOthersAlone()
            throws IOException, InterruptedException
    {
        bundle = bundleWithoutLibraries("1.0");
        hosts.stopHost(COORDINATOR);
        writeHostsFile("    java-home: %s\n".formatted(makeOldJava()));

        Outcome first = run("install", "--output", "json", "--package", bundle.toString());

        assertThat(first.code()).isEqualTo(ExitCode.HOST_FAILED);
        Map<String, JsonNode> results = new TreeMap<>();
        for (String line : first.out().lines().toList()) {
            JsonNode result = new ObjectMapper().readTree(line);
            results.put(result.get("host").asText(), result);
        }
        assertThat(results.get(COORDINATOR).get("problem").asText()).contains("has no sshd on that port: start it");
        assertThat(results.get(WORKERS.get(0)).get("result").asText()).isEqualTo("CHANGED");
        assertThat(results.get(WORKERS.get(1)).get("problem").asText()).contains("no JDK 25 or newer was found", "(found: 17)", "install one");
        assertThat(root(WORKERS.get(1)).resolve("opt")).doesNotExist();
        assertThat(first.error()).contains("3 hosts: 1 changed, 0 unchanged, 2 failed");

        // mended: the rest is done, and nothing else
        hosts.startHost(COORDINATOR, Map.of());
        writeHostsFile("");
        Map<String, String> finished = snapshot(root(WORKERS.get(0)));
        Outcome second = run("install", "--package", bundle.toString());
        assertThat(second.code()).as(second.toString()).isEqualTo(ExitCode.OK);
        assertThat(second.error()).contains("3 hosts: 2 changed, 1 unchanged, 0 failed");
        assertThat(snapshot(root(WORKERS.get(0)))).isEqualTo(finished);
    }

    /// Hosts with Hive catalogs only are spared the files of the other plugin.
    @Test
    void testPluginForIceberg()
            throws IOException, InterruptedException
    {
        bundle = bundleWithoutLibraries("1.0");
        Map<String, String> before = snapshot();
        succeed("install", "--package", bundle.toString());
        Path trino = root(COORDINATOR).resolve("trino");
        assertThat(trino.resolve("plugin/cachediceberg")).doesNotExist();
        assertThat(root(COORDINATOR).resolve("opt/cachedhive/current/plugin-iceberg")).doesNotExist();

        Files.writeString(directory.resolve("conf/catalog/ice.properties"), """
                connector.name=cachediceberg
                hive.metastore.uri=thrift://metastore:9083
                s3.region=us-east-1
                """);
        assertThat(run("install", "--package", bundle.toString()).error()).contains("3 hosts: 3 changed, 0 unchanged, 0 failed");
        for (String host : List.of(COORDINATOR, WORKERS.get(0), WORKERS.get(1))) {
            Path plugin = root(host).resolve("trino/plugin/cachediceberg");
            assertThat(plugin.resolve("plugin-cachediceberg.jar")).hasContent("iceberg plugin 1.0");
            // a link to the other plugin
            assertThat(plugin.resolve("plugin-cachedhive.jar")).hasContent("plugin 1.0");
        }
        // the secret of the cache workers, as in the other catalog
        assertThat(trino.resolve("etc/catalog/ice.properties")).content().contains("cachedhive.shared-secret-file=" + trino.resolve("etc/cachedhive-shared-secret"));
        assertThat(run("install", "--package", bundle.toString()).error()).contains("3 hosts: 0 changed, 3 unchanged, 0 failed");

        Path next = bundleWithoutLibraries("1.1");
        succeed("install", "--package", next.toString());
        assertThat(trino.resolve("plugin/cachediceberg/plugin-cachediceberg.jar")).hasContent("iceberg plugin 1.1");
        succeed("uninstall", "--purge");
        assertThat(snapshot()).isEqualTo(before);
    }

    @Test
    void testDamagedReleaseIsMended()
            throws IOException, InterruptedException
    {
        bundle = bundleWithoutLibraries("1.0");
        succeed("install", "--package", bundle.toString());
        Path jar = root(COORDINATOR).resolve("trino/plugin/cachedhive/plugin-cachedhive.jar");
        Files.writeString(jar, "bit rot");

        Outcome outcome = run("install", "--package", bundle.toString());

        assertThat(outcome.error()).contains("3 hosts: 1 changed, 2 unchanged, 0 failed");
        assertThat(jar).hasContent("plugin 1.0");
    }

    @Test
    void testStartTellsWhyACacheWorkerEnds()
            throws IOException
    {
        succeed("install", "--package", bundle.toString());
        Path config = root(WORKERS.getFirst()).resolve("opt/cachedhive/etc/config.properties");
        Files.writeString(config, Files.readString(config) + "cache.nonsense=1\n");

        Outcome outcome = run("start", "--hosts", WORKERS.getFirst());

        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(outcome.error()).contains("the cache worker ended at once", "cache.nonsense");
    }

    // two minutes
    @Tag("exhaustive")
    @Test
    void testUpgradeAndRollback()
            throws IOException, InterruptedException
    {
        String first = WORKERS.get(0);
        Path plugin = root(first).resolve("trino/plugin/cachedhive/plugin-cachedhive.jar");
        Path extension = root(first).resolve("trino/lib/cachedhive-engine-extension.jar");
        assertThat(run("rollback").error()).contains("nothing is installed");
        succeed("install", "--engine-extension", "--package", bundle.toString());
        assertThat(run("rollback").error()).contains("there is no earlier release than the current one");
        succeed("start");
        String worker = workerId(first);
        Path next = bundle("1.1");

        // one that does not come back is the last one that is touched
        Path config = root(first).resolve("opt/cachedhive/etc/config.properties");
        writeHostsFile("");
        Files.writeString(directory.resolve("hosts.yaml"), Files.readString(directory.resolve("hosts.yaml")).replace("ram-size: 128MB",
                "ram-size: 128MB\nworker-properties: {cache.nonsense: 1}"));
        Outcome broken = run("upgrade", "--package", next.toString());
        assertThat(broken.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(broken.error()).contains(first + ": the cache worker ended at once", WORKERS.get(1) + ": unchanged", COORDINATOR + ": unchanged");
        assertThat(root(WORKERS.get(1)).resolve("trino/plugin/cachedhive/plugin-cachedhive.jar")).hasContent("plugin 1.0");
        // again: it is still the one that is to be brought back first
        Outcome again = run("upgrade", "--package", next.toString());
        assertThat(again.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(again.error()).contains(first + ": the cache worker ended at once", WORKERS.get(1) + ": unchanged");
        assertThat(root(WORKERS.get(1)).resolve("trino/plugin/cachedhive/plugin-cachedhive.jar")).hasContent("plugin 1.0");
        writeHostsFile("");
        succeed("config", "push", "--hosts", first);
        assertThat(config).content().doesNotContain("cache.nonsense");

        Outcome early = run("upgrade", "--finalize");
        assertThat(early.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(early.error()).contains("end the upgrade first");

        // nobody has started it by hand
        assertThat(run("rollback", "--dry-run").out()).contains("restart that an earlier run did not end");
        Outcome taken = run("rollback");
        assertThat(taken.code()).as(taken.toString()).isEqualTo(ExitCode.OK);
        assertThat(taken.error()).contains("3 hosts: 1 changed, 2 unchanged, 0 failed");
        assertThat(plugin).hasContent("plugin 1.0");
        assertThat(workerId(first)).isEqualTo(worker);
        assertThat(faults(run("doctor", "--output", "json"))).isEmpty();

        Outcome upgraded = run("upgrade", "--package", next.toString());
        assertThat(upgraded.code()).as(upgraded.toString()).isEqualTo(ExitCode.OK);
        assertThat(upgraded.out()).contains("restarted, ");
        assertThat(plugin).hasContent("plugin 1.1");
        // goes along where it is
        assertThat(extension).hasContent("extension 1.1");
        assertThat(workerId(first)).isEqualTo(worker);
        assertThat(faults(run("doctor", "--output", "json"))).isEmpty();
        assertThat(run("upgrade", "--package", next.toString()).error()).contains("3 hosts: 0 changed, 3 unchanged, 0 failed");

        // this release has no newer format of the SSD directories, so nothing changes, and the way back stays open
        Outcome ended = run("upgrade", "--finalize");
        assertThat(ended.code()).as(ended.toString()).isEqualTo(ExitCode.OK);
        assertThat(ended.error()).contains("2 hosts: 0 changed, 2 unchanged, 0 failed");
        assertThat(run("upgrade", "--finalize", "--package", next.toString()).code()).isEqualTo(ExitCode.WRONG_USAGE);

        // the last cache worker does not come back at once, and the second run leads to the same release
        Path last = root(WORKERS.get(1)).resolve("opt/cachedhive/etc/config.properties");
        Files.writeString(last, Files.readString(last) + "cache.nonsense=1\n");
        Outcome stuck = run("rollback");
        assertThat(stuck.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(stuck.error()).contains(WORKERS.get(1) + ": the cache worker ended at once", COORDINATOR + ": unchanged");
        assertThat(plugin).hasContent("plugin 1.0");
        succeed("config", "push", "--hosts", WORKERS.get(1));
        Outcome back = run("rollback");
        assertThat(back.code()).as(back.toString()).isEqualTo(ExitCode.OK);
        assertThat(back.error()).contains("Going back to release 1.0-");
        assertThat(plugin).hasContent("plugin 1.0");
        assertThat(extension).hasContent("extension 1.0");
        assertThat(workerId(first)).isEqualTo(worker);
        assertThat(faults(run("doctor", "--output", "json"))).isEmpty();
        assertThat(run("rollback").error()).contains("there is no earlier release than the current one");
    }

    @Test
    void testUpgradeOfTrinoAndBack()
            throws IOException, InterruptedException
    {
        String host = WORKERS.getFirst();
        Path install = root(host).resolve("opt/cachedhive");
        Path former = root(host).resolve("trino");
        Path next = root(host).resolve("trino-484");
        makeTrino(next);
        Files.move(next.resolve("lib/trino-spi-483.jar"), next.resolve("lib/trino-spi-484.jar"));
        Path broken = Files.createDirectories(root(host).resolve("broken"));
        Path link = Files.createSymbolicLink(root(host).resolve("link"), former);
        Map<String, String> before = snapshot();
        succeed("install", "--engine-extension", "--package", bundleWithoutLibraries("1.0").toString());
        String hostsFile = Files.readString(directory.resolve("hosts.yaml"));
        Map<String, String> installed = snapshot();

        assertThat(upgradeTrino(host, former).error()).contains("trino-home is %s already".formatted(former), "0 changed, 0 unchanged, 1 failed");
        assertThat(upgradeTrino(host, link).error()).contains("are the same directory");
        assertThat(upgradeTrino(host, root(host).resolve("missing")).error()).contains("trino-home %s does not exist there".formatted(root(host).resolve("missing")));
        assertThat(upgradeTrino(host, broken).error()).contains("so it is no Trino server");
        assertThat(upgradeTrino(host, next).error()).contains("Trino in %s is 484, and the plugin of release 1.0-".formatted(next), "is for 483: name the package");
        assertThat(upgradeTrino(host, next, "--package", bundleWithoutLibraries("1.0").toString()).error()).contains("Trino there is 484, and this plugin is made for 483");
        assertThat(upgradeTrino(host, Path.of("/opt/../trino")).code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(run("upgrade").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(upgradeTrino(host, next, "--finalize").code()).isEqualTo(ExitCode.WRONG_USAGE);
        Path package484 = bundleWithoutLibraries(RELEASE_FOR_484);
        assertThat(upgradeTrino(host, next, "--dry-run", "--package", package484.toString()).out()).contains("WOULD CHANGE");
        assertThat(snapshot()).isEqualTo(installed);
        assertThat(directory.resolve("hosts.yaml")).hasContent(hostsFile);

        Outcome upgraded = upgradeTrino(host, next, "--package", package484.toString());
        assertThat(upgraded.code()).as(upgraded.toString()).isEqualTo(ExitCode.OK);
        assertThat(next.resolve("plugin/cachedhive/plugin-cachedhive.jar")).hasContent("plugin " + RELEASE_FOR_484);
        // goes along where the former home has it
        assertThat(next.resolve("lib/cachedhive-engine-extension.jar")).hasContent("extension " + RELEASE_FOR_484);
        assertThat(next.resolve("bin/launcher.properties")).content().contains("main-class=io.cachedhive.engine.CachedTrinoServer");
        assertThat(next.resolve("etc/catalog/lake.properties")).content().contains("cachedhive.shared-secret-file=" + next.resolve("etc/cachedhive-shared-secret"));
        assertThat(next.resolve("etc/cachedhive-shared-secret")).hasSameTextualContentAs(directory.resolve("secret"));
        assertThat(former.resolve("plugin/cachedhive/plugin-cachedhive.jar")).hasContent("plugin 1.0");
        assertThat(former.resolve("lib/cachedhive-engine-extension.jar")).hasContent("extension 1.0");
        // the one of the cache worker
        assertThat(Files.readSymbolicLink(install.resolve("current")).toString()).startsWith("releases/1.0-");
        assertThat(directory.resolve("hosts.yaml")).hasContent(hostsFile.replace("trino-home: %s\n".formatted(former), "trino-home: %s\n".formatted(next)));
        assertThat(faults(run("doctor", "--hosts", host, "--output", "json"))).noneMatch(fault -> fault.contains("PLUGIN"));

        Outcome back = upgradeTrino(host, former);
        assertThat(back.code()).as(back.toString()).isEqualTo(ExitCode.OK);
        assertThat(back.error()).contains("1 host: 0 changed, 1 unchanged, 0 failed");
        assertThat(directory.resolve("hosts.yaml")).hasContent(hostsFile);
        Outcome forth = upgradeTrino(host, next);
        assertThat(forth.error()).as(forth.toString()).contains("1 host: 0 changed, 1 unchanged, 0 failed");

        succeed("uninstall", "--purge");
        assertThat(snapshot()).isEqualTo(before);
    }

    private Outcome upgradeTrino(String host, Path home, String... options)
    {
        return run(Stream.concat(Stream.of("upgrade", "--hosts", host, "--trino-home", home.toString()), Stream.of(options)).toArray(String[]::new));
    }

    @Test
    void testLostSecretIsNotMadeAnew()
            throws IOException, InterruptedException
    {
        bundle = bundleWithoutLibraries("1.0");
        Path secret = directory.resolve("secret");
        // not the last host, which is a new one
        succeed("install", "--hosts", COORDINATOR + "," + WORKERS.get(0), "--package", bundle.toString());
        Path config = root(WORKERS.get(0)).resolve("opt/cachedhive/etc/config.properties");
        String before = Files.readString(config);
        Path elsewhere = Files.move(secret, directory.resolve("elsewhere"));

        Outcome installed = run("install", "--hosts", WORKERS.get(1), "--package", bundle.toString());
        assertThat(installed.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(installed.error()).contains("a secret is in use on " + COORDINATOR + ", " + WORKERS.get(0), "copy the file from where cache-admin install ran");
        assertThat(secret).doesNotExist();
        for (Outcome outcome : List.of(run("config", "push"), run("config", "diff"), run("upgrade", "--package", bundle.toString()))) {
            assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
            assertThat(outcome.error()).contains("does not exist: copy it from where cache-admin install ran");
        }
        assertThat(config).hasContent(before);
        assertThat(run("doctor").out()).contains("SECRET: " + WORKERS.get(0) + ": it has a shared secret, and the secret-file does not exist");

        Files.move(elsewhere, secret);
        assertThat(run("install", "--package", bundle.toString()).error()).contains("3 hosts: 1 changed, 2 unchanged, 0 failed");
    }

    // the container hosts have such a test, which runs with each change
    @Tag("exhaustive")
    @Test
    void testDoctorFindsWhatIsWrong()
            throws IOException, InterruptedException
    {
        String first = WORKERS.get(0);
        String second = WORKERS.get(1);
        assertThat(run("doctor").out()).contains("NOT_INSTALLED: " + first).contains("run cache-admin install");
        succeed("install", "--package", bundle.toString());
        Outcome stopped = run("doctor", "--output", "json");
        assertThat(faults(stopped)).containsExactlyInAnyOrder(first + " NOT_RUNNING", second + " NOT_RUNNING");
        Outcome started = run("start");
        assertThat(started.code()).as(started.toString()).isEqualTo(ExitCode.OK);
        succeed("status", "--timeout", TIMEOUT);

        Outcome sound = run("doctor");
        assertThat(sound.out()).isEmpty();
        assertThat(sound.error()).contains("No problems found on 3 hosts.");
        assertThat(sound.code()).as(sound.toString()).isEqualTo(ExitCode.OK);

        // what changes by itself, or by hand
        Path release = root(COORDINATOR).resolve("opt/cachedhive/current/plugin/plugin-cachedhive.jar");
        Files.writeString(release, "bit rot");
        Path catalog = root(COORDINATOR).resolve("trino/etc/catalog/lake.properties");
        Files.writeString(catalog, Files.readString(catalog).replaceAll("shared-secret-file=.*", "shared-secret=another"));
        Path readable = root(first).resolve("trino/etc/catalog/lake.properties");
        Files.setPosixFilePermissions(readable, PosixFilePermissions.fromString("rw-r--r--"));
        Path plugin = root(first).resolve("trino/plugin/cachedhive");
        Files.delete(plugin);
        Path log = root(first).resolve("opt/cachedhive/etc/log.properties");
        Files.writeString(log, "io.cachedhive=DEBUG\n");
        Path jvm = root(first).resolve("trino/etc/jvm.config");
        Files.writeString(jvm, Files.readString(jvm).replace(CIPHER_OPTION, "#" + CIPHER_OPTION));
        Path config = root(first).resolve("opt/cachedhive/etc/config.properties");
        Files.writeString(config, Files.readString(config).replaceAll("(?m)^internal-communication.shared-secret-file=.*", "internal-communication.shared-secret=another"));
        // what the hosts file says, and the host has not; and a clock that is an hour fast
        hosts.stopHost(second);
        Path programs = Files.createDirectories(directory.resolve("bin"));
        Path date = Files.writeString(programs.resolve("date"), "#!/bin/sh\nexec /bin/date -d '+1 hour' \"$@\"\n");
        assertThat(date.toFile().setExecutable(true)).isTrue();
        hosts.startHost(second, Map.of("PATH", programs + ":/usr/sbin:/usr/bin:/sbin:/bin"));
        writeHostsFile("""
                    java-home: %s
                    ram-size: 100TB
                    address: 127.0.0.9
                """.formatted(makeOldJava()));

        Outcome sick = run("doctor", "--output", "json");
        assertThat(sick.code()).isEqualTo(ExitCode.FOUND);
        assertThat(faults(sick)).containsExactlyInAnyOrder(
                COORDINATOR + " DAMAGED_FILES",
                COORDINATOR + " CONFIG_DRIFT",
                COORDINATOR + " SECRET",
                COORDINATOR + " PORT",
                first + " PLUGIN",
                first + " TRINO",
                first + " CONFIG_DRIFT",
                first + " SECRET",
                first + " SECRET",
                first + " PORT",
                second + " CLOCK",
                second + " JAVA",
                second + " MEMORY",
                second + " SHARED_MEMORY",
                second + " CONFIG_DRIFT",
                second + " PORT");

        assertThat(sick.out()).contains("are slow without the JVM options " + CIPHER_OPTION + ": add each as a line to " + jvm);

        // mended by what it says
        hosts.stopHost(second);
        hosts.startHost(second, Map.of());
        writeHostsFile("");
        Files.writeString(jvm, Files.readString(jvm).replace("#" + CIPHER_OPTION, CIPHER_OPTION));
        Outcome difference = run("config", "diff", "--hosts", first);
        assertThat(difference.code()).isEqualTo(ExitCode.FOUND);
        assertThat(difference.out()).contains("- io.cachedhive=DEBUG", "+ io.cachedhive=INFO", "internal-communication.shared-secret=***").doesNotContain("=another");
        assertThat(run("config", "push").error()).contains("3 hosts: 2 changed, 1 unchanged, 0 failed");
        succeed("config", "diff");
        assertThat(run("install", "--package", bundle.toString()).error()).contains("2 changed, 1 unchanged, 0 failed");
        assertThat(faults(run("doctor", "--output", "json"))).isEmpty();

        Path hostsFile = directory.resolve("hosts.yaml");
        String complete = Files.readString(hostsFile);
        Files.writeString(hostsFile, complete.replaceAll("(?m)^trino-url: .*\n", ""));
        Outcome withoutUrl = run("doctor", "--output", "json");
        assertThat(faults(withoutUrl)).containsExactly("this machine CONFIGURATION");
        assertThat(withoutUrl.out()).contains("trino-url is not set");
        Files.writeString(hostsFile, complete);

        // versions, directories, and what does not answer
        succeed("stop", "--hosts", first);
        assertThat(run("fsck", "--hosts", first).out()).contains("CLEAN");
        assertThat(run("fsck", "--hosts", second).error()).contains("stop it first");
        execute("rm", "-rf", root(first).resolve("ssd").toString());
        succeed("install", "--hosts", second, "--package", bundle("1.1").toString());
        hosts.stopHost(COORDINATOR);
        try (ServerSocket other = new ServerSocket()) {
            other.bind(new InetSocketAddress(first, port(first, "http")));
            assertThat(faults(run("doctor", "--output", "json"))).contains(
                    COORDINATOR + " UNREACHABLE",
                    first + " DIRECTORY",
                    first + " NOT_RUNNING",
                    first + " PORT",
                    // what is running there is 1.0
                    second + " VERSION_DRIFT");
        }
        hosts.startHost(COORDINATOR, Map.of());
    }

    // nearly two minutes; TestSecretRotation holds the order of the steps, and TestHandshakeProof#testTwoSecrets what processes accept
    @Tag("exhaustive")
    @Test
    void testRotationUnderLoad()
            throws Exception
    {
        succeed("install", "--package", bundle.toString());
        succeed("start");
        succeed("status", "--timeout", TIMEOUT);
        String former = Files.readString(directory.resolve("secret")).strip();
        Path formerFile = Files.createFile(directory.resolve("former"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(formerFile, former);
        List<Path> files = new ArrayList<>();
        for (String host : List.of(COORDINATOR, WORKERS.get(0), WORKERS.get(1))) {
            files.add(root(host).resolve("trino/etc/cachedhive-shared-secret"));
        }
        WORKERS.forEach(worker -> files.add(root(worker).resolve("opt/cachedhive/etc/shared-secret")));

        assertThat(run("secret", "rotate", "--dry-run").out()).contains("WOULD CHANGE", "add a new secret");
        assertThat(files).allSatisfy(file -> assertThat(file).hasContent(former + "\n"));
        assertThat(run("secret", "rotate", "--hosts", WORKERS.getFirst()).code()).isEqualTo(ExitCode.WRONG_USAGE);

        // requests of a Trino server, which reads its file as the plugin does
        ClientIdentity identity = new ClientIdentity("testing", "lake", "node", List.of(), SecretFile.open(files.getFirst()));
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicLong answers = new AtomicLong();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        Timeouts timeouts = new Timeouts(10_000, 10_000, 100, 1_000);
        try (WorkerConnections connections = new WorkerConnections("rotation", identity, Optional.empty(), timeouts, 1, 100, System::nanoTime)) {
            List<Thread> readers = WORKERS.stream().map(worker -> Thread.ofPlatform().daemon().start(() -> {
                WorkerLink link = connections.peer(new WorkerAddress(worker, port("all", "worker")), Optional.empty());
                while (!stopped.get()) {
                    try {
                        connections.ask(link, new StatusMessage.Ping(), StatusMessage.Pong.class, 10_000).get();
                        answers.incrementAndGet();
                    }
                    catch (ExecutionException | InterruptedException e) {
                        failures.add(e);
                    }
                }
            })).toList();
            Await.until("requests are answered", () -> answers.get() > 10);

            // the second host is lost before anything is written
            hosts.stopHost(WORKERS.get(1));
            Outcome lost = run("secret", "rotate");
            assertThat(lost.code()).isEqualTo(ExitCode.HOST_FAILED);
            assertThat(lost.error()).contains(WORKERS.get(1) + " has no sshd on that port");
            assertThat(files).allSatisfy(file -> assertThat(file).hasContent(former + "\n"));
            hosts.startHost(WORKERS.get(1), Map.of());

            Outcome rotated = run("secret", "rotate", "--patience", TIMEOUT);
            assertThat(rotated.code()).as(rotated.toString()).isEqualTo(ExitCode.OK);
            assertThat(rotated.out()).contains("new secret added", "new secret preferred", "former secret removed", "former secret refused");
            long before = answers.get();
            Await.until("requests are answered with the new secret", () -> answers.get() > before + 10);
            stopped.set(true);
            for (Thread reader : readers) {
                reader.join();
            }
        }
        assertThat(failures).isEmpty();
        String preferred = Files.readString(directory.resolve("secret")).strip();
        assertThat(preferred).isNotEqualTo(former).doesNotContain("\n");
        assertThat(files).allSatisfy(file -> {
            assertThat(file).hasContent(preferred + "\n");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isIn("rw-------", "rw-r-----");
        });
        assertThat(run("status", "--secret-file", formerFile.toString()).error()).contains("requires the shared secret (HTTP 401)");
        assertThat(faults(run("doctor", "--output", "json"))).isEmpty();
        Path bundle = directory.resolve("rotated.zip");
        succeed("support-bundle", "--to", bundle.toString());
        assertThat(unzip(bundle).values()).noneMatch(content -> content.contains(preferred) || content.contains("shared_secrets"));
    }

    @Test
    void testLogsSupportBundleAndDrain()
            throws IOException
    {
        succeed("config", "check");
        succeed("install", "--package", bundle.toString());
        succeed("start");
        succeed("status", "--timeout", TIMEOUT);
        String secret = Files.readString(directory.resolve("secret")).strip();

        Outcome logs = run("logs", "--lines", "3");
        assertThat(logs.code()).as(logs.toString()).isEqualTo(ExitCode.OK);
        assertThat(logs.out().lines()).hasSize(6).allMatch(line -> line.startsWith("127.0.0."));

        // a secret may also stand where nobody expects it
        Path log = root(WORKERS.getFirst()).resolve("opt/cachedhive/data/var/log/launcher.log");
        Files.writeString(log, Files.readString(log) + "\nsomebody wrote " + secret + " and secretkeyofthetest here\n");
        Path file = directory.resolve("support.zip");
        Outcome collected = run("support-bundle", "--to", file.toString());
        assertThat(collected.code()).as(collected.toString()).isEqualTo(ExitCode.OK);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        Map<String, String> entries = unzip(file);
        assertThat(entries.keySet()).contains("doctor.txt", "hosts.yaml", WORKERS.getFirst() + "/status.json", WORKERS.getFirst() + "/server.log", COORDINATOR + "/facts.txt");
        assertThat(entries.get("doctor.txt")).isEqualTo("No problems found.\n");
        assertThat(entries.get(COORDINATOR + "/facts.txt")).contains("lake.properties=as configured").doesNotContainPattern("[0-9a-f]{64}");
        assertThat(entries.get(WORKERS.getFirst() + "/launcher.log")).contains("somebody wrote *** and *** here");
        assertThat(entries.values()).noneMatch(content -> content.contains(secret) || content.contains("secretkeyofthetest") || content.contains("AKIAOFTHETEST"));
        assertThat(run("support-bundle", "--to", file.toString()).code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);

        assertThat(run("drain").error()).contains("All cache workers would be drained");
        Outcome drained = run("drain", "--hosts", WORKERS.getFirst(), "--deadline", "1s");
        assertThat(drained.code()).as(drained.toString()).isEqualTo(ExitCode.OK);
        Await.until("the cache worker ends", () -> faults(run("doctor", "--output", "json")).equals(List.of(WORKERS.getFirst() + " NOT_RUNNING")));
    }

    private static List<String> faults(Outcome outcome)
            throws IOException
    {
        List<String> faults = new ArrayList<>();
        for (String line : outcome.out().lines().toList()) {
            JsonNode fault = new ObjectMapper().readTree(line);
            // each with its remedy
            assertThat(fault.get("problem").asText()).matches("(?s).+:.+\\.");
            faults.add(fault.get("host").asText() + " " + fault.get("fault").asText());
        }
        return faults;
    }

    private static Map<String, String> unzip(Path file)
            throws IOException
    {
        Map<String, String> entries = new TreeMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                entries.put(entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), UTF_8));
            }
        }
        return entries;
    }

    private Path root(String host)
    {
        return directory.resolve("h" + host.substring(host.lastIndexOf('.') + 1));
    }

    private String workerId(String host)
            throws IOException
    {
        // one that has just started may take a while to answer first
        Outcome outcome = run("status", "--timeout", TIMEOUT, "--output", "json");
        assertThat(outcome.code()).as(outcome.toString()).isEqualTo(ExitCode.OK);
        for (String line : outcome.out().lines().toList()) {
            JsonNode status = new ObjectMapper().readTree(line);
            if (status.get("host").asText().startsWith(host + ":")) {
                return status.get("answer").get("worker").asText();
            }
        }
        throw new AssertionError("no status of %s: %s".formatted(host, outcome));
    }

    private void writeHostsFile(String settingsOfLastWorker)
            throws IOException
    {
        StringBuilder text = new StringBuilder("""
                cluster: testing
                ssh: {config-file: %1$s, connect-timeout: 20s, command-timeout: 5m}
                secret-file: secret
                configuration-directory: conf
                trino-url: http://127.0.0.1:1
                service: launcher
                run-as: %2$s
                trino-run-as: %2$s
                java-home: %3$s
                ram-size: 128MB
                heap-size: 256MB
                coordinators:
                """.formatted(hosts.configFile(), System.getProperty("user.name"), System.getProperty("java.home")));
        text.append(entry(COORDINATOR)).append("workers:\n");
        for (String worker : WORKERS) {
            text.append(entry(worker)).append("""
                        socket-path: %1$s/s/w.sock
                        worker-port: %2$s
                        http-port: %3$s
                        ssd: [{directory: %1$s/ssd, size: 64MB}]
                    """.formatted(root(worker), port("all", "worker"), port(worker, "http")));
        }
        text.append(settingsOfLastWorker);
        Files.writeString(directory.resolve("hosts.yaml"), text);
    }

    private String entry(String host)
    {
        return """
                  - host: %1$s
                    ssh-port: %2$s
                    install-directory: %3$s/opt/cachedhive
                    trino-home: %3$s/trino
                """.formatted(host, hosts.port(host), root(host));
    }

    private final Map<String, Integer> ports = new TreeMap<>();

    private int port(String host, String name)
    {
        return ports.computeIfAbsent(host + name, _ -> TestingSshHosts.freePort(host.equals("all") ? "0.0.0.0" : host));
    }

    private static Path bundle(String version)
            throws IOException, InterruptedException
    {
        return bundle(version, true);
    }

    /// For tests that start no cache worker: sixty megabytes less to be sent to each host, unpacked and checked.
    private static Path bundleWithoutLibraries(String version)
            throws IOException, InterruptedException
    {
        return bundle(version, false);
    }

    private static Path bundle(String version, boolean libraries)
            throws IOException, InterruptedException
    {
        String name = version + (libraries ? "" : " without libraries");
        Path bundle = BUNDLES.get(name);
        if (bundle == null) {
            bundle = makeBundle(version, Files.createDirectory(bundles.resolve(name)), libraries);
            BUNDLES.put(name, bundle);
        }
        return bundle;
    }

    /// The cache worker is the real one; of plugin and extension only that they arrive is looked at.
    private static Path makeBundle(String version, Path directory, boolean libraries)
            throws IOException, InterruptedException
    {
        Path target = Path.of(System.getProperty("user.dir")).resolveSibling("cache-worker-daemon").resolve("target");
        Path worker;
        try (Stream<Path> paths = Files.list(target)) {
            worker = paths.filter(path -> path.getFileName().toString().startsWith("cache-worker-") && Files.isDirectory(path.resolve("lib")))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no packaged cache worker in %s: run mvn package -DskipTests -pl cache-worker-daemon -am".formatted(target)));
        }
        Path top = Files.createDirectories(directory.resolve("cachedhive-" + version));
        execute("cp", "-a", worker.toString(), top.resolve("worker").toString());
        execute("rm", "-rf", top.resolve("worker/var").toString());
        if (!libraries) {
            execute("rm", "-r", top.resolve("worker/lib").toString());
        }
        Files.writeString(Files.createDirectories(top.resolve("plugin")).resolve("plugin-cachedhive.jar"), "plugin " + version);
        Path iceberg = Files.createDirectories(top.resolve("plugin-iceberg"));
        Files.writeString(iceberg.resolve("plugin-cachediceberg.jar"), "iceberg plugin " + version);
        Files.createSymbolicLink(iceberg.resolve("plugin-cachedhive.jar"), Path.of("../plugin/plugin-cachedhive.jar"));
        Files.writeString(Files.createDirectories(top.resolve("engine-extension")).resolve("engine-extension-" + version + ".jar"), "extension " + version);
        Files.writeString(top.resolve("VERSION"), "version=%s\ntrino.version=%s\n".formatted(version, version.equals(RELEASE_FOR_484) ? "484" : "483"));
        execute("bash", "-c", "cd \"$0\" && find . -type f ! -name SHA256SUMS -printf '%P\\0' | xargs -0 sha256sum > SHA256SUMS", top.toString());
        Path file = directory.resolve("cachedhive-" + version + ".tar.gz");
        execute("bash", "-c", "tar -c -C \"$0\" \"$1\" | gzip -1 > \"$2\"", top.getParent().toString(), top.getFileName().toString(), file.toString());
        execute("rm", "-rf", top.toString());
        return file;
    }

    private static void makeTrino(Path home)
            throws IOException
    {
        for (String name : List.of("lib", "bin", "etc/catalog", "plugin/cachedhive", "plugin/hive", "var/log")) {
            Files.createDirectories(home.resolve(name));
        }
        Files.writeString(home.resolve("lib/trino-spi-483.jar"), "");
        Files.writeString(home.resolve("bin/launcher.properties"), "main-class=io.trino.server.TrinoServer\nprocess-name=trino-server\n");
        Files.writeString(home.resolve("etc/jvm.config"), "-server\n-Xmx256M\n-XX:CompileCommand=quiet\n" + CIPHER_OPTION + "\n");
        // of an earlier installation by hand
        Files.writeString(home.resolve("plugin/cachedhive/old.jar"), "old");
        Files.writeString(home.resolve("etc/catalog/lake.properties"), "connector.name=hive\n");
    }

    private Path makeOldJava()
            throws IOException
    {
        Path home = directory.resolve("java17");
        Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
        Path java = Files.writeString(home.resolve("bin/java"), "#!/bin/sh\nexit 1\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        return home;
    }

    private Map<String, String> snapshot()
            throws IOException
    {
        Map<String, String> all = new TreeMap<>();
        for (String host : List.of(COORDINATOR, WORKERS.get(0), WORKERS.get(1))) {
            all.putAll(snapshot(root(host)));
        }
        return all;
    }

    /// Of every file below: what it is, who may use it, when it was changed, and what is in it.
    private static Map<String, String> snapshot(Path root)
            throws IOException
    {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.toList()) {
                String what;
                if (Files.isSymbolicLink(path)) {
                    what = "link " + Files.readSymbolicLink(path);
                }
                else if (Files.isDirectory(path)) {
                    what = "directory";
                }
                else {
                    what = "%s %s %s".formatted(
                            Files.getPosixFilePermissions(path),
                            Files.getLastModifiedTime(path),
                            Files.size(path) > 10_000 ? Files.size(path) : Files.readString(path, ISO_8859_1));
                }
                files.put(path.toString(), what);
            }
        }
        return files;
    }

    private record Outcome(int code, String out, String error) {}

    private void succeed(String... arguments)
    {
        Outcome outcome = run(arguments);
        assertThat(outcome.code()).as(outcome.toString()).isEqualTo(ExitCode.OK);
    }

    private Outcome run(String... arguments)
    {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--config", directory.resolve("hosts.yaml").toString()));
        StringWriter out = new StringWriter();
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(out), new PrintWriter(error), false), all.toArray(String[]::new));
        return new Outcome(code, out.toString(), error.toString());
    }

    private static void execute(String... command)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("%s failed: %s".formatted(List.of(command), said));
        }
    }
}
