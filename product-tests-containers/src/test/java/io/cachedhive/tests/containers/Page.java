package io.cachedhive.tests.containers;

import com.google.common.collect.ImmutableList;
import io.cachedhive.testing.cluster.home.Distribution;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * A page of the documentation, as somebody reads it who does what it says.
 */
record Page(Path file, String text)
{
    private static final Pattern CODE = Pattern.compile("(?ms)^```([a-z]*)\n(.*?)^```$");

    Page
    {
        requireNonNull(file, "file is null");
        requireNonNull(text, "text is null");
    }

    /**
     * @param language empty for commands
     */
    record Code(String language, String text)
    {
        Code
        {
            requireNonNull(language, "language is null");
            requireNonNull(text, "text is null");
        }

        List<String> lines()
        {
            return text.lines().filter(line -> !line.isBlank()).toList();
        }
    }

    /**
     * @param path below the root of the project
     */
    static Page read(String path)
            throws IOException
    {
        Path file = Distribution.find().root().resolve(path);
        return new Page(file, Files.readString(file));
    }

    /**
     * @throws IllegalStateException if there is no such heading
     */
    Page section(String heading)
    {
        Matcher matcher = Pattern.compile("(?ms)^## %s\n(.*?)(?=^## |\\z)".formatted(Pattern.quote(heading))).matcher(text);
        if (!matcher.find()) {
            throw new IllegalStateException("%s has no section %s".formatted(file, heading));
        }
        return new Page(file, matcher.group(1));
    }

    /**
     * In their order.
     */
    List<Code> codes()
    {
        ImmutableList.Builder<Code> codes = ImmutableList.builder();
        Matcher matcher = CODE.matcher(text);
        while (matcher.find()) {
            codes.add(new Code(matcher.group(1), matcher.group(2)));
        }
        return codes.build();
    }

    /**
     * The first one of a language.
     *
     * @throws IllegalStateException if there is none
     */
    Code code(String language)
    {
        return codes().stream()
                .filter(code -> code.language().equals(language))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("%s has no code of %s there".formatted(file, language.isEmpty() ? "commands" : language)));
    }
}
