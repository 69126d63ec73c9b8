package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.ssh.RemoteResult;
import io.cachedhive.admin.ssh.RemoteScript;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.cachedhive.admin.ssh.RemoteScript.base64;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The scripts as root, in directories of users who laid links there: nothing outside of these directories changes.
 */
@Tag("slow")
class TestDirectoriesOfOthers
{
    private static final String USER = "nobody";
    private static final String OTHER_USER = "daemon";

    @TempDir
    private Path directory;

    private Path trino;
    private Path catalogs;
    private Path install;
    private Path outside;

    @BeforeEach
    void setUp()
            throws Exception
    {
        assumeTrue("root".equals(System.getProperty("user.name")), "needs root");
        // the users may enter
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        install = directory.resolve("opt");
        trino = Files.createDirectory(directory.resolve("trino"));
        catalogs = Files.createDirectories(trino.resolve("etc/catalog"));
        for (String name : List.of("lib", "bin", "plugin", "var")) {
            Files.createDirectory(trino.resolve(name));
        }
        own(trino.resolve("var"), USER);
        outside = Files.createDirectory(directory.resolve("outside"));
        Files.createDirectory(outside.resolve("directory"));
        for (String name : List.of("linked", "hard", "part", "directory/lake.properties", "superblock")) {
            Files.writeString(outside.resolve(name), "CHVSUPER of root");
            Files.setPosixFilePermissions(outside.resolve(name), PosixFilePermissions.fromString("rw-r--r--"));
        }
    }

    @Test
    void testLinksInPlaceOfCatalogs()
            throws Exception
    {
        link("linked.properties", outside.resolve("linked"));
        link("dangling.properties", outside.resolve("created"));
        link("linked.properties.cache-admin", outside.resolve("part"));
        Files.createLink(catalogs.resolve("hard.properties"), outside.resolve("hard"));
        own(catalogs, USER);
        Map<String, String> before = snapshot(outside);
        Map<String, String> links = snapshot(catalogs);

        RemoteScript install = script("install.sh").call("prepare");
        List<String> names = List.of("linked", "dangling", "hard", "fresh");
        names.forEach(name -> install.call("put_trino", catalogs.resolve(name + ".properties").toString(), base64("secret of " + name)));
        assertThat(bash(install).facts()).doesNotContainKey("problem");

        assertThat(snapshot(outside)).isEqualTo(before);
        for (String name : names) {
            Path catalog = catalogs.resolve(name + ".properties");
            PosixFileAttributes attributes = Files.readAttributes(catalog, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            assertThat(attributes.isRegularFile()).isTrue();
            assertThat(attributes.owner()).hasToString(USER);
            assertThat(PosixFilePermissions.toString(attributes.permissions())).as(name).endsWith("---");
            assertThat(catalog).hasContent("secret of " + name);
        }
        assertThat(Files.getPosixFilePermissions(this.install.resolve("kept"))).isEqualTo(PosixFilePermissions.fromString("rwx------"));

        assertThat(bash(script("uninstall.sh").set("PURGE", "no").call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(snapshot(outside)).isEqualTo(before);
        // a file that root owned is its directory's owner's now, as only this user puts it back
        assertThat(snapshot(catalogs).keySet()).isEqualTo(links.keySet());
        assertThat(Files.readSymbolicLink(catalogs.resolve("dangling.properties"))).isEqualTo(outside.resolve("created"));
        assertThat(this.install).doesNotExist();
    }

    @Test
    void testTrinoOfRoot()
            throws Exception
    {
        own(trino.resolve("var"), "root");
        own(catalogs, USER);
        bash(script("install.sh").call("prepare").call("put_trino", catalogs.resolve("lake.properties").toString(), base64("secret")));
        // it reads every file, and nothing runs with its group as the user of the directory
        assertThat(Files.readAttributes(catalogs.resolve("lake.properties"), PosixFileAttributes.class)).satisfies(attributes -> {
            assertThat(attributes.group()).hasToString("nogroup");
            assertThat(PosixFilePermissions.toString(attributes.permissions())).isEqualTo("rw-------");
        });
    }

    @Test
    void testLinkInPlaceOfTheDirectory()
            throws Exception
    {
        Files.delete(catalogs);
        Files.createSymbolicLink(catalogs, outside.resolve("directory"));
        own(trino.resolve("etc"), USER);
        own(catalogs, USER);
        Map<String, String> before = snapshot(outside);

        RemoteResult result = bash(script("install.sh").call("prepare").call("put_trino", catalogs.resolve("lake.properties").toString(), base64("secret")));

        assertThat(result.facts().get("problem")).contains("belongs to root, and ", " above it to " + USER, "let one user own both");
        assertThat(snapshot(outside)).isEqualTo(before);
    }

    @Test
    void testDirectoryOfSecondUser()
            throws Exception
    {
        own(trino.resolve("etc"), USER);
        own(catalogs, OTHER_USER);
        RemoteScript put = script("install.sh").call("prepare").call("put_trino", catalogs.resolve("lake.properties").toString(), base64("secret"));
        assertThat(bash(put).facts().get("problem")).contains(catalogs + " belongs to " + OTHER_USER, "let one user own both");
        // install looks before it changes anything
        assertThat(bash(facts()).facts().get("trino.unsafe")).contains(catalogs + " belongs to " + OTHER_USER);

        own(trino.resolve("etc"), "root");
        own(catalogs, "root");
        Files.setPosixFilePermissions(catalogs, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(bash(put).facts().get("problem")).contains(catalogs + " belongs to root, and other users may write there", "chmod go-w");
        assertThat(bash(facts()).facts().get("trino.unsafe")).contains(catalogs + " belongs to root, and other users may write there");
        assertThat(catalogs).isEmptyDirectory();
        Files.setPosixFilePermissions(catalogs, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(bash(facts()).facts()).doesNotContainKey("trino.unsafe");
    }

    /**
     * The user exchanges the directory after it was looked at.
     */
    @Test
    void testDirectoryThatIsExchanged()
            throws Exception
    {
        Map<String, String> before = snapshot(outside);
        String looked = "find_controller() { controller=65534; }; inside_group=0; ";
        RemoteResult result = bash(script("install.sh").call("eval", looked + "inside '%s' ': > created' < /dev/null".formatted(outside.resolve("directory"))));
        assertThat(result.facts().get("problem")).contains("it became the directory of another user");
        assertThat(snapshot(outside)).isEqualTo(before);

        // and what runs there has the rights of this user alone
        RemoteResult rights = bash(script("install.sh").call("eval",
                "controller=65534; as 65534 65534 bash -c 'echo rights=$(id -u):$(id -g):$(id -G); : > \"$0\"' '%s'".formatted(outside.resolve("directory/created"))));
        assertThat(rights.facts()).containsEntry("rights", "65534:65534:65534");
        assertThat(snapshot(outside)).isEqualTo(before);
    }

    @Test
    void testPluginAndMainClass()
            throws Exception
    {
        Path plugins = trino.resolve("plugin");
        Files.createSymbolicLink(plugins.resolve("cachedhive"), outside.resolve("directory"));
        Files.createSymbolicLink(plugins.resolve("cachedhive.cache-admin"), outside.resolve("directory"));
        Path properties = trino.resolve("bin/launcher.properties");
        Files.createLink(properties, outside.resolve("hard"));
        for (Path owned : List.of(plugins, plugins.resolve("cachedhive"), plugins.resolve("cachedhive.cache-admin"), trino.resolve("bin"))) {
            own(owned, USER);
        }
        Map<String, String> before = snapshot(outside);

        RemoteResult installed = bash(script("install.sh").call("prepare")
                .call("link", plugins.resolve("cachedhive").toString(), install + "/releases/1/plugin")
                .call("main_class", "Ours"));

        assertThat(installed.facts()).doesNotContainKey("problem");
        assertThat(Files.readSymbolicLink(plugins.resolve("cachedhive"))).isEqualTo(install.resolve("releases/1/plugin"));
        assertThat(properties).content().endsWith("main-class=Ours\n");
        assertThat(snapshot(outside)).isEqualTo(before);
        assertThat(bash(script("uninstall.sh").set("PURGE", "no").call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(Files.readSymbolicLink(plugins.resolve("cachedhive"))).isEqualTo(outside.resolve("directory"));
        assertThat(properties).hasContent("CHVSUPER of root");
        assertThat(snapshot(outside)).isEqualTo(before);
    }

    /**
     * The main class is changed in a file whose other lines stay: those of a file that only root reads must not end in a file of the user.
     */
    @Test
    void testLinkInPlaceOfMainClass()
            throws Exception
    {
        Path file = Files.writeString(outside.resolve("shadow"), "of root alone\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Path properties = Files.createSymbolicLink(trino.resolve("bin/launcher.properties"), file);
        own(properties, USER);
        own(trino.resolve("bin"), USER);
        RemoteScript install = script("install.sh").call("main_class", "Ours");
        Map<String, String> before = snapshot(directory);

        RemoteResult installed = bash(install);

        assertThat(installed.facts().get("problem")).contains(properties + " cannot be read by " + USER, "let this user read it");
        assertThat(snapshot(directory)).isEqualTo(before);
    }

    /**
     * A user decides what is in an archive that this user writes, such as a program with the rights of the user who unpacks it.
     */
    @Test
    void testDirectoryOfAnotherUserThanBefore()
            throws Exception
    {
        Path catalog = Files.writeString(catalogs.resolve("lake.properties"), "of the user");
        own(catalog, USER);
        own(catalogs, USER);
        RemoteScript put = script("install.sh").call("prepare").call("put_trino", catalog.toString(), base64("secret"));
        assertThat(bash(put).facts()).doesNotContainKey("problem");

        for (String user : List.of("root", OTHER_USER)) {
            own(catalogs, user);
            RemoteScript uninstall = script("uninstall.sh").set("PURGE", "no").call("uninstall");
            assertThat(bash(uninstall).facts().get("problem")).contains(catalogs + " belonged to " + USER, "controlled by " + user + " now: give it back with chown");
            assertThat(catalog).hasContent("secret");
        }
        own(catalogs, USER);
        assertThat(bash(script("uninstall.sh").set("PURGE", "no").call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(catalog).hasContent("of the user");
    }

    @Test
    void testDirectoriesOfTheCacheWorker()
            throws Exception
    {
        Path ssd = directory.resolve("ssd");
        RemoteScript directories = script("install.sh").call("prepare")
                .call("data_directory", ssd.toString(), "0750")
                .call("data_directory", install + "/data", "0750")
                .call("put_owned", install + "/etc/config.properties", base64("secret"));
        assertThat(bash(directories).facts()).doesNotContainKey("problem");
        assertThat(Files.readAttributes(ssd, PosixFileAttributes.class)).satisfies(attributes -> {
            assertThat(attributes.owner()).hasToString(USER);
            assertThat(PosixFilePermissions.toString(attributes.permissions())).isEqualTo("rwxr-x---");
        });
        assertThat(bash(directories).values("change")).isEmpty();

        // the user of the cache worker lays links, in places where root removes and reads files
        Files.createSymbolicLink(ssd.resolve("superblock"), outside.resolve("superblock"));
        Files.createSymbolicLink(ssd.resolve("lock"), outside.resolve("created"));
        Files.createDirectories(install.resolve("data/var"));
        Files.createSymbolicLink(install.resolve("data/var/log"), Files.createDirectory(outside.resolve("log"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        Files.writeString(outside.resolve("log/server.log"), "of root alone\n");
        Map<String, String> before = snapshot(outside);
        assertThat(bash(script("service.sh").call("eval", "worker_log server 10; start_problem")).output()).doesNotContain("of root alone");
        assertThat(bash(script("uninstall.sh").set("PURGE", "yes").call("uninstall")).facts()).doesNotContainKey("problem");
        assertThat(ssd).doesNotExist();
        assertThat(snapshot(outside)).isEqualTo(before);
    }

    @Test
    void testWhatRootAloneCanReadIsNotShown()
            throws Exception
    {
        Path file = Files.writeString(outside.resolve("shadow"), "of root alone");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        link("lake.properties", file);
        Path own = Files.writeString(catalogs.resolve("own.properties"), "of the user");
        own(catalogs, USER);

        RemoteResult shown = bash(script("service.sh").call("show_files", catalogs.resolve("lake.properties").toString(), own.toString()));

        assertThat(shown.facts()).containsOnly(Map.entry("content:" + own, base64("of the user")));
    }

    @Test
    void testInstallDirectoryOfAnotherUser()
            throws Exception
    {
        Files.createDirectory(install);
        own(install, USER);
        for (RemoteScript script : List.of(
                script("install.sh").call("prepare"),
                script("service.sh").set("WAIT_SECONDS", 1).call("stop"),
                script("uninstall.sh").set("PURGE", "yes").call("uninstall"))) {
            assertThat(bash(script).facts().get("problem")).contains("install-directory " + install + " is in " + install + ", which belongs to " + USER);
        }
        assertThat(install).isEmptyDirectory();
    }

    private void link(String name, Path target)
            throws IOException
    {
        own(Files.createSymbolicLink(catalogs.resolve(name), target), USER);
    }

    private static void own(Path path, String user)
            throws IOException
    {
        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setOwner(path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user));
    }

    /// Of everything below: owner, group, mode, and content.
    private static Map<String, String> snapshot(Path root)
            throws IOException
    {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.toList()) {
                PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                String content = attributes.isSymbolicLink() ? "link " + Files.readSymbolicLink(path) : attributes.isDirectory() ? "directory" : Files.readString(path);
                files.put(path.toString(), "%s:%s %s %s".formatted(
                        attributes.owner(), attributes.group(), PosixFilePermissions.toString(attributes.permissions()), content));
            }
        }
        return files;
    }

    private RemoteScript facts()
            throws Exception
    {
        return HostScripts.facts(host(), Optional.empty(), List.of(), List.of());
    }

    private RemoteScript script(String name)
            throws Exception
    {
        return HostScripts.script(host(), name).set("DRY_RUN", "no");
    }

    private ClusterHost host()
            throws Exception
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), """
                workers: [127.0.0.1]
                service: launcher
                install-directory: %s
                trino-home: %s
                run-as: %s
                ram-directory: %s
                socket-path: %s/s/w.sock
                ssd: [{directory: %s/ssd, size: 1GB}]
                """.formatted(install, trino, USER, outside, directory, directory));
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
