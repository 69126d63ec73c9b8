package io.cachedhive.quickstart.sql;

/**
 * How results are written.
 */
public enum OutputFormat
{
    /// Aligned columns, or one line per value where they would not fit.
    TABLE,
    /// One line per value.
    VERTICAL,
    /// RFC 4180 with a header; NULL is an empty field, the empty string is `""`.
    CSV,
    /// One object per row and line.
    JSON;

    /// @param columns width of the terminal in characters
    public ResultPrinter printer(Appendable out, int columns)
    {
        return switch (this) {
            case TABLE -> new TablePrinter(out, columns);
            case VERTICAL -> new VerticalPrinter(out);
            case CSV -> new CsvPrinter(out);
            case JSON -> new JsonPrinter(out);
        };
    }
}
