package io.cachedhive.engine;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.trino.Session;
import io.trino.connector.CatalogHandle;
import io.trino.connector.ConnectorServicesProvider;
import io.trino.metadata.CatalogInfo;
import io.trino.metadata.Metadata;
import io.trino.metadata.QualifiedObjectName;
import io.trino.security.AccessControl;
import io.trino.security.InjectedConnectorAccessControl;
import io.trino.security.SecurityContext;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.security.AccessDeniedException;
import io.trino.transaction.TransactionManager;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.trino.metadata.MetadataListing.listCatalogs;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/** The catalogs whose connector is {@code cachedhive} or {@code cachediceberg}, as one query's user sees them when the query runs. */
final class CachedHiveCatalogs
{
    private static final Set<String> CONNECTOR_NAMES = Set.of("cachedhive", "cachediceberg");

    private final Metadata metadata;
    private final AccessControl accessControl;
    private final TransactionManager transactionManager;
    // the catalogs come after the global system tables, and are made with their help
    private final Provider<ConnectorServicesProvider> connectors;

    @Inject
    CachedHiveCatalogs(Metadata metadata, AccessControl accessControl, TransactionManager transactionManager, Provider<ConnectorServicesProvider> connectors)
    {
        this.metadata = requireNonNull(metadata, "metadata is null");
        this.accessControl = requireNonNull(accessControl, "accessControl is null");
        this.transactionManager = requireNonNull(transactionManager, "transactionManager is null");
        this.connectors = requireNonNull(connectors, "connectors is null");
    }

    /** Those that the user may know of, in the order of their names. */
    List<CatalogInfo> list(Session session, Predicate<String> names)
    {
        return listCatalogs(session, metadata, accessControl).stream()
                .filter(catalog -> CONNECTOR_NAMES.contains(catalog.connectorName().toString()))
                .filter(catalog -> names.test(catalog.catalogName()))
                .sorted(comparing(CatalogInfo::catalogName))
                .collect(toImmutableList());
    }

    /** The connector's own table, without regard to the user's rights; empty if this version of the connector has none of that name. */
    Optional<SystemTable> findTable(CatalogHandle catalog, SchemaTableName name)
    {
        return connectors.get().getConnectorServices(catalog).getSystemTables().stream()
                .filter(table -> table.getTableMetadata().getTable().equals(name))
                .findFirst();
    }

    ConnectorTransactionHandle transaction(Session session, CatalogHandle catalog)
    {
        return transactionManager.getConnectorTransaction(session.getRequiredTransactionId(), catalog);
    }

    ConnectorAccessControl accessControl(Session session, String catalog)
    {
        return new InjectedConnectorAccessControl(accessControl, session.toSecurityContext(), catalog);
    }

    /**
     * The engine has asked for the table in the catalog {@code system} only, so that whoever may read that one
     * would see every catalog's rows.
     *
     * @throws AccessDeniedException if the user may not select these columns from the catalog's own table, or if only a part of its rows or values
     */
    void checkCanSelect(Session session, QualifiedObjectName table, List<ColumnMetadata> columns, Set<String> selected)
    {
        SecurityContext context = session.toSecurityContext();
        accessControl.checkCanSelectFromColumns(context, table, Optional.empty(), selected);
        // filters and masks are expressions that only the analyzer can apply: what they would hide in part is hidden whole
        if (!accessControl.getRowFilters(context, table).isEmpty()
                || !accessControl.getColumnMasks(context, table, columns.stream().map(ColumnMetadata::getColumnSchema).collect(toImmutableList())).isEmpty()) {
            throw new AccessDeniedException("Cannot select from %s through the system catalog: it has row filters or column masks".formatted(table));
        }
    }
}
