package io.cachedhive.quickstart.sql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Aligned columns. The first rows are held back to learn the widths; if a line would be wider than the terminal, the whole result is written vertically.
 */
public final class TablePrinter
        implements ResultPrinter
{
    // enough to see the widths of what a person reads; a longer result flows with the widths seen so far
    private static final int HELD_ROWS = 1000;

    private final Appendable out;
    private final int maxWidth;
    private final List<List<Object>> held = new ArrayList<>();
    private List<ResultColumn> columns = List.of();
    private int[] widths = new int[0];
    private boolean decided;
    private VerticalPrinter vertical;

    public TablePrinter(Appendable out, int maxWidth)
    {
        this.out = requireNonNull(out, "out is null");
        this.maxWidth = maxWidth;
    }

    @Override
    public void columns(List<ResultColumn> columns)
    {
        this.columns = List.copyOf(columns);
        widths = columns.stream().mapToInt(column -> CellText.width(column.name())).toArray();
    }

    @Override
    public void row(List<Object> values)
            throws IOException
    {
        if (!decided) {
            held.add(values);
            if (held.size() == HELD_ROWS) {
                decide();
            }
            return;
        }
        write(values);
    }

    @Override
    public void finish()
            throws IOException
    {
        if (!decided && !columns.isEmpty()) {
            decide();
        }
    }

    private void decide()
            throws IOException
    {
        decided = true;
        for (List<Object> row : held) {
            for (int index = 0; index < widths.length; index++) {
                for (String line : CellText.lines(row.get(index))) {
                    widths[index] = Math.max(widths[index], CellText.width(line));
                }
            }
        }
        // a space on each side of each value and a bar between two
        int width = 3 * widths.length - 1;
        for (int columnWidth : widths) {
            width += columnWidth;
        }
        if (width > maxWidth && !held.isEmpty()) {
            vertical = new VerticalPrinter(out);
            vertical.columns(columns);
        }
        else {
            header();
        }
        for (List<Object> row : held) {
            write(row);
        }
        held.clear();
    }

    private void header()
            throws IOException
    {
        List<String> names = new ArrayList<>();
        List<String> rules = new ArrayList<>();
        for (int index = 0; index < widths.length; index++) {
            names.add(CellText.pad(columns.get(index).name(), widths[index], columns.get(index).isNumber()));
            rules.add("-".repeat(widths[index]));
        }
        line(" " + String.join(" | ", names));
        line("-" + String.join("-+-", rules) + "-");
    }

    private void write(List<Object> values)
            throws IOException
    {
        if (vertical != null) {
            vertical.row(values);
            return;
        }
        List<List<String>> cells = values.stream().map(CellText::lines).toList();
        int height = Math.max(1, cells.stream().mapToInt(List::size).max().orElse(1));
        for (int line = 0; line < height; line++) {
            List<String> parts = new ArrayList<>();
            for (int index = 0; index < widths.length; index++) {
                List<String> cell = cells.get(index);
                parts.add(CellText.pad(line < cell.size() ? cell.get(line) : "", widths[index], columns.get(index).isNumber()));
            }
            line(" " + String.join(" | ", parts));
        }
    }

    private void line(String text)
            throws IOException
    {
        out.append(text.stripTrailing()).append('\n');
    }
}
