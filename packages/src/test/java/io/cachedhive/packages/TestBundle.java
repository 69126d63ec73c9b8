package io.cachedhive.packages;

import io.cachedhive.packages.BuiltPackages.Member;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.Message;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.BuiltPackages.VERSION;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

@TestInstance(PER_CLASS)
@Tag("slow")
class TestBundle
{
    private static final String TOP = "cachedhive-%s/".formatted(VERSION);

    private Map<String, Member> bundle;

    @BeforeAll
    void read()
    {
        bundle = BuiltPackages.readTarGz(BuiltPackages.bundle());
    }

    @Test
    void testWhatIsInIt()
    {
        assertThat(bundle.keySet()).allMatch(name -> name.startsWith(TOP));
        for (String file : List.of(
                "VERSION",
                "SHA256SUMS",
                "LICENSE",
                "README.txt",
                "worker/README.txt",
                "worker/VERSION",
                "worker/lib/cache-worker-daemon-%s.jar".formatted(VERSION),
                "worker/lib/cache-store-%s.jar".formatted(VERSION),
                "worker/etc/config.properties",
                "worker/etc/jvm.config",
                "worker/etc/log.properties",
                "worker/etc/node.properties",
                "worker/etc/origins/default.properties",
                "worker/bin/launcher.properties",
                "worker/systemd/cachedhive-worker.service",
                "plugin/plugin-cachedhive-%s.jar".formatted(VERSION),
                "plugin/plugin-core-%s.jar".formatted(VERSION),
                "plugin/plugin-trino-%s.jar".formatted(VERSION),
                "plugin/cache-client-%s.jar".formatted(VERSION),
                "plugin/cache-transport-%s.jar".formatted(VERSION),
                "plugin-iceberg/plugin-cachediceberg-%s.jar".formatted(VERSION),
                "engine-extension/engine-extension-%s.jar".formatted(VERSION),
                "admin/lib/cache-admin.jar",
                "admin/bash-completion/cache-admin")) {
            assertThat(bundle).containsKey(TOP + file);
            assertThat(bundle.get(TOP + file).header().getMode() & 0777).describedAs(file).isEqualTo(0644);
        }
        for (String program : List.of("worker/bin/cache-worker", "worker/bin/launcher", "worker/bin/linux-amd64/launcher", "admin/bin/cache-admin")) {
            assertThat(bundle).containsKey(TOP + program);
            assertThat(bundle.get(TOP + program).header().getMode() & 0777).describedAs(program).isEqualTo(0755);
        }
        // jars that both plugins need are there once
        assertThat(bundle).containsKey(TOP + "plugin-iceberg/plugin-core-%s.jar".formatted(VERSION));
        assertThat(bundle.get(TOP + "plugin-iceberg/plugin-core-%s.jar".formatted(VERSION)).header().getLinkName())
                .isEqualTo("../plugin/plugin-core-%s.jar".formatted(VERSION));
        // the server has these, and a second one in the plugin would be another class
        assertThat(bundle.keySet()).noneMatch(name -> name.startsWith(TOP + "plugin/trino-spi-") || name.startsWith(TOP + "plugin/slice-"));
    }

    @Test
    void testNothingOfItDependsOnTheBuild()
    {
        assertThat(bundle.keySet().stream().map(name -> name.replaceAll("/$", ""))).isSorted();
        assertThat(bundle.values()).extracting(member -> member.header().getLastModifiedTime()).containsOnly(bundle.get(TOP).header().getLastModifiedTime());
        assertThat(bundle.values()).extracting(member -> member.header().getLongUserId()).containsOnly(0L);
        assertThat(bundle.values()).extracting(member -> member.header().getLongGroupId()).containsOnly(0L);
        assertThat(bundle.values()).extracting(member -> member.header().getUserName()).containsOnly("root");
        assertThat(bundle.values()).extracting(member -> member.header().getGroupName()).containsOnly("root");
    }

    @Test
    void testChecksums()
    {
        Map<String, String> sums = bundle.get(TOP + "SHA256SUMS").text().lines()
                .map(line -> line.split(" {2}", 2))
                .collect(toMap(line -> line[1], line -> line[0], (_, second) -> second, TreeMap::new));
        Map<String, String> expected = bundle.values().stream()
                .filter(member -> member.isFile() && !member.name().equals(TOP + "SHA256SUMS"))
                .collect(toMap(member -> member.name().substring(TOP.length()), Member::digest, (_, second) -> second, TreeMap::new));
        assertThat(sums).isEqualTo(expected).hasSizeGreaterThan(300);
    }

    @Test
    void testVersions()
            throws IOException
    {
        Properties versions = new Properties();
        versions.load(new StringReader(bundle.get(TOP + "VERSION").text()));
        assertThat(versions).containsOnlyKeys(
                "version",
                "trino.version",
                "java.oldest",
                "wire.protocol.oldest",
                "wire.protocol.newest",
                "ssd.format.oldest",
                "ssd.format.newest",
                "shared-memory.layout");
        assertThat(versions)
                .containsEntry("version", VERSION)
                .containsEntry("java.oldest", "25")
                .containsEntry("wire.protocol.oldest", String.valueOf(Message.MIN_VERSION))
                .containsEntry("wire.protocol.newest", String.valueOf(Message.MAX_VERSION))
                .containsEntry("ssd.format.oldest", String.valueOf(SsdFormat.CURRENT.oldest()))
                .containsEntry("ssd.format.newest", String.valueOf(SsdFormat.CURRENT.newest()))
                .containsEntry("shared-memory.layout", String.valueOf(MemoryLayout.LAYOUT_VERSION));
        // the Trino that the plugin was made with
        assertThat(bundle).containsKey(TOP + "plugin/trino-hive-%s.jar".formatted(versions.getProperty("trino.version")));
        // what the pages say about the formats
        assertThat(Files.readString(ROOT.resolve("docs/formats/wire.md"))).contains("Version %s.".formatted(versions.getProperty("wire.protocol.newest")));
        assertThat(Files.readString(ROOT.resolve("docs/formats/ssd.md"))).contains("Format version %s of".formatted(versions.getProperty("ssd.format.newest")));
        assertThat(Files.readString(ROOT.resolve("docs/formats/shared-memory.md"))).contains("Layout version %s.".formatted(versions.getProperty("shared-memory.layout")));
        assertThat(bundle.get(TOP + "worker/VERSION").text()).isEqualTo(bundle.get(TOP + "VERSION").text());
    }

    @Test
    void testCompletionKnowsTheCommands()
    {
        assertThat(bundle.get(TOP + "admin/bash-completion/cache-admin").text())
                .doesNotStartWith("#!")
                .contains("complete -F _complete_cache-admin")
                .contains("status")
                .contains("stats");
    }

    @Test
    void testSeparatePackagesAreTheSame()
    {
        assertThat(files("cachedhive-plugin-%s.tar.gz".formatted(VERSION), "cachedhive/")).isEqualTo(filesOfBundle("plugin/"));
        assertThat(files("cachedhive-worker-%s.tar.gz".formatted(VERSION), "cachedhive-worker-%s/".formatted(VERSION))).isEqualTo(filesOfBundle("worker/"));
        assertThat(files("cachedhive-admin-%s.tar.gz".formatted(VERSION), "cachedhive-admin-%s/".formatted(VERSION))).isEqualTo(filesOfBundle("admin/"));
    }

    @Test
    void testPageNamesEverything()
            throws IOException
    {
        String page = Files.readString(ROOT.resolve("docs/operations/packages.md"));
        Set<String> parts = bundle.keySet().stream()
                .map(name -> name.substring(TOP.length()).replaceAll("(?<=/).*", ""))
                .filter(name -> !name.isEmpty())
                .collect(toSet());
        assertThat(new TreeSet<>(parts)).allSatisfy(part -> assertThat(page).contains("`%s`".formatted(part)));
    }

    private Map<String, String> filesOfBundle(String directory)
    {
        return digests(bundle, TOP + directory);
    }

    private static Map<String, String> files(String archive, String top)
    {
        return digests(BuiltPackages.readTarGz(BuiltPackages.file(archive)), top);
    }

    private static Map<String, String> digests(Map<String, Member> members, String directory)
    {
        return members.values().stream()
                .filter(member -> member.isFile() && member.name().startsWith(directory))
                .collect(toMap(member -> member.name().substring(directory.length()), Member::digest));
    }
}
