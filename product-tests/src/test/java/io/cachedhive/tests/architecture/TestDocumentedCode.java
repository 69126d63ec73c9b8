package io.cachedhive.tests.architecture;

import io.cachedhive.testing.DocumentedCode;
import io.cachedhive.testing.DocumentedCode.Block;
import io.cachedhive.testing.DocumentedCode.Command;
import org.testng.annotations.Test;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the code of all pages. Each fenced block has one of the languages below, or contains commands, and each command is either one of the project's programs,
 * whose subcommands and options must exist, or a program of the system that {@link #OTHER_PROGRAMS} lists.
 *
 * <p>Other tests run or parse what needs their modules: {@code TestDocumentedCommands} of admin-cli parses the command lines of {@code cache-admin},
 * {@code TestDocumentedRules} of cache-rules parses the rules files, {@code TestCacheRules} of plugin-cachedhive runs the statements, and {@code TestPages} of
 * product-tests-containers does what the pages about installation say.
 */
@Test(groups = "fast")
public class TestDocumentedCode
{
    /**
     * Output and diagrams are {@code text}, and lines of logs {@code log}. Statements and rules files are checked by other tests.
     */
    private static final Set<String> CHECKED_ELSEWHERE = Set.of("text", "log", "sql", "json");

    /**
     * Programs that are not run, and the reasons.
     */
    private static final Map<String, String> OTHER_PROGRAMS = Map.ofEntries(
            Map.entry("cache-admin", "parsed by TestDocumentedCommands, run by TestPages"),
            Map.entry("docker", "needs a container engine"),
            Map.entry("helm", "needs a cluster; bin/check-charts renders the same chart"),
            Map.entry("kubectl", "needs a cluster"),
            Map.entry("nft", "changes the firewall of the host"),
            Map.entry("ssh", "needs another host"),
            Map.entry("systemd-tmpfiles", "creates directories on a node"),
            Map.entry("gpg", "needs a key of the publisher"),
            Map.entry("gpgv", "needs a key of the publisher"),
            Map.entry("openssl", "a program of the system; TestCertificates creates the same certificates"),
            Map.entry("sha256sum", "a program of the system; TestChecksums checks the same file"),
            Map.entry("cat", "a program of the system"),
            Map.entry("cd", "a program of the system"),
            Map.entry("export", "a command of the shell"),
            Map.entry("install", "a program of the system"),
            Map.entry("ln", "a program of the system"),
            Map.entry("mv", "a program of the system"),
            Map.entry("tar", "a program of the system"));

    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]*");
    private static final Pattern PROJECT_FILE = Pattern.compile("(?<![\\w/.~-])(?:charts|etc/(?:compose|kubernetes|monitoring|systemd))/[\\w./-]*[\\w-]");
    private static final Pattern PROFILE = Pattern.compile("-P(\\w+)");
    private static final Pattern PROPERTY = Pattern.compile("^([a-z][a-z0-9.-]*)=");
    // of Trino
    private static final Set<String> OTHER_PROPERTIES = Set.of(
            "connector.name",
            "hive.metastore.uri",
            "internal-communication.https.keystore.path",
            "internal-communication.https.truststore.path");

    public void testBlocks()
    {
        List<Block> blocks = DocumentedCode.blocks();
        assertThat(blocks).hasSizeGreaterThan(150);
        assertThat(blocks.stream().flatMap(block -> problems(block).stream())).isEmpty();
    }

    public void testProgramsOfTheProject()
    {
        List<Command> commands = Stream.of("bin/quickstart", "bin/sql", "bin/chaos", "bin/attack", "bin/benchmark", "bin/fuzz", "bin/test", "bin/check-charts",
                        "bin/check-monitoring", "product-tests/run", "bin/cache-worker", "cache-worker")
                .flatMap(program -> DocumentedCode.commands(program).stream())
                .toList();
        assertThat(commands).hasSizeGreaterThan(100);
        assertThat(commands.stream().flatMap(command -> problems(command.where(), command.text()).stream())).isEmpty();
    }

    public void testWrongCodeIsFound()
    {
        String page =
                """
                ```
                bin/benchmark micro --onyl x
                bin/benchmark mirco
                bin/quickstrat
                mvn verify -Pconformence
                helm install cachedhive charts/cachehive
                curl http://localhost && bin/chaos --minutes 3
                cache-worker fsk /ssd1
                ```

                ```properties
                cachedhive.mod=ON
                ```

                ```yaml
                a: b: c
                ```

                ```python
                print()
                ```

                ```text
                bin/nothing
                ```
                """;
        assertThat(DocumentedCode.blocks("page.md", page).stream().flatMap(block -> problems(block).stream())).containsExactly(
                "page.md:1: bin/benchmark micro --onyl x: bin/benchmark has no --onyl",
                "page.md:1: bin/benchmark mirco: bin/benchmark has no mirco",
                "page.md:1: bin/quickstrat: there is no program bin/quickstrat",
                "page.md:1: mvn verify -Pconformence: pom.xml has no profile conformence",
                "page.md:1: helm install cachedhive charts/cachehive: there is no file charts/cachehive",
                "page.md:1: curl http://localhost: add curl to the list of programs, with the reason why no test runs it",
                "page.md:1: cache-worker fsk /ssd1: cache-worker has no fsk",
                "page.md:11: there is no property cachedhive.mod",
                "page.md:15: the YAML is invalid",
                "page.md:19: the language python is unknown");
    }

    private static List<String> problems(Block block)
    {
        if (CHECKED_ELSEWHERE.contains(block.language())) {
            return List.of();
        }
        if (DocumentedCode.isCommands(block)) {
            return DocumentedCode.commandLines(block).stream()
                    .flatMap(line -> Stream.of(line.split(" (?:&&|\\|) ")))
                    .flatMap(command -> problems(block.where(), command).stream())
                    .toList();
        }
        return switch (block.language()) {
            case "properties" -> block.lines().stream().flatMap(line -> property(line).stream()).map(problem -> block.where() + ": " + problem).toList();
            case "yaml" -> yaml(block.text()).map(problem -> List.of(block.where() + ": " + problem)).orElse(List.of());
            default -> List.of("%s: the language %s is unknown".formatted(block.where(), block.language()));
        };
    }

    private static Optional<String> property(String line)
    {
        Matcher matcher = PROPERTY.matcher(line);
        if (!matcher.find() || OTHER_PROPERTIES.contains(matcher.group(1)) || read("docs/configuration.md").contains("| `%s` |".formatted(matcher.group(1)))) {
            return Optional.empty();
        }
        return Optional.of("there is no property " + matcher.group(1));
    }

    private static Optional<String> yaml(String text)
    {
        try {
            new Yaml().load(text);
            return Optional.empty();
        }
        catch (YAMLException _) {
            return Optional.of("the YAML is invalid");
        }
    }

    private static List<String> problems(String where, String command)
    {
        List<String> problems = new ArrayList<>();
        List<String> words = new Command(where, command, true).words();
        // a variable for the rest of the block
        String program = words.getFirst();
        if (!program.contains("=")) {
            problem(program, words.subList(1, words.size()), command).ifPresent(problems::add);
            PROJECT_FILE.matcher(command).results()
                    .map(MatchResult::group)
                    .filter(file -> !Files.exists(DocumentedCode.root().resolve(file)))
                    .forEach(file -> problems.add("there is no file " + file));
        }
        return problems.stream().map(problem -> "%s: %s: %s".formatted(where, command, problem)).toList();
    }

    private static Optional<String> problem(String program, List<String> arguments, String command)
    {
        if (OTHER_PROGRAMS.containsKey(program)) {
            return Optional.empty();
        }
        if (program.equals("mvn")) {
            return PROFILE.matcher(command).results()
                    .map(profile -> profile.group(1))
                    .filter(profile -> !read("pom.xml").contains("<id>%s</id>".formatted(profile)))
                    .map("pom.xml has no profile %s"::formatted)
                    .findFirst();
        }
        Optional<String> source = source(program);
        if (source.isEmpty()) {
            return Optional.of(program.contains("/")
                    ? "there is no program " + program
                    : "add %s to the list of programs, with the reason why no test runs it".formatted(program));
        }
        Optional<String> option = OPTION.matcher(command).results()
                .map(MatchResult::group)
                .filter(name -> !Pattern.compile(Pattern.quote(name) + "(?![\\w-])").matcher(source.get()).find())
                .findFirst();
        if (option.isPresent()) {
            return Optional.of("%s has no %s".formatted(program, option.get()));
        }
        if (hasSubcommands(program) && !arguments.isEmpty() && arguments.getFirst().matches("[a-z][a-z-]*") && !isWord(arguments.getFirst(), source.get())) {
            return Optional.of("%s has no %s".formatted(program, arguments.getFirst()));
        }
        return Optional.empty();
    }

    private static boolean hasSubcommands(String program)
    {
        return Set.of("bin/benchmark", "bin/attack", "bin/cache-worker", "cache-worker").contains(program);
    }

    /**
     * Returns whether a word is a string of a Java source, or a case of a script.
     */
    private static boolean isWord(String word, String source)
    {
        return source.contains("\"%s\"".formatted(word)) || Pattern.compile("(?m)^ *(?:[\\w-]+ ?\\| ?)*%s(?: ?\\| ?[\\w-]+)*\\)".formatted(word)).matcher(source).find();
    }

    /**
     * Returns the text that defines the options of a program: its script, and the sources of its module.
     */
    private static Optional<String> source(String program)
    {
        return switch (program) {
            case "bin/benchmark" -> Optional.of(read("bin/benchmark") + sources("benchmarks"));
            case "bin/attack" -> Optional.of(read("bin/attack") + sources("attack"));
            case "bin/chaos" -> Optional.of(read("bin/chaos") + sources("chaos"));
            case "bin/quickstart" -> Optional.of(read("bin/quickstart") + sources("quickstart"));
            case "bin/cache-worker", "cache-worker" -> Optional.of(read("cache-worker-daemon/src/main/package/bin/cache-worker") + sources("cache-worker-daemon"));
            default -> Optional.of(program)
                    .filter(name -> name.contains("/") && Files.isExecutable(DocumentedCode.root().resolve(name)))
                    .map(TestDocumentedCode::read);
        };
    }

    private static String sources(String module)
    {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(DocumentedCode.root().resolve(module).resolve("src/main/java"))) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                text.append(Files.readString(file)).append('\n');
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static String read(String file)
    {
        try {
            return Files.readString(DocumentedCode.root().resolve(file));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
