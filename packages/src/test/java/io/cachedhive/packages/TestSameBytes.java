package io.cachedhive.packages;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.zip.ZipFile;

import static io.cachedhive.packages.BuiltPackages.DIRECTORY;
import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.BuiltPackages.VERSION;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Packages of the same files have the same bytes, whenever they are made. The large ones, of the plugin, are made by the same code and are not made again here.
 */
@Tag("slow")
class TestSameBytes
{
    @TempDir
    private Path directory;

    @Test
    void testMadeAgain()
            throws IOException
    {
        Archives archives = new Archives(timestamp());
        ReleaseContents contents = new ReleaseContents(ROOT, VERSION, trinoVersion());
        String worker = "cachedhive-worker-" + VERSION;
        archives.writeTarGz(directory.resolve(worker + ".tar.gz"), worker + "/", contents.worker());
        List<SystemPackage> systemPackages = contents.systemPackages().stream()
                .filter(systemPackage -> !systemPackage.name().contains("plugin"))
                .toList();
        assertThat(systemPackages).hasSize(2);
        for (SystemPackage systemPackage : systemPackages) {
            new DebianPackage(archives).write(directory.resolve(DebianPackage.fileName(systemPackage)), systemPackage);
            new RpmPackage(archives.timestamp()).write(directory.resolve(RpmPackage.fileName(systemPackage)), systemPackage);
        }

        try (var files = Files.list(directory)) {
            List<Path> made = files.sorted().toList();
            assertThat(made).hasSize(5);
            assertThat(made).allSatisfy(file -> assertThat(Files.mismatch(file, DIRECTORY.resolve(file.getFileName()))).isEqualTo(-1));
        }
    }

    @Test
    void testJarsHaveTheTimeOfTheBuild()
            throws IOException
    {
        Path jar = ROOT.resolve("cache-worker-daemon/target/cache-worker-daemon-%s.jar".formatted(VERSION));
        try (var zip = new ZipFile(jar.toFile())) {
            assertThat(zip.stream().map(entry -> entry.getLastModifiedTime().toInstant()).distinct().toList()).hasSize(1);
        }
    }

    /**
     * The one of the build, as it stands in what it made.
     */
    private static Instant timestamp()
            throws IOException
    {
        var first = BuiltPackages.readTarGz(BuiltPackages.file("cachedhive-admin-%s.tar.gz".formatted(VERSION))).values().iterator().next();
        return first.header().getLastModifiedTime().toInstant();
    }

    private static String trinoVersion()
            throws IOException
    {
        String file = "cachedhive-admin-%s/VERSION".formatted(VERSION);
        Properties versions = new Properties();
        versions.load(new StringReader(BuiltPackages.readTarGz(BuiltPackages.file("cachedhive-admin-%s.tar.gz".formatted(VERSION))).get(file).text()));
        return versions.getProperty("trino.version");
    }
}
