package io.cachedhive.quickstart.page;

import io.cachedhive.quickstart.page.SqlScript.Columns;
import io.cachedhive.quickstart.page.SqlScript.Statement;
import io.cachedhive.quickstart.page.SqlScript.Text;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code bin/quickstart --check} compares the whole page on a cluster, at the end of a long run. What needs no cluster is compared here.
 */
class TestSqlPage
{
    @Test
    void testPageHasTheTextAndStatementsOfItsScript()
            throws IOException
    {
        String page = Files.readString(Path.of("..").resolve(SqlPage.FILE));
        assertThat(withoutTablesOfColumns(PageText.withoutResults(page)))
                .as("%s, which bin/quickstart --sql-page makes from sql-page.md: edit that", SqlPage.FILE)
                .isEqualTo(withoutTablesOfColumns(SqlPage.NOTICE + page(SqlScript.read())));
    }

    private static String page(SqlScript script)
    {
        return script.parts().stream()
                .map(part -> switch (part) {
                    case Text text -> text.markdown();
                    case Columns _ -> "";
                    case Statement statement -> switch (statement.kind()) {
                        case SHOWN, ERROR -> SqlPage.shown(statement.sql(), "");
                        case HIDDEN, AWAIT -> "";
                    };
                })
                .collect(joining());
    }

    /// and without empty lines, of which a result brings one
    private static List<String> withoutTablesOfColumns(String page)
    {
        List<String> lines = page.lines().toList();
        boolean[] ofColumns = new boolean[lines.size()];
        for (int i = 0; i < lines.size(); i++) {
            boolean continued = i > 0 && ofColumns[i - 1] && lines.get(i).startsWith("|");
            ofColumns[i] = continued || lines.get(i).equals("| column | type | meaning |");
        }
        return IntStream.range(0, lines.size())
                .filter(i -> !ofColumns[i] && !lines.get(i).isEmpty())
                .mapToObj(lines::get)
                .toList();
    }
}
