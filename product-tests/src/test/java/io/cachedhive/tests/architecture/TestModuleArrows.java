package io.cachedhive.tests.architecture;

import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

@Test(groups = "fast", singleThreaded = true)
public class TestModuleArrows
{
    private Path planted;

    @BeforeMethod
    public void createProject()
            throws IOException
    {
        planted = Files.createTempDirectory("module-arrows");
    }

    @AfterMethod(alwaysRun = true)
    public void deleteProject()
            throws IOException
    {
        try (Stream<Path> files = Files.walk(planted)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    public void testProject()
            throws IOException
    {
        List<ProjectModule> modules = ProjectModule.readAll(ProjectModule.findRoot());

        // what would make the rest of this test empty
        assertThat(modules).extracting(ProjectModule::name).contains("cache-protocol", "cache-store", "cache-client", "plugin-core", "plugin-trino", "plugin-cachedhive");
        assertThat(modules).filteredOn(module -> module.name().equals("cache-protocol"))
                .flatExtracting(ProjectModule::mainSources)
                .hasSizeGreaterThan(10);

        assertThat(ModuleArrows.violations(modules)).isEmpty();
    }

    public void testAllowedUses()
            throws IOException
    {
        module("cache-client", dependency("io.cachedhive", "cache-protocol", "compile"));
        source("cache-client", "src/main/java/io/cachedhive/client/A.java", """
                package io.cachedhive.client;

                import io.cachedhive.protocol.ring.HashRing;

                /// Not a use: [io.cachedhive.store.BlockStore].
                class A
                {
                    // nor is io.trino.spi.Plugin
                    String name = "io.trino.spi.Plugin";
                    char quote = '"';
                    String text = \"""
                            io.cachedhive.worker.CacheWorker \\\""" "
                            \""";
                    /* nor io.trino.filesystem.cache.TrinoFileSystemCache */
                }
                """);
        module(
                "plugin-cachedhive",
                dependency("io.cachedhive", "cache-client", "compile"),
                dependency("io.cachedhive", "cache-worker-daemon", "test"),
                dependency("io.trino", "trino-spi", "provided"));
        importingSource("plugin-cachedhive", "src/main/java/io/cachedhive/hive/binding/B.java", "io.trino.plugin.hive.HiveSplit");
        importingSource("plugin-cachedhive", "src/test/java/io/cachedhive/hive/binding/TestB.java", "io.cachedhive.worker.CacheWorker");

        assertThat(violations("cache-client", "plugin-cachedhive")).isEmpty();
    }

    public void testForbiddenDependency()
            throws IOException
    {
        module("cache-client", dependency("io.cachedhive", "cache-store", "compile"));

        assertThat(violations("cache-client")).containsExactly("cache-client/pom.xml: cache-client may not depend on cache-store");
    }

    public void testForbiddenProvidedDependency()
            throws IOException
    {
        module("plugin-cachedhive", dependency("io.cachedhive", "cache-store", "provided"));

        assertThat(violations("plugin-cachedhive")).containsExactly("plugin-cachedhive/pom.xml: plugin-cachedhive may not depend on cache-store");
    }

    public void testForbiddenTrinoDependency()
            throws IOException
    {
        module("cache-worker-daemon", dependency("io.trino", "trino-filesystem-s3", "test"));

        assertThat(violations("cache-worker-daemon")).containsExactly("cache-worker-daemon/pom.xml: cache-worker-daemon may not depend on Trino, but names trino-filesystem-s3");
    }

    public void testForbiddenImport()
            throws IOException
    {
        // reached through a dependency of a dependency: the pom does not show it
        module("admin-cli");
        importingSource("admin-cli", "src/main/java/io/cachedhive/admin/A.java", "io.cachedhive.worker.CacheWorker");

        assertThat(violations("admin-cli")).containsExactly(
                "admin-cli/src/main/java/io/cachedhive/admin/A.java:3: admin-cli may not use cache-worker-daemon, but names io.cachedhive.worker.CacheWorker");
    }

    public void testForbiddenStaticImportAndFullName()
            throws IOException
    {
        module("cache-protocol");
        source("cache-protocol", "src/main/java/io/cachedhive/protocol/A.java", """
                package io.cachedhive.protocol;

                import static io.cachedhive.store.Fill.begin;

                class A
                {
                    Object plugin = new io.trino.spi.Plugin() {};
                }
                """);

        assertThat(violations("cache-protocol")).containsExactly(
                "cache-protocol/src/main/java/io/cachedhive/protocol/A.java:3: cache-protocol may not use cache-store, but names io.cachedhive.store.Fill.begin",
                "cache-protocol/src/main/java/io/cachedhive/protocol/A.java:7: cache-protocol may not use Trino, but names io.trino.spi.Plugin");
    }

    public void testForbiddenTrinoInTests()
            throws IOException
    {
        module("cache-store");
        importingSource("cache-store", "src/test/java/io/cachedhive/store/TestA.java", "io.trino.spi.Page");

        assertThat(violations("cache-store")).containsExactly(
                "cache-store/src/test/java/io/cachedhive/store/TestA.java:3: cache-store may not use Trino, but names io.trino.spi.Page");
    }

    public void testForeignPackage()
            throws IOException
    {
        module("cache-client");
        source("cache-client", "src/main/java/io/cachedhive/clients/A.java", "package io.cachedhive.clients;\nclass A {}\n");

        assertThat(violations("cache-client")).containsExactly(
                "cache-client/src/main/java/io/cachedhive/clients/A.java: is in package io.cachedhive.clients, but cache-client is all in io.cachedhive.client");
    }

    public void testFileSystemCacheInTwoPackages()
            throws IOException
    {
        module("plugin-trino");
        importingSource("plugin-trino", "src/main/java/io/cachedhive/trino/a/A.java", "io.trino.filesystem.cache.TrinoFileSystemCache");
        importingSource("plugin-trino", "src/main/java/io/cachedhive/trino/b/B.java", "io.trino.filesystem.cache.CacheKeyProvider");
        module("engine-extension");
        importingSource("engine-extension", "src/main/java/io/cachedhive/engine/C.java", "io.trino.filesystem.cache.CacheKeyProvider");

        assertThat(violations("plugin-trino", "engine-extension")).containsExactly(
                "engine-extension/src/main/java/io/cachedhive/engine/C.java: only plugin-trino may use io.trino.filesystem.cache",
                "io.trino.filesystem.cache is used in more than one package: io.cachedhive.trino.a, io.cachedhive.trino.b");
    }

    public void testConnectorInPluginForAll()
            throws IOException
    {
        module("plugin-trino", dependency("io.trino", "trino-hive", "test"));
        importingSource("plugin-trino", "src/main/java/io/cachedhive/trino/A.java", "io.trino.plugin.hive.HiveSplit");

        assertThat(violations("plugin-trino")).containsExactly(
                "plugin-trino/pom.xml: plugin-trino may not depend on a connector, but names trino-hive",
                "plugin-trino/src/main/java/io/cachedhive/trino/A.java:3: plugin-trino may not use a connector, but names io.trino.plugin.hive.HiveSplit");
    }

    public void testTrinoInPluginCore()
            throws IOException
    {
        module("plugin-core");
        importingSource("plugin-core", "src/main/java/io/cachedhive/plugin/A.java", "io.trino.spi.HostAddress");

        assertThat(violations("plugin-core")).containsExactly(
                "plugin-core/src/main/java/io/cachedhive/plugin/A.java:3: plugin-core may not use Trino, but names io.trino.spi.HostAddress");
    }

    public void testUnknownModule()
            throws IOException
    {
        module("extras");

        assertThat(violations("extras")).containsExactly("module extras has no rule: say in ModuleArrows what it may use");
    }

    private List<String> violations(String... modules)
            throws IOException
    {
        StringBuilder pom = new StringBuilder("<project><modules>");
        for (String module : modules) {
            pom.append("<module>").append(module).append("</module>");
        }
        Files.writeString(planted.resolve("pom.xml"), pom.append("</modules></project>"));
        return ModuleArrows.violations(ProjectModule.readAll(planted));
    }

    private void module(String name, String... dependencies)
            throws IOException
    {
        Files.createDirectory(planted.resolve(name));
        Files.writeString(planted.resolve(name).resolve("pom.xml"), "<project><dependencies>%s</dependencies></project>".formatted(String.join("", dependencies)));
    }

    private static String dependency(String groupId, String artifactId, String scope)
    {
        return "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><scope>%s</scope></dependency>".formatted(groupId, artifactId, scope);
    }

    private void importingSource(String module, String path, String imported)
            throws IOException
    {
        String packageName = path.substring(path.indexOf("io/"), path.lastIndexOf('/')).replace('/', '.');
        source(module, path, "package %s;\n\nimport %s;\n\nclass A {}\n".formatted(packageName, imported));
    }

    private void source(String module, String path, String text)
            throws IOException
    {
        Path file = planted.resolve(module).resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
