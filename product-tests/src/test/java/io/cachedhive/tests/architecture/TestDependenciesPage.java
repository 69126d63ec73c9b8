package io.cachedhive.tests.architecture;

import io.cachedhive.tests.architecture.ProjectModule.Dependency;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/dependencies.md} to the dependencies that the modules declare.
 */
@Test(groups = "fast")
public class TestDependenciesPage
{
    /**
     * The modules that are packaged together with their dependencies. The server extension is packaged without them: the server has them.
     */
    private static final Set<String> PACKAGED = Set.of(
            "cache-protocol",
            "cache-store",
            "cache-transport",
            "cache-client",
            "cache-rules",
            "cache-worker-daemon",
            "plugin-core",
            "plugin-trino",
            "plugin-cachedhive",
            "plugin-cachediceberg",
            "admin-cli");

    public void testMainScope()
            throws IOException
    {
        Map<String, String> expected = new TreeMap<>();
        for (ProjectModule module : ProjectModule.readAll(ProjectModule.findRoot())) {
            thirdParty(module).filter(dependency -> !dependency.isForTestsOnly()).forEach(dependency -> {
                boolean packaged = PACKAGED.contains(module.name()) && !dependency.scope().equals("provided");
                expected.merge(name(dependency), packaged ? "Yes" : "No", (left, right) -> left.equals("Yes") ? left : right);
            });
        }
        Map<String, String> documented = new TreeMap<>();
        for (List<String> row : rows("Main scope")) {
            assertThat(row).as("%s", row).hasSize(3);
            assertThat(documented.put(row.get(0), row.get(1))).as(row.getFirst()).isNull();
            assertThat(row.get(2)).as(row.getFirst()).isNotBlank();
        }
        assertThat(documented).isEqualTo(expected).hasSizeGreaterThan(30);
    }

    public void testTestScope()
            throws IOException
    {
        Set<String> expected = new TreeSet<>();
        for (ProjectModule module : ProjectModule.readAll(ProjectModule.findRoot())) {
            thirdParty(module).filter(Dependency::isForTestsOnly).map(TestDependenciesPage::name).forEach(expected::add);
        }
        Set<String> documented = new TreeSet<>();
        for (List<String> row : rows("Test scope")) {
            assertThat(row).as("%s", row).hasSize(2);
            assertThat(documented.add(row.getFirst())).as(row.getFirst()).isTrue();
            assertThat(row.get(1)).as(row.getFirst()).isNotBlank();
        }
        assertThat(documented).isEqualTo(expected).hasSizeGreaterThan(10);
    }

    private static Stream<Dependency> thirdParty(ProjectModule module)
    {
        return module.dependencies().stream().filter(dependency -> !dependency.groupId().equals("io.cachedhive"));
    }

    private static String name(Dependency dependency)
    {
        return "`%s:%s`".formatted(dependency.groupId(), dependency.artifactId());
    }

    /**
     * The rows of the table in a section, without its header.
     */
    private static List<List<String>> rows(String section)
            throws IOException
    {
        String page = Files.readString(ProjectModule.findRoot().resolve("docs/dependencies.md"));
        Matcher matcher = Pattern.compile("(?ms)^## %s\n(.*?)(?=^## |\\z)".formatted(section)).matcher(page);
        assertThat(matcher.find()).as("the page has the section %s", section).isTrue();
        return matcher.group(1).lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
                .toList();
    }
}
