package io.cachedhive.packages;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The controls of the Pod Security Standard "restricted" of Kubernetes 1.35, which contain those of "baseline", without
 * the ones for Windows.
 */
final class RestrictedPods
{
    private static final Set<String> VOLUME_TYPES = Set.of(
            "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret");
    private static final Set<String> SAFE_SYSCTLS = Set.of(
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_rmem",
            "net.ipv4.tcp_wmem");
    private static final Set<String> SELINUX_TYPES = Set.of("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t");
    private static final Set<String> PROFILES = Set.of("RuntimeDefault", "Localhost");

    private RestrictedPods() {}

    /**
     * Returns the controls that a pod violates, each with the field that does.
     */
    static Set<String> violations(JsonObject spec)
    {
        Set<String> violations = new LinkedHashSet<>();
        for (String name : List.of("hostNetwork", "hostPID", "hostIPC")) {
            if (bool(spec, name).orElse(false)) {
                violations.add(name);
            }
        }
        for (JsonObject volume : objects(spec, "volumes").toList()) {
            volume.keySet().stream()
                    .filter(key -> !key.equals("name") && !VOLUME_TYPES.contains(key))
                    .forEach(type -> violations.add("%s volume".formatted(type)));
        }
        JsonObject pod = object(spec, "securityContext");
        checkContext("pod", pod, violations);
        for (JsonObject sysctl : objects(pod, "sysctls").toList()) {
            if (!SAFE_SYSCTLS.contains(sysctl.get("name").getAsString())) {
                violations.add("sysctl " + sysctl.get("name").getAsString());
            }
        }
        for (JsonObject container : containers(spec)) {
            checkContainer(container, pod, violations);
        }
        return violations;
    }

    static List<JsonObject> containers(JsonObject spec)
    {
        List<JsonObject> containers = new ArrayList<>();
        for (String kind : List.of("initContainers", "containers", "ephemeralContainers")) {
            objects(spec, kind).forEach(containers::add);
        }
        return containers;
    }

    private static void checkContainer(JsonObject container, JsonObject pod, Set<String> violations)
    {
        String name = container.get("name").getAsString();
        JsonObject context = object(container, "securityContext");
        checkContext(name, context, violations);
        if (bool(context, "privileged").orElse(false)) {
            violations.add(name + ": privileged");
        }
        if (bool(context, "allowPrivilegeEscalation").orElse(true)) {
            violations.add(name + ": allowPrivilegeEscalation");
        }
        if (!bool(context, "runAsNonRoot").or(() -> bool(pod, "runAsNonRoot")).orElse(false)) {
            violations.add(name + ": runAsNonRoot");
        }
        String profile = text(object(context, "seccompProfile"), "type").or(() -> text(object(pod, "seccompProfile"), "type")).orElse("");
        if (!PROFILES.contains(profile)) {
            violations.add(name + ": seccompProfile");
        }
        JsonObject capabilities = object(context, "capabilities");
        if (!texts(capabilities, "drop").contains("ALL")) {
            violations.add(name + ": capabilities.drop");
        }
        if (!Set.of("NET_BIND_SERVICE").containsAll(texts(capabilities, "add"))) {
            violations.add(name + ": capabilities.add");
        }
        if (!text(context, "procMount").orElse("Default").equals("Default")) {
            violations.add(name + ": procMount");
        }
        if (objects(container, "ports").anyMatch(port -> port.has("hostPort") && port.get("hostPort").getAsInt() != 0)) {
            violations.add(name + ": hostPort");
        }
        Stream.of("livenessProbe", "readinessProbe", "startupProbe")
                .map(probe -> object(container, probe))
                .flatMap(probe -> Stream.of(object(probe, "httpGet"), object(probe, "tcpSocket")))
                .filter(action -> action.has("host"))
                .forEach(_ -> violations.add(name + ": host of a probe"));
        Stream.of("postStart", "preStop")
                .map(hook -> object(object(container, "lifecycle"), hook))
                .flatMap(hook -> Stream.of(object(hook, "httpGet"), object(hook, "tcpSocket")))
                .filter(action -> action.has("host"))
                .forEach(_ -> violations.add(name + ": host of a hook"));
    }

    /**
     * What a pod and a container can both set.
     */
    private static void checkContext(String name, JsonObject context, Set<String> violations)
    {
        if (bool(context, "runAsNonRoot").filter(nonRoot -> !nonRoot).isPresent()) {
            violations.add(name + ": runAsNonRoot");
        }
        if (context.has("runAsUser") && context.get("runAsUser").getAsLong() == 0) {
            violations.add(name + ": runAsUser");
        }
        if (text(object(context, "seccompProfile"), "type").filter(type -> !PROFILES.contains(type)).isPresent()) {
            violations.add(name + ": seccompProfile");
        }
        if (text(object(context, "appArmorProfile"), "type").filter(type -> !PROFILES.contains(type)).isPresent()) {
            violations.add(name + ": appArmorProfile");
        }
        JsonObject seLinux = object(context, "seLinuxOptions");
        if (!SELINUX_TYPES.contains(text(seLinux, "type").orElse("")) || text(seLinux, "user").isPresent() || text(seLinux, "role").isPresent()) {
            violations.add(name + ": seLinuxOptions");
        }
    }

    private static JsonObject object(JsonObject parent, String name)
    {
        return parent.has(name) ? parent.getAsJsonObject(name) : new JsonObject();
    }

    private static Stream<JsonObject> objects(JsonObject parent, String name)
    {
        JsonArray array = parent.has(name) ? parent.getAsJsonArray(name) : new JsonArray();
        return StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    private static List<String> texts(JsonObject parent, String name)
    {
        JsonArray array = parent.has(name) ? parent.getAsJsonArray(name) : new JsonArray();
        return StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsString).toList();
    }

    private static Optional<String> text(JsonObject parent, String name)
    {
        return parent.has(name) ? Optional.of(parent.get(name).getAsString()) : Optional.empty();
    }

    private static Optional<Boolean> bool(JsonObject parent, String name)
    {
        return parent.has(name) ? Optional.of(parent.get(name).getAsBoolean()) : Optional.empty();
    }
}
