package io.cachedhive.store.block;

import java.util.Locale;

/**
 * Formats sizes for messages.
 */
public final class ByteSize
{
    private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB"};

    private ByteSize() {}

    /**
     * Formats a size in powers of 1024 with Trino's units, as in configuration: {@code 1.50GB}.
     */
    public static String format(long bytes)
    {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return value == Math.rint(value) ? (long) value + UNITS[unit] : String.format(Locale.ROOT, "%.2f%s", value, UNITS[unit]);
    }
}
