package io.cachedhive.plugin.scan;

import io.cachedhive.plugin.context.ReadContext;
import io.cachedhive.plugin.context.SplitFile;
import io.cachedhive.plugin.filesystem.ReplacedFiles;
import io.cachedhive.plugin.split.CachedHiveSplit;
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
 * Opens a {@link ReadContext} around Hive's page sources of splits that are to be read through the cache. Others are Hive's own, untouched.
 */
public final class ReadContextPageSourceProvider
        implements ConnectorPageSourceProvider
{
    private final String catalog;
    private final ConnectorPageSourceProvider delegate;

    public ReadContextPageSourceProvider(String catalog, ConnectorPageSourceProvider delegate)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
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
        return inContext(session, split, () -> delegate.createPageSource(transaction, session, split, table, tableCredentials, columns, dynamicFilter));
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
        return inContext(session, split, () -> delegate.createPageSource(transaction, session, split, table, tableCredentials, columns, dynamicFilter, memoryContext));
    }

    private ConnectorPageSource inContext(ConnectorSession session, ConnectorSplit split, Supplier<ConnectorPageSource> pageSource)
    {
        if (!(split instanceof CachedHiveSplit cachedSplit)) {
            return pageSource.get();
        }
        ReadContext context = new ReadContext(
                catalog,
                session.getQueryId(),
                cachedSplit.getTable(),
                session.getIdentity(),
                cachedSplit.getDecision(),
                cachedSplit.ringEpoch(),
                new SplitFile(
                        Location.of(cachedSplit.getPath()),
                        cachedSplit.getEstimatedFileSize(),
                        cachedSplit.getFileModifiedTime(),
                        cachedSplit.getStart() + cachedSplit.getLength()));
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
