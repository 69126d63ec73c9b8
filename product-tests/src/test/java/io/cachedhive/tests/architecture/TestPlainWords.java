package io.cachedhive.tests.architecture;

import org.testng.annotations.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps words that readers of Trino's documentation stumble over out of everything that users see: messages, column comments, help and property descriptions in
 * the code, programs and files that are installed, and the documentation.
 */
@Test(groups = "fast")
public class TestPlainWords
{
    private static final Pattern WORDS = Pattern.compile(
            "\\b(mend(s|ed|ing)?|anew|likewise|whoever|nobody|somebody|anybody|unsaid|courtesy|once more|again and again|those who|all is well)\\b",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "//[^\n]*|/\\*.*?\\*/|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)'",
            Pattern.DOTALL);

    public void testCode()
            throws IOException
    {
        List<Path> files = files("*/src/main", ".java");
        assertThat(files).hasSizeGreaterThan(300);
        assertThat(files.stream().flatMap(file -> wordsOfLiterals(file).stream())).isEmpty();
    }

    public void testInstalledFiles()
            throws IOException
    {
        List<Path> files = new ArrayList<>(files("*/src/main/resources", ""));
        files.addAll(files("bin", ""));
        files.addAll(files("charts", ""));
        files.addAll(files("etc", ""));
        assertThat(files).hasSizeGreaterThan(20);
        assertThat(files.stream().flatMap(file -> words(file, read(file)).stream())).isEmpty();
    }

    public void testDocumentation()
            throws IOException
    {
        List<Path> files = new ArrayList<>(files("docs", ".md"));
        files.add(ProjectModule.findRoot().resolve("README.md"));
        files.add(ProjectModule.findRoot().resolve("CONTRIBUTING.md"));
        files.add(ProjectModule.findRoot().resolve("SECURITY.md"));
        assertThat(files).hasSizeGreaterThan(40);
        assertThat(files.stream().flatMap(file -> words(file, read(file)).stream())).isEmpty();
    }

    public void testWordsAreFound()
    {
        assertThat(words(Path.of("page.md"), "One line.\nTo be mended: who mends it?")).containsExactly("page.md:2: mended", "page.md:2: mends");
        assertThat(words(Path.of("page.md"), "Recommended amendments")).isEmpty();
        assertThat(literals("""
                // "a comment"
                /* "another" */
                String text = "say \\"x\\"" + '"' + "y"; // "z"
                """)).containsExactly("say \\\"x\\\"", "y");
    }

    private static List<String> wordsOfLiterals(Path file)
    {
        return literals(read(file)).stream()
                .flatMap(literal -> words(file, literal).stream().map(word -> "%s in \"%s\"".formatted(word, literal.strip())))
                .toList();
    }

    private static List<String> literals(String code)
    {
        List<String> literals = new ArrayList<>();
        Matcher matcher = COMMENT_OR_LITERAL.matcher(code);
        while (matcher.find()) {
            String token = matcher.group();
            if (token.startsWith("\"")) {
                int quotes = token.startsWith("\"\"\"") ? 3 : 1;
                literals.add(token.substring(quotes, token.length() - quotes));
            }
        }
        return literals;
    }

    private static List<String> words(Path file, String text)
    {
        List<String> found = new ArrayList<>();
        Matcher matcher = WORDS.matcher(text);
        while (matcher.find()) {
            long line = 1 + text.substring(0, matcher.start()).chars().filter(character -> character == '\n').count();
            found.add("%s:%s: %s".formatted(file, line, matcher.group()));
        }
        return found;
    }

    /**
     * Returns the files below a directory of the project, or below the directory of each module where the path begins with an asterisk.
     */
    private static List<Path> files(String path, String suffix)
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<Path> directories;
        if (path.startsWith("*/")) {
            try (Stream<Path> modules = Files.list(root)) {
                directories = modules.map(module -> module.resolve(path.substring(2))).filter(Files::isDirectory).toList();
            }
        }
        else {
            directories = List.of(root.resolve(path));
        }
        List<Path> files = new ArrayList<>();
        for (Path directory : directories) {
            try (Stream<Path> found = Files.walk(directory)) {
                found.filter(file -> Files.isRegularFile(file) && file.toString().endsWith(suffix)).forEach(files::add);
            }
        }
        return files;
    }

    private static String read(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
    }
}
