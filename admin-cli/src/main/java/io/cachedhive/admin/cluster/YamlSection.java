package io.cachedhive.admin.cluster;

import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * A mapping of a YAML file whose mistakes are told with their line.
 */
final class YamlSection
{
    private final Path file;
    private final Map<String, Node> values = new LinkedHashMap<>();

    private YamlSection(Path file)
    {
        this.file = file;
    }

    static YamlSection of(Node node, Path file, Set<String> allowed)
            throws ClusterFileException
    {
        if (!(node instanceof MappingNode mapping)) {
            throw problem(file, node, "here a list of names and values is expected: write each as `name: value`");
        }
        YamlSection section = new YamlSection(file);
        for (NodeTuple tuple : mapping.getValue()) {
            String key = scalar(file, tuple.getKeyNode());
            if (!allowed.isEmpty() && !allowed.contains(key)) {
                throw problem(file, tuple.getKeyNode(), "%s is unknown: the names that may stand here are %s".formatted(key, String.join(", ", new TreeSet<>(allowed))));
            }
            if (section.values.put(key, tuple.getValueNode()) != null) {
                throw problem(file, tuple.getKeyNode(), "%s stands here twice: remove one of them".formatted(key));
            }
        }
        // a name without a value is as if it were not there
        section.values.values().removeIf(value -> value.getTag().equals(Tag.NULL));
        return section;
    }

    /// This one's values, and under them those of `lower`; `worker-properties` of both are put together.
    YamlSection over(YamlSection lower)
            throws ClusterFileException
    {
        YamlSection merged = new YamlSection(file);
        merged.values.putAll(lower.values);
        merged.values.putAll(values);
        Node mine = values.get("worker-properties");
        Node theirs = lower.values.get("worker-properties");
        if (mine instanceof MappingNode upper && theirs instanceof MappingNode under) {
            Map<String, NodeTuple> tuples = new LinkedHashMap<>();
            for (MappingNode mapping : List.of(under, upper)) {
                for (NodeTuple tuple : mapping.getValue()) {
                    tuples.put(scalar(file, tuple.getKeyNode()), tuple);
                }
            }
            merged.values.put("worker-properties", new MappingNode(
                    Tag.MAP, true, new ArrayList<>(tuples.values()), upper.getStartMark(), upper.getEndMark(), upper.getFlowStyle()));
        }
        return merged;
    }

    boolean has(String key)
    {
        return values.containsKey(key);
    }

    Optional<String> text(String key)
            throws ClusterFileException
    {
        Node node = values.get(key);
        return node == null ? Optional.empty() : Optional.of(scalar(file, node));
    }

    <T> Optional<T> value(String key, Function<String, T> parser)
            throws ClusterFileException
    {
        Optional<String> text = text(key);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(parser.apply(text.get()));
        }
        catch (IllegalArgumentException e) {
            throw problem(key, "%s: %s".formatted(key, e.getMessage()));
        }
    }

    List<Node> list(String key)
            throws ClusterFileException
    {
        Node node = values.get(key);
        if (node == null) {
            return List.of();
        }
        if (!(node instanceof SequenceNode sequence)) {
            throw problem(file, node, "%s is to be a list: write each entry on its own line behind a `- `".formatted(key));
        }
        return sequence.getValue();
    }

    Optional<Node> node(String key)
    {
        return Optional.ofNullable(values.get(key));
    }

    Map<String, Node> entries()
    {
        return values;
    }

    ClusterFileException problem(String key, String what)
    {
        return problem(file, values.get(key), what);
    }

    static ClusterFileException problem(Path file, Node node, String what)
    {
        return new ClusterFileException("%s line %s: %s.".formatted(file, node.getStartMark().getLine() + 1, what));
    }

    static String scalar(Path file, Node node)
            throws ClusterFileException
    {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw problem(file, node, "here a single value is expected");
    }
}
