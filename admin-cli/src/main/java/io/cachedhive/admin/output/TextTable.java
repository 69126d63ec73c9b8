package io.cachedhive.admin.output;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Lines of cells in aligned columns, with two spaces between them.
 */
public final class TextTable
{
    private final List<List<String>> lines = new ArrayList<>();

    public TextTable(List<String> header)
    {
        lines.add(List.copyOf(header));
    }

    /// @param cells one per column
    public void add(List<String> cells)
    {
        if (cells.size() != lines.getFirst().size()) {
            throw new IllegalArgumentException("cells are not as many as columns: " + cells);
        }
        lines.add(List.copyOf(cells));
    }

    public void print(PrintWriter out)
    {
        int[] widths = new int[lines.getFirst().size()];
        for (List<String> line : lines) {
            for (int index = 0; index < widths.length; index++) {
                widths[index] = Math.max(widths[index], line.get(index).length());
            }
        }
        for (List<String> line : lines) {
            StringBuilder text = new StringBuilder();
            for (int index = 0; index < widths.length; index++) {
                text.append(line.get(index)).append(" ".repeat(widths[index] - line.get(index).length() + 2));
            }
            out.println(text.toString().stripTrailing());
        }
    }
}
