package io.cachedhive.packages;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.packages.PackageEntry.File;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;

/**
 * The list of everything that the packages contain of others, as <a href="https://cyclonedx.org/specification/overview/">CycloneDX 1.6</a>.
 * Each jar has an entry with its SHA-256 and its places in the bundle; a jar that several parts contain has one entry.
 * The list has no time and no serial number, so that the same jars give the same bytes.
 */
final class BillOfMaterials
{
    /**
     * Name of the file in all packages.
     */
    static final String FILE_NAME = "bom.json";

    private static final ObjectMapper MAPPER = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final String version;
    /**
     * By coordinates and digest: the same coordinates with other content are another component.
     */
    private final SortedMap<String, Component> components = new TreeMap<>();

    /**
     * @param version of the release
     */
    BillOfMaterials(String version)
    {
        this.version = requireNonNull(version, "version is null");
    }

    private record Component(ObjectNode json, TreeSet<String> locations) {}

    /**
     * Adds all jars of a part of the bundle.
     *
     * @param directory of the part in the bundle
     * @param tree the part; files that are no jars are left out
     * @param libraries the coordinates of these jars, and possibly of others
     * @throws IllegalStateException if a jar has no coordinates
     */
    void addJars(String directory, PackageTree tree, List<Library> libraries)
            throws IOException
    {
        Map<String, Library> byFileName = libraries.stream().collect(toMap(Library::fileName, Function.identity()));
        for (Map.Entry<String, PackageEntry> entry : tree.entries().entrySet()) {
            if (entry.getValue() instanceof File file && entry.getKey().endsWith(".jar")) {
                String fileName = entry.getKey().substring(entry.getKey().lastIndexOf('/') + 1);
                String location = directory + "/" + entry.getKey();
                Library library = byFileName.get(fileName);
                if (library == null) {
                    throw new IllegalStateException(
                            "%s is packaged as %s and is not a dependency of its module: an earlier build left it behind, so run mvn clean".formatted(fileName, location));
                }
                addComponent(libraryJson(library), Checksums.digest("SHA-256", file.content()), location);
            }
        }
    }

    /**
     * Adds a jar of this project that contains the classes of other libraries. They are listed below it, without digests, because their own
     * jars are not in the packages.
     *
     * @param location in the bundle
     */
    void addMergedJar(String location, File jar, List<Library> merged)
            throws IOException
    {
        String fileName = location.substring(location.lastIndexOf('/') + 1);
        ObjectNode json = componentJson("application", "io.cachedhive", fileName.replace(".jar", ""), version);
        ArrayNode nested = json.putArray("components");
        merged.stream().sorted((left, right) -> left.packageUrl().compareTo(right.packageUrl())).forEach(library -> nested.add(libraryJson(library)));
        addComponent(json, Checksums.digest("SHA-256", jar.content()), location);
    }

    private void addComponent(ObjectNode json, String digest, String location)
    {
        json.putArray("hashes").addObject()
                .put("alg", "SHA-256")
                .put("content", digest);
        String key = "%s:%s:%s:%s".formatted(json.path("group").asText(), json.path("name").asText(), json.path("purl").asText(), digest);
        components.computeIfAbsent(key, _ -> new Component(json, new TreeSet<>())).locations().add(location);
    }

    private static ObjectNode libraryJson(Library library)
    {
        return componentJson("library", library.group(), library.name(), library.version()).put("purl", library.packageUrl());
    }

    private static ObjectNode componentJson(String type, String group, String name, String version)
    {
        return MAPPER.createObjectNode()
                .put("type", type)
                .put("group", group)
                .put("name", name)
                .put("version", version);
    }

    String toJson()
    {
        ObjectNode bom = MAPPER.createObjectNode()
                .put("$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json")
                .put("bomFormat", "CycloneDX")
                .put("specVersion", "1.6")
                .put("version", 1);
        bom.putObject("metadata").set("component", componentJson("application", "io.cachedhive", "cachedhive", version));
        ArrayNode list = bom.putArray("components");
        for (Component component : components.values()) {
            ArrayNode occurrences = component.json().putObject("evidence").putArray("occurrences");
            component.locations().forEach(location -> occurrences.addObject().put("location", location));
            list.add(component.json());
        }
        try {
            return MAPPER.writeValueAsString(bom) + "\n";
        }
        catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
