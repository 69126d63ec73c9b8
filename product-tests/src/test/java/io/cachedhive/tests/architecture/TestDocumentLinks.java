package io.cachedhive.tests.architecture;

import org.testng.annotations.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the links of the documentation to files and headings of the project lead somewhere. Headings have the anchors that GitHub gives them.
 */
@Test(groups = "fast")
public class TestDocumentLinks
{
    private static final Pattern LINK = Pattern.compile("\\[[^\\]\n]*(?:\n[^\\]\n]*)?]\\(([^)\\s]+)\\)");
    private static final Pattern FENCE = Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern CODE = Pattern.compile("`[^`\n]*`");
    private static final Pattern HEADING = Pattern.compile("^#{1,6} (.*)$", Pattern.MULTILINE);

    public void testLinks()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<Path> pages = pages();
        assertThat(pages).hasSizeGreaterThan(90);
        List<String> dead = new ArrayList<>();
        int links = 0;
        for (Path page : pages) {
            for (String link : links(read(page))) {
                links++;
                problem(page, link).ifPresent(problem -> dead.add("%s: %s: %s".formatted(root.relativize(page), link, problem)));
            }
        }
        assertThat(links).isGreaterThan(200);
        assertThat(dead).isEmpty();
    }

    public void testDeadLinksAreFound()
            throws IOException
    {
        Path page = ProjectModule.findRoot().resolve("docs/operations/monitoring.md");
        assertThat(links("See [one](a.md), [two\nlines](b.md#c) and `[no](link)`.\n```\n[no](link)\n```\n")).containsExactly("a.md", "b.md#c");
        assertThat(problem(page, "https://example.net/page")).isEmpty();
        assertThat(problem(page, "../configuration.md#the-mode")).isEmpty();
        assertThat(problem(page, "#causes-of-bypass")).isEmpty();
        assertThat(problem(page, "../../etc")).isEmpty();
        assertThat(problem(page, "configuration.md")).contains("no such file");
        assertThat(problem(page, "../configuration.md#the-modes")).contains("no such heading");
        assertThat(problem(page, "#cause")).contains("no such heading");
        assertThat(anchors("# One `two`: three, 4.5\n## Same\n## Same\n```\n# no\n```\n")).containsExactlyInAnyOrder("one-two-three-45", "same", "same-1");
    }

    private static List<String> links(String text)
    {
        List<String> links = new ArrayList<>();
        Matcher matcher = LINK.matcher(CODE.matcher(FENCE.matcher(text).replaceAll("")).replaceAll("code"));
        while (matcher.find()) {
            links.add(matcher.group(1));
        }
        return links;
    }

    private static Optional<String> problem(Path page, String link)
    {
        if (link.matches("[a-z]+:.*")) {
            return Optional.empty();
        }
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        if (!Files.exists(target)) {
            return Optional.of("no such file");
        }
        if (hash >= 0 && target.toString().endsWith(".md") && !anchors(read(target)).contains(link.substring(hash + 1))) {
            return Optional.of("no such heading");
        }
        return Optional.empty();
    }

    private static Set<String> anchors(String text)
    {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> counts = new HashMap<>();
        Matcher matcher = HEADING.matcher(FENCE.matcher(text).replaceAll(""));
        while (matcher.find()) {
            String anchor = matcher.group(1).strip()
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            int count = counts.merge(anchor, 1, Integer::sum);
            anchors.add(count == 1 ? anchor : "%s-%s".formatted(anchor, count - 1));
        }
        return anchors;
    }

    private static List<Path> pages()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> files = Files.list(root); Stream<Path> documents = Files.walk(root.resolve("docs"))) {
            Stream.concat(files, documents)
                    .filter(file -> file.toString().endsWith(".md"))
                    .forEach(pages::add);
        }
        return pages;
    }

    private static String read(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
