package io.cachedhive.quickstart.sql;

/**
 * What the standard streams are connected to. Java cannot tell them apart, so the start scripts ask the shell and say it in system properties.
 *
 * @param columns width in characters
 */
public record Terminal(boolean input, boolean output, boolean error, int columns)
{
    /// What is readable on any screen and in any log.
    public static final int DEFAULT_COLUMNS = 120;

    public static Terminal detect()
    {
        boolean output = Boolean.getBoolean("cachedhive.terminal.output");
        int columns = Integer.getInteger("cachedhive.terminal.columns", 0);
        return new Terminal(
                Boolean.getBoolean("cachedhive.terminal.input"),
                output,
                Boolean.getBoolean("cachedhive.terminal.error"),
                output && columns > 0 ? columns : DEFAULT_COLUMNS);
    }
}
