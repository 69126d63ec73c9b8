package io.cachedhive.tests.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * A Java file, as far as the architecture asks: its package, and the qualified names in its code, by import or in full.
 * Comments and literals do not count: a link in a comment binds nothing.
 *
 * @param path relative to the root of the project
 */
record JavaSource(Path path, String packageName, List<Reference> references)
{
    private static final Pattern PACKAGE = Pattern.compile("\\bpackage\\s+([\\w.]+)\\s*;");
    private static final Pattern QUALIFIED_NAME = Pattern.compile("\\b[a-z]\\w*(?:\\.\\w+)+");

    JavaSource
    {
        requireNonNull(path, "path is null");
        requireNonNull(packageName, "packageName is null");
        references = List.copyOf(references);
    }

    /**
     * @param name a qualified name: package, class and whatever follows
     * @param line 1-based
     */
    record Reference(String name, int line)
    {
        /// Whether the name is in the package, or in one below it.
        boolean isIn(String packageName)
        {
            return name.equals(packageName) || name.startsWith(packageName + ".");
        }
    }

    static JavaSource read(Path root, Path file)
            throws IOException
    {
        return parse(root.relativize(file), Files.readString(file));
    }

    static JavaSource parse(Path path, String text)
    {
        String code = blankCommentsAndLiterals(text);
        Matcher packageMatcher = PACKAGE.matcher(code);
        String packageName = packageMatcher.find() ? packageMatcher.group(1) : "";

        List<Reference> references = new ArrayList<>();
        Matcher matcher = QUALIFIED_NAME.matcher(code);
        int line = 1;
        int counted = 0;
        while (matcher.find()) {
            for (; counted < matcher.start(); counted++) {
                if (code.charAt(counted) == '\n') {
                    line++;
                }
            }
            references.add(new Reference(matcher.group(), line));
        }
        return new JavaSource(path, packageName, references);
    }

    /**
     * The same text with spaces in place of comments and literals; lines stay where they are.
     */
    private static String blankCommentsAndLiterals(String text)
    {
        StringBuilder code = new StringBuilder(text.length());
        int index = 0;
        while (index < text.length()) {
            int end = endOfCommentOrLiteral(text, index);
            if (end == index) {
                code.append(text.charAt(index));
                index++;
                continue;
            }
            for (; index < end; index++) {
                code.append(text.charAt(index) == '\n' ? '\n' : ' ');
            }
        }
        return code.toString();
    }

    /**
     * Where the comment or literal that starts at the index ends; the index itself if none starts there.
     */
    private static int endOfCommentOrLiteral(String text, int index)
    {
        if (text.startsWith("//", index)) {
            int end = text.indexOf('\n', index);
            return end < 0 ? text.length() : end;
        }
        if (text.startsWith("/*", index)) {
            int end = text.indexOf("*/", index + 2);
            return end < 0 ? text.length() : end + 2;
        }
        if (text.startsWith("\"\"\"", index)) {
            return endOfLiteral(text, index + 3, "\"\"\"");
        }
        return switch (text.charAt(index)) {
            case '"' -> endOfLiteral(text, index + 1, "\"");
            case '\'' -> endOfLiteral(text, index + 1, "'");
            default -> index;
        };
    }

    private static int endOfLiteral(String text, int index, String delimiter)
    {
        while (index < text.length() && !text.startsWith(delimiter, index)) {
            index += text.charAt(index) == '\\' ? 2 : 1;
        }
        return Math.min(text.length(), index + delimiter.length());
    }
}
