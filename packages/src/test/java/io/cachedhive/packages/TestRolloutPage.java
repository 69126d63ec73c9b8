package io.cachedhive.packages;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page that operators follow line by line names only what there is.
 */
@Tag("slow")
class TestRolloutPage
{
    @Test
    void testAlertsExist()
            throws IOException
    {
        List<String> alerts = matches("alert: (\\w+)", Files.readString(ROOT.resolve("etc/monitoring/prometheus-alerts.yml")));
        assertThat(alerts).isNotEmpty();
        // each of them stands there: either it ends the rollout or it is said that it does not
        assertThat(new TreeSet<>(matches("`(Cache[A-Z]\\w+)`", page()))).isEqualTo(new TreeSet<>(alerts));
    }

    @Test
    void testPropertiesExist()
            throws IOException
    {
        String configuration = Files.readString(ROOT.resolve("docs/configuration.md"));
        List<String> properties = matches("(?m)(?:^|`)(cachedhive\\.[a-z.-]+)=", page());
        assertThat(properties).hasSizeGreaterThan(3).allSatisfy(property -> assertThat(configuration).contains("| `%s` |".formatted(property)));
    }

    @Test
    void testRulesAreRules()
            throws IOException
    {
        String rules = Files.readString(ROOT.resolve("docs/rules.md"));
        List<String> examples = matches("(?s)```json\n(.*?)```", page());
        assertThat(examples).hasSize(3);
        List<Double> samples = new ArrayList<>();
        for (String example : examples) {
            JsonNode file = new ObjectMapper().readTree(example);
            assertThat(new TreeSet<>(names(file))).isSubsetOf("mode", "rules");
            for (JsonNode rule : file.get("rules")) {
                assertThat(names(rule)).allSatisfy(field -> assertThat(rules).contains("`%s`".formatted(field)));
                if (rule.has("sample")) {
                    samples.add(rule.get("sample").asDouble());
                }
            }
        }
        assertThat(samples).containsExactly(0.05);
    }

    @Test
    void testLinksLead()
            throws IOException
    {
        for (String name : List.of("rollout.md", "packages.md", "kubernetes.md")) {
            String page = Files.readString(ROOT.resolve("docs/operations").resolve(name));
            assertThat(matches("\\]\\(([^)#]+)", page)).isNotEmpty().allSatisfy(link -> assertThat(ROOT.resolve("docs/operations").resolve(link)).exists());
        }
    }

    private static List<String> names(JsonNode object)
    {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static String page()
            throws IOException
    {
        return Files.readString(ROOT.resolve("docs/operations/rollout.md"));
    }

    private static List<String> matches(String pattern, String text)
    {
        List<String> matches = new ArrayList<>();
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        while (matcher.find()) {
            matches.add(matcher.group(1));
        }
        return matches;
    }
}
