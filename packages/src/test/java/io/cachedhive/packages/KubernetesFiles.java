package io.cachedhive.packages;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static io.cachedhive.packages.BuiltPackages.ROOT;

/**
 * Reads the files for Kubernetes: the renderings of the Helm chart, and the files that the chart does not render.
 */
final class KubernetesFiles
{
    static final Path DIRECTORY = ROOT.resolve("etc/kubernetes");

    /**
     * Renderings of the chart with the default values and those that have no default.
     */
    static final String SIDECAR = "rendered/sidecar.yaml";
    static final String DAEMON_SET = "rendered/daemonset.yaml";

    /**
     * Renderings of the chart with other values.
     */
    static final String SIDECAR_OPTIONS = "rendered/sidecar-options.yaml";
    static final String DAEMON_SET_OPTIONS = "rendered/daemonset-options.yaml";

    static final List<String> RENDERINGS = List.of(SIDECAR, DAEMON_SET, SIDECAR_OPTIONS, DAEMON_SET_OPTIONS);

    private static final String TRINO_VALUES = "values.yaml";
    private static final Gson GSON = new Gson();

    private KubernetesFiles() {}

    static List<JsonObject> read(String file)
            throws IOException
    {
        return parse(Files.readString(DIRECTORY.resolve(file)));
    }

    /**
     * Returns the object of a kind; of two ConfigMaps, the one that is not for Trino's chart.
     */
    static JsonObject find(String file, String kind)
            throws IOException
    {
        return read(file).stream()
                .filter(document -> document.get("kind").getAsString().equals(kind))
                .filter(document -> !isTrinoValues(document))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Returns the values for Trino's chart in a rendering.
     */
    static JsonObject trinoValues(String file)
            throws IOException
    {
        JsonObject configMap = read(file).stream().filter(KubernetesFiles::isTrinoValues).findFirst().orElseThrow();
        return parse(configMap.getAsJsonObject("data").get(TRINO_VALUES).getAsString()).getFirst();
    }

    /**
     * Returns the pod that the templates of Trino's chart make of the values in a rendering, as far as the values name it.
     *
     * @param trinoContainer name of the container of Trino
     */
    static JsonObject podOfTrinoChart(String file, String component, String trinoContainer)
            throws IOException
    {
        JsonObject values = trinoValues(file);
        JsonObject trino = new JsonObject();
        trino.addProperty("name", trinoContainer);
        trino.addProperty("image", "trinodb/trino@" + values.getAsJsonObject("image").get("digest").getAsString());
        trino.add("securityContext", values.get("containerSecurityContext"));
        JsonObject own = values.getAsJsonObject(component);
        trino.add("volumeMounts", own.get("additionalVolumeMounts"));
        JsonObject spec = new JsonObject();
        spec.add("serviceAccountName", values.getAsJsonObject("serviceAccount").get("name"));
        spec.add("securityContext", values.get("securityContext"));
        spec.add("volumes", own.get("additionalVolumes"));
        spec.add("initContainers", values.getAsJsonObject("initContainers").get(component));
        JsonArray containers = new JsonArray();
        containers.add(trino);
        if (values.has("sidecarContainers") && values.getAsJsonObject("sidecarContainers").has(component)) {
            containers.addAll(values.getAsJsonObject("sidecarContainers").getAsJsonArray(component));
        }
        spec.add("containers", containers);
        return spec;
    }

    static List<JsonObject> parse(String yaml)
    {
        List<JsonObject> documents = new ArrayList<>();
        for (Object document : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
            JsonElement json = GSON.toJsonTree(document);
            // a document of comments only
            if (!json.isJsonNull()) {
                documents.add(json.getAsJsonObject());
            }
        }
        return documents;
    }

    private static boolean isTrinoValues(JsonObject document)
    {
        return document.has("data") && document.getAsJsonObject("data").has(TRINO_VALUES);
    }
}
