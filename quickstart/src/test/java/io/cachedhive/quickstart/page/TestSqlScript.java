package io.cachedhive.quickstart.page;

import io.cachedhive.quickstart.page.SqlScript.Columns;
import io.cachedhive.quickstart.page.SqlScript.Kind;
import io.cachedhive.quickstart.page.SqlScript.Statement;
import io.cachedhive.quickstart.page.SqlScript.Text;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSqlScript
{
    @Test
    void testParse()
    {
        assertThat(SqlScript.parse(
                """
                # Title

                ```sql
                SELECT 1,
                    2
                ```
                ```sql hidden
                SELECT 3
                ```
                {columns stats}
                {columns system.queries}
                ```
                no SQL
                ```
                ```sql error
                CALL x()
                ```
                ```sql await
                SELECT true
                ```
                """).parts())
                .containsExactly(
                        new Text("# Title\n\n"),
                        new Statement(Kind.SHOWN, "SELECT 1,\n    2"),
                        new Statement(Kind.HIDDEN, "SELECT 3"),
                        new Columns(false, "stats"),
                        new Columns(true, "queries"),
                        new Text("```\nno SQL\n```\n"),
                        new Statement(Kind.ERROR, "CALL x()"),
                        new Statement(Kind.AWAIT, "SELECT true"));
    }

    @Test
    void testWrong()
    {
        assertThatThrownBy(() -> SqlScript.parse("\n```sql\nSELECT 1\n")).hasMessage("the block in line 2 has no statement or no end");
        assertThatThrownBy(() -> SqlScript.parse("```sql\n```\n")).hasMessage("the block in line 1 has no statement or no end");
        assertThatThrownBy(() -> SqlScript.parse("```sql later\nSELECT 1\n```\n")).hasMessageContaining("but sql later");
    }

    @Test
    void testScriptOfThePage()
    {
        assertThat(SqlScript.read().parts()).filteredOn(Statement.class::isInstance).hasSizeGreaterThan(50);
    }
}
