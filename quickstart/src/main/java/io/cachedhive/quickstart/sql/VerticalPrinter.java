package io.cachedhive.quickstart.sql;

import java.io.IOException;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * One line per value, for rows too wide for a table.
 */
public final class VerticalPrinter
        implements ResultPrinter
{
    private static final int RULE_WIDTH = 60;

    private final Appendable out;
    private List<ResultColumn> columns = List.of();
    private int nameWidth;
    private long rowCount;

    public VerticalPrinter(Appendable out)
    {
        this.out = requireNonNull(out, "out is null");
    }

    @Override
    public void columns(List<ResultColumn> columns)
    {
        this.columns = List.copyOf(columns);
        nameWidth = columns.stream().mapToInt(column -> CellText.width(column.name())).max().orElse(0);
    }

    @Override
    public void row(List<Object> values)
            throws IOException
    {
        rowCount++;
        String title = "-[ row %s ]".formatted(rowCount);
        out.append(title).append("-".repeat(Math.max(0, RULE_WIDTH - title.length()))).append('\n');
        for (int index = 0; index < columns.size(); index++) {
            String name = columns.get(index).name();
            List<String> lines = CellText.lines(values.get(index));
            for (int line = 0; line < Math.max(1, lines.size()); line++) {
                String text = CellText.pad(line == 0 ? name : "", nameWidth, false) + " | " + (lines.isEmpty() ? "" : lines.get(line));
                out.append(text.stripTrailing()).append('\n');
            }
        }
    }

    @Override
    public void finish() {}
}
