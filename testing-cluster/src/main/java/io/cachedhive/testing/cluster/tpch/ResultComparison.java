package io.cachedhive.testing.cluster.tpch;

import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.ResultColumn;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Compares two results of one query.
 * <p>
 * Rows are multisets: an additional, a missing and a duplicated row are differences. Where the query orders, the ordering columns must hold the same values
 * in the same positions, and rows that tie in them are compared as multisets. Where a limit may have cut through a tie, which of the tying rows were kept
 * is not defined, so there only the ordering columns count.
 * Values of type double and real are equal within {@value RELATIVE_TOLERANCE} relative: sums of them depend on the order of addition. All others are equal exactly.
 */
public final class ResultComparison
{
    public static final double RELATIVE_TOLERANCE = 1e-9;

    private ResultComparison() {}

    /**
     * @param orderBy names of the ordering columns, empty if the query does not order
     * @param limit the query's limit
     * @return the first difference found, as a sentence; empty if the results are equal
     */
    public static Optional<String> difference(QueryResult expected, QueryResult actual, List<String> orderBy, OptionalInt limit)
    {
        if (!expected.columns().equals(actual.columns())) {
            return Optional.of("columns %s where %s were expected".formatted(describe(actual.columns()), describe(expected.columns())));
        }
        if (expected.rows().size() != actual.rows().size()) {
            return Optional.of("%s rows where %s were expected".formatted(actual.rows().size(), expected.rows().size()));
        }
        int[] keys = orderBy.stream().mapToInt(expected::columnIndex).toArray();
        boolean mayCutTie = limit.isPresent() && expected.rows().size() == limit.getAsInt();
        int rowCount = expected.rows().size();
        int start = 0;
        while (start < rowCount) {
            int end = start + 1;
            while (end < rowCount && equalAt(keys, expected.rows().get(start), expected.rows().get(end))) {
                end++;
            }
            List<List<Object>> expectedTie = expected.rows().subList(start, end);
            List<List<Object>> actualTie = actual.rows().subList(start, end);
            for (int index = 0; index < end - start; index++) {
                if (!equalAt(keys, expectedTie.get(index), actualTie.get(index))) {
                    return Optional.of("row %s is %s where the order expects %s".formatted(
                            start + index + 1,
                            describe(values(keys, actualTie.get(index))),
                            describe(values(keys, expectedTie.get(index)))));
                }
            }
            if (!(mayCutTie && end == rowCount)) {
                Optional<String> difference = multisetDifference(expectedTie, actualTie);
                if (difference.isPresent()) {
                    return difference;
                }
            }
            start = end;
        }
        return Optional.empty();
    }

    private static Optional<String> multisetDifference(List<List<Object>> expected, List<List<Object>> actual)
    {
        // rows can only match if their exact values are the same: so few candidates are left for the doubles
        Map<List<Object>, List<List<Object>>> expectedByExactValues = byExactValues(expected);
        Map<List<Object>, List<List<Object>>> actualByExactValues = byExactValues(actual);
        for (Map.Entry<List<Object>, List<List<Object>>> entry : expectedByExactValues.entrySet()) {
            List<List<Object>> candidates = actualByExactValues.getOrDefault(entry.getKey(), List.of());
            Optional<List<Object>> unmatched = unmatched(entry.getValue(), candidates);
            if (unmatched.isPresent()) {
                return Optional.of("row %s is missing".formatted(describe(unmatched.get())));
            }
        }
        // the counts of all rows are the same and each expected row has a partner of its own: nothing can be left over
        return Optional.empty();
    }

    private static Map<List<Object>, List<List<Object>>> byExactValues(List<List<Object>> rows)
    {
        Map<List<Object>, List<List<Object>>> groups = new HashMap<>();
        for (List<Object> row : rows) {
            groups.computeIfAbsent(row.stream().map(ResultComparison::exactValue).toList(), _ -> new ArrayList<>()).add(row);
        }
        return groups;
    }

    // a stand-in with the equals() of an exact comparison; all doubles are one
    private static Object exactValue(Object value)
    {
        return switch (value) {
            case null -> Marker.NULL;
            case Double _, Float _ -> Marker.APPROXIMATE;
            case BigDecimal decimal -> decimal.stripTrailingZeros();
            case byte[] bytes -> HexFormat.of().formatHex(bytes);
            default -> value;
        };
    }

    // A row of left that finds no partner when every row of right is the partner of at most one: maximum bipartite matching by augmenting paths.
    private static Optional<List<Object>> unmatched(List<List<Object>> left, List<List<Object>> right)
    {
        int[] partner = new int[right.size()];
        Arrays.fill(partner, -1);
        for (int index = 0; index < left.size(); index++) {
            if (!augment(index, left, right, partner, new boolean[right.size()])) {
                return Optional.of(left.get(index));
            }
        }
        return Optional.empty();
    }

    private static boolean augment(int leftIndex, List<List<Object>> left, List<List<Object>> right, int[] partner, boolean[] visited)
    {
        for (int rightIndex = 0; rightIndex < right.size(); rightIndex++) {
            if (!visited[rightIndex] && equalRows(left.get(leftIndex), right.get(rightIndex))) {
                visited[rightIndex] = true;
                if (partner[rightIndex] < 0 || augment(partner[rightIndex], left, right, partner, visited)) {
                    partner[rightIndex] = leftIndex;
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean equalRows(List<Object> left, List<Object> right)
    {
        for (int index = 0; index < left.size(); index++) {
            if (!equalValues(left.get(index), right.get(index))) {
                return false;
            }
        }
        return true;
    }

    // without ordering columns all rows tie, which makes the whole result one multiset
    private static boolean equalAt(int[] columns, List<Object> left, List<Object> right)
    {
        return Arrays.stream(columns).allMatch(column -> equalValues(left.get(column), right.get(column)));
    }

    private static boolean equalValues(Object left, Object right)
    {
        if (left instanceof Number leftNumber && right instanceof Number rightNumber && isApproximate(left) && isApproximate(right)) {
            double leftDouble = leftNumber.doubleValue();
            double rightDouble = rightNumber.doubleValue();
            if (!Double.isFinite(leftDouble) || !Double.isFinite(rightDouble)) {
                return Double.compare(leftDouble, rightDouble) == 0;
            }
            return Math.abs(leftDouble - rightDouble) <= RELATIVE_TOLERANCE * Math.max(Math.abs(leftDouble), Math.abs(rightDouble));
        }
        return exactValue(left).equals(exactValue(right)) && isApproximate(left) == isApproximate(right);
    }

    private static boolean isApproximate(Object value)
    {
        return value instanceof Double || value instanceof Float;
    }

    private static List<Object> values(int[] columns, List<Object> row)
    {
        return Arrays.stream(columns).mapToObj(row::get).toList();
    }

    private static String describe(List<?> values)
    {
        return values.stream()
                .map(value -> switch (value) {
                    case null -> "NULL";
                    case byte[] bytes -> HexFormat.of().formatHex(bytes);
                    case ResultColumn column -> column.name() + " " + column.type();
                    default -> value.toString();
                })
                .toList()
                .toString();
    }

    private enum Marker
    {
        NULL, APPROXIMATE
    }
}
