package io.cachedhive.admin.output;

import java.time.Duration;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Sizes, times and ratios as people write them. What is not known is a dash.
 */
public final class Quantity
{
    public static final String UNKNOWN = "-";

    private static final String[] BYTE_UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

    private Quantity() {}

    /// In the unit (of 1024) that leaves one to four digits before the point, as the cache worker's configuration writes sizes.
    public static String bytes(OptionalLong value)
    {
        if (value.isEmpty()) {
            return UNKNOWN;
        }
        double scaled = value.getAsLong();
        int unit = 0;
        // what would be printed as 1024.0 is 1.0 of the next unit
        while (Math.abs(scaled) >= 1023.95 && unit < BYTE_UNITS.length - 1) {
            scaled /= 1024;
            unit++;
        }
        return unit == 0 ? value.getAsLong() + "B" : String.format(Locale.ROOT, "%.1f%s", scaled, BYTE_UNITS[unit]);
    }

    public static String count(OptionalLong value)
    {
        return value.isPresent() ? Long.toString(value.getAsLong()) : UNKNOWN;
    }

    /// The two largest units of a time in milliseconds: `3d 4h`, `5m 12s`, `850ms`.
    public static String duration(OptionalLong millis)
    {
        if (millis.isEmpty()) {
            return UNKNOWN;
        }
        Duration duration = Duration.ofMillis(millis.getAsLong());
        if (duration.toDays() > 0) {
            return "%sd %sh".formatted(duration.toDays(), duration.toHoursPart());
        }
        if (duration.toHours() > 0) {
            return "%sh %sm".formatted(duration.toHours(), duration.toMinutesPart());
        }
        if (duration.toMinutes() > 0) {
            return "%sm %ss".formatted(duration.toMinutes(), duration.toSecondsPart());
        }
        return duration.toSeconds() > 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    public static String percent(OptionalDouble ratio)
    {
        return ratio.isPresent() ? String.format(Locale.ROOT, "%.1f%%", ratio.getAsDouble() * 100) : UNKNOWN;
    }
}
