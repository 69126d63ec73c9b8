package io.cachedhive.engine;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;
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
import java.util.List;
import java.util.Set;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

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
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(metadata);
        for (CatalogInfo catalog : catalogs.list(session, name -> names.includesNullableValue(utf8Slice(name)))) {
            readCatalog(session, catalog, requiredColumns, split).forEach(rows::addRow);
        }
        return rows.build().cursor();
    }

    private List<Object[]> readCatalog(Session session, CatalogInfo catalog, Set<Integer> requiredColumns, ConnectorSplit split)
    {
        String catalogName = catalog.catalogName();
        if (!catalog.isOperational()) {
            return List.<Object[]>of(problemRow(catalogName, "Catalog %s did not load: see the log of the coordinator.".formatted(catalogName)));
        }
        try {
            return catalogs.findTable(catalog.catalogHandle(), metadata.getTable())
                    .map(table -> readTable(session, catalog, table, requiredColumns, split))
                    .orElseGet(() -> List.<Object[]>of(problemRow(
                            catalogName,
                            "Catalog %s has no table %s: install the plugin and the server extension of one version.".formatted(catalogName, metadata.getTable()))));
        }
        catch (AccessDeniedException _) {
            return List.of();
        }
        catch (RuntimeException e) {
            log.warn(e, "Could not read %s of catalog %s", metadata.getTable(), catalogName);
            return List.<Object[]>of(problemRow(catalogName, "Catalog %s could not be asked (%s): see the log of the coordinator.".formatted(catalogName, e)));
        }
    }

    private List<Object[]> readTable(Session session, CatalogInfo catalog, SystemTable table, Set<Integer> requiredColumns, ConnectorSplit split)
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

        List<Object[]> rows = new ArrayList<>();
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(table.getClass().getClassLoader());
                RecordCursor cursor = table.cursor(
                        catalogs.transaction(session, catalog.catalogHandle()),
                        session.toConnectorSession(catalog.catalogHandle()),
                        TupleDomain.all(),
                        requiredFields,
                        split,
                        catalogs.accessControl(session, catalog.catalogName()))) {
            while (cursor.advanceNextPosition()) {
                Object[] row = new Object[columns.size()];
                row[0] = catalog.catalogName();
                for (int i = 1; i < row.length; i++) {
                    row[i] = sourceFields[i] >= 0 ? read(cursor, sourceFields[i], columns.get(i).getType()) : null;
                }
                rows.add(row);
            }
        }
        return rows;
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

    private Object[] problemRow(String catalogName, String problem)
    {
        return columns.stream()
                .map(column -> switch (column.getName()) {
                    case CATALOG_COLUMN -> catalogName;
                    case STATE_COLUMN -> "UNREACHABLE";
                    case PROBLEM_COLUMN -> problem;
                    default -> null;
                })
                .toArray();
    }
}
