package io.cachedhive.admin.output;

import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A header and a line for each host, in aligned columns with two spaces between them.
 */
final class TablePrinter
        implements AnswersPrinter
{
    private static final Column HOST = Column.text("HOST", _ -> "");

    private final List<Column> columns;

    TablePrinter(List<Column> columns)
    {
        this.columns = new ArrayList<>(List.of(HOST));
        this.columns.addAll(columns);
    }

    @Override
    public void print(List<HostAnswer> answers, PrintWriter out)
    {
        List<List<String>> lines = new ArrayList<>();
        lines.add(columns.stream().map(Column::name).toList());
        for (HostAnswer answer : answers) {
            lines.add(line(answer));
        }
        int[] widths = new int[columns.size()];
        for (List<String> line : lines) {
            for (int index = 0; index < widths.length; index++) {
                widths[index] = Math.max(widths[index], line.get(index).length());
            }
        }
        for (List<String> line : lines) {
            List<String> cells = new ArrayList<>();
            for (int index = 0; index < widths.length; index++) {
                String padding = " ".repeat(widths[index] - line.get(index).length());
                cells.add(columns.get(index).alignRight() ? padding + line.get(index) : line.get(index) + padding);
            }
            out.println(String.join("  ", cells).stripTrailing());
        }
    }

    private List<String> line(HostAnswer answer)
    {
        List<String> cells = new ArrayList<>(List.of(answer.host().toString()));
        switch (answer) {
            case Answered answered -> columns.subList(1, columns.size()).forEach(column -> cells.add(column.text().apply(answered.content())));
            case Failed _ -> {
                cells.add("UNREACHABLE");
                cells.addAll(Collections.nCopies(columns.size() - 2, ""));
            }
        }
        return cells;
    }
}
