package io.cachedhive.tests.architecture;

import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/operations/monitoring.md} to what there is to be monitored.
 */
@Test(groups = "fast")
public class TestMonitoringPage
{
    private static final Pattern COUNTER = Pattern.compile("String [A-Z_]+ = \"([a-z_]+)\"");
    private static final Pattern ENUM_CONSTANT = Pattern.compile("^    ([A-Z_]+)[,;]", Pattern.MULTILINE);
    private static final Pattern COLUMN = Pattern.compile("Column\\.(?:of|ofOptional)\\(\"([a-z_]+)\"");
    private static final Pattern ATTRIBUTE = Pattern.compile("@Managed[^\n]*\n    public \\w+ (?:get|is)(\\w+)\\(");

    public void testCounters()
            throws IOException
    {
        List<String> names = find(COUNTER, "cache-protocol/src/main/java/io/cachedhive/protocol/wire/CounterNames.java");

        assertThat(names).contains("requests", "origin_gets");
        // causes follow that prefix; they are looked for below
        assertThat(names).filteredOn(name -> !name.equals("bypass_bytes_")).allSatisfy(name -> assertThat(page()).contains("`" + name + "`"));
    }

    public void testCausesOfBypass()
            throws IOException
    {
        List<String> causes = find(ENUM_CONSTANT, "cache-client/src/main/java/io/cachedhive/client/counters/BypassCause.java");

        assertThat(causes).contains("NO_WORKER", "CLOSED");
        assertThat(causes).allSatisfy(cause -> assertThat(page()).contains("`" + cause.toLowerCase(Locale.ROOT) + "`"));
        String explained = Files.readString(ProjectModule.findRoot().resolve("admin-cli/src/main/resources/io/cachedhive/admin/explain/bypass-causes.properties"));
        assertThat(causes).allSatisfy(cause -> assertThat(explained).contains("\n" + cause.toLowerCase(Locale.ROOT) + "="));
    }

    public void testColumns()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<Path> tables;
        try (Stream<Path> files = Files.walk(root.resolve("plugin-trino/src/main/java"))) {
            tables = files.filter(file -> file.getFileName().toString().endsWith("Table.java")).toList();
        }
        assertThat(tables).hasSizeGreaterThan(3);
        for (Path table : tables) {
            for (String column : find(COLUMN, root.relativize(table).toString())) {
                assertThat(page()).as("column of %s", table.getFileName()).contains("`" + column + "`");
            }
        }
    }

    public void testJmxAttributes()
            throws IOException
    {
        List<String> attributes = find(ATTRIBUTE, "plugin-core/src/main/java/io/cachedhive/plugin/counters/CacheStats.java");

        assertThat(attributes).contains("HitRate", "CachedReads");
        assertThat(attributes).allSatisfy(attribute -> assertThat(page()).contains("`" + attribute + "`"));
    }

    private static String page()
            throws IOException
    {
        return Files.readString(ProjectModule.findRoot().resolve("docs/operations/monitoring.md"));
    }

    private static List<String> find(Pattern pattern, String file)
            throws IOException
    {
        return pattern.matcher(Files.readString(ProjectModule.findRoot().resolve(file))).results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }
}
