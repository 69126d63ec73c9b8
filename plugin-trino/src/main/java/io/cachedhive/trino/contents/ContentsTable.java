package io.cachedhive.trino.contents;

import io.cachedhive.trino.table.CacheTable.Column;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.type.Type;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.Iterators.transform;
import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;

/**
 * A table of the schema {@code cache} about what cache workers have. Unlike others it makes its rows as they are read, and knows before it makes them of which
 * tables the user may see some.
 *
 * @param <R> what a row is about
 */
abstract class ContentsTable<R>
        implements SystemTable
{
    private final ConnectorTableMetadata metadata;
    private final List<Column<R>> columns;

    ContentsTable(String name, String comment, List<Column<R>> columns)
    {
        this.columns = List.copyOf(columns);
        this.metadata = new ConnectorTableMetadata(
                new SchemaTableName("cache", name),
                columns.stream().map(Column::metadata).toList(),
                Map.of(),
                Optional.of(comment));
    }

    /**
     * Of the tables that may be read; each call begins anew.
     */
    abstract Iterator<R> rows(ReadableTables readable);

    @Override
    public Distribution getDistribution()
    {
        return SINGLE_COORDINATOR;
    }

    @Override
    public ConnectorTableMetadata getTableMetadata()
    {
        return metadata;
    }

    @Override
    public RecordCursor cursor(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            TupleDomain<Integer> constraint,
            Set<Integer> requiredColumns,
            ConnectorSplit split,
            ConnectorAccessControl accessControl)
    {
        List<Type> types = columns.stream().map(column -> column.metadata().getType()).toList();
        ReadableTables readable = new ReadableTables(accessControl);
        Iterable<List<Object>> rows = () -> transform(rows(readable), this::values);
        return new InMemoryRecordSet(types, rows).cursor();
    }

    private List<Object> values(R row)
    {
        // not a copy of a stream's list, which has no nulls
        return Arrays.asList(columns.stream().map(column -> column.value().apply(row)).toArray());
    }
}
