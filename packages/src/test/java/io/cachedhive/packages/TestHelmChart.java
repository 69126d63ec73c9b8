package io.cachedhive.packages;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.KubernetesFiles.DAEMON_SET;
import static io.cachedhive.packages.KubernetesFiles.DAEMON_SET_OPTIONS;
import static io.cachedhive.packages.KubernetesFiles.DIRECTORY;
import static io.cachedhive.packages.KubernetesFiles.RENDERINGS;
import static io.cachedhive.packages.KubernetesFiles.SIDECAR;
import static io.cachedhive.packages.KubernetesFiles.SIDECAR_OPTIONS;
import static io.cachedhive.packages.KubernetesFiles.find;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Helm chart, without Helm: its committed renderings belong to it, and its values are described. {@code bin/check-charts} renders it.
 */
class TestHelmChart
{
    private static final Path CHART = ROOT.resolve("charts/cachedhive");

    /**
     * A change of the chart without new renderings fails, and so does a change of a rendering.
     */
    @Test
    void testRenderingsAreOfThisChart()
            throws IOException
    {
        Map<String, String> expected = new TreeMap<>();
        for (String line : Files.readAllLines(DIRECTORY.resolve("rendered/SHA256SUMS"))) {
            String[] fields = line.split(" {2}", 2);
            expected.put(fields[1], fields[0]);
        }
        Map<String, String> found = new TreeMap<>();
        for (Path directory : List.of(CHART, DIRECTORY.resolve("rendered"))) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.filter(Files::isRegularFile).filter(file -> !file.endsWith("SHA256SUMS")).toList()) {
                    found.put(ROOT.relativize(file).toString().replace('\\', '/'), sha256(file));
                }
            }
        }
        assertThat(found).describedAs("run bin/check-charts --update").isEqualTo(expected);
        try (Stream<Path> values = Files.list(CHART.resolve("ci"))) {
            assertThat(values.map(file -> "rendered/" + file.getFileName().toString().replace("-values.yaml", ".yaml"))).containsExactlyInAnyOrderElementsOf(RENDERINGS);
        }
    }

    @Test
    void testProbesAndEnd()
            throws IOException
    {
        JsonObject node = cacheWorker(podOfNode(DAEMON_SET));
        for (String probe : List.of("startupProbe", "readinessProbe")) {
            assertThat(at(node, probe, "httpGet", "path").getAsString()).isEqualTo("/v1/health");
            assertThat(at(node, probe, "httpGet", "port").getAsString()).isEqualTo("cache-http");
        }
        JsonObject sidecar = cacheWorker(podOfTrinoWorker(SIDECAR));
        // a Trino pod is ready without its cache worker
        assertThat(sidecar.keySet()).doesNotContain("startupProbe", "readinessProbe");
        for (JsonObject worker : List.of(node, sidecar)) {
            assertThat(at(worker, "livenessProbe", "tcpSocket", "port").getAsString()).isEqualTo("cache-blocks");
        }

        // the drain and the checkpoint end before the pod does
        assertThat(node.has("lifecycle")).isFalse();
        assertDrains(sidecar, at(KubernetesFiles.trinoValues(SIDECAR), "worker", "terminationGracePeriodSeconds").getAsLong(), 45);
        assertDrains(
                cacheWorker(podOfTrinoWorker(SIDECAR_OPTIONS)),
                at(KubernetesFiles.trinoValues(SIDECAR_OPTIONS), "worker", "terminationGracePeriodSeconds").getAsLong(),
                110);
        assertDrains(cacheWorker(podOfNode(DAEMON_SET_OPTIONS)), podOfNode(DAEMON_SET_OPTIONS).get("terminationGracePeriodSeconds").getAsLong(), 45);
    }

    private static void assertDrains(JsonObject worker, long graceSeconds, long deadlineSeconds)
    {
        assertThat(at(worker, "lifecycle", "preStop", "exec", "command").getAsJsonArray().get(2).getAsString())
                .isEqualTo("exec /opt/cachedhive/worker/bin/cache-worker drain --etc-dir /etc/cachedhive --address \"$WORKER_IP\" --deadline %ss".formatted(deadlineSeconds));
        assertThat(graceSeconds).isGreaterThanOrEqualTo(deadlineSeconds + 10);
        assertThat(objects(worker, "env").map(variable -> variable.get("name").getAsString())).contains("WORKER_IP");
    }

    @Test
    void testUpdates()
            throws IOException
    {
        assertThat(at(find(DAEMON_SET, "DaemonSet"), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable").getAsInt()).isEqualTo(1);
        // another configuration replaces the pods
        Set<String> checksums = new TreeSet<>();
        for (String file : List.of(DAEMON_SET, DAEMON_SET_OPTIONS)) {
            checksums.add(at(find(file, "DaemonSet"), "spec", "template", "metadata", "annotations", "checksum/cachedhive-config").getAsString());
        }
        for (String file : List.of(SIDECAR, SIDECAR_OPTIONS)) {
            checksums.add(at(KubernetesFiles.trinoValues(file), "worker", "annotations", "checksum/cachedhive-config").getAsString());
        }
        assertThat(checksums).hasSize(4).allSatisfy(checksum -> assertThat(checksum).matches("[0-9a-f]{64}"));
    }

    @Test
    void testEphemeralStorage()
            throws IOException
    {
        for (String file : List.of(SIDECAR, SIDECAR_OPTIONS)) {
            JsonObject pod = podOfTrinoWorker(file);
            JsonObject resources = at(cacheWorker(pod), "resources").getAsJsonObject();
            assertThat(MemorySizes.parse(at(resources, "requests", "ephemeral-storage").getAsString()))
                    .isGreaterThan(MemorySizes.parse(at(named(pod, "volumes", "cachedhive-ssd"), "emptyDir", "sizeLimit").getAsString()));
            // it would limit the whole pod, with the spilled data of Trino
            assertThat(at(resources, "limits").getAsJsonObject().has("ephemeral-storage")).isFalse();
        }
        JsonObject resources = at(cacheWorker(podOfNode(DAEMON_SET)), "resources").getAsJsonObject();
        assertThat(at(resources, "limits", "ephemeral-storage")).isEqualTo(at(resources, "requests", "ephemeral-storage"));
    }

    @Test
    void testMetricsToken()
            throws IOException
    {
        for (JsonObject pod : List.of(podOfTrinoWorker(SIDECAR_OPTIONS), podOfNode(DAEMON_SET_OPTIONS))) {
            // only the init container sees the Secret, and only the cache worker the private copy
            assertThat(at(named(pod, "volumes", "cachedhive-metrics-secret"), "secret", "secretName").getAsString()).isEqualTo("metrics-token");
            for (JsonObject container : RestrictedPods.containers(pod)) {
                List<String> mounts = objects(container, "volumeMounts").map(mount -> mount.get("name").getAsString()).filter(name -> name.contains("metrics")).toList();
                assertThat(mounts).isEqualTo(switch (container.get("name").getAsString()) {
                    case "copy-metrics-token" -> List.of("cachedhive-metrics-secret", "cachedhive-metrics-token");
                    case "cache-worker" -> List.of("cachedhive-metrics-token");
                    default -> List.of();
                });
            }
        }
        for (String file : List.of(SIDECAR_OPTIONS, DAEMON_SET_OPTIONS)) {
            JsonObject endpoint = at(find(file, "PodMonitor"), "spec", "podMetricsEndpoints").getAsJsonArray().get(0).getAsJsonObject();
            assertThat(at(endpoint, "authorization", "credentials", "name").getAsString()).isEqualTo("metrics-token");
            assertThat(endpoint.getAsJsonArray("relabelings")).anySatisfy(relabeling ->
                    assertThat(relabeling.getAsJsonObject().get("replacement").getAsString()).isEqualTo("cachedhive"));
            assertThat(find(file, "ConfigMap").getAsJsonObject("data").get("config.properties").getAsString())
                    .contains("cache.metrics.authentication=REQUIRED\n", "cache.metrics.bearer-token-file=/metrics-token/cachedhive/token\n");
        }
    }

    /**
     * Each value has a comment, a type in the schema, and a row on the page.
     */
    @Test
    void testValuesAreDescribed()
            throws IOException
    {
        JsonObject values = KubernetesFiles.parse(Files.readString(CHART.resolve("values.yaml"))).getFirst();
        JsonObject schema = KubernetesFiles.parse(Files.readString(CHART.resolve("values.schema.json"))).getFirst();
        assertThat(schema.get("additionalProperties").getAsBoolean()).isFalse();
        Set<String> names = new TreeSet<>();
        for (Map.Entry<String, JsonElement> value : values.entrySet()) {
            assertThat(at(schema, "properties").getAsJsonObject().keySet()).contains(value.getKey());
            if (value.getValue().isJsonObject() && !value.getKey().equals("origins")) {
                JsonObject fields = at(schema, "properties", value.getKey()).getAsJsonObject();
                assertThat(fields.get("additionalProperties").getAsBoolean()).isFalse();
                assertThat(at(fields, "properties").getAsJsonObject().keySet()).isEqualTo(value.getValue().getAsJsonObject().keySet());
                value.getValue().getAsJsonObject().keySet().forEach(field -> names.add("%s.%s".formatted(value.getKey(), field)));
            }
            else {
                names.add(value.getKey());
            }
        }
        Set<String> rows = new TreeSet<>();
        Matcher matcher = Pattern.compile("(?m)^\\| `([a-zA-Z.]+)` \\|").matcher(section(Files.readString(ROOT.resolve("docs/operations/kubernetes.md")), "## Values\n"));
        while (matcher.find()) {
            rows.add(matcher.group(1));
        }
        assertThat(rows).isEqualTo(names);
        assertThat(uncommented(Files.readAllLines(CHART.resolve("values.yaml")))).isEmpty();
        assertThat(uncommented(List.of("# a", "one: 1", "two: 2"))).containsExactly("two: 2");
    }

    /**
     * Returns the lines of values without a comment above them. Values below a commented map need none, except at the top.
     */
    private static List<String> uncommented(List<String> lines)
    {
        List<String> found = new ArrayList<>();
        boolean commented = false;
        int mapIndent = Integer.MAX_VALUE;
        for (String line : lines) {
            int indent = line.length() - line.stripLeading().length();
            if (line.isBlank()) {
                commented = false;
                continue;
            }
            if (line.strip().startsWith("#")) {
                commented = true;
                continue;
            }
            if (indent <= mapIndent) {
                mapIndent = Integer.MAX_VALUE;
            }
            boolean map = line.endsWith(":");
            if (commented && map && indent > 0) {
                mapIndent = indent;
            }
            if (!commented && !map && mapIndent == Integer.MAX_VALUE) {
                found.add(line);
            }
            commented = false;
        }
        return found;
    }

    private static String section(String page, String heading)
    {
        String text = page.substring(page.indexOf(heading) + heading.length());
        return text.substring(0, text.indexOf("\n## "));
    }

    private static String sha256(Path file)
            throws IOException
    {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        }
        catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static JsonObject podOfTrinoWorker(String file)
            throws IOException
    {
        return KubernetesFiles.podOfTrinoChart(file, "worker", "trino-worker");
    }

    private static JsonObject podOfNode(String file)
            throws IOException
    {
        return at(find(file, "DaemonSet"), "spec", "template", "spec").getAsJsonObject();
    }

    private static JsonObject cacheWorker(JsonObject pod)
    {
        return named(pod, "containers", "cache-worker");
    }

    private static JsonObject named(JsonObject parent, String list, String name)
    {
        return objects(parent, list).filter(element -> element.get("name").getAsString().equals(name)).findFirst().orElseThrow();
    }

    private static Stream<JsonObject> objects(JsonObject parent, String list)
    {
        return StreamSupport.stream(parent.getAsJsonArray(list).spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    private static JsonElement at(JsonElement json, String... path)
    {
        JsonElement element = json;
        for (String name : path) {
            element = element.getAsJsonObject().get(name);
            assertThat(element).describedAs(String.join(".", path)).isNotNull();
        }
        return element;
    }
}
