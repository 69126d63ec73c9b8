package io.cachedhive.tests.architecture;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static java.util.stream.Collectors.joining;

/**
 * Finds packages of a module's main code that use one another in a cycle.
 *
 * <p>It reads compiled classes, in which a constant of a primitive type or a string is no use of the class that declares it.
 */
final class PackageCycles
{
    private static final int MAX_SHOWN_USES = 5;

    // the uses among a module's packages: from, to, and which class uses which
    private final SortedMap<String, SortedMap<String, SortedSet<String>>> uses = new TreeMap<>();

    private PackageCycles() {}

    /**
     * One sentence for each group of packages in a cycle; none if there is no cycle.
     *
     * @param root the directory of the project, whose modules are compiled
     */
    static List<String> violations(Path root, ProjectModule module)
    {
        // those that a deleted source has left are not checked, nor those that a tool has generated
        Set<String> sources = module.mainSources().stream()
                .map(source -> source.packageName() + "." + source.path().getFileName().toString().replaceFirst("\\.java$", ""))
                .collect(Collectors.toSet());
        if (sources.isEmpty()) {
            return List.of();
        }
        Path classes = root.resolve(module.name()).resolve("target/classes");
        Set<String> missing = sources.stream()
                .filter(source -> !Files.exists(classes.resolve(source.replace('.', '/') + ".class")))
                .collect(Collectors.toCollection(TreeSet::new));
        if (!missing.isEmpty()) {
            return List.of("%s: class %s is not compiled: build all modules first, by mvn verify -DskipTests".formatted(module.name(), missing.iterator().next()));
        }

        // else it would read classes of the JDK and of Trino as well
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
        PackageCycles cycles = new PackageCycles();
        for (JavaClass javaClass : new ClassFileImporter().importPath(classes)) {
            for (Dependency dependency : javaClass.getDirectDependenciesFromSelf()) {
                JavaClass used = dependency.getTargetClass().getBaseComponentType();
                if (sources.contains(sourceOf(javaClass)) && sources.contains(sourceOf(used)) && !javaClass.getPackageName().equals(used.getPackageName())) {
                    cycles.uses.computeIfAbsent(javaClass.getPackageName(), _ -> new TreeMap<>())
                            .computeIfAbsent(used.getPackageName(), _ -> new TreeSet<>())
                            .add("%s uses %s".formatted(simpleName(sourceOf(javaClass)), simpleName(sourceOf(used))));
                }
            }
        }
        return cycles.groups().stream()
                .map(group -> cycles.describe(module.name(), group))
                .toList();
    }

    private static String sourceOf(JavaClass javaClass)
    {
        return javaClass.getName().replaceFirst("\\$.*$", "");
    }

    private static String simpleName(String className)
    {
        return className.substring(className.lastIndexOf('.') + 1);
    }

    /**
     * Packages of which each uses all others, directly or through others of them.
     */
    private List<SortedSet<String>> groups()
    {
        Map<String, Set<String>> reachable = new HashMap<>();
        uses.keySet().forEach(from -> reachable.put(from, pathsFrom(from).keySet()));
        List<SortedSet<String>> groups = new ArrayList<>();
        Set<String> grouped = new HashSet<>();
        for (String from : uses.keySet()) {
            if (!grouped.contains(from) && reachable.get(from).contains(from)) {
                SortedSet<String> group = reachable.get(from).stream()
                        .filter(to -> reachable.getOrDefault(to, Set.of()).contains(from))
                        .collect(Collectors.toCollection(TreeSet::new));
                grouped.addAll(group);
                groups.add(group);
            }
        }
        return groups;
    }

    /**
     * A shortest path to each package that is used, directly or not: all packages on it, with both ends.
     */
    private Map<String, List<String>> pathsFrom(String start)
    {
        Map<String, List<String>> paths = new HashMap<>();
        Queue<List<String>> queue = new ArrayDeque<>(List.of(List.of(start)));
        while (!queue.isEmpty()) {
            List<String> path = queue.remove();
            for (String next : uses.getOrDefault(path.getLast(), new TreeMap<>()).keySet()) {
                List<String> longer = new ArrayList<>(path);
                longer.add(next);
                if (paths.putIfAbsent(next, longer) == null) {
                    queue.add(longer);
                }
            }
        }
        return paths;
    }

    private String describe(String module, SortedSet<String> group)
    {
        Optional<List<String>> cycle = group.stream()
                .map(start -> pathsFrom(start).get(start))
                .min(Comparator.comparingInt(List::size));
        List<String> path = cycle.orElseThrow();
        String steps = IntStream.range(1, path.size())
                .mapToObj(index -> "%s uses %s (%s)".formatted(path.get(index - 1), path.get(index), shown(uses.get(path.get(index - 1)).get(path.get(index)))))
                .collect(joining(", "));
        return "%s: packages %s are in a cycle, because %s: move classes until one of them does not use the next"
                .formatted(module, String.join(", ", group), steps);
    }

    private static String shown(SortedSet<String> uses)
    {
        String shown = uses.stream().limit(MAX_SHOWN_USES).collect(joining(", "));
        return uses.size() <= MAX_SHOWN_USES ? shown : "%s, and %s more".formatted(shown, uses.size() - MAX_SHOWN_USES);
    }
}
