package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Access;
import io.cachedhive.packages.PackageEntry.Content;
import io.cachedhive.packages.PackageEntry.File;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * What is in which package, made of what the modules have built.
 */
final class ReleaseContents
{
    /**
     * Where the cache worker of the packages for systems is, and its configuration and data. The unit names them too.
     */
    static final String WORKER_HOME = "usr/lib/cachedhive";
    static final String WORKER_CONFIGURATION = "etc/cachedhive";
    static final String WORKER_DATA = "var/lib/cachedhive";
    static final String UNIT = "usr/lib/systemd/system/cachedhive-worker.service";
    static final String TEMPORARY_FILES = "usr/lib/tmpfiles.d/cachedhive-worker.conf";
    static final String PLUGIN_HOME = "usr/lib/cachedhive-trino";

    private static final List<String> CONFIGURATION_FILES = List.of(
            "config.properties",
            "jvm.config",
            "log.properties",
            "node.properties",
            "origins/default.properties");

    private static final String NO_JAVA_PACKAGE = "The jars are used by this package alone, in the versions that it was tested with.";
    private static final String NEWER_CLASSES = "Debian's lintian does not know the classes of newer Java versions.";
    private static final String NO_MANUAL = "The program explains itself with --help.";

    private final Path root;
    private final String version;
    private final String versions;
    /**
     * Null until it is needed: it reads all jars.
     */
    private String bom;

    /**
     * @param root of the repository
     */
    ReleaseContents(Path root, String version, String trinoVersion)
    {
        this.root = requireNonNull(root, "root is null");
        this.version = requireNonNull(version, "version is null");
        this.versions = ReleaseVersions.format(ReleaseVersions.of(version, trinoVersion));
    }

    String name()
    {
        return "cachedhive-" + version;
    }

    /**
     * What {@code cache-admin install --package} takes; without the checksums of it all.
     */
    PackageTree bundle()
            throws IOException
    {
        return new PackageTree()
                .addTree("worker", worker())
                .addTree("plugin", plugin())
                .addTree("plugin-iceberg", icebergPlugin())
                .addTree("engine-extension", engineExtension())
                .addTree("admin", tool())
                .addText("VERSION", versions)
                .addText(BillOfMaterials.FILE_NAME, billOfMaterials())
                .addFile("LICENSE", root.resolve("LICENSE"), PackageTree.FILE_MODE)
                .addText("README.txt", """
                        cachedhive %s: Trino connectors that read Hive and Iceberg tables through a cache shared by the whole cluster.

                          worker/             the cache worker, one on every host that runs a Trino worker (worker/README.txt)
                          plugin/             copy to plugin/cachedhive of every Trino server
                          plugin-iceberg/     for Iceberg catalogs: copy to plugin/cachediceberg, with the files that its links name
                          engine-extension/   optional, for lib/ of Trino servers: the schema cache in the catalog system
                          admin/              cache-admin, which installs all of that on the hosts of a cluster
                          VERSION             what this is, and which protocol and formats it knows
                          bom.json            every jar in these directories: coordinates and SHA-256 (CycloneDX 1.6)
                          SHA256SUMS          check with: sha256sum --check --quiet SHA256SUMS
                        """.formatted(version));
    }

    /**
     * The list of every jar in the packages, which all of them contain.
     */
    synchronized String billOfMaterials()
            throws IOException
    {
        if (bom == null) {
            BillOfMaterials list = new BillOfMaterials(version);
            list.addJars("worker/lib", workerLibraries().below("lib"), librariesOf("cache-worker-daemon"));
            list.addJars("plugin", pluginLibraries(), librariesOf("plugin-cachedhive"));
            list.addJars("plugin-iceberg", icebergLibraries(), librariesOf("plugin-cachediceberg"));
            list.addJars("engine-extension", engineExtension(), List.of(Library.ofProject("engine-extension", version)));
            list.addMergedJar("admin/lib/cache-admin.jar", (File) toolLibraries().entries().get("lib/cache-admin.jar"), librariesOf("admin-cli"));
            bom = list.toJson();
        }
        return bom;
    }

    /**
     * What the module packages: itself, and its dependencies as the build has resolved them.
     */
    private List<Library> librariesOf(String module)
            throws IOException
    {
        return Stream.concat(
                Stream.of(Library.ofProject(module, version)),
                Library.readList(root.resolve(module).resolve("target/libraries.txt")).stream()).toList();
    }

    private Path workerInstallation()
    {
        return root.resolve("cache-worker-daemon/target/cache-worker-" + version);
    }

    private PackageTree workerLibraries()
    {
        return new PackageTree().addFilesOf("lib", workerInstallation().resolve("lib"));
    }

    PackageTree worker()
            throws IOException
    {
        Path installation = workerInstallation();
        return new PackageTree()
                .addFilesOf("bin", installation.resolve("bin"))
                .addAll(workerLibraries())
                .addText(BillOfMaterials.FILE_NAME, billOfMaterials())
                // not what a cache worker that was started there has left
                .addTree("etc", examples())
                .addFile("README.txt", installation.resolve("README.txt"), PackageTree.FILE_MODE)
                .addFile("LICENSE", root.resolve("LICENSE"), PackageTree.FILE_MODE)
                .addFile("systemd/cachedhive-worker.service", unit(), PackageTree.FILE_MODE)
                .addText("VERSION", versions);
    }

    private PackageTree pluginLibraries()
    {
        PackageTree plugin = new PackageTree().addFilesOf("plugin", root.resolve("plugin-cachedhive/target/plugin/cachedhive"));
        return plugin.below("plugin");
    }

    PackageTree plugin()
            throws IOException
    {
        return pluginLibraries().addText(BillOfMaterials.FILE_NAME, billOfMaterials());
    }

    /**
     * With links to the jars that the other plugin has, too, which are most of all.
     */
    private PackageTree icebergLibraries()
            throws IOException
    {
        Map<String, PackageEntry> shared = pluginLibraries().entries();
        PackageTree all = new PackageTree().addFilesOf("plugin", root.resolve("plugin-cachediceberg/target/plugin/cachediceberg")).below("plugin");
        PackageTree plugin = new PackageTree();
        for (Map.Entry<String, PackageEntry> entry : all.entries().entrySet()) {
            File jar = (File) entry.getValue();
            if (shared.get(entry.getKey()) instanceof File other && Checksums.digest("SHA-256", other.content()).equals(Checksums.digest("SHA-256", jar.content()))) {
                plugin.addLink(entry.getKey(), "../plugin/" + entry.getKey());
            }
            else {
                plugin.addFile(entry.getKey(), jar);
            }
        }
        return plugin;
    }

    PackageTree icebergPlugin()
            throws IOException
    {
        return icebergLibraries().addText(BillOfMaterials.FILE_NAME, billOfMaterials());
    }

    /**
     * All else that it needs is in lib/ of the Trino server.
     */
    PackageTree engineExtension()
    {
        String jar = "engine-extension-%s.jar".formatted(version);
        return new PackageTree().addFile(jar, root.resolve("engine-extension/target").resolve(jar), PackageTree.FILE_MODE);
    }

    private Path toolJar()
    {
        return root.resolve("admin-cli/target/cache-admin.jar");
    }

    private PackageTree toolLibraries()
    {
        return new PackageTree().addFile("lib/cache-admin.jar", toolJar(), PackageTree.FILE_MODE);
    }

    PackageTree tool()
            throws IOException
    {
        return toolLibraries()
                .addFile("bin/cache-admin", program("cache-admin"))
                .addText(BillOfMaterials.FILE_NAME, billOfMaterials())
                .addText("bash-completion/cache-admin", BashCompletion.of(toolJar()))
                .addFile("LICENSE", root.resolve("LICENSE"), PackageTree.FILE_MODE)
                .addText("VERSION", versions);
    }

    /**
     * Everything that is a package of the system.
     */
    List<SystemPackage> systemPackages()
            throws IOException
    {
        return List.of(workerPackage(), pluginPackage(), toolPackage());
    }

    private SystemPackage workerPackage()
            throws IOException
    {
        PackageTree worker = worker();
        PackageTree tree = new PackageTree()
                .addFile(WORKER_HOME + "/bin/cache-worker", (File) worker.entries().get("bin/cache-worker"))
                .addTree(WORKER_HOME + "/lib", worker.below("lib"))
                .addText(WORKER_HOME + "/VERSION", versions)
                .addText(WORKER_HOME + "/" + BillOfMaterials.FILE_NAME, billOfMaterials())
                .addLink("usr/bin/cache-worker", "../lib/cachedhive/bin/cache-worker")
                .addFile(UNIT, unit(), PackageTree.FILE_MODE)
                .addFile(TEMPORARY_FILES, root.resolve("etc/systemd/cachedhive-worker.conf"), PackageTree.FILE_MODE)
                .addDirectory(WORKER_CONFIGURATION, 0750, Access.READ_BY_WORKER)
                .addDirectory(WORKER_CONFIGURATION + "/origins", 0750, Access.READ_BY_WORKER)
                .addDirectory(WORKER_DATA, 0750, Access.WORKER);
        for (Map.Entry<String, String> file : configuration().entrySet()) {
            tree.addFile(WORKER_CONFIGURATION + "/" + file.getKey(), new File(Content.of(file.getValue().getBytes(UTF_8)), 0640, Access.READ_BY_WORKER, true));
        }
        return new SystemPackage(
                "cachedhive-worker",
                version,
                "cache worker of cachedhive, for hosts of Trino workers",
                List.of("cachedhive is a Trino connector that reads Hive tables on object storage through a cache shared by the whole cluster.",
                        "This package has the cache worker, of which one runs on every host that runs a Trino worker. It keeps blocks of remote files"
                                + " in shared memory and on SSD. It needs a Java runtime of version 25 or newer, and is not started by its installation."),
                List.of("passwd"),
                List.of("java25-runtime-headless | temurin-25-jre | openjdk-25-jre-headless"),
                new TreeMap<>(Map.of(
                        "jar-not-in-usr-share", NO_JAVA_PACKAGE,
                        "unknown-java-class-version", NEWER_CLASSES,
                        "no-manual-page", NO_MANUAL,
                        "maintainer-script-calls-systemctl", "The scripts never start a cache worker, and restart only one that runs.",
                        "non-standard-dir-perm", "Configuration may have secrets, and data are the cached bytes: both are for the cache worker alone.",
                        "non-standard-file-perm", "Configuration may have secrets: it is for the cache worker alone.")),
                // bash and useradd
                List.of("bash", "shadow-utils"),
                tree);
    }

    private SystemPackage pluginPackage()
            throws IOException
    {
        return new SystemPackage(
                "cachedhive-trino-plugin",
                version,
                "plugin of cachedhive for Trino servers",
                List.of("cachedhive is a Trino connector that reads Hive tables on object storage through a cache shared by the whole cluster.",
                        "This package has the plugins, which every server of a Trino cluster needs, in /usr/lib/cachedhive-trino/plugin and, for Iceberg catalogs,"
                                + " /usr/lib/cachedhive-trino/plugin-iceberg, and the server extension in /usr/lib/cachedhive-trino/engine-extension."
                                + " Trino loads a plugin by a link in its own plugin directory, which this package does not make."),
                List.of(),
                List.of(),
                new TreeMap<>(Map.of(
                        "jar-not-in-usr-share", NO_JAVA_PACKAGE,
                        "unknown-java-class-version", NEWER_CLASSES)),
                List.of(),
                new PackageTree()
                        .addTree(PLUGIN_HOME + "/plugin", plugin())
                        .addTree(PLUGIN_HOME + "/plugin-iceberg", icebergPlugin())
                        .addTree(PLUGIN_HOME + "/engine-extension", engineExtension())
                        .addText(PLUGIN_HOME + "/VERSION", versions));
    }

    private SystemPackage toolPackage()
            throws IOException
    {
        return new SystemPackage(
                "cachedhive-admin",
                version,
                "cache-admin, which operates the cache workers of many hosts",
                List.of("cachedhive is a Trino connector that reads Hive tables on object storage through a cache shared by the whole cluster.",
                        "This package has its tool. It reaches the hosts by ssh, and needs a Java runtime of version 25 or newer."),
                List.of("openssh-client"),
                List.of("java25-runtime-headless | temurin-25-jre | openjdk-25-jre-headless"),
                new TreeMap<>(Map.of(
                        "jar-not-in-usr-share", NO_JAVA_PACKAGE,
                        "unknown-java-class-version", NEWER_CLASSES,
                        "no-manual-page", NO_MANUAL)),
                List.of("bash", "openssh-clients"),
                new PackageTree()
                        .addFile("usr/lib/cachedhive-admin/bin/cache-admin", program("cache-admin"))
                        .addTree("usr/lib/cachedhive-admin", toolLibraries())
                        .addText("usr/lib/cachedhive-admin/VERSION", versions)
                        .addText("usr/lib/cachedhive-admin/" + BillOfMaterials.FILE_NAME, billOfMaterials())
                        .addText("usr/share/bash-completion/completions/cache-admin", BashCompletion.of(toolJar()))
                        .addLink("usr/bin/cache-admin", "../lib/cachedhive-admin/bin/cache-admin"));
    }

    private PackageTree examples()
            throws IOException
    {
        Path directory = root.resolve("etc/cache-worker");
        try (Stream<Path> files = Files.walk(directory)) {
            List<String> found = files.filter(Files::isRegularFile).map(file -> directory.relativize(file).toString()).sorted().toList();
            if (!found.equals(CONFIGURATION_FILES)) {
                throw new IllegalStateException(
                        "%s has %s, and the packages are made for %s: say in ReleaseContents what becomes of the others".formatted(directory, found, CONFIGURATION_FILES));
            }
        }
        return new PackageTree().addFilesOf("etc", directory).below("etc");
    }

    /**
     * The example configuration, for a cache worker that runs as a user of its own.
     */
    Map<String, String> configuration()
            throws IOException
    {
        Map<String, String> files = new TreeMap<>();
        for (String name : CONFIGURATION_FILES) {
            files.put(name, Files.readString(root.resolve("etc/cache-worker").resolve(name)));
        }
        files.compute("config.properties", (_, text) -> replaceLine(text, "#cache.worker.socket-group=trino", "cache.worker.socket-group=cachedhive-socket"));
        files.compute("node.properties", (_, text) -> replaceLine(text, "#node.data-dir=/var/lib/cachedhive", "node.data-dir=/var/lib/cachedhive"));
        return files;
    }

    private static String replaceLine(String text, String line, String replacement)
    {
        int count = text.split("\n" + line + "\n", -1).length - 1;
        if (count != 1) {
            throw new IllegalStateException("the example configuration has the line %s %s times, and must have it once".formatted(line, count));
        }
        return text.replace("\n" + line + "\n", "\n" + replacement + "\n");
    }

    private Path unit()
    {
        return root.resolve("etc/systemd/cachedhive-worker.service");
    }

    private static File program(String name)
    {
        try (var input = ReleaseContents.class.getResourceAsStream("bin/" + name)) {
            return new File(Content.of(input.readAllBytes()), PackageTree.PROGRAM_MODE, Access.ROOT, false);
        }
        catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
