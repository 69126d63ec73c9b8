package io.cachedhive.admin.settings;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Text of a properties file, of lines `name=value`, whose comments and order matter to people.
 */
public final class PropertiesText
{
    private static final Pattern LINE = Pattern.compile("\\s*([A-Za-z0-9_.-]+)\\s*=\\s*(.*?)\\s*");
    private static final Pattern COMMENTED = Pattern.compile("#\\s*([A-Za-z0-9_.-]+)=.*");

    private PropertiesText() {}

    /// In their order.
    public static Map<String, String> read(String text)
    {
        Map<String, String> properties = new LinkedHashMap<>();
        text.lines().forEach(line -> {
            Matcher matcher = LINE.matcher(line);
            if (!line.strip().startsWith("#") && matcher.matches()) {
                properties.put(matcher.group(1), matcher.group(2));
            }
        });
        return properties;
    }

    /// The text with these values: in the place of the property, else of the comment with it, else at the end.
    public static String with(String text, Map<String, String> values)
    {
        Map<String, String> left = new LinkedHashMap<>(values);
        Map<String, String> set = read(text);
        StringBuilder result = new StringBuilder();
        for (String line : text.lines().toList()) {
            Matcher matcher = line.strip().startsWith("#") ? COMMENTED.matcher(line) : LINE.matcher(line);
            String name = matcher.matches() ? matcher.group(1) : "";
            boolean commented = line.strip().startsWith("#");
            if (left.containsKey(name) && !(commented && set.containsKey(name))) {
                result.append(name).append('=').append(left.remove(name)).append('\n');
            }
            // a second time in the file: the last would win
            else if (commented || !values.containsKey(name)) {
                result.append(line).append('\n');
            }
        }
        left.forEach((name, value) -> result.append(name).append('=').append(value).append('\n'));
        return result.toString();
    }

    /// The text without lines of these names.
    public static String without(String text, Predicate<String> name)
    {
        StringBuilder result = new StringBuilder();
        text.lines().forEach(line -> {
            Matcher matcher = LINE.matcher(line);
            if (line.strip().startsWith("#") || !matcher.matches() || !name.test(matcher.group(1))) {
                result.append(line).append('\n');
            }
        });
        return result.toString();
    }
}
