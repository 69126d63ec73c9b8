package io.cachedhive.quickstart.sql;

import java.io.IOException;
import java.util.List;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Comma-separated values after RFC 4180, with a header line. NULL is an empty field, the empty string is {@code ""}.
 */
public final class CsvPrinter
        implements ResultPrinter
{
    private final Appendable out;

    public CsvPrinter(Appendable out)
    {
        this.out = requireNonNull(out, "out is null");
    }

    @Override
    public void columns(List<ResultColumn> columns)
            throws IOException
    {
        out.append(columns.stream().map(column -> field(column.name())).collect(joining(","))).append('\n');
    }

    @Override
    public void row(List<Object> values)
            throws IOException
    {
        out.append(values.stream().map(value -> value == null ? "" : field(CellText.text(value))).collect(joining(","))).append('\n');
    }

    @Override
    public void finish() {}

    private static String field(String text)
    {
        if (text.isEmpty() || text.chars().anyMatch(character -> character == '"' || character == ',' || character == '\n' || character == '\r')) {
            return '"' + text.replace("\"", "\"\"") + '"';
        }
        return text;
    }
}
