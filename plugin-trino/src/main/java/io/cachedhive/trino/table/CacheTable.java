package io.cachedhive.trino.table;

import io.trino.spi.connector.ColumnMetadata;
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
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;
import static java.util.Objects.requireNonNull;

/**
 * A table of the schema {@code cache}. The coordinator asks for its rows when it is read.
 *
 * <p>Never a table of all nodes: Trino checks no access to those.
 *
 * @param <R> what a row is about
 */
public abstract class CacheTable<R>
        implements SystemTable
{
    private static final String SCHEMA = "cache";

    private final ConnectorTableMetadata metadata;
    private final List<Column<R>> columns;

    protected CacheTable(String name, String comment, List<Column<R>> columns)
    {
        this.columns = List.copyOf(columns);
        this.metadata = new ConnectorTableMetadata(
                new SchemaTableName(SCHEMA, name),
                columns.stream().map(Column::metadata).toList(),
                Map.of(),
                Optional.of(comment));
    }

    protected abstract List<R> rows();

    /**
     * Returns the table that a row is about. The row is shown to users who can select from that table. Empty for a row that all users of this table can see.
     */
    protected Optional<SchemaTableName> tableOf(R row)
    {
        return Optional.empty();
    }

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
            ConnectorTransactionHandle transactionHandle,
            ConnectorSession session,
            TupleDomain<Integer> constraint,
            Set<Integer> requiredColumns,
            ConnectorSplit split,
            ConnectorAccessControl accessControl)
    {
        Map<SchemaTableName, Boolean> readable = new HashMap<>();
        return cursor(row -> isVisible(row, session) && tableOf(row)
                .map(table -> readable.computeIfAbsent(table, _ -> maySelect(accessControl, table)))
                .orElse(true));
    }

    /**
     * Returns whether the user can see a row, apart from the rights on its table.
     */
    protected boolean isVisible(R row, ConnectorSession session)
    {
        return true;
    }

    private static boolean maySelect(ConnectorAccessControl accessControl, SchemaTableName table)
    {
        try {
            accessControl.checkCanSelectFromColumns(null, table, Optional.empty(), Set.of());
            return true;
        }
        catch (AccessDeniedException _) {
            return false;
        }
    }

    /**
     * The engine calls this only for tables that need no access control.
     */
    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        return cursor(row -> isVisible(row, session) && tableOf(row).isEmpty());
    }

    private RecordCursor cursor(Predicate<R> shown)
    {
        List<Type> types = columns.stream().map(column -> column.metadata().getType()).toList();
        List<List<?>> values = new ArrayList<>();
        for (R row : rows()) {
            if (!shown.test(row)) {
                continue;
            }
            List<Object> fields = new ArrayList<>(columns.size());
            for (Column<R> column : columns) {
                fields.add(column.value().apply(row));
            }
            values.add(fields);
        }
        return new InMemoryRecordSet(types, values).cursor();
    }

    /**
     * @param value null for NULL
     */
    public record Column<R>(ColumnMetadata metadata, Function<R, Object> value)
    {
        public Column
        {
            requireNonNull(metadata, "metadata is null");
            requireNonNull(value, "value is null");
        }

        /**
         * @param comment what it means, with its unit
         */
        public static <R> Column<R> of(String name, Type type, String comment, Function<R, Object> value)
        {
            return new Column<>(
                    ColumnMetadata.builder()
                            .setName(name)
                            .setType(type)
                            .setComment(Optional.of(comment))
                            .build(),
                    value);
        }

        /**
         * A column whose value may be missing.
         */
        public static <R> Column<R> ofOptional(String name, Type type, String comment, Function<R, Optional<?>> value)
        {
            return of(name, type, comment, row -> value.apply(row).orElse(null));
        }
    }
}
