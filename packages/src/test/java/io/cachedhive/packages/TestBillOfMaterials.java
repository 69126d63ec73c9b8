package io.cachedhive.packages;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.packages.BuiltPackages.Member;
import io.cachedhive.packages.PackageEntry.Access;
import io.cachedhive.packages.PackageEntry.Content;
import io.cachedhive.packages.PackageEntry.File;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import static io.cachedhive.packages.BuiltPackages.DIRECTORY;
import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.BuiltPackages.VERSION;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

@TestInstance(PER_CLASS)
@Tag("slow")
class TestBillOfMaterials
{
    private String text;
    private JsonNode bom;
    /**
     * SHA-256 by the place in the bundle.
     */
    private final Map<String, String> digests = new TreeMap<>();

    @BeforeAll
    void read()
            throws IOException
    {
        text = Files.readString(DIRECTORY.resolve("bom.json"));
        bom = new ObjectMapper().readTree(text);
        for (JsonNode component : bom.get("components")) {
            for (JsonNode occurrence : component.get("evidence").get("occurrences")) {
                assertThat(digests.put(occurrence.get("location").asText(), sha256(component))).isNull();
            }
        }
    }

    private static String sha256(JsonNode component)
    {
        assertThat(component.get("hashes")).hasSize(1);
        assertThat(component.get("hashes").get(0).get("alg").asText()).isEqualTo("SHA-256");
        return component.get("hashes").get(0).get("content").asText();
    }

    @Test
    void testForm()
    {
        assertThat(bom.get("bomFormat").asText()).isEqualTo("CycloneDX");
        assertThat(bom.get("specVersion").asText()).isEqualTo("1.6");
        assertThat(bom.get("metadata").get("component").get("version").asText()).isEqualTo(VERSION);
        // the same jars give the same bytes
        assertThat(bom.has("serialNumber")).isFalse();
        assertThat(bom.get("metadata").has("timestamp")).isFalse();
        assertThat(ROOT.resolve("target/bom.json")).hasContent(text);
    }

    @Test
    void testListsTheJarsOfTheBundleAndNothingElse()
    {
        assertThat(digests).isEqualTo(jars(tarGz("cachedhive-%s".formatted(VERSION)), "cachedhive-%s/".formatted(VERSION))).hasSizeGreaterThan(300);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "cachedhive-worker-%s.tar.gz", "cachedhive-plugin-%s.tar.gz", "cachedhive-admin-%s.tar.gz",
            "cachedhive-worker.deb", "cachedhive-trino-plugin.deb", "cachedhive-admin.deb",
            "cachedhive-worker.rpm", "cachedhive-trino-plugin.rpm", "cachedhive-admin.rpm"})
    void testListsTheJarsOfEachPackage(String name)
            throws Exception
    {
        Map<String, String> files = files(name.formatted(VERSION));

        List<Map.Entry<String, String>> jars = files.entrySet().stream()
                .filter(file -> file.getKey().endsWith(".jar"))
                .map(file -> Map.entry(lastName(file.getKey()), file.getValue()))
                .toList();
        assertThat(jars).isNotEmpty();
        assertThat(digests.entrySet().stream().map(jar -> Map.entry(lastName(jar.getKey()), jar.getValue())).toList()).containsAll(jars);

        // each package has the list itself, and one of two plugins has it twice
        assertThat(files.entrySet().stream().filter(file -> file.getKey().endsWith("/bom.json")).map(Map.Entry::getValue))
                .containsOnly(Checksums.digest("SHA-256", Content.of(text.getBytes(UTF_8))));
    }

    @Test
    void testCoordinates()
            throws IOException
    {
        Map<String, String> coordinates = new TreeMap<>();
        for (JsonNode component : bom.get("components")) {
            for (JsonNode occurrence : component.get("evidence").get("occurrences")) {
                coordinates.put(occurrence.get("location").asText(), "%s:%s:%s".formatted(
                        component.get("group").asText(), component.get("name").asText(), component.get("version").asText()));
            }
        }
        // the jars that carry their own coordinates, and those of nothing else
        int compared = 0;
        try (Stream<Path> jars = Files.list(ROOT.resolve("plugin-cachedhive/target/plugin/cachedhive"))) {
            for (Path jar : jars.toList()) {
                List<Properties> own = ownCoordinates(jar);
                String expected = coordinates.get("plugin/" + jar.getFileName());
                if (own.size() == 1 && expected.contains(":%s:".formatted(own.getFirst().getProperty("artifactId")))) {
                    Properties one = own.getFirst();
                    assertThat(expected).isEqualTo("%s:%s:%s".formatted(one.getProperty("groupId"), one.getProperty("artifactId"), one.getProperty("version")));
                    compared++;
                }
            }
        }
        assertThat(compared).isGreaterThan(100);
        assertThat(text).contains("\"pkg:maven/io.trino/trino-hive@%s?type=jar\"".formatted(coordinates.get("plugin/" + trinoHive(coordinates)).split(":")[2]));
    }

    private static String trinoHive(Map<String, String> coordinates)
    {
        return coordinates.keySet().stream()
                .filter(location -> location.startsWith("plugin/trino-hive-"))
                .map(TestBillOfMaterials::lastName)
                .findFirst().orElseThrow();
    }

    private static List<Properties> ownCoordinates(Path jar)
            throws IOException
    {
        List<Properties> coordinates = new ArrayList<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().filter(entry -> entry.getName().matches("META-INF/maven/.+/pom\\.properties")).toList()) {
                Properties properties = new Properties();
                try (InputStream input = zip.getInputStream(entry)) {
                    properties.load(input);
                }
                coordinates.add(properties);
            }
        }
        return coordinates;
    }

    @Test
    void testMergedLibraries()
    {
        List<JsonNode> tools = nodes(bom.get("components")).stream().filter(component -> component.get("name").asText().equals("cache-admin")).toList();
        assertThat(tools).hasSize(1);
        assertThat(nodes(tools.getFirst().get("components")).stream().map(library -> library.get("name").asText()))
                .contains("admin-cli", "cache-protocol", "jackson-databind", "picocli", "snakeyaml");
        assertThat(tools.getFirst().get("components")).allSatisfy(library -> assertThat(library.has("hashes")).isFalse());
    }

    @Test
    void testJarOfAnEarlierBuildIsRefused()
    {
        BillOfMaterials list = new BillOfMaterials("1");
        PackageTree tree = new PackageTree()
                .addFile("a-1.jar", new File(Content.of(new byte[1]), PackageTree.FILE_MODE, Access.ROOT, false))
                .addFile("a-2.jar", new File(Content.of(new byte[2]), PackageTree.FILE_MODE, Access.ROOT, false));
        assertThatThrownBy(() -> list.addJars("plugin", tree, List.of(new Library("g", "a", "2", ""))))
                .hasMessage("a-1.jar is packaged as plugin/a-1.jar and is not a dependency of its module: an earlier build left it behind, so run mvn clean");
    }

    @Test
    void testListOfLibraries(@TempDir Path directory)
            throws IOException
    {
        Path file = directory.resolve("libraries.txt");
        Files.writeString(file, """

                The following files have been resolved:
                   com.google.guava:guava:jar:33.5.0-jre:compile -- module com.google.common
                   com.google.inject:guice:jar:classes:7.0.0:compile -- module com.google.guice (auto)
                   org.slf4j:slf4j-jdk14:jar:2.0.17:runtime
                   org.example:a:jar:1+b:compile
                """);
        assertThat(Library.readList(file)).extracting(Library::packageUrl).containsExactly(
                "pkg:maven/com.google.guava/guava@33.5.0-jre?type=jar",
                "pkg:maven/com.google.inject/guice@7.0.0?classifier=classes&type=jar",
                "pkg:maven/org.slf4j/slf4j-jdk14@2.0.17?type=jar",
                "pkg:maven/org.example/a@1%2Bb?type=jar");
        assertThat(Library.readList(file).get(1).fileName()).isEqualTo("guice-7.0.0-classes.jar");
    }

    private static List<JsonNode> nodes(JsonNode array)
    {
        List<JsonNode> nodes = new ArrayList<>();
        array.forEach(nodes::add);
        return nodes;
    }

    private static String lastName(String path)
    {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * The digests of a package's files by their paths.
     */
    private static Map<String, String> files(String name)
            throws Exception
    {
        if (name.endsWith(".deb")) {
            return digests(BuiltPackages.readDeb(name.replace(".deb", "")).data());
        }
        if (name.endsWith(".rpm")) {
            return TestRpmPackages.read(name.replace(".rpm", "")).files().entrySet().stream()
                    // directories and links have none
                    .filter(file -> !file.getValue().content().isEmpty())
                    .collect(toMap(Map.Entry::getKey, file -> file.getValue().content()));
        }
        return digests(tarGz(name.replace(".tar.gz", "")));
    }

    private static Map<String, Member> tarGz(String name)
    {
        return BuiltPackages.readTarGz(BuiltPackages.file(name + ".tar.gz"));
    }

    private static Map<String, String> digests(Map<String, Member> members)
    {
        return members.values().stream().filter(Member::isFile).collect(toMap(Member::name, Member::digest));
    }

    private static Map<String, String> jars(Map<String, Member> members, String top)
    {
        return digests(members).entrySet().stream()
                .filter(file -> file.getKey().endsWith(".jar"))
                .collect(toMap(file -> file.getKey().substring(top.length()), Map.Entry::getValue));
    }
}
