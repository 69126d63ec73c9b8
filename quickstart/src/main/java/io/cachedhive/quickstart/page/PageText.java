package io.cachedhive.quickstart.page;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Results on a page, as far as they are the same each time: numbers, times and ids are not.
 */
final class PageText
{
    private static final String RESULT = "```text";
    private static final String END = "```";

    // ids of queries, cache workers and rings, names of files
    private static final Pattern ID = Pattern.compile("\\d{8}_\\d{6}_\\d{5}_[\\w-]+|\\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b|\\b(?=\\w*\\d)(?=\\w*[a-f])[0-9a-f]{16,}\\b");
    private static final Pattern NUMBER = Pattern.compile("(?<![A-Za-z\\d])\\d+(?:[.,:]\\d+)*(?:E-?\\d+)?");
    // padding, rules of tables
    private static final Pattern PADDING = Pattern.compile("([ -])\\1+");

    private PageText() {}

    /**
     * With the results of an earlier page in place of those that say the same but for numbers, times and ids: so a page that is made again changes only where
     * something has changed.
     */
    static String keepResults(String page, String earlier)
    {
        Map<String, Deque<String>> known = new HashMap<>();
        split(earlier).forEach(part -> {
            if (part.startsWith(RESULT)) {
                known.computeIfAbsent(mask(part), _ -> new ArrayDeque<>()).add(part);
            }
        });
        StringBuilder kept = new StringBuilder();
        for (String part : split(page)) {
            Deque<String> same = known.get(mask(part));
            kept.append(same == null || same.isEmpty() || !part.startsWith(RESULT) ? part : same.poll());
        }
        return kept.toString();
    }

    /**
     * Without the results: text, statements, and columns of tables.
     */
    static String withoutResults(String page)
    {
        StringBuilder text = new StringBuilder();
        split(page).stream().filter(part -> !part.startsWith(RESULT)).forEach(text::append);
        return text.toString();
    }

    static String mask(String result)
    {
        String ids = ID.matcher(result).replaceAll("ID");
        String numbers = NUMBER.matcher(ids).replaceAll(match -> match.group().matches("[0.]+") ? "0" : "N");
        return PADDING.matcher(numbers).replaceAll("$1");
    }

    /**
     * Results, and what is between them.
     */
    private static List<String> split(String page)
    {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        boolean result = false;
        for (String line : page.lines().toList()) {
            if (line.equals(RESULT)) {
                parts.add(part.toString());
                part.setLength(0);
                result = true;
            }
            part.append(line).append('\n');
            if (result && line.equals(END)) {
                parts.add(part.toString());
                part.setLength(0);
                result = false;
            }
        }
        parts.add(part.toString());
        return parts;
    }
}
