package io.cachedhive.trino.ahead;

import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.trino.adapter.ConnectorAdapter;
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
    private final ConnectorAdapter adapter;
    private final FetchAhead fetchAhead;

    public AnnouncingSplitManager(ConnectorSplitManager delegate, ConnectorAdapter adapter, FetchAhead fetchAhead)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.adapter = requireNonNull(adapter, "adapter is null");
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
        ConnectorSplitSource splits = delegate.getSplits(transaction, session, table, dynamicFilterColumns, constraint);
        return fetchAhead.announcer().<ConnectorSplitSource>map(announcer -> new AnnouncingSplitSource(splits, adapter, fetchAhead, announcer)).orElse(splits);
    }

    @Override
    public ConnectorSplitSource getSplits(ConnectorTransactionHandle transaction, ConnectorSession session, ConnectorTableFunctionHandle function)
    {
        return delegate.getSplits(transaction, session, function);
    }
}
