package io.cachedhive.packages;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
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
import static io.cachedhive.packages.KubernetesFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The files for Kubernetes against the Pod Security Standard "restricted", and against what else keeps other pods and
 * users of a node away from the cache.
 */
class TestKubernetesSecurity
{
    private static final Gson GSON = new Gson();

    /**
     * The only violations of the standard, in the form with one cache worker for each node. Two pods of a node share no
     * other kind of volume, and Trino maps the memory of the cache worker: hostPath. The coordinator expects a cache
     * worker at the address of each Trino worker, and pods do not share addresses otherwise: hostNetwork, and the
     * hostPorts that it implies.
     */
    private static final Set<String> EXCEPTIONS_OF_NODES = Set.of("hostNetwork", "hostPath volume", "cache-worker: hostPort");
    private static final Set<String> EXCEPTIONS_OF_TRINO_ON_NODES = Set.of("hostNetwork", "hostPath volume");

    private static final long TRINO_USER = 1000;
    private static final long WORKER_USER = 10484;

    @Test
    void testRestricted()
            throws IOException
    {
        assertThat(RestrictedPods.violations(pod())).isEmpty();
        assertThat(RestrictedPods.violations(podOfChart("worker"))).isEmpty();
        assertThat(RestrictedPods.violations(podOfChart("coordinator"))).isEmpty();
        for (String component : List.of("worker", "coordinator")) {
            assertThat(RestrictedPods.violations(KubernetesFiles.podOfTrinoChart(SIDECAR_OPTIONS, component, "trino-of-chart"))).isEmpty();
            assertThat(RestrictedPods.violations(KubernetesFiles.podOfTrinoChart(DAEMON_SET, component, "trino-of-chart"))).isEmpty();
        }
        assertThat(RestrictedPods.violations(podOf(find(DAEMON_SET_OPTIONS, "DaemonSet")))).containsExactlyInAnyOrderElementsOf(EXCEPTIONS_OF_NODES);
        assertThat(RestrictedPods.violations(daemonPod())).containsExactlyInAnyOrderElementsOf(EXCEPTIONS_OF_NODES);
        assertThat(RestrictedPods.violations(trinoOnNodePod())).containsExactlyInAnyOrderElementsOf(EXCEPTIONS_OF_TRINO_ON_NODES);

        String page = Files.readString(ROOT.resolve("docs/operations/kubernetes.md"));
        assertThat(page).contains("pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/enforce=privileged", "`hostPath`", "`hostNetwork`", "`hostPort`");
    }

    @Test
    void testViolationsAreFound()
            throws IOException
    {
        assertViolation("hostNetwork", spec -> spec.addProperty("hostNetwork", true));
        assertViolation("hostPID", spec -> spec.addProperty("hostPID", true));
        assertViolation("hostIPC", spec -> spec.addProperty("hostIPC", true));
        assertViolation("hostPath volume", spec -> spec.getAsJsonArray("volumes").add(json("{name: x, hostPath: {path: '/x'}}")));
        assertViolation("nfs volume", spec -> spec.getAsJsonArray("volumes").add(json("{name: x, nfs: {path: '/x'}}")));
        assertViolation("sysctl kernel.msgmax", spec -> context(spec).add("sysctls", GSON.fromJson("[{name: kernel.msgmax, value: '1'}]", JsonArray.class)));
        assertViolation("pod: runAsNonRoot", spec -> context(spec).addProperty("runAsNonRoot", false));
        assertViolation("pod: runAsUser", spec -> context(spec).addProperty("runAsUser", 0));
        assertViolation("pod: seccompProfile", spec -> context(spec).add("seccompProfile", json("{type: Unconfined}")));
        assertViolation("pod: appArmorProfile", spec -> context(spec).add("appArmorProfile", json("{type: Unconfined}")));
        assertViolation("pod: seLinuxOptions", spec -> context(spec).add("seLinuxOptions", json("{type: spc_t}")));
        for (String name : List.of("cache-worker", "trino-worker", "copy-cachedhive-plugin", "make-cachedhive-directory")) {
            assertViolation(name + ": privileged", spec -> context(container(spec, name)).addProperty("privileged", true));
            assertViolation(name + ": allowPrivilegeEscalation", spec -> context(container(spec, name)).remove("allowPrivilegeEscalation"));
            assertViolation(name + ": runAsNonRoot", spec -> context(container(spec, name)).addProperty("runAsNonRoot", false));
            assertViolation(name + ": runAsNonRoot", spec -> {
                context(container(spec, name)).remove("runAsNonRoot");
                context(spec).remove("runAsNonRoot");
            });
            assertViolation(name + ": runAsUser", spec -> context(container(spec, name)).addProperty("runAsUser", 0));
            assertViolation(name + ": seccompProfile", spec -> {
                context(container(spec, name)).remove("seccompProfile");
                context(spec).remove("seccompProfile");
            });
            assertViolation(name + ": capabilities.drop", spec -> context(container(spec, name)).remove("capabilities"));
            assertViolation(name + ": capabilities.add", spec -> context(container(spec, name)).add("capabilities", json("{drop: [ALL], add: [CHOWN]}")));
            assertViolation(name + ": procMount", spec -> context(container(spec, name)).addProperty("procMount", "Unmasked"));
            assertViolation(name + ": hostPort", spec -> container(spec, name).add("ports", GSON.fromJson("[{containerPort: 1, hostPort: 1}]", JsonArray.class)));
            assertViolation(name + ": host of a probe", spec -> container(spec, name).add("startupProbe", json("{tcpSocket: {host: x, port: 1}}")));
            assertViolation(name + ": host of a hook", spec -> container(spec, name).add("lifecycle", json("{preStop: {httpGet: {host: x, port: 1}}}")));
        }
    }

    /**
     * Also in the files that the standard does not ask it of.
     */
    @Test
    void testContainers()
            throws IOException
    {
        for (JsonObject spec : List.of(pod(), podOfChart("worker"), podOfChart("coordinator"), daemonPod())) {
            assertThat(spec.get("serviceAccountName").getAsString()).isEqualTo("cachedhive");
            for (JsonObject container : RestrictedPods.containers(spec)) {
                // no tag, which can be moved, and no image before the operator has written its digest
                assertThat(container.get("image").getAsString()).matches("[a-z0-9./:-]+@sha256:0{64}");
                boolean ofChart = container.get("name").getAsString().equals("trino-of-chart");
                assertThat(context(container).has("readOnlyRootFilesystem") && context(container).get("readOnlyRootFilesystem").getAsBoolean()).isEqualTo(!ofChart);
                if (!ofChart) {
                    // what the container writes without a volume would fail
                    assertThat(container.getAsJsonObject("resources").getAsJsonObject("limits").has("memory")).isTrue();
                }
            }
        }
        // neither from the pod nor from the account that the chart names
        assertThat(pod().get("automountServiceAccountToken").getAsBoolean()).isFalse();
        assertThat(daemonPod().get("automountServiceAccountToken").getAsBoolean()).isFalse();
        JsonObject account = find(SIDECAR, "ServiceAccount");
        assertThat(account.getAsJsonObject("metadata").get("name").getAsString()).isEqualTo("cachedhive");
        assertThat(account.get("automountServiceAccountToken").getAsBoolean()).isFalse();
    }

    @Test
    void testUsers()
            throws IOException
    {
        for (JsonObject spec : List.of(pod(), podOfChart("worker"))) {
            assertThat(context(spec).get("runAsUser").getAsLong()).isEqualTo(TRINO_USER);
            assertThat(context(spec).get("runAsGroup").getAsLong()).isEqualTo(TRINO_USER);
            for (String name : List.of("cache-worker", "make-cachedhive-directory")) {
                assertThat(context(container(spec, name)).get("runAsUser").getAsLong()).isEqualTo(WORKER_USER);
                assertThat(context(container(spec, name)).get("runAsGroup").getAsLong()).isEqualTo(TRINO_USER);
            }
        }
        assertThat(context(daemonPod()).get("runAsUser").getAsLong()).isEqualTo(WORKER_USER);
        assertThat(context(daemonPod()).get("runAsGroup").getAsLong()).isEqualTo(TRINO_USER);
        assertThat(Files.readString(DIRECTORY.resolve("Dockerfile"))).contains("USER %s:%s\n".formatted(WORKER_USER, TRINO_USER));
        for (String file : List.of(SIDECAR, DAEMON_SET)) {
            assertThat(configuration(file).getProperty("cache.worker.socket-group")).isEqualTo(Long.toString(TRINO_USER));
        }
    }

    /**
     * The memory is in a volume of its own, which only the cache worker can write to.
     */
    @Test
    void testVolumes()
            throws IOException
    {
        for (JsonObject spec : List.of(pod(), podOfChart("worker"))) {
            JsonObject memory = named(spec, "volumes", "cachedhive-memory").getAsJsonObject("emptyDir");
            assertThat(memory.get("medium").getAsString()).isEqualTo("Memory");
            assertThat(memory.has("sizeLimit")).isTrue();
        }
        for (JsonObject spec : List.of(pod(), podOfChart("worker"), daemonPod(), trinoOnNodePod())) {
            assertThat(objects(spec, "volumes").filter(volume -> volume.has("hostPath")).map(volume -> volume.getAsJsonObject("hostPath")))
                    .allSatisfy(path -> {
                        assertThat(path.get("path").getAsString()).endsWith("/cachedhive");
                        // kubelet creates missing ones for root
                        assertThat(path.get("type").getAsString()).isEqualTo("Directory");
                    });
        }
        for (JsonObject trino : List.of(container(pod(), "trino-worker"), container(podOfChart("worker"), "trino-of-chart"), container(trinoOnNodePod(), "trino-worker"))) {
            assertThat(named(trino, "volumeMounts", "cachedhive-memory").get("readOnly").getAsBoolean()).isTrue();
            assertThat(objects(trino, "volumeMounts").map(mount -> mount.get("name").getAsString())).doesNotContain("cachedhive-ssd", "cachedhive-data");
        }

        // the directories of the node are those of the pod, and belong to its user
        Map<String, String> directories = new TreeMap<>();
        for (String line : Files.readAllLines(DIRECTORY.resolve("node-directories.conf"))) {
            if (!line.startsWith("#")) {
                String[] fields = line.split("\\s+");
                assertThat(fields).hasSize(6);
                assertThat(List.of(fields[0], fields[3], fields[4], fields[5])).containsExactly("d", Long.toString(WORKER_USER), Long.toString(TRINO_USER), "-");
                directories.put(fields[1], fields[2]);
            }
        }
        assertThat(directories.keySet()).containsExactlyInAnyOrderElementsOf(objects(daemonPod(), "volumes")
                .filter(volume -> volume.has("hostPath"))
                .map(volume -> volume.getAsJsonObject("hostPath").get("path").getAsString())
                .toList());
        String shared = named(trinoOnNodePod(), "volumes", "cachedhive-memory").getAsJsonObject("hostPath").get("path").getAsString();
        assertThat(directories.remove(shared)).isEqualTo("0750");
        assertThat(directories.values()).isNotEmpty().containsOnly("0700");
    }

    @Test
    void testNetworkPolicy()
            throws IOException
    {
        JsonObject policy = find(SIDECAR, "NetworkPolicy").getAsJsonObject("spec");
        assertThat(policy.getAsJsonArray("policyTypes")).containsExactly(GSON.toJsonTree("Ingress"));
        Properties configuration = configuration(SIDECAR);
        Map<String, JsonElement> sources = new TreeMap<>();
        for (JsonObject rule : objects(policy, "ingress").toList()) {
            // a rule without ports or without sources would allow all of them
            assertThat(rule.getAsJsonArray("from")).isNotEmpty();
            assertThat(rule.getAsJsonArray("ports")).isNotEmpty();
            for (JsonElement port : rule.getAsJsonArray("ports")) {
                assertThat(sources.put(port.getAsJsonObject().get("port").getAsString(), rule.get("from"))).isNull();
            }
        }
        JsonElement trino = GSON.fromJson("[{podSelector: {matchLabels: {'app.kubernetes.io/name': trino}}}]", JsonElement.class);
        JsonElement monitoring = GSON.fromJson("[{namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': monitoring}}}]", JsonElement.class);
        assertThat(sources).isEqualTo(Map.of(
                "8080", trino,
                configuration.getProperty("cache.worker.port"), trino,
                configuration.getProperty("http-server.http.port"), monitoring));

        // it selects the pods of Trino workers, which have the cache worker
        JsonObject labels = find("trino-worker-pod.yaml", "Pod").getAsJsonObject("metadata").getAsJsonObject("labels");
        JsonObject selected = policy.getAsJsonObject("podSelector").getAsJsonObject("matchLabels");
        assertThat(selected.entrySet()).isNotEmpty().isSubsetOf(labels.entrySet());
    }

    /**
     * Secrets are created by the operator and only named in the files: a file in a repository is no place for one.
     */
    @Test
    void testNoSecrets()
            throws IOException
    {
        for (String file : List.of(SIDECAR, DAEMON_SET, SIDECAR_OPTIONS, DAEMON_SET_OPTIONS, "trino-worker-pod.yaml", "trino-on-host-network.yaml")) {
            for (JsonObject document : read(file)) {
                assertThat(document.get("kind").getAsString()).describedAs(file).isNotEqualTo("Secret");
            }
        }
        for (String file : RENDERINGS) {
            Properties configuration = configuration(file);
            assertThat(configuration.getProperty("internal-communication.shared-secret")).isEqualTo("${ENV:CACHEDHIVE_SHARED_SECRET}");
        }
        for (String name : List.of("default", "archive")) {
            Properties origin = properties(SIDECAR_OPTIONS, "origin-%s.properties".formatted(name));
            assertThat(origin.getProperty("s3.aws-secret-key")).isEqualTo("${ENV:CACHEDHIVE_ORIGIN_%s_SECRET_KEY}".formatted(name.toUpperCase(Locale.ROOT)));
        }
        // the secret that the page generates
        assertThat(Files.readString(ROOT.resolve("docs/operations/kubernetes.md")))
                .contains("create secret generic cachedhive", "--from-literal=shared-secret=\"$(openssl rand -base64 48)\"");
    }

    private static void assertViolation(String expected, Consumer<JsonObject> change)
            throws IOException
    {
        JsonObject spec = pod();
        change.accept(spec);
        assertThat(RestrictedPods.violations(spec)).containsExactly(expected);
    }

    private static JsonObject pod()
            throws IOException
    {
        return find("trino-worker-pod.yaml", "Pod").getAsJsonObject("spec");
    }

    private static JsonObject daemonPod()
            throws IOException
    {
        return podOf(find(DAEMON_SET, "DaemonSet"));
    }

    /**
     * The pod that the chart's templates make of the values, as far as they name it.
     */
    private static JsonObject podOfChart(String component)
            throws IOException
    {
        return KubernetesFiles.podOfTrinoChart(SIDECAR, component, "trino-of-chart");
    }

    /**
     * The pod of a Trino worker that uses the cache worker of its node: the values without the cache worker, patched.
     */
    private static JsonObject trinoOnNodePod()
            throws IOException
    {
        JsonObject values = KubernetesFiles.trinoValues(DAEMON_SET);
        JsonObject spec = podOf(find("trino-on-host-network.yaml", "Deployment"));
        spec.add("securityContext", values.get("securityContext"));
        JsonObject trino = container(spec, "trino-worker");
        trino.add("securityContext", values.get("containerSecurityContext"));
        return spec;
    }

    private static JsonObject podOf(JsonObject controller)
    {
        return controller.getAsJsonObject("spec").getAsJsonObject("template").getAsJsonObject("spec");
    }

    private static Properties configuration(String file)
            throws IOException
    {
        return properties(file, "config.properties");
    }

    private static Properties properties(String file, String key)
            throws IOException
    {
        Properties properties = new Properties();
        properties.load(new StringReader(find(file, "ConfigMap").getAsJsonObject("data").get(key).getAsString()));
        return properties;
    }

    private static JsonObject context(JsonObject parent)
    {
        return parent.getAsJsonObject("securityContext");
    }

    private static JsonObject container(JsonObject spec, String name)
    {
        return RestrictedPods.containers(spec).stream().filter(container -> container.get("name").getAsString().equals(name)).findFirst().orElseThrow();
    }

    private static JsonObject named(JsonObject parent, String list, String name)
    {
        return objects(parent, list).filter(element -> element.get("name").getAsString().equals(name)).findFirst().orElseThrow();
    }

    private static Stream<JsonObject> objects(JsonObject parent, String list)
    {
        return StreamSupport.stream(parent.getAsJsonArray(list).spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    private static JsonObject json(String text)
    {
        return GSON.fromJson(text, JsonObject.class);
    }
}
