package io.cachedhive.tests.architecture;

import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/configuration.md} and the ready files in {@code etc/} to the properties that the code has.
 */
@Test(groups = "fast")
public class TestConfigurationPage
{
    private static final Pattern CONFIG_ANNOTATION = Pattern.compile("@Config\\(\"([^\"]+)\"\\)");
    private static final Pattern TABLE_ROW = Pattern.compile("^\\| `([a-z0-9.-]+)` \\|", Pattern.MULTILINE);
    private static final Pattern ASSIGNMENT = Pattern.compile("^#?([a-z][a-z0-9.-]+\\.[a-z0-9.-]+)=", Pattern.MULTILINE);

    // what libraries define and the page explains
    private static final Set<String> AIRLIFT = Set.of(
            "http-server.http.port", "http-server.http.enabled", "http-server.https.enabled", "http-server.https.port",
            "http-server.https.keystore.path", "http-server.https.keystore.key", "http-server.https.truststore.path", "http-server.https.truststore.key",
            "node.environment", "node.id", "node.data-dir", "node.bind-ip", "node.internal-address");

    public void testEveryPropertyIsOnThePage()
            throws IOException
    {
        assertThat(documented()).containsAll(defined());
    }

    public void testThePageHasNoOtherProperty()
            throws IOException
    {
        Set<String> known = defined();
        known.addAll(AIRLIFT);

        assertThat(known).containsAll(documented());
    }

    public void testReadyFilesUseExistingProperties()
            throws IOException
    {
        Path etc = ProjectModule.findRoot().resolve("etc");
        Set<String> known = defined();
        known.addAll(AIRLIFT);
        // as written: a property that is commented out must exist, too
        assertThat(assignments(etc.resolve("cache-worker/config.properties"))).isNotEmpty().isSubsetOf(known);
        assertThat(assignments(etc.resolve("cache-worker/node.properties"))).isNotEmpty().isSubsetOf(known);
        assertThat(assignments(etc.resolve("cache-worker/origins/default.properties"))).isNotEmpty().isSubsetOf(known);
        assertThat(assignments(etc.resolve("catalog/cachedhive.properties")).stream().filter(name -> name.startsWith("cachedhive."))).isNotEmpty().isSubsetOf(known);
    }

    private static Set<String> documented()
            throws IOException
    {
        return find(TABLE_ROW, Files.readString(ProjectModule.findRoot().resolve("docs/configuration.md")));
    }

    /**
     * The properties of all configuration classes.
     */
    private static Set<String> defined()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        Set<String> names = new TreeSet<>();
        for (String module : List.of("plugin-core", "cache-worker-daemon")) {
            List<Path> files = new ArrayList<>();
            try (Stream<Path> paths = Files.walk(root.resolve(module).resolve("src/main/java"))) {
                paths.filter(path -> path.toString().endsWith("Config.java")).forEach(files::add);
            }
            for (Path file : files) {
                names.addAll(find(CONFIG_ANNOTATION, Files.readString(file)));
            }
        }
        assertThat(names).contains("cachedhive.mode", "cache.block-size", "s3.endpoint");
        return names;
    }

    private static Set<String> assignments(Path file)
            throws IOException
    {
        return find(ASSIGNMENT, Files.readString(file));
    }

    private static Set<String> find(Pattern pattern, String text)
    {
        Set<String> found = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }
}
