package io.cachedhive.tests.monitoring;

import io.cachedhive.tests.architecture.ProjectModule;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * Whether the files in {@code etc/monitoring} are well formed; that their metrics exist is asked of a running cluster by {@code TestStatistics}.
 */
@Test(groups = "fast")
public class TestMonitoringFiles
{
    private static final Pattern DURATION = Pattern.compile("\\d+[smhdw]");
    private static final Pattern TEMPLATE = Pattern.compile("\\{\\{ \\$labels\\.(?:instance|catalog) }}");

    public void testExpressions()
            throws IOException
    {
        Map<String, String> expressions = MonitoringFiles.expressions();
        assertThat(expressions).hasSizeGreaterThan(40);
        expressions.forEach((place, expression) -> {
            assertThat(expression).as(place).doesNotContain("$");
            assertThatCode(() -> PromQl.parse(expression)).as(place).doesNotThrowAnyException();
        });
        assertThat(MonitoringFiles.selectors()).hasSizeGreaterThan(40).allSatisfy(selector -> assertThat(selector.metric())
                .matches("cachedhive_[a-z][a-z0-9_]*[a-z]|cachedhive_trino_[A-Z][A-Za-z]+"));
    }

    public void testRelabeling()
            throws IOException
    {
        assertThat(MonitoringFiles.relabel("JMX_cachedhive_NAME_my_lake_TYPE_stats_ATTRIBUTE_HitRate 0.5")).isEqualTo("cachedhive_trino_HitRate{catalog=\"my_lake\"} 0.5");
        assertThat(MonitoringFiles.relabel("JMX_other_NAME_x_ATTRIBUTE_Y{a=\"b\"} 1")).isEqualTo("JMX_other_NAME_x_ATTRIBUTE_Y{a=\"b\"} 1");
    }

    public void testAlerts()
            throws IOException
    {
        Set<String> names = new HashSet<>();
        String runbook = Files.readString(ProjectModule.findRoot().resolve("docs/operations/runbook.md"));
        for (Map<String, Object> rule : MonitoringFiles.alerts()) {
            String name = (String) rule.get("alert");
            assertThat(name).matches("Cache[A-Za-z]+");
            assertThat(names.add(name)).as("first of the name %s", name).isTrue();
            assertThat(Set.of("alert", "expr", "for", "labels", "annotations")).as(name).containsAll(rule.keySet());
            assertThat(rule).as(name).containsKeys("expr", "labels", "annotations");
            if (rule.containsKey("for")) {
                assertThat((String) rule.get("for")).as(name).matches(DURATION);
            }
            assertThat(MonitoringFiles.map(rule.get("labels"))).as(name).containsOnlyKeys("severity");
            assertThat(MonitoringFiles.map(rule.get("annotations"))).as(name).containsOnlyKeys("summary", "description", "runbook_url");
            assertThat(runbook).as("section of the runbook for %s", name).contains("\n## " + name + "\n");
            assertThat(MonitoringFiles.map(rule.get("annotations"))).as(name).containsEntry("runbook_url", "docs/operations/runbook.md#" + name.toLowerCase(Locale.ROOT));
            boolean ofInstance = !((String) rule.get("expr")).contains("sum(");
            MonitoringFiles.map(rule.get("annotations")).values().forEach(text -> {
                String plain = TEMPLATE.matcher((String) text).replaceAll("");
                assertThat(plain).as(name).doesNotContain("{{", "}}");
                if (!plain.equals(text)) {
                    assertThat(ofInstance || ((String) rule.get("expr")).contains("by (instance)") || ((String) rule.get("expr")).contains("by (catalog, instance)"))
                            .as("%s has the labels of its texts", name).isTrue();
                }
            });
        }
        assertThat(names).contains("CacheWorkerDown", "CacheCorruptBlocks");
        assertThat(MonitoringFiles.alertCases()).as("cases for promtool").containsExactlyInAnyOrderElementsOf(names);
    }

    public void testDashboard()
            throws IOException
    {
        Set<Object> ids = new HashSet<>();
        Set<List<Integer>> taken = new HashSet<>();
        for (Map<String, Object> panel : MonitoringFiles.panels()) {
            String title = (String) panel.get("title");
            assertThat(ids.add(panel.get("id"))).as("id of %s is new", title).isTrue();
            Map<String, Object> place = MonitoringFiles.map(panel.get("gridPos"));
            int x = (int) place.get("x");
            int y = (int) place.get("y");
            assertThat(x + (int) place.get("w")).as(title).isLessThanOrEqualTo(24);
            for (int column = x; column < x + (int) place.get("w"); column++) {
                for (int line = y; line < y + (int) place.get("h"); line++) {
                    assertThat(taken.add(List.of(column, line))).as("%s overlaps no other", title).isTrue();
                }
            }
            if (!panel.get("type").equals("row")) {
                assertThat(MonitoringFiles.list(panel.get("targets"))).as(title).isNotEmpty().allSatisfy(target ->
                        assertThat(MonitoringFiles.map(target.get("datasource"))).containsEntry("uid", "${datasource}"));
            }
        }
        List<Map<String, Object>> variables = MonitoringFiles.list(MonitoringFiles.map(MonitoringFiles.dashboard().get("templating")).get("list"));
        assertThat(variables).extracting(variable -> variable.get("name")).containsExactlyInAnyOrder("datasource", "worker_job", "trino_job");
    }
}
