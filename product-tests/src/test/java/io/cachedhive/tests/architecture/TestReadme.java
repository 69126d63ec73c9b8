package io.cachedhive.tests.architecture;

import io.cachedhive.testing.DocumentedCode;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the length of the README and its badges. The badges are files of the project, so that the page needs no network, and no service that knows its state.
 */
@Test(groups = "fast")
public class TestReadme
{
    private static final int MAX_LINES = 120;
    private static final Pattern BADGE = Pattern.compile("!\\[([^]]+)]\\((docs/badges/[a-z]+\\.svg)\\)");
    private static final Pattern TITLE = Pattern.compile("<title>(.*)</title>");

    public void testLength()
            throws IOException
    {
        assertThat(Files.readAllLines(DocumentedCode.root().resolve("README.md"))).hasSizeLessThanOrEqualTo(MAX_LINES);
    }

    public void testBadges()
            throws IOException
    {
        String pom = Files.readString(DocumentedCode.root().resolve("pom.xml"));
        Matcher trino = Pattern.compile("<dep\\.trino\\.version>(.*)</dep\\.trino\\.version>").matcher(pom);
        assertThat(trino.find()).isTrue();
        List<String> badges = BADGE.matcher(Files.readString(DocumentedCode.root().resolve("README.md"))).results()
                .map(badge -> "%s = %s".formatted(badge.group(1), title(badge.group(2))))
                .toList();
        assertThat(badges).containsExactly(
                "Status: not released = status: not released",
                "Trino %1$s = Trino: %1$s".formatted(trino.group(1)),
                "License: Apache 2.0 = license: Apache 2.0");
        assertThat(Files.readString(DocumentedCode.root().resolve("LICENSE"))).contains("Apache License", "Version 2.0");
    }

    private static String title(String file)
    {
        try {
            String image = Files.readString(DocumentedCode.root().resolve(file));
            Matcher title = TITLE.matcher(image);
            assertThat(title.find()).as(file).isTrue();
            assertThat(image).as(file).doesNotContain("href");
            return title.group(1);
        }
        catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
