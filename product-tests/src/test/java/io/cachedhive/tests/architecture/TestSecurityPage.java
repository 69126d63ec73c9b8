package io.cachedhive.tests.architecture;

import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code SECURITY.md} to its form and to the tests that it names.
 */
@Test(groups = "fast")
public class TestSecurityPage
{
    private static final Pattern TEST_NAME = Pattern.compile("`(Test\\w+)(?:#(\\w+))?`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)[^)]*\\)");
    private static final Pattern CONFIG = Pattern.compile("@Config\\(\"([^\"]+)\"\\)");

    public void testEachActorAndAssetHasARow()
            throws IOException
    {
        String page = page();
        List<String> actors = firstCells(page, "Actor");
        List<String> assets = firstCells(page, "Asset", "Description");
        assertThat(actors).hasSize(8);
        assertThat(assets).hasSize(6);

        List<MatchResult> sections = find("(?ms)^### (.+?)\n(.*?)(?=^### |\\z)", page);
        assertThat(sections).extracting(section -> section.group(1)).isEqualTo(actors);
        for (MatchResult section : sections) {
            List<List<String>> rows = rows(section.group(2));
            assertThat(rows).as(section.group(1)).extracting(List::getFirst).isEqualTo(assets);
            for (List<String> row : rows) {
                assertThat(row).as("%s: %s", section.group(1), row).hasSize(4);
                assertThat(row.get(1)).isIn("Yes", "No", "Not yet");
                assertThat(row.get(2)).endsWith(".");
                if (row.get(1).equals("Yes")) {
                    assertThat(row.get(3)).as("%s: %s", section.group(1), row).containsPattern(TEST_NAME);
                }
            }
        }
    }

    public void testNamedTestsExist()
            throws IOException
    {
        assertThat(find(TEST_NAME.pattern(), page())).hasSizeGreaterThan(30);
        assertThat(missingTests(page())).isEmpty();
    }

    public void testMissingTestsAreFound()
            throws IOException
    {
        String page = "`TestSecurityPage#testNamedTestsExist`, `TestSecurityPage`, `TestOfNothing`, `TestSecurityPage#testNothing`, `TestOfNothing#testNothing`";
        assertThat(missingTests(page)).containsExactly("TestOfNothing", "TestSecurityPage#testNothing", "TestOfNothing#testNothing");
    }

    public void testLinksLead()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        assertThat(find(LINK.pattern(), page())).isNotEmpty().allSatisfy(link -> assertThat(root.resolve(link.group(1))).exists());
    }

    /**
     * What the page says of logs and messages: the values of these properties are not shown.
     */
    public void testSecretsAreSensitive()
            throws IOException
    {
        Map<String, Boolean> secrets = new HashMap<>();
        for (Path source : sources("src/main/java")) {
            String text = Files.readString(source);
            for (MatchResult property : find(CONFIG.pattern(), text)) {
                if (isSecret(property.group(1))) {
                    String annotations = text.substring(text.lastIndexOf("\n\n", property.start()), text.indexOf("public ", property.end()));
                    secrets.put(property.group(1), annotations.contains("@ConfigSecuritySensitive"));
                }
            }
        }
        assertThat(secrets).containsKeys("internal-communication.shared-secret", "cachedhive.shared-secret", "s3.aws-secret-key");
        assertThat(secrets).allSatisfy((name, sensitive) -> assertThat(sensitive).as("%s has @ConfigSecuritySensitive", name).isTrue());
    }

    private static boolean isSecret(String property)
    {
        // a path or the name of a variable is none
        return property.matches(".*(secret|password|(keystore|truststore)\\.key).*") && !property.matches(".*[-.](file|path|environment)");
    }

    private static List<String> missingTests(String page)
            throws IOException
    {
        Map<String, List<Path>> classes = new HashMap<>();
        for (Path source : sources("src/test/java")) {
            classes.computeIfAbsent(source.getFileName().toString().replace(".java", ""), _ -> new ArrayList<>()).add(source);
        }
        List<String> missing = new ArrayList<>();
        for (MatchResult name : find(TEST_NAME.pattern(), page)) {
            boolean exists = false;
            for (Path source : classes.getOrDefault(name.group(1), List.of())) {
                exists |= name.group(2) == null || Pattern.compile("\\bvoid %s\\(".formatted(name.group(2))).matcher(Files.readString(source)).find();
            }
            if (!exists) {
                missing.add(name.group(2) == null ? name.group(1) : name.group(1) + "#" + name.group(2));
            }
        }
        return missing;
    }

    private static List<Path> sources(String directory)
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<Path> sources = new ArrayList<>();
        for (ProjectModule module : ProjectModule.readAll(root)) {
            Path top = root.resolve(module.name()).resolve(directory);
            if (Files.isDirectory(top)) {
                try (Stream<Path> files = Files.walk(top)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                }
            }
        }
        return sources;
    }

    /**
     * The first cells of the table whose header has these cells.
     */
    private static List<String> firstCells(String page, String... header)
    {
        List<MatchResult> tables = find("(?m)^\\| %s \\|.*\n\\|---.*\n((?:\\|.*\n)+)".formatted(String.join(" \\| ", header)), page);
        assertThat(tables).hasSize(1);
        return Stream.of(tables.getFirst().group(1).split("\n")).map(row -> cells(row).getFirst()).toList();
    }

    /**
     * The rows of a table, without its header.
     */
    private static List<List<String>> rows(String section)
    {
        return section.lines().filter(line -> line.startsWith("| ")).skip(1).map(TestSecurityPage::cells).toList();
    }

    private static List<String> cells(String row)
    {
        return Stream.of(row.split("\\|")).skip(1).map(String::strip).toList();
    }

    private static List<MatchResult> find(String pattern, String text)
    {
        return Pattern.compile(pattern).matcher(text).results().toList();
    }

    private static String page()
            throws IOException
    {
        return Files.readString(ProjectModule.findRoot().resolve("SECURITY.md"));
    }
}
