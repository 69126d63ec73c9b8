package io.cachedhive.quickstart.sql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * One JSON object per row, each on its own line. Of columns with the same name the later ones get a number behind it.
 */
public final class JsonPrinter
        implements ResultPrinter
{
    private final Appendable out;
    private final List<String> names = new ArrayList<>();

    public JsonPrinter(Appendable out)
    {
        this.out = requireNonNull(out, "out is null");
    }

    @Override
    public void columns(List<ResultColumn> columns)
    {
        Set<String> taken = new HashSet<>();
        for (ResultColumn column : columns) {
            String name = column.name();
            for (int number = 2; !taken.add(name); number++) {
                name = column.name() + "_" + number;
            }
            names.add(quote(name));
        }
    }

    @Override
    public void row(List<Object> values)
            throws IOException
    {
        out.append('{');
        for (int index = 0; index < names.size(); index++) {
            out.append(index == 0 ? "" : ",").append(names.get(index)).append(':').append(json(values.get(index)));
        }
        out.append("}\n");
    }

    @Override
    public void finish() {}

    private static String json(Object value)
    {
        return switch (value) {
            case null -> "null";
            case Boolean truth -> truth.toString();
            // JSON has no such numbers
            case Double number when !Double.isFinite(number) -> quote(number.toString());
            case Float number when !Float.isFinite(number) -> quote(number.toString());
            case Number number -> CellText.text(number);
            default -> quote(CellText.text(value));
        };
    }

    private static String quote(String text)
    {
        StringBuilder quoted = new StringBuilder("\"");
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            switch (character) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                default -> {
                    if (character < ' ') {
                        quoted.append("\\u%04x".formatted((int) character));
                    }
                    else {
                        quoted.append(character);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }
}
