package io.cachedhive.testing.cluster.tpch;

import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.ResultColumn;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

import static io.cachedhive.testing.cluster.tpch.ResultComparison.difference;
import static org.assertj.core.api.Assertions.assertThat;

final class TestResultComparison
{
    private static final List<ResultColumn> COLUMNS = List.of(new ResultColumn("name", "varchar"), new ResultColumn("amount", "double"));

    @Test
    void testEqual()
    {
        QueryResult result = result(row("a", 1.0), row("b", null), row(null, Double.NaN), row("c", Double.POSITIVE_INFINITY), row("d", 0.0));
        assertThat(difference(result, result, List.of(), OptionalInt.empty())).isEmpty();
        assertThat(difference(result(), result(), List.of("name"), OptionalInt.of(0))).isEmpty();
    }

    @Test
    void testWrongValue()
    {
        assertThat(unordered(result(row("a", 1.0)), result(row("b", 1.0)))).hasValue("row [a, 1.0] is missing");
        assertThat(unordered(result(row("a", 1.0)), result(row("a", 2.0)))).hasValue("row [a, 1.0] is missing");
        assertThat(unordered(result(row("a", null)), result(row("a", 0.0)))).hasValue("row [a, NULL] is missing");
        assertThat(unordered(result(row(null, 1.0)), result(row("NULL", 1.0)))).hasValue("row [NULL, 1.0] is missing");
        assertThat(unordered(result(row("a", 1.0)), result(row("a", Double.NaN)))).isPresent();
        assertThat(unordered(result(row("a", Double.POSITIVE_INFINITY)), result(row("a", 1.0)))).isPresent();
        assertThat(unordered(result(row("a", Double.POSITIVE_INFINITY)), result(row("a", Double.NEGATIVE_INFINITY)))).isPresent();
    }

    @Test
    void testMissingAndAdditionalRows()
    {
        assertThat(unordered(result(row("a", 1.0), row("b", 2.0)), result(row("a", 1.0)))).hasValue("1 rows where 2 were expected");
        assertThat(unordered(result(), result(row("a", 1.0)))).hasValue("1 rows where 0 were expected");
    }

    @Test
    void testDuplicatesCount()
    {
        QueryResult twoA = result(row("a", 1.0), row("a", 1.0), row("b", 2.0));
        QueryResult twoB = result(row("a", 1.0), row("b", 2.0), row("b", 2.0));
        assertThat(unordered(twoA, twoB)).hasValue("row [a, 1.0] is missing");
        assertThat(unordered(twoB, twoA)).hasValue("row [b, 2.0] is missing");
        assertThat(unordered(twoA, result(row("a", 1.0), row("b", 2.0), row("a", 1.0)))).isEmpty();
    }

    @Test
    void testTolerance()
    {
        assertThat(unordered(result(row("a", 1e12)), result(row("a", 1e12 + 900)))).isEmpty();
        assertThat(unordered(result(row("a", 1e12)), result(row("a", 1e12 + 1100)))).isPresent();
        assertThat(unordered(result(row("a", 1e-12)), result(row("a", 2e-12)))).isPresent();
        assertThat(unordered(result(row("a", -1.0)), result(row("a", 1.0)))).isPresent();
    }

    @Test
    void testApproximateValuesAreMatchedOneToOne()
    {
        // 1 is near both of the others, but one of them is near nothing else: a greedy choice would fail
        double near = 1 + 0.9e-9;
        double far = 1 - 0.9e-9;
        assertThat(unordered(result(row("a", 1.0), row("a", far)), result(row("a", far), row("a", near)))).isEmpty();
        assertThat(unordered(result(row("a", far), row("a", far)), result(row("a", 1.0), row("a", near)))).isPresent();
    }

    @Test
    void testExactTypesHaveNoTolerance()
    {
        List<ResultColumn> columns = List.of(new ResultColumn("amount", "decimal(38,2)"));
        QueryResult expected = typed(columns, row(new BigDecimal("1000000000000000.00")));
        assertThat(unordered(expected, typed(columns, row(new BigDecimal("1000000000000000.01"))))).isPresent();
        assertThat(unordered(expected, typed(columns, row(new BigDecimal("1000000000000000.00"))))).isEmpty();
        List<ResultColumn> bigint = List.of(new ResultColumn("amount", "bigint"));
        assertThat(unordered(typed(bigint, row(1_000_000_000_000L)), typed(bigint, row(1_000_000_000_001L)))).isPresent();
    }

    @Test
    void testOrder()
    {
        QueryResult expected = result(row("a", 1.0), row("b", 2.0));
        QueryResult swapped = result(row("b", 2.0), row("a", 1.0));
        assertThat(unordered(expected, swapped)).isEmpty();
        assertThat(difference(expected, swapped, List.of("name"), OptionalInt.empty())).hasValue("row 1 is [b] where the order expects [a]");
        assertThat(difference(expected, swapped, List.of("amount"), OptionalInt.empty())).hasValue("row 1 is [2.0] where the order expects [1.0]");
    }

    @Test
    void testTiesAreMultisets()
    {
        QueryResult expected = result(row("a", 1.0), row("b", 2.0), row("c", 2.0), row("d", 3.0));
        QueryResult tieSwapped = result(row("a", 1.0), row("c", 2.0), row("b", 2.0), row("d", 3.0));
        QueryResult tieWrong = result(row("a", 1.0), row("c", 2.0), row("c", 2.0), row("d", 3.0));
        assertThat(difference(expected, tieSwapped, List.of("amount"), OptionalInt.empty())).isEmpty();
        assertThat(difference(expected, tieWrong, List.of("amount"), OptionalInt.empty())).hasValue("row [b, 2.0] is missing");
        assertThat(difference(expected, tieSwapped, List.of("amount", "name"), OptionalInt.empty())).isPresent();
    }

    @Test
    void testLimitMayCutATie()
    {
        QueryResult expected = result(row("a", 1.0), row("b", 2.0));
        QueryResult otherTail = result(row("a", 1.0), row("z", 2.0));
        assertThat(difference(expected, otherTail, List.of("amount"), OptionalInt.of(2))).isEmpty();
        // fewer rows than the limit: nothing was cut
        assertThat(difference(expected, otherTail, List.of("amount"), OptionalInt.of(3))).hasValue("row [b, 2.0] is missing");
        // the ordering columns of the cut tie are defined
        assertThat(difference(expected, result(row("a", 1.0), row("b", 2.5)), List.of("amount"), OptionalInt.of(2))).isPresent();
        // and so is everything before it
        assertThat(difference(expected, result(row("x", 1.0), row("b", 2.0)), List.of("amount"), OptionalInt.of(2))).hasValue("row [a, 1.0] is missing");
    }

    @Test
    void testColumns()
    {
        QueryResult other = typed(List.of(new ResultColumn("name", "varchar"), new ResultColumn("amount", "real")), row("a", 1.0f));
        assertThat(unordered(result(row("a", 1.0)), other)).hasValue("columns [name varchar, amount real] where [name varchar, amount double] were expected");
    }

    private static Optional<String> unordered(QueryResult expected, QueryResult actual)
    {
        return difference(expected, actual, List.of(), OptionalInt.empty());
    }

    private static List<Object> row(Object... values)
    {
        return Arrays.asList(values);
    }

    @SafeVarargs
    private static QueryResult result(List<Object>... rows)
    {
        return typed(COLUMNS, rows);
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // only read
    private static QueryResult typed(List<ResultColumn> columns, List<Object>... rows)
    {
        return new QueryResult(Optional.empty(), columns, List.of(rows), OptionalLong.empty(), 0);
    }
}
