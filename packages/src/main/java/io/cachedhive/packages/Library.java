package io.cachedhive.packages;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A jar by its Maven coordinates.
 *
 * @param classifier empty for the main jar
 */
record Library(String group, String name, String version, String classifier)
{
    /**
     * A line of {@code dependency:list}: {@code group:name:jar[:classifier]:version:scope}, and further words about its Java module.
     */
    private static final Pattern LINE = Pattern.compile("\\s+([^:\\s]+):([^:\\s]+):jar:(?:([^:\\s]+):)?([^:\\s]+):(?:compile|runtime)(?:\\s.*)?");

    Library
    {
        requireNonNull(group, "group is null");
        requireNonNull(name, "name is null");
        requireNonNull(version, "version is null");
        requireNonNull(classifier, "classifier is null");
    }

    static Library ofProject(String module, String version)
    {
        return new Library("io.cachedhive", module, version, "");
    }

    /**
     * Reads the list of a module's libraries, which the build writes beside the libraries themselves.
     */
    static List<Library> readList(Path file)
            throws IOException
    {
        if (!Files.isRegularFile(file)) {
            throw new IllegalStateException("%s is missing: build the module that makes it".formatted(file));
        }
        List<Library> libraries = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
                String classifier = matcher.group(3) == null ? "" : matcher.group(3);
                libraries.add(new Library(matcher.group(1), matcher.group(2), matcher.group(4), classifier));
            }
        }
        if (libraries.isEmpty()) {
            throw new IllegalStateException("%s lists no libraries".formatted(file));
        }
        return libraries;
    }

    String fileName()
    {
        return "%s-%s%s.jar".formatted(name, version, classifier.isEmpty() ? "" : "-" + classifier);
    }

    /**
     * The name under which databases of vulnerabilities list the library (<a href="https://github.com/package-url/purl-spec">package URL</a>).
     */
    String packageUrl()
    {
        String qualifiers = classifier.isEmpty() ? "type=jar" : "classifier=%s&type=jar".formatted(encode(classifier));
        return "pkg:maven/%s/%s@%s?%s".formatted(encode(group), encode(name), encode(version), qualifiers);
    }

    private static String encode(String text)
    {
        return URLEncoder.encode(text, UTF_8);
    }
}
