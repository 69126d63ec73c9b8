package io.cachedhive.tests.architecture;

import io.cachedhive.tests.architecture.JavaSource.Reference;
import io.cachedhive.tests.architecture.ProjectModule.Dependency;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which module may use which, and where Trino may appear: the rules of {@code docs/architecture.md}, in a form that can be checked.
 *
 * <p>Shipped code is held to the arrows, in the poms and in the sources. Tests may use other modules to stand up what they need, but the
 * rules on Trino hold for them too.
 */
final class ModuleArrows
{
    static final String GROUP_ID = "io.cachedhive";
    static final String TRINO_FILE_SYSTEM_CACHE = "io.trino.filesystem.cache";
    private static final Set<String> CONNECTOR_PACKAGES = Set.of("io.trino.plugin.hive", "io.trino.plugin.iceberg", "io.trino.metastore", "io.trino.hive");

    /**
     * @param packageName where all of the module's classes are
     * @param uses the modules that its shipped code may use
     * @param mayUseTrino whether {@code io.trino} may appear in it
     */
    private record Rule(String packageName, Set<String> uses, boolean mayUseTrino) {}

    private static final Map<String, Rule> RULES = rules();

    private ModuleArrows() {}

    private static Map<String, Rule> rules()
    {
        Map<String, Rule> rules = new LinkedHashMap<>();
        rules.put("cache-protocol", new Rule("io.cachedhive.protocol", Set.of(), false));
        rules.put("cache-store", new Rule("io.cachedhive.store", Set.of("cache-protocol"), false));
        rules.put("cache-transport", new Rule("io.cachedhive.transport", Set.of("cache-protocol"), false));
        rules.put("cache-client", new Rule("io.cachedhive.client", Set.of("cache-protocol", "cache-transport"), false));
        rules.put("cache-rules", new Rule("io.cachedhive.rules", Set.of("cache-protocol"), false));
        rules.put("cache-worker-daemon", new Rule("io.cachedhive.worker", Set.of("cache-protocol", "cache-store", "cache-transport"), false));
        rules.put("plugin-core", new Rule("io.cachedhive.plugin", Set.of("cache-protocol", "cache-transport", "cache-client", "cache-rules"), false));
        rules.put("plugin-trino", new Rule("io.cachedhive.trino", Set.of("cache-protocol", "cache-transport", "cache-client", "cache-rules", "plugin-core"), true));
        rules.put(
                "plugin-cachedhive",
                new Rule("io.cachedhive.hive", Set.of("cache-protocol", "cache-transport", "cache-client", "cache-rules", "plugin-core", "plugin-trino"), true));
        rules.put(
                "plugin-cachediceberg",
                new Rule("io.cachedhive.iceberg", Set.of("cache-protocol", "cache-transport", "cache-client", "cache-rules", "plugin-core", "plugin-trino"), true));
        rules.put("engine-extension", new Rule("io.cachedhive.engine", Set.of(), true));
        rules.put("testing-cluster", new Rule("io.cachedhive.testing.cluster", Set.of("cache-protocol"), true));
        rules.put("testing-metastore", new Rule("io.cachedhive.testing.metastore", Set.of(), false));
        rules.put("quickstart", new Rule("io.cachedhive.quickstart", Set.of("testing-cluster"), true));
        rules.put("chaos", new Rule("io.cachedhive.chaos", Set.of("attack", "cache-transport", "testing-cluster"), true));
        rules.put("attack", new Rule("io.cachedhive.attack", Set.of("cache-protocol", "cache-transport", "testing-cluster"), false));
        rules.put("admin-cli", new Rule("io.cachedhive.admin", Set.of("cache-protocol", "cache-rules"), false));
        // of the modules that it packs it uses what they have built, and not their classes
        rules.put(
                "packages",
                new Rule(
                        "io.cachedhive.packages",
                        Set.of("cache-protocol", "cache-store", "cache-worker-daemon", "plugin-cachedhive", "plugin-cachediceberg", "engine-extension", "admin-cli"),
                        false));
        rules.put("product-tests", new Rule("io.cachedhive.tests", Set.of("testing-cluster"), true));
        rules.put("product-tests-containers", new Rule("io.cachedhive.tests.containers", Set.of("testing-cluster", "testing-metastore"), true));
        rules.put(
                "benchmarks",
                new Rule(
                        "io.cachedhive.benchmark",
                        Set.of(
                                "cache-protocol", "cache-store", "cache-transport", "cache-client",
                                "cache-worker-daemon", "plugin-core", "plugin-trino", "plugin-cachedhive", "testing-cluster", "testing-metastore"),
                        true));
        return rules;
    }

    /**
     * One sentence for each violation; none if the project keeps the rules.
     */
    static List<String> violations(List<ProjectModule> modules)
    {
        List<String> violations = new ArrayList<>();
        for (ProjectModule module : modules) {
            Rule rule = RULES.get(module.name());
            if (rule == null) {
                violations.add("module %s has no rule: say in ModuleArrows what it may use".formatted(module.name()));
                continue;
            }
            checkDependencies(module, rule, violations);
            checkSources(module, rule, violations);
        }
        checkFileSystemCache(modules, violations);
        checkConnectors(modules, violations);
        return violations;
    }

    private static void checkDependencies(ProjectModule module, Rule rule, List<String> violations)
    {
        for (Dependency dependency : module.dependencies()) {
            if (dependency.groupId().equals(GROUP_ID) && !dependency.isForTestsOnly() && !rule.uses().contains(dependency.artifactId())) {
                violations.add("%s/pom.xml: %s may not depend on %s".formatted(module.name(), module.name(), dependency.artifactId()));
            }
            if (dependency.groupId().equals("io.trino") && !rule.mayUseTrino()) {
                violations.add("%s/pom.xml: %s may not depend on Trino, but names %s".formatted(module.name(), module.name(), dependency.artifactId()));
            }
        }
    }

    private static void checkSources(ProjectModule module, Rule rule, List<String> violations)
    {
        Reference home = new Reference(rule.packageName(), 1);
        module.mainSources().stream()
                .filter(source -> !new Reference(source.packageName(), 1).isIn(home.name()))
                .forEach(source -> violations.add("%s: is in package %s, but %s is all in %s".formatted(
                        source.path(), source.packageName(), module.name(), rule.packageName())));

        for (JavaSource source : module.mainSources()) {
            for (Reference reference : source.references()) {
                RULES.forEach((other, otherRule) -> {
                    if (!other.equals(module.name()) && reference.isIn(otherRule.packageName()) && !rule.uses().contains(other)) {
                        violations.add("%s:%s: %s may not use %s, but names %s".formatted(source.path(), reference.line(), module.name(), other, reference.name()));
                    }
                });
            }
        }
        if (!rule.mayUseTrino()) {
            module.sources().forEach(source -> source.references().stream()
                    .filter(reference -> reference.isIn("io.trino"))
                    .forEach(reference -> violations.add("%s:%s: %s may not use Trino, but names %s".formatted(
                            source.path(), reference.line(), module.name(), reference.name()))));
        }
    }

    /**
     * The next Trino has another interface in its place: then one package of plugin-trino changes and nothing else.
     */
    private static void checkFileSystemCache(List<ProjectModule> modules, List<String> violations)
    {
        Set<String> packages = new TreeSet<>();
        for (ProjectModule module : modules) {
            module.mainSources().stream()
                    .filter(source -> source.references().stream().anyMatch(reference -> reference.isIn(TRINO_FILE_SYSTEM_CACHE)))
                    .forEach(source -> {
                        if (module.name().equals("plugin-trino")) {
                            packages.add(source.packageName());
                        }
                        else {
                            violations.add("%s: only plugin-trino may use %s".formatted(source.path(), TRINO_FILE_SYSTEM_CACHE));
                        }
                    });
        }
        if (packages.size() > 1) {
            violations.add("%s is used in more than one package: %s".formatted(TRINO_FILE_SYSTEM_CACHE, String.join(", ", packages)));
        }
    }

    /**
     * What is the same for every connector knows none of them.
     */
    private static void checkConnectors(List<ProjectModule> modules, List<String> violations)
    {
        for (ProjectModule module : modules) {
            if (!module.name().equals("plugin-trino")) {
                continue;
            }
            module.dependencies().stream()
                    .filter(dependency -> dependency.artifactId().equals("trino-hive") || dependency.artifactId().equals("trino-metastore"))
                    .forEach(dependency -> violations.add("%s/pom.xml: %s may not depend on a connector, but names %s".formatted(
                            module.name(), module.name(), dependency.artifactId())));
            module.sources().forEach(source -> source.references().stream()
                    .filter(reference -> CONNECTOR_PACKAGES.stream().anyMatch(reference::isIn))
                    .forEach(reference -> violations.add("%s:%s: %s may not use a connector, but names %s".formatted(
                            source.path(), reference.line(), module.name(), reference.name()))));
        }
    }
}
