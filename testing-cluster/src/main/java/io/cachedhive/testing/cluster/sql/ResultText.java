package io.cachedhive.testing.cluster.sql;

import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Formats rows as text: in aligned columns, or with one line per value if a row is wider than the screen.
 */
public final class ResultText
{
    private static final int RULE_WIDTH = 60;

    private final List<ResultColumn> columns;
    private final List<List<Object>> rows;
    private final int maxWidth;

    private ResultText(List<ResultColumn> columns, List<List<Object>> rows, int maxWidth)
    {
        this.columns = requireNonNull(columns, "columns is null");
        this.rows = requireNonNull(rows, "rows is null");
        this.maxWidth = maxWidth;
    }

    /**
     * Formats a result.
     *
     * @param maxWidth of a line of aligned columns, in characters
     */
    public static String format(QueryResult result, int maxWidth)
    {
        return format(result.columns(), result.rows(), maxWidth);
    }

    /**
     * Formats rows, of which each has a value, or null, for each column.
     *
     * @param maxWidth of a line of aligned columns, in characters
     */
    public static String format(List<ResultColumn> columns, List<List<Object>> rows, int maxWidth)
    {
        return columns.isEmpty() ? "" : new ResultText(columns, rows, maxWidth).format();
    }

    private String format()
    {
        int[] widths = new int[columns.size()];
        // a space on each side of each value and a bar between two
        int width = 3 * widths.length - 1;
        for (int index = 0; index < widths.length; index++) {
            widths[index] = CellText.width(columns.get(index).name());
            for (List<Object> row : rows) {
                for (String line : CellText.lines(row.get(index))) {
                    widths[index] = Math.max(widths[index], CellText.width(line));
                }
            }
            width += widths[index];
        }
        StringBuilder out = new StringBuilder();
        if (width > maxWidth && !rows.isEmpty()) {
            vertical(out);
        }
        else {
            aligned(out, widths);
        }
        return out.toString();
    }

    private void aligned(StringBuilder out, int[] widths)
    {
        List<String> names = new ArrayList<>();
        List<String> rules = new ArrayList<>();
        for (int index = 0; index < widths.length; index++) {
            names.add(CellText.pad(columns.get(index).name(), widths[index], columns.get(index).isNumber()));
            rules.add("-".repeat(widths[index]));
        }
        line(out, " " + String.join(" | ", names));
        line(out, "-" + String.join("-+-", rules) + "-");
        for (List<Object> row : rows) {
            List<List<String>> cells = row.stream().map(CellText::lines).toList();
            int height = Math.max(1, cells.stream().mapToInt(List::size).max().orElse(1));
            for (int line = 0; line < height; line++) {
                List<String> parts = new ArrayList<>();
                for (int index = 0; index < widths.length; index++) {
                    List<String> cell = cells.get(index);
                    parts.add(CellText.pad(line < cell.size() ? cell.get(line) : "", widths[index], columns.get(index).isNumber()));
                }
                line(out, " " + String.join(" | ", parts));
            }
        }
    }

    private void vertical(StringBuilder out)
    {
        int nameWidth = columns.stream().mapToInt(column -> CellText.width(column.name())).max().orElseThrow();
        for (int number = 0; number < rows.size(); number++) {
            String title = "-[ row %s ]".formatted(number + 1);
            line(out, title + "-".repeat(Math.max(0, RULE_WIDTH - title.length())));
            for (int index = 0; index < columns.size(); index++) {
                List<String> lines = CellText.lines(rows.get(number).get(index));
                for (int line = 0; line < Math.max(1, lines.size()); line++) {
                    String name = line == 0 ? columns.get(index).name() : "";
                    line(out, CellText.pad(name, nameWidth, false) + " | " + (lines.isEmpty() ? "" : lines.get(line)));
                }
            }
        }
    }

    private static void line(StringBuilder out, String text)
    {
        out.append(text.stripTrailing()).append('\n');
    }
}
