package io.cachedhive.engine;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;
import com.google.common.collect.Iterators;
import io.airlift.log.Logger;
import io.trino.FullConnectorSession;
import io.trino.Session;
import io.trino.metadata.CatalogInfo;
import io.trino.metadata.QualifiedObjectName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.predicate.Domain;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Function;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toCollection;

/**
 * The system tables of one name of all cachedhive catalogs, one after the other, with the catalog's name in front.
 *
 * <p>Columns are matched by name, so that a plugin of another version still shows what both sides know: a column that the connector's table
 * lacks, or has with another type, is NULL. A catalog from which the user may not select has no rows. A catalog that cannot be asked has one
 * row, with state UNREACHABLE, and hides no other catalog.
 */
final class CatalogUnionTable
        implements SystemTable
{
    private static final Logger log = Logger.get(CatalogUnionTable.class);

    private static final Set<Type> READABLE_TYPES = ImmutableSet.of(VARCHAR, BIGINT, DOUBLE, TIMESTAMP_TZ_MILLIS);
    private static final String CATALOG_COLUMN = "catalog_name";
    private static final String STATE_COLUMN = "state";
    private static final String PROBLEM_COLUMN = "problem";

    private final ConnectorTableMetadata metadata;
    private final List<ColumnMetadata> columns;
    private final CachedHiveCatalogs catalogs;

    CatalogUnionTable(ConnectorTableMetadata metadata, CachedHiveCatalogs catalogs)
    {
        this.metadata = requireNonNull(metadata, "metadata is null");
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
        this.columns = metadata.getColumns();
        checkArgument(columns.getFirst().getName().equals(CATALOG_COLUMN), "first column is not the catalog's name: %s", columns.getFirst());
        columns.forEach(column -> checkArgument(READABLE_TYPES.contains(column.getType()), "unexpected type: %s", column));
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
            ConnectorTransactionHandle transaction,
            ConnectorSession connectorSession,
            TupleDomain<Integer> constraint,
            Set<Integer> requiredColumns,
            ConnectorSplit split,
            ConnectorAccessControl accessControl)
    {
        Session session = ((FullConnectorSession) connectorSession).getSession();
        Domain names = constraint.getDomain(0, VARCHAR);
        List<CatalogInfo> listed = catalogs.list(session, name -> names.includesNullableValue(utf8Slice(name)));
        UnionRows rows = new UnionRows(listed.iterator(), catalog -> openCatalog(session, catalog, requiredColumns, split));
        Iterable<List<Object>> records = () -> rows;
        RecordCursor cursor = new InMemoryRecordSet(columns.stream().map(ColumnMetadata::getType).toList(), records).cursor();
        return new ClosingRecordCursor(cursor, rows);
    }

    /**
     * The rows of a catalog, read as they are asked for: a table may have more of them than fit into memory.
     */
    private interface CatalogRows
            extends AutoCloseable
    {
        /**
         * @return null after the last one
         */
        List<Object> next();

        @Override
        void close();
    }

    private CatalogRows openCatalog(Session session, CatalogInfo catalog, Set<Integer> requiredColumns, ConnectorSplit split)
    {
        String catalogName = catalog.catalogName();
        if (!catalog.isOperational()) {
            return only(problemRow(catalogName, "Catalog %s did not load: see the log of the coordinator.".formatted(catalogName)));
        }
        return catalogs.findTable(catalog.catalogHandle(), metadata.getTable())
                .map(table -> openTable(session, catalog, table, requiredColumns, split))
                .orElseGet(() -> only(problemRow(
                        catalogName,
                        "Catalog %s has no table %s: install the plugin and the server extension of one version.".formatted(catalogName, metadata.getTable()))));
    }

    private static CatalogRows only(List<Object> row)
    {
        Iterator<List<Object>> rows = Iterators.singletonIterator(row);
        return new CatalogRows()
        {
            @Override
            public List<Object> next()
            {
                return rows.hasNext() ? rows.next() : null;
            }

            @Override
            public void close() {}
        };
    }

    /**
     * One catalog after the other. What fails is a row that says so, after those that came before it.
     */
    private final class UnionRows
            implements Iterator<List<Object>>, ClosingRecordCursor.Source
    {
        private final Iterator<CatalogInfo> catalogs;
        private final Function<CatalogInfo, CatalogRows> opener;
        private CatalogInfo catalog;
        private CatalogRows open;
        private List<Object> next;

        UnionRows(Iterator<CatalogInfo> catalogs, Function<CatalogInfo, CatalogRows> opener)
        {
            this.catalogs = requireNonNull(catalogs, "catalogs is null");
            this.opener = requireNonNull(opener, "opener is null");
        }

        @Override
        public boolean hasNext()
        {
            while (next == null && (open != null || catalogs.hasNext())) {
                try {
                    if (open == null) {
                        catalog = catalogs.next();
                        open = opener.apply(catalog);
                    }
                    next = open.next();
                    if (next == null) {
                        close();
                    }
                }
                catch (AccessDeniedException _) {
                    close();
                }
                catch (RuntimeException e) {
                    close();
                    log.warn(e, "Could not read %s of catalog %s", metadata.getTable(), catalog.catalogName());
                    next = problemRow(catalog.catalogName(), "Catalog %s could not be asked (%s): see the log of the coordinator.".formatted(catalog.catalogName(), e));
                }
            }
            return next != null;
        }

        @Override
        public List<Object> next()
        {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            List<Object> row = next;
            next = null;
            return row;
        }

        @Override
        public void close()
        {
            if (open != null) {
                CatalogRows closed = open;
                open = null;
                closed.close();
            }
        }
    }

    private CatalogRows openTable(Session session, CatalogInfo catalog, SystemTable table, Set<Integer> requiredColumns, ConnectorSplit split)
    {
        List<ColumnMetadata> sourceColumns = table.getTableMetadata().getColumns();
        // position of each column of this table in the connector's table, -1 for none
        int[] sourceFields = new int[columns.size()];
        for (int i = 0; i < sourceFields.length; i++) {
            sourceFields[i] = i > 0 && requiredColumns.contains(i) ? findField(sourceColumns, columns.get(i)) : -1;
        }
        Set<Integer> requiredFields = Arrays.stream(sourceFields)
                .filter(field -> field >= 0)
                .boxed()
                .collect(toImmutableSet());
        catalogs.checkCanSelect(
                session,
                new QualifiedObjectName(catalog.catalogName(), metadata.getTable().getSchemaName(), metadata.getTable().getTableName()),
                sourceColumns,
                requiredFields.stream()
                        .map(field -> sourceColumns.get(field).getName())
                        .collect(toImmutableSet()));

        ClassLoader classLoader = table.getClass().getClassLoader();
        RecordCursor cursor;
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
            cursor = table.cursor(
                    catalogs.transaction(session, catalog.catalogHandle()),
                    session.toConnectorSession(catalog.catalogHandle()),
                    TupleDomain.all(),
                    requiredFields,
                    split,
                    catalogs.accessControl(session, catalog.catalogName()));
        }
        return new CatalogRows()
        {
            @Override
            public List<Object> next()
            {
                try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
                    if (!cursor.advanceNextPosition()) {
                        return null;
                    }
                    Object[] row = new Object[columns.size()];
                    row[0] = catalog.catalogName();
                    for (int i = 1; i < row.length; i++) {
                        row[i] = sourceFields[i] >= 0 ? read(cursor, sourceFields[i], columns.get(i).getType()) : null;
                    }
                    return Arrays.asList(row);
                }
            }

            @Override
            public void close()
            {
                try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
                    cursor.close();
                }
            }
        };
    }

    private static int findField(List<ColumnMetadata> sourceColumns, ColumnMetadata column)
    {
        return Iterables.indexOf(sourceColumns, source -> source.getName().equals(column.getName()) && source.getType().equals(column.getType()));
    }

    private static Object read(RecordCursor cursor, int field, Type type)
    {
        if (cursor.isNull(field)) {
            return null;
        }
        if (type.equals(VARCHAR)) {
            return cursor.getSlice(field).toStringUtf8();
        }
        if (type.equals(DOUBLE)) {
            return cursor.getDouble(field);
        }
        return cursor.getLong(field);
    }

    private List<Object> problemRow(String catalogName, String problem)
    {
        return columns.stream()
                .<Object>map(column -> switch (column.getName()) {
                    case CATALOG_COLUMN -> catalogName;
                    case STATE_COLUMN -> "UNREACHABLE";
                    case PROBLEM_COLUMN -> problem;
                    default -> null;
                })
                .collect(toCollection(ArrayList::new));
    }
}
