package io.cachedhive.packages;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1EnvVar;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1Pod;
import io.kubernetes.client.openapi.models.V1PodSpec;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1Volume;
import io.kubernetes.client.openapi.models.V1VolumeMount;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.BuiltPackages.VERSION;
import static io.cachedhive.packages.KubernetesFiles.DAEMON_SET;
import static io.cachedhive.packages.KubernetesFiles.DAEMON_SET_OPTIONS;
import static io.cachedhive.packages.KubernetesFiles.DIRECTORY;
import static io.cachedhive.packages.KubernetesFiles.RENDERINGS;
import static io.cachedhive.packages.KubernetesFiles.SIDECAR;
import static io.cachedhive.packages.KubernetesFiles.SIDECAR_OPTIONS;
import static io.cachedhive.packages.KubernetesFiles.find;
import static io.cachedhive.packages.KubernetesFiles.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The files for Kubernetes against its own models, which refuse unknown and missing fields, and against what the cache worker needs: the container may use the memory
 * that its configuration takes, and what the configuration names is mounted. The renderings of the chart are committed, so nothing is rendered here, and nothing is run in
 * a cluster.
 */
@Tag("slow")
class TestKubernetesFiles
{
    /**
     * The keys of the official chart that the values may use, as its values.yaml and the templates of its deployments have them; chart 1.x.
     */
    private static final Set<String> CHART_KEYS = Set.of(
            "image.tag",
            "image.digest",
            "serviceAccount.create",
            "serviceAccount.name",
            "securityContext.runAsUser",
            "securityContext.runAsGroup",
            "securityContext.runAsNonRoot",
            "securityContext.seccompProfile",
            "containerSecurityContext.allowPrivilegeEscalation",
            "containerSecurityContext.runAsNonRoot",
            "containerSecurityContext.capabilities",
            "containerSecurityContext.seccompProfile",
            "env",
            "catalogs",
            "initContainers.coordinator",
            "initContainers.worker",
            "sidecarContainers.worker",
            "coordinator.additionalVolumes",
            "coordinator.additionalVolumeMounts",
            "worker.additionalJVMConfig",
            "worker.annotations",
            "worker.terminationGracePeriodSeconds",
            "worker.additionalVolumes",
            "worker.additionalVolumeMounts");

    private interface Validator
    {
        void validate(JsonElement json)
                throws IOException;
    }

    private static final Map<String, Validator> VALIDATORS = Map.of(
            "v1 ConfigMap", V1ConfigMap::validateJsonElement,
            "v1 ServiceAccount", V1ServiceAccount::validateJsonElement,
            "v1 Pod", V1Pod::validateJsonElement,
            "networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy::validateJsonElement,
            "apps/v1 DaemonSet", V1DaemonSet::validateJsonElement,
            // of the Prometheus Operator, which has no Java model
            "monitoring.coreos.com/v1 PodMonitor", TestKubernetesFiles::validatePodMonitor,
            // a patch: the part of it that has a model which stands by itself
            "apps/v1 Deployment", json -> V1PodSpec.validateJsonElement(at(json, "spec", "template", "spec")));

    @Test
    void testManifests()
            throws IOException
    {
        int count = 0;
        for (String file : concat(RENDERINGS, List.of("trino-worker-pod.yaml", "trino-on-host-network.yaml"))) {
            for (JsonObject document : read(file)) {
                validate(document);
                count++;
            }
        }
        assertThat(count).isEqualTo(20);
        // and there are no others
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder(
                    "Dockerfile",
                    "rendered",
                    "trino-worker-pod.yaml",
                    "trino-on-host-network.yaml",
                    "node-directories.conf");
        }
        try (Stream<Path> files = Files.list(DIRECTORY.resolve("rendered"))) {
            assertThat(files.map(file -> "rendered/" + file.getFileName()))
                    .containsExactlyInAnyOrderElementsOf(concat(RENDERINGS, List.of("rendered/SHA256SUMS")));
        }
    }

    @Test
    void testMistakesAreFound()
            throws IOException
    {
        JsonObject pod = find("trino-worker-pod.yaml", "Pod");
        cacheWorker(spec(pod)).addProperty("volumMounts", "x");
        assertThatThrownBy(() -> validate(pod)).hasMessageContaining("volumMounts");

        JsonObject volume = find("trino-worker-pod.yaml", "Pod");
        volume(spec(volume), "cachedhive-memory").getAsJsonObject("emptyDir").addProperty("sizelimit", "1Gi");
        assertThatThrownBy(() -> validate(volume)).hasMessageContaining("sizelimit");

        JsonObject unnamed = find("trino-worker-pod.yaml", "Pod");
        cacheWorker(spec(unnamed)).remove("name");
        assertThatThrownBy(() -> validate(unnamed)).hasMessageContaining("name");

        JsonObject set = find(DAEMON_SET, "DaemonSet");
        set.getAsJsonObject("spec").remove("selector");
        assertThatThrownBy(() -> validate(set)).hasMessageContaining("selector");

        JsonObject monitor = find(SIDECAR_OPTIONS, "PodMonitor");
        at(monitor, "spec", "podMetricsEndpoints").getAsJsonArray().get(0).getAsJsonObject().addProperty("bearerToken", "x");
        assertThatThrownBy(() -> validate(monitor)).hasMessageContaining("bearerToken");

        JsonObject small = find("trino-worker-pod.yaml", "Pod");
        cacheWorker(spec(small)).getAsJsonObject("resources").getAsJsonObject("limits").addProperty("memory", "9Gi");
        assertThat(problems(spec(small), find(SIDECAR, "ConfigMap"))).singleElement().asString().contains("memory limit");

        JsonObject shared = find("trino-worker-pod.yaml", "Pod");
        container(spec(shared), "trino-worker").getAsJsonArray("volumeMounts").remove(4);
        assertThat(problems(spec(shared), find(SIDECAR, "ConfigMap")))
                .isNotEmpty()
                .allSatisfy(problem -> assertThat(problem).isEqualTo("/memory/cachedhive of the cache worker is not that of Trino"));
    }

    @Test
    void testPod()
            throws IOException
    {
        JsonObject spec = spec(find("trino-worker-pod.yaml", "Pod"));
        assertThat(problems(spec, find(SIDECAR, "ConfigMap"))).isEmpty();

        // Trino's own
        JsonObject trino = container(spec, "trino-worker");
        List<String> jvm = find("trino-worker-pod.yaml", "ConfigMap").getAsJsonObject("data").get("jvm.config").getAsString().lines().toList();
        assertThat(limit(trino)).isGreaterThan(MemorySizes.parse(MemorySizes.option(jvm, "-Xmx")) * 11 / 10);
    }

    @Test
    void testPodsOfTrinoChart()
            throws IOException
    {
        for (String file : List.of(SIDECAR, SIDECAR_OPTIONS)) {
            JsonObject spec = KubernetesFiles.podOfTrinoChart(file, "worker", "trino-worker");
            assertThat(problems(spec, find(file, "ConfigMap"))).describedAs(file).isEmpty();
        }
    }

    @Test
    void testDaemonSet()
            throws IOException
    {
        for (String file : List.of(DAEMON_SET, DAEMON_SET_OPTIONS)) {
            JsonObject spec = at(find(file, "DaemonSet"), "spec", "template", "spec").getAsJsonObject();
            JsonObject patch = at(find("trino-on-host-network.yaml", "Deployment"), "spec", "template", "spec").getAsJsonObject();
            assertThat(spec.get("hostNetwork").getAsBoolean()).isTrue();
            assertThat(patch.get("hostNetwork").getAsBoolean()).isTrue();
            assertThat(patch.get("nodeSelector")).isEqualTo(spec.get("nodeSelector"));

            // the two pods together: Trino's and the cache worker's see the same directories of the node
            JsonObject both = spec.deepCopy();
            JsonObject trino = container(patch, "trino-worker").deepCopy();
            for (JsonElement mount : trino.getAsJsonArray("volumeMounts")) {
                String hostPath = hostPath(patch, mount.getAsJsonObject().get("name").getAsString());
                String name = objects(both.getAsJsonArray("volumes"))
                        .filter(volume -> volume.has("hostPath") && volume.getAsJsonObject("hostPath").get("path").getAsString().equals(hostPath))
                        .map(volume -> volume.get("name").getAsString())
                        .findFirst()
                        .orElseThrow();
                mount.getAsJsonObject().addProperty("name", name);
            }
            both.getAsJsonArray("containers").add(trino);
            assertThat(problems(both, find(file, "ConfigMap"))).describedAs(file).isEmpty();
        }
    }

    @Test
    void testValues()
            throws IOException
    {
        JsonObject values = KubernetesFiles.trinoValues(SIDECAR);
        Set<String> keys = keys(values);
        assertThat(keys).containsExactlyInAnyOrderElementsOf(CHART_KEYS);
        for (String file : RENDERINGS) {
            assertThat(keys).containsAll(keys(KubernetesFiles.trinoValues(file)));
        }

        validateAll(values.get("env"), V1EnvVar::validateJsonElement);
        for (String pods : List.of("coordinator", "worker")) {
            validateAll(at(values, "initContainers", pods), V1Container::validateJsonElement);
            validateAll(at(values, pods, "additionalVolumes"), V1Volume::validateJsonElement);
            validateAll(at(values, pods, "additionalVolumeMounts"), V1VolumeMount::validateJsonElement);
        }
        validateAll(at(values, "sidecarContainers", "worker"), V1Container::validateJsonElement);

        // what the chart makes of it is, as far as the cache goes, the complete pod
        JsonObject pod = spec(find("trino-worker-pod.yaml", "Pod"));
        assertThat(at(values, "sidecarContainers", "worker").getAsJsonArray()).containsExactly(cacheWorker(pod));
        assertThat(objects(at(values, "worker", "additionalVolumes").getAsJsonArray()).toList())
                .isEqualTo(objects(pod.getAsJsonArray("volumes")).filter(volume -> volume.get("name").getAsString().startsWith("cachedhive-")).toList());
        assertThat(objects(at(values, "worker", "additionalVolumeMounts").getAsJsonArray()).toList())
                .isEqualTo(objects(container(pod, "trino-worker").getAsJsonArray("volumeMounts"))
                        .filter(mount -> mount.get("name").getAsString().startsWith("cachedhive-"))
                        .toList());
        assertThat(values.getAsJsonObject("catalogs").get("cachedhive").getAsString())
                .isEqualTo(find("trino-worker-pod.yaml", "ConfigMap").getAsJsonObject("data").get("cachedhive.properties").getAsString());
    }

    @Test
    void testPropertiesExist()
            throws IOException
    {
        String page = Files.readString(ROOT.resolve("docs/configuration.md"));
        for (String rendering : RENDERINGS) {
            JsonObject map = find(rendering, "ConfigMap");
            List<String> files = map.getAsJsonObject("data").keySet().stream().filter(file -> file.endsWith(".properties") && !file.equals("log.properties")).toList();
            assertThat(files).contains("config.properties", "node.properties", "origin-default.properties");
            for (String file : files) {
                assertThat(properties(map, file).stringPropertyNames()).isNotEmpty().allSatisfy(name -> assertThat(page).contains("`%s`".formatted(name)));
            }
            // as the packages have it, but for the sizes
            assertThat(map.getAsJsonObject("data").get("jvm.config").getAsString().replaceFirst("-Xmx1200M", "-Xmx1G"))
                    .isEqualTo(Files.readString(ROOT.resolve("etc/cache-worker/jvm.config")));
        }
        assertThat(properties(find("trino-worker-pod.yaml", "ConfigMap"), "cachedhive.properties").stringPropertyNames())
                .filteredOn(name -> name.startsWith("cachedhive."))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(page).contains("`%s`".formatted(name)));
    }

    @Test
    void testImageHasWhatIsCalled()
            throws IOException
    {
        String top = "cachedhive-%s/".formatted(VERSION);
        Set<String> bundle = BuiltPackages.readTarGz(BuiltPackages.bundle()).keySet();
        List<String> dockerfile = Files.readAllLines(DIRECTORY.resolve("Dockerfile"));
        assertThat(dockerfile).contains("ADD cachedhive-${VERSION}.tar.gz /opt/", "ENTRYPOINT [\"/opt/cachedhive/worker/bin/cache-worker\"]");
        assertThat(bundle).contains(top + "worker/bin/cache-worker", top + "plugin/");
        // the hook of the pods
        assertThat(Files.readString(DIRECTORY.resolve(SIDECAR))).contains("exec /opt/cachedhive/worker/bin/cache-worker drain --etc-dir");
        for (String file : concat(RENDERINGS, List.of("trino-worker-pod.yaml"))) {
            assertThat(Files.readString(DIRECTORY.resolve(file))).contains("\"/opt/cachedhive/plugin/.\"");
        }
    }

    private static Set<String> keys(JsonObject values)
    {
        Set<String> keys = new TreeSet<>();
        values.entrySet().forEach(entry -> {
            if (entry.getValue().isJsonObject() && !entry.getKey().equals("catalogs")) {
                entry.getValue().getAsJsonObject().keySet().forEach(key -> keys.add(entry.getKey() + "." + key));
            }
            else {
                keys.add(entry.getKey());
            }
        });
        return keys;
    }

    private static List<String> concat(List<String> first, List<String> second)
    {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    private static void validatePodMonitor(JsonElement json)
    {
        assertThat(json.getAsJsonObject().keySet()).containsExactlyInAnyOrder("apiVersion", "kind", "metadata", "spec");
        JsonObject spec = at(json, "spec").getAsJsonObject();
        assertThat(spec.keySet()).containsExactlyInAnyOrder("selector", "podMetricsEndpoints");
        assertThat(at(spec, "selector", "matchLabels").getAsJsonObject().keySet()).isNotEmpty();
        for (JsonObject endpoint : objects(spec.getAsJsonArray("podMetricsEndpoints")).toList()) {
            assertThat(Set.of("port", "path", "interval", "authorization", "relabelings")).containsAll(endpoint.keySet());
            assertThat(at(endpoint, "port").getAsString()).isEqualTo("cache-http");
            if (endpoint.has("authorization")) {
                assertThat(at(endpoint, "authorization").getAsJsonObject().keySet()).containsExactlyInAnyOrder("type", "credentials");
                assertThat(at(endpoint, "authorization", "credentials").getAsJsonObject().keySet()).containsExactlyInAnyOrder("name", "key");
            }
            for (JsonObject relabeling : objects(endpoint.getAsJsonArray("relabelings")).toList()) {
                assertThat(relabeling.keySet()).containsExactlyInAnyOrder("action", "targetLabel", "replacement");
            }
        }
    }

    private static void validate(JsonObject document)
            throws IOException
    {
        String kind = "%s %s".formatted(document.get("apiVersion").getAsString(), document.get("kind").getAsString());
        assertThat(VALIDATORS).containsKey(kind);
        VALIDATORS.get(kind).validate(document);
    }

    private static void validateAll(JsonElement array, Validator validator)
            throws IOException
    {
        assertThat(array.getAsJsonArray()).isNotEmpty();
        for (JsonElement element : array.getAsJsonArray()) {
            validator.validate(element);
        }
    }

    /**
     * Why a pod with Trino and a cache worker of this configuration would not work; none if it would.
     */
    private static List<String> problems(JsonObject spec, JsonObject configMap)
    {
        List<String> problems = new ArrayList<>();
        Properties configuration = properties(configMap, "config.properties");
        List<String> jvm = configMap.getAsJsonObject("data").get("jvm.config").getAsString().lines().toList();
        JsonObject worker = cacheWorker(spec);
        JsonObject trino = container(spec, "trino-worker");

        long needed = MemorySizes.ofCacheWorker(configuration, jvm);
        if (limit(worker) < needed) {
            problems.add("the memory limit of the cache worker is %s, and it takes up to %s".formatted(limit(worker), needed));
        }
        if (MemorySizes.parse(at(worker, "resources", "requests", "memory").getAsString()) < needed) {
            problems.add("the memory request of the cache worker is less than it takes");
        }
        String memory = configuration.getProperty("cache.ram.directory");
        checkCapacity(spec, mount(worker, memory), configuration.getProperty("cache.ram.max-size"), problems);
        String[] directories = configuration.getProperty("cache.ssd.directories").split(",");
        String[] sizes = configuration.getProperty("cache.ssd.max-sizes").split(",");
        assertThat(sizes).hasSameSizeAs(directories);
        for (int index = 0; index < directories.length; index++) {
            checkCapacity(spec, mount(worker, directories[index]), sizes[index], problems);
        }

        for (String shared : List.of(memory, Path.of(configuration.getProperty("cache.worker.socket-path")).getParent().toString())) {
            String ofWorker = mount(worker, shared);
            if (ofWorker.isEmpty() || !ofWorker.equals(mount(trino, shared))) {
                problems.add("%s of the cache worker is not that of Trino".formatted(shared));
            }
        }
        for (String port : List.of("cache.worker.port", "http-server.http.port")) {
            int number = Integer.parseInt(configuration.getProperty(port));
            if (objects(worker.getAsJsonArray("ports")).noneMatch(candidate -> candidate.get("containerPort").getAsInt() == number)) {
                problems.add("%s=%s is no port of the container".formatted(port, number));
            }
        }
        // every file that the program wants is there under its name
        JsonObject volume = volume(spec, mount(worker, "/etc/cachedhive"));
        JsonObject projected = volume.getAsJsonObject("configMap");
        if (!projected.get("name").equals(at(configMap, "metadata", "name"))) {
            problems.add("/etc/cachedhive is not " + configMap);
        }
        Set<String> files = new TreeSet<>();
        for (JsonElement item : projected.getAsJsonArray("items")) {
            files.add(item.getAsJsonObject().get("path").getAsString());
            if (!configMap.getAsJsonObject("data").has(item.getAsJsonObject().get("key").getAsString())) {
                problems.add("the ConfigMap does not have " + item);
            }
        }
        Set<String> expected = new TreeSet<>(Set.of("config.properties", "jvm.config", "log.properties", "node.properties", "origins/default.properties"));
        configMap.getAsJsonObject("data").keySet().stream()
                .filter(key -> key.startsWith("origin-"))
                .forEach(key -> expected.add(key.replaceFirst("origin-", "origins/")));
        if (!files.equals(expected)) {
            problems.add("/etc/cachedhive has " + files);
        }
        return problems;
    }

    private static void checkCapacity(JsonObject spec, String volumeName, String size, List<String> problems)
    {
        if (volumeName.isEmpty()) {
            problems.add("nothing is mounted for a tier of " + size);
            return;
        }
        JsonObject volume = volume(spec, volumeName);
        if (volume.has("emptyDir") && MemorySizes.parse(at(volume, "emptyDir", "sizeLimit").getAsString()) < MemorySizes.parse(size)) {
            problems.add("volume %s has no room for %s".formatted(volumeName, size));
        }
    }

    private static long limit(JsonObject container)
    {
        return MemorySizes.parse(at(container, "resources", "limits", "memory").getAsString());
    }

    /**
     * Name of the volume in which a container has a path, at its top or one directory below; empty if none.
     */
    private static String mount(JsonObject container, String path)
    {
        String parent = Path.of(path).getParent().toString();
        return objects(container.getAsJsonArray("volumeMounts"))
                .filter(mount -> List.of(path, parent).contains(mount.get("mountPath").getAsString()))
                .map(mount -> mount.get("name").getAsString())
                .findFirst()
                .orElse("");
    }

    private static JsonObject volume(JsonObject spec, String name)
    {
        return objects(spec.getAsJsonArray("volumes")).filter(volume -> volume.get("name").getAsString().equals(name)).findFirst().orElseThrow();
    }

    private static String hostPath(JsonObject spec, String volume)
    {
        return at(volume(spec, volume), "hostPath", "path").getAsString();
    }

    private static JsonObject cacheWorker(JsonObject spec)
    {
        return container(spec, "cache-worker");
    }

    private static JsonObject container(JsonObject spec, String name)
    {
        return objects(spec.getAsJsonArray("containers")).filter(container -> container.get("name").getAsString().equals(name)).findFirst().orElseThrow();
    }

    private static JsonObject spec(JsonObject pod)
    {
        return pod.getAsJsonObject("spec");
    }

    private static Stream<JsonObject> objects(JsonArray array)
    {
        return StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsJsonObject);
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

    private static Properties properties(JsonObject configMap, String file)
    {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(configMap.getAsJsonObject("data").get(file).getAsString()));
        }
        catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return properties;
    }
}
