package io.cachedhive.trino.scan;

import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.context.SplitFile;
import io.cachedhive.trino.filesystem.ReplacedFiles;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.filesystem.Location;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorPageSourceProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableCredentials;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.DynamicFilter;
import io.trino.spi.connector.MemoryContext;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;

/**
 * Opens a {@link ReadContext} around the connector's page sources of splits that are to be read through the cache. Others are the connector's own, untouched.
 */
public final class ReadContextPageSourceProvider
        implements ConnectorPageSourceProvider
{
    private final String catalog;
    private final ConnectorAdapter adapter;
    private final ScanFileSystems fileSystems;
    private final ConnectorPageSourceProvider delegate;

    public ReadContextPageSourceProvider(String catalog, ConnectorAdapter adapter, ScanFileSystems fileSystems, ConnectorPageSourceProvider delegate)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.adapter = requireNonNull(adapter, "adapter is null");
        this.fileSystems = requireNonNull(fileSystems, "fileSystems is null");
        this.delegate = requireNonNull(delegate, "delegate is null");
    }

    @Deprecated
    @Override
    public ConnectorPageSource createPageSource(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorSplit split,
            ConnectorTableHandle table,
            Optional<ConnectorTableCredentials> tableCredentials,
            List<ColumnHandle> columns,
            DynamicFilter dynamicFilter)
    {
        ConnectorSplit own = CachedSplit.unwrap(split);
        return inContext(session, split, tableCredentials, () -> delegate.createPageSource(transaction, session, own, table, tableCredentials, columns, dynamicFilter));
    }

    @Override
    public ConnectorPageSource createPageSource(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorSplit split,
            ConnectorTableHandle table,
            Optional<ConnectorTableCredentials> tableCredentials,
            List<ColumnHandle> columns,
            DynamicFilter dynamicFilter,
            MemoryContext memoryContext)
    {
        ConnectorSplit own = CachedSplit.unwrap(split);
        return inContext(
                session,
                split,
                tableCredentials,
                () -> delegate.createPageSource(transaction, session, own, table, tableCredentials, columns, dynamicFilter, memoryContext));
    }

    private ConnectorPageSource inContext(
            ConnectorSession session,
            ConnectorSplit split,
            Optional<ConnectorTableCredentials> tableCredentials,
            Supplier<ConnectorPageSource> pageSource)
    {
        if (!(split instanceof CachedSplit cachedSplit)) {
            return pageSource.get();
        }
        ScanFile file = adapter.findFile(cachedSplit.getSplit()).orElseThrow(() -> new IllegalArgumentException("split of another connector: " + cachedSplit));
        ReadContext context = new ReadContext(
                catalog,
                session.getQueryId(),
                cachedSplit.getTable(),
                () -> fileSystems.create(session.getIdentity(), tableCredentials),
                cachedSplit.getDecision(),
                cachedSplit.ringEpoch(),
                new SplitFile(Location.of(file.location()), file.fileLength(), file.modifiedMillis(), file.end()));
        try (ReadContext.Opened _ = context.open()) {
            return new ReadContextPageSource(pageSource.get(), context);
        }
        catch (RuntimeException e) {
            throw ReplacedFiles.find(e).<RuntimeException>map(identity()).orElse(e);
        }
    }

    @Deprecated
    @Override
    public long getMemoryUsage()
    {
        return delegate.getMemoryUsage();
    }
}
