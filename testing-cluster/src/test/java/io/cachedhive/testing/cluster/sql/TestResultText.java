package io.cachedhive.testing.cluster.sql;

import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

final class TestResultText
{
    private static final List<ResultColumn> COLUMNS = List.of(
            new ResultColumn("name", "varchar(10)"),
            new ResultColumn("count", "bigint"),
            new ResultColumn("price", "decimal(12,2)"));

    @Test
    void testTableIsAlignedAndShowsNull()
    {
        String table = format(
                80,
                COLUMNS,
                row("one", 1L, new BigDecimal("10.50")),
                row("eleven", 11L, null),
                row(null, 12345678L, new BigDecimal("0.00")));
        assertThat(table).isEqualTo(
                """
                 name   |    count | price
                --------+----------+-------
                 one    |        1 | 10.50
                 eleven |       11 |  NULL
                 NULL   | 12345678 |  0.00
                """);
    }

    @Test
    void testTableWithoutRowsHasAHeader()
    {
        assertThat(format(10, COLUMNS)).isEqualTo(
                """
                 name | count | price
                ------+-------+-------
                """);
    }

    @Test
    void testTableAsWideAsTheTerminalStaysATable()
    {
        List<ResultColumn> columns = List.of(new ResultColumn("a", "varchar"), new ResultColumn("b", "varchar"));
        // 7 and 10 characters, bars and spaces included
        assertThat(format(7, columns, row("x", "y"))).startsWith(" a | b\n");
        assertThat(format(9, columns, row("x", "yyyy"))).startsWith("-[ row 1 ]-");
        assertThat(format(10, columns, row("x", "yyyy"))).startsWith(" a | b\n");
    }

    @Test
    void testWideRowsAreVertical()
    {
        assertThat(format(20, COLUMNS, row("one", 1L, null), row("a long name", 2L, new BigDecimal("3.00")))).isEqualTo(
                """
                -[ row 1 ]--------------------------------------------------
                name  | one
                count | 1
                price | NULL
                -[ row 2 ]--------------------------------------------------
                name  | a long name
                count | 2
                price | 3.00
                """);
    }

    @Test
    void testValuesOfSeveralLines()
    {
        List<ResultColumn> columns = List.of(new ResultColumn("plan", "varchar"), new ResultColumn("n", "integer"));
        assertThat(format(80, columns, row("first\n  second", 1), row("", 2))).isEqualTo(
                """
                 plan     | n
                ----------+---
                 first    | 1
                   second |
                          | 2
                """);
        assertThat(format(10, columns, row("first\n  second", 1), row("", 2))).isEqualTo(
                """
                -[ row 1 ]--------------------------------------------------
                plan | first
                     |   second
                n    | 1
                -[ row 2 ]--------------------------------------------------
                plan |
                n    | 2
                """);
    }

    @Test
    void testControlCharactersDoNotReachTheTerminal()
    {
        List<ResultColumn> columns = List.of(new ResultColumn("text", "varchar"));
        assertThat(format(80, columns, row("a\u001b[2Jb"))).contains(" a\\x1b[2Jb\n");
    }

    private static List<Object> row(Object... values)
    {
        return Arrays.asList(values);
    }

    @SafeVarargs
    private static String format(int width, List<ResultColumn> columns, List<Object>... rows)
    {
        return ResultText.format(columns, List.of(rows), width);
    }
}
