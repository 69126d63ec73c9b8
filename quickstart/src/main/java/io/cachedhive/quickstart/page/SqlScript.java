package io.cachedhive.quickstart.page;

import com.google.common.collect.ImmutableList;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.base.Preconditions.checkArgument;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A Markdown page with SQL in it that is to be run. What it may have beside text:
 *
 * <ul>
 * <li>A fenced block {@code ```sql}: one statement, shown with its result. After {@code sql} there may be {@code error}, for one that has to fail, {@code hidden}, for one that
 * is not shown, or {@code await}, for one that is not shown and run again until it returns true.
 * <li>A line <code>{columns stats}</code>: the columns of the table {@code stats} of the schema {@code cache}, as a Markdown table; <code>{columns system.queries}</code> for
 * a table of the catalog {@code system}.
 * </ul>
 */
record SqlScript(List<Part> parts)
{
    private static final Pattern FENCE = Pattern.compile("```sql(.*)");
    private static final Pattern COLUMNS = Pattern.compile("\\{columns (system\\.)?(\\w+)}");

    sealed interface Part {}

    /**
     * Lines as they are, each with its end.
     */
    record Text(String markdown)
            implements Part {}

    /**
     * @param system whether the table is in the catalog {@code system} only
     */
    record Columns(boolean system, String table)
            implements Part {}

    record Statement(Kind kind, String sql)
            implements Part
    {
        public Statement
        {
            requireNonNull(kind, "kind is null");
            checkArgument(!sql.isBlank(), "sql is blank");
        }
    }

    enum Kind
    {
        SHOWN, ERROR, HIDDEN, AWAIT
    }

    SqlScript
    {
        parts = ImmutableList.copyOf(parts);
    }

    /// The one that `docs/sql.md` is made of.
    static SqlScript read()
    {
        try {
            return parse(Resources.toString(Resources.getResource("sql-page.md"), UTF_8));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// @throws IllegalArgumentException if a block is not as it should be
    static SqlScript parse(String markdown)
    {
        List<Part> parts = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        List<String> lines = markdown.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            Matcher fence = FENCE.matcher(line);
            Matcher columns = COLUMNS.matcher(line);
            if (columns.matches()) {
                addText(parts, text);
                parts.add(new Columns(columns.group(1) != null, columns.group(2)));
            }
            else if (fence.matches()) {
                addText(parts, text);
                int end = lines.subList(i, lines.size()).indexOf("```");
                checkArgument(end > 1, "the block in line %s has no statement or no end", i + 1);
                parts.add(statement(fence.group(1).strip(), String.join("\n", lines.subList(i + 1, i + end))));
                i += end;
            }
            else {
                text.append(line).append('\n');
            }
        }
        addText(parts, text);
        return new SqlScript(parts);
    }

    private static void addText(List<Part> parts, StringBuilder text)
    {
        if (!text.isEmpty()) {
            parts.add(new Text(text.toString()));
            text.setLength(0);
        }
    }

    private static Statement statement(String word, String sql)
    {
        Kind kind = switch (word) {
            case "" -> Kind.SHOWN;
            case "error" -> Kind.ERROR;
            case "hidden" -> Kind.HIDDEN;
            case "await" -> Kind.AWAIT;
            default -> throw new IllegalArgumentException("a block is none of sql, sql error, sql hidden, sql await, but sql " + word);
        };
        return new Statement(kind, sql);
    }
}
