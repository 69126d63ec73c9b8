package io.cachedhive.tests.monitoring;

import io.cachedhive.tests.architecture.ProjectModule;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.base.Preconditions.checkArgument;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code etc/monitoring} has for Prometheus and Grafana.
 */
public final class MonitoringFiles
{
    // of Prometheus itself
    private static final Set<String> FOREIGN_METRICS = Set.of("up");

    private static final Pattern SAMPLE = Pattern.compile("(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(\\{(?<labels>.*)})? (?<value>\\S+)");

    private MonitoringFiles() {}

    /**
     * The rules of all groups of {@code prometheus-alerts.yml}.
     */
    static List<Map<String, Object>> alerts()
            throws IOException
    {
        List<Map<String, Object>> rules = new ArrayList<>();
        for (Map<String, Object> group : list(load("prometheus-alerts.yml").get("groups"))) {
            rules.addAll(list(group.get("rules")));
        }
        return rules;
    }

    /**
     * The alerts that {@code prometheus-alerts-test.yml} expects to fire.
     */
    static List<String> alertCases()
            throws IOException
    {
        List<String> fired = new ArrayList<>();
        for (Map<String, Object> test : list(load("prometheus-alerts-test.yml").get("tests"))) {
            for (Map<String, Object> moment : list(test.get("alert_rule_test"))) {
                if (!list(moment.get("exp_alerts")).isEmpty()) {
                    fired.add((String) moment.get("alertname"));
                }
            }
        }
        return fired;
    }

    /**
     * {@code grafana-dashboard.json}: JSON is YAML.
     */
    static Map<String, Object> dashboard()
            throws IOException
    {
        return load("grafana-dashboard.json");
    }

    static List<Map<String, Object>> panels()
            throws IOException
    {
        return list(dashboard().get("panels"));
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> list(Object value)
    {
        return (List<Map<String, Object>>) value;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value)
    {
        return (Map<String, Object>) value;
    }

    private static Map<String, Object> load(String file)
            throws IOException
    {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return map(new Yaml(new SafeConstructor(options)).load(Files.readString(ProjectModule.findRoot().resolve("etc/monitoring").resolve(file))));
    }

    /**
     * All expressions, by where they stand; of the dashboard as Grafana sends them.
     */
    static Map<String, String> expressions()
            throws IOException
    {
        Map<String, String> expressions = new LinkedHashMap<>();
        for (Map<String, Object> rule : alerts()) {
            expressions.put("alert " + rule.get("alert"), (String) rule.get("expr"));
        }
        for (Map<String, Object> panel : panels()) {
            if (panel.containsKey("targets")) {
                for (Map<String, Object> target : list(panel.get("targets"))) {
                    expressions.put("panel %s, %s".formatted(panel.get("title"), target.get("refId")), substitute((String) target.get("expr")));
                }
            }
        }
        return expressions;
    }

    private static String substitute(String expression)
    {
        return expression.replace("$__rate_interval", "1m").replace("$worker_job", "cachedhive").replace("$trino_job", "trino");
    }

    /**
     * What any of them selects of our metrics, with labels that the scrape configuration does not add.
     *
     * @throws IllegalArgumentException if an expression is wrong
     */
    public static Set<PromQl.Selector> selectors()
            throws IOException
    {
        Set<PromQl.Selector> selectors = new LinkedHashSet<>();
        for (String expression : expressions().values()) {
            for (PromQl.Selector selector : PromQl.parse(expression)) {
                if (!FOREIGN_METRICS.contains(selector.metric())) {
                    Map<String, String> labels = new HashMap<>(selector.labels());
                    labels.remove("job");
                    selectors.add(new PromQl.Selector(selector.metric(), labels));
                }
            }
        }
        return selectors;
    }

    /**
     * A line of the metrics of a Trino node as Prometheus stores it, by the relabeling in {@code prometheus.yml}.
     */
    public static String relabel(String sample)
            throws IOException
    {
        List<Map<String, Object>> jobs = list(load("prometheus.yml").get("scrape_configs"));
        Map<String, Object> job = jobs.stream().filter(candidate -> candidate.get("job_name").equals("trino")).findFirst().orElseThrow();
        Matcher parts = SAMPLE.matcher(sample);
        checkArgument(parts.matches(), "not a sample: %s", sample);
        String name = parts.group("name");
        String labels = parts.group("labels") == null ? "" : parts.group("labels");
        for (Map<String, Object> rule : list(job.get("metric_relabel_configs"))) {
            assertThat(rule.get("source_labels")).isEqualTo(List.of("__name__"));
            Matcher matcher = Pattern.compile((String) rule.get("regex")).matcher(name);
            if (matcher.matches()) {
                String value = matcher.replaceAll((String) rule.getOrDefault("replacement", "$1"));
                if (rule.get("target_label").equals("__name__")) {
                    name = value;
                }
                else {
                    labels += "%s%s=\"%s\"".formatted(labels.isEmpty() ? "" : ",", rule.get("target_label"), value);
                }
            }
        }
        return "%s{%s} %s".formatted(name, labels, parts.group("value"));
    }
}
