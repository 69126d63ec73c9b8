package io.cachedhive.testing.cluster.sql;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a statement returned, held in memory.
 * Values are {@code Boolean}, {@code Number}, {@code byte[]} or, for every other type, {@code String}; SQL's NULL is null.
 *
 * @param queryId Trino's id of the query
 * @param columns empty for a statement without a result set
 * @param updateCount rows that a statement without a result set says it wrote
 * @param elapsedMillis wall time at the client, from the request to the last row
 */
public record QueryResult(Optional<String> queryId, List<ResultColumn> columns, List<List<Object>> rows, OptionalLong updateCount, long elapsedMillis)
{
    public QueryResult
    {
        columns = List.copyOf(columns);
        rows = rows.stream()
                // List.copyOf refuses nulls
                .map(row -> Collections.unmodifiableList(new ArrayList<>(row)))
                .toList();
    }

    /// Index of the column of that name.
    ///
    /// @throws IllegalArgumentException if there is none
    public int columnIndex(String name)
    {
        for (int index = 0; index < columns.size(); index++) {
            if (columns.get(index).name().equalsIgnoreCase(name)) {
                return index;
            }
        }
        throw new IllegalArgumentException("no column %s in the result, only %s".formatted(name, columns.stream().map(ResultColumn::name).toList()));
    }

    /// The only value of a result of one row and one column.
    public Object onlyValue()
    {
        if (columns.size() != 1 || rows.size() != 1) {
            throw new IllegalStateException("expected one value, got %s rows of %s columns".formatted(rows.size(), columns.size()));
        }
        return rows.getFirst().getFirst();
    }
}
