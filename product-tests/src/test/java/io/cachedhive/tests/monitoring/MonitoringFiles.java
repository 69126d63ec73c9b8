package io.cachedhive.tests.monitoring;

import io.cachedhive.tests.architecture.ProjectModule;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What {@code etc/monitoring} has for Prometheus and Grafana.
 */
public final class MonitoringFiles
{
    // of Prometheus itself
    private static final Set<String> FOREIGN_METRICS = Set.of("up");

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
     * The metrics of ours that are in any of them.
     *
     * @throws IllegalArgumentException if an expression is wrong
     */
    public static Set<String> metrics()
            throws IOException
    {
        Set<String> metrics = new TreeSet<>();
        expressions().values().forEach(expression -> metrics.addAll(PromQl.parse(expression)));
        metrics.removeAll(FOREIGN_METRICS);
        return metrics;
    }
}
