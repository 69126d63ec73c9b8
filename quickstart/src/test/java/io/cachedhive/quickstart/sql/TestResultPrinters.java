package io.cachedhive.quickstart.sql;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

final class TestResultPrinters
{
    private static final List<ResultColumn> COLUMNS = List.of(
            new ResultColumn("name", "varchar(10)"),
            new ResultColumn("count", "bigint"),
            new ResultColumn("price", "decimal(12,2)"));

    @Test
    void testTableIsAlignedAndShowsNull()
            throws IOException
    {
        String table = print(
                OutputFormat.TABLE,
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
            throws IOException
    {
        assertThat(print(OutputFormat.TABLE, 10, COLUMNS)).isEqualTo(
                """
                 name | count | price
                ------+-------+-------
                """);
    }

    @Test
    void testTableAsWideAsTheTerminalStaysATable()
            throws IOException
    {
        List<ResultColumn> columns = List.of(new ResultColumn("a", "varchar"), new ResultColumn("b", "varchar"));
        // 7 and 10 characters, bars and spaces included
        assertThat(print(OutputFormat.TABLE, 7, columns, row("x", "y"))).startsWith(" a | b\n");
        assertThat(print(OutputFormat.TABLE, 9, columns, row("x", "yyyy"))).startsWith("-[ row 1 ]-");
        assertThat(print(OutputFormat.TABLE, 10, columns, row("x", "yyyy"))).startsWith(" a | b\n");
    }

    @Test
    void testWideRowsAreVertical()
            throws IOException
    {
        assertThat(print(OutputFormat.TABLE, 20, COLUMNS, row("one", 1L, null), row("a long name", 2L, new BigDecimal("3.00")))).isEqualTo(
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
            throws IOException
    {
        List<ResultColumn> columns = List.of(new ResultColumn("plan", "varchar"), new ResultColumn("n", "integer"));
        assertThat(print(OutputFormat.TABLE, 80, columns, row("first\n  second", 1), row("", 2))).isEqualTo(
                """
                 plan     | n
                ----------+---
                 first    | 1
                   second |
                          | 2
                """);
        assertThat(print(OutputFormat.VERTICAL, 80, columns, row("first\n  second", 1), row("", 2))).isEqualTo(
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
            throws IOException
    {
        List<ResultColumn> columns = List.of(new ResultColumn("text", "varchar"));
        assertThat(print(OutputFormat.TABLE, 80, columns, row("a\u001b[2Jb"))).contains(" a\\x1b[2Jb\n");
    }

    @Test
    void testLongResultsFlow()
            throws IOException
    {
        StringBuilder out = new StringBuilder();
        ResultPrinter printer = OutputFormat.TABLE.printer(out, 80);
        printer.columns(List.of(new ResultColumn("number", "integer")));
        for (int number = 1; number <= 1500; number++) {
            printer.row(row(number));
        }
        // not everything is held back until the end
        assertThat(out.toString().lines()).hasSize(1502).last().isEqualTo("   1500");
        printer.finish();
        assertThat(out.toString().lines()).hasSize(1502);
    }

    @Test
    void testCsv()
            throws IOException
    {
        List<ResultColumn> columns = List.of(new ResultColumn("a,b", "varchar"), new ResultColumn("c", "varbinary"));
        assertThat(print(OutputFormat.CSV, 80, columns, row("say \"x\"", new byte[] {1, (byte) 0xff}), row(null, null), row("", null), row("two\nlines", null))).isEqualTo(
                """
                "a,b",c
                "say ""x""\",01ff
                ,
                "",
                "two
                lines",
                """);
    }

    @Test
    void testJson()
            throws IOException
    {
        List<ResultColumn> columns = List.of(
                new ResultColumn("a", "varchar"),
                new ResultColumn("a", "double"),
                new ResultColumn("b", "boolean"),
                new ResultColumn("c", "decimal(30,2)"));
        assertThat(print(OutputFormat.JSON, 80, columns, row("x\"\\\n\u0001", 1.5, true, new BigDecimal("1E+3")), row(null, Double.NaN, null, null))).isEqualTo(
                """
                {"a":"x\\"\\\\\\n\\u0001","a_2":1.5,"b":true,"c":1000}
                {"a":null,"a_2":"NaN","b":null,"c":null}
                """);
    }

    private static List<Object> row(Object... values)
    {
        return Arrays.asList(values);
    }

    @SafeVarargs
    private static String print(OutputFormat format, int width, List<ResultColumn> columns, List<Object>... rows)
            throws IOException
    {
        StringBuilder out = new StringBuilder();
        ResultPrinter printer = format.printer(out, width);
        printer.columns(columns);
        for (List<Object> row : rows) {
            printer.row(row);
        }
        printer.finish();
        return out.toString();
    }
}
