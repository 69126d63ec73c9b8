package io.cachedhive.plugin.ahead;

import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;

import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Adds the announcement of small files to another split manager.
 */
public final class AnnouncingSplitManager
        implements ConnectorSplitManager
{
    private final ConnectorSplitManager delegate;
    private final FetchAhead fetchAhead;

    public AnnouncingSplitManager(ConnectorSplitManager delegate, FetchAhead fetchAhead)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.fetchAhead = requireNonNull(fetchAhead, "fetchAhead is null");
    }

    @Override
    public ConnectorSplitSource getSplits(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorTableHandle table,
            Set<ColumnHandle> dynamicFilterColumns,
            Constraint constraint)
    {
        return fetchAhead.announcing(delegate.getSplits(transaction, session, table, dynamicFilterColumns, constraint));
    }

    @Override
    public ConnectorSplitSource getSplits(ConnectorTransactionHandle transaction, ConnectorSession session, ConnectorTableFunctionHandle function)
    {
        return delegate.getSplits(transaction, session, function);
    }
}
