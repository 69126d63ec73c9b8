package io.cachedhive.admin.cluster;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * An amount of data as the cache worker's configuration writes it, of units of 1024.
 *
 * @param text as it was written
 */
public record Size(long bytes, String text)
{
    private static final Pattern SIZE = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) *([kMGTP]?B)");

    public Size
    {
        requireNonNull(text, "text is null");
    }

    /// @throws IllegalArgumentException if it is none
    public static Size parse(String text)
    {
        Matcher matcher = SIZE.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a size is written as 512MB or 1.5TB: " + text);
        }
        double bytes = Double.parseDouble(matcher.group(1)) * unit(matcher.group(2));
        if (bytes >= Long.MAX_VALUE) {
            throw new IllegalArgumentException("a size of this many bytes does not exist: " + text);
        }
        return new Size((long) bytes, text.strip().replace(" ", ""));
    }

    /// In the largest unit in which it has at most one decimal place, for people.
    public static String show(long bytes)
    {
        String[] units = {"B", "kB", "MB", "GB", "TB"};
        double value = bytes;
        int unit = 0;
        while (Math.abs(value) >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + "B" : String.format(Locale.ROOT, "%.1f%s", value, units[unit]);
    }

    private static long unit(String name)
    {
        return switch (name) {
            case "B" -> 1L;
            case "kB" -> 1L << 10;
            case "MB" -> 1L << 20;
            case "GB" -> 1L << 30;
            case "TB" -> 1L << 40;
            default -> 1L << 50;
        };
    }

    @Override
    public String toString()
    {
        return text;
    }
}
