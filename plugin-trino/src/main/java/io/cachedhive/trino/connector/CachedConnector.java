package io.cachedhive.trino.connector;

import com.google.common.collect.ImmutableSet;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.placement.RecentLoad;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.ahead.AnnouncingSplitManager;
import io.cachedhive.trino.scan.ReadContextPageSourceProvider;
import io.cachedhive.trino.session.CacheSessionProperties;
import io.cachedhive.trino.split.CachedSplitManager;
import io.cachedhive.trino.split.StableBucketPartitioning;
import io.trino.plugin.base.classloader.ClassLoaderSafeConnectorPageSourceProvider;
import io.trino.plugin.base.classloader.ClassLoaderSafeConnectorSplitManager;
import io.trino.plugin.base.classloader.ClassLoaderSafeNodePartitioningProvider;
import io.trino.plugin.base.classloader.ClassLoaderSafeSystemTable;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorCapabilities;
import io.trino.spi.connector.ConnectorIndexProvider;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPageSinkProvider;
import io.trino.spi.connector.ConnectorPageSourceProvider;
import io.trino.spi.connector.ConnectorPageSourceProviderFactory;
import io.trino.spi.connector.ConnectorRecordSetProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.connector.TableProcedureMetadata;
import io.trino.spi.function.FunctionProvider;
import io.trino.spi.function.table.ConnectorTableFunction;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.session.PropertyMetadata;
import io.trino.spi.transaction.IsolationLevel;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * A connector, with splits sent to where their bytes are, a read context around its scans, and the cache's system tables.
 */
public final class CachedConnector
        implements Connector
{
    private final Connector delegate;
    private final String catalogName;
    private final ClassLoader classLoader;
    private final ConnectorSplitManager splitManager;
    private final ConnectorAdapter adapter;
    private final ScanFileSystems fileSystems;
    private final CacheDecisions decisions;
    private final Set<SystemTable> systemTables;
    private final RecentLoad load = new RecentLoad(System::nanoTime);

    public CachedConnector(Connector delegate, CacheServices services, String catalogName, ClassLoader classLoader)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.catalogName = requireNonNull(catalogName, "catalogName is null");
        this.classLoader = requireNonNull(classLoader, "classLoader is null");
        this.adapter = services.adapter();
        this.fileSystems = services.fileSystems();
        this.decisions = services.decisions();
        ConnectorSplitManager placing = new CachedSplitManager(
                delegate.getSplitManager(),
                adapter,
                services.origins(),
                services.config().getChunkSize().toBytes(),
                services.ringView(),
                load,
                this::decide,
                services.rules(),
                services.scanReporter()::scanStarted);
        this.splitManager = new ClassLoaderSafeConnectorSplitManager(new AnnouncingSplitManager(placing, adapter, services.fetchAhead()), classLoader);
        ImmutableSet.Builder<SystemTable> systemTables = ImmutableSet.builder();
        systemTables.addAll(delegate.getSystemTables());
        services.systemTables().forEach(table -> systemTables.add(new ClassLoaderSafeSystemTable(table, classLoader)));
        this.systemTables = systemTables.build();
    }

    private Optional<CacheDecision> decide(ConnectorSession session)
    {
        return decisions.decide(CacheSessionProperties.isCacheEnabled(session));
    }

    @Override
    public ConnectorTransactionHandle beginTransaction(IsolationLevel isolationLevel, boolean readOnly, boolean autoCommit)
    {
        return delegate.beginTransaction(isolationLevel, readOnly, autoCommit);
    }

    @Override
    public ConnectorMetadata getMetadata(ConnectorSession session, ConnectorTransactionHandle transactionHandle)
    {
        return delegate.getMetadata(session, transactionHandle);
    }

    @Override
    public ConnectorSplitManager getSplitManager()
    {
        return splitManager;
    }

    @Override
    public ConnectorPageSourceProvider getPageSourceProvider()
    {
        return withReadContext(delegate.getPageSourceProvider());
    }

    @Override
    public ConnectorPageSourceProviderFactory getPageSourceProviderFactory()
    {
        ConnectorPageSourceProviderFactory factory = delegate.getPageSourceProviderFactory();
        return () -> withReadContext(factory.createPageSourceProvider());
    }

    private ConnectorPageSourceProvider withReadContext(ConnectorPageSourceProvider provider)
    {
        return new ClassLoaderSafeConnectorPageSourceProvider(new ReadContextPageSourceProvider(catalogName, adapter, fileSystems, provider), classLoader);
    }

    @Override
    public ConnectorRecordSetProvider getRecordSetProvider()
    {
        return delegate.getRecordSetProvider();
    }

    @Override
    public ConnectorPageSinkProvider getPageSinkProvider()
    {
        return delegate.getPageSinkProvider();
    }

    @Override
    public ConnectorIndexProvider getIndexProvider()
    {
        return delegate.getIndexProvider();
    }

    @Override
    public ConnectorNodePartitioningProvider getNodePartitioningProvider()
    {
        return new ClassLoaderSafeNodePartitioningProvider(
                new StableBucketPartitioning(delegate.getNodePartitioningProvider(), adapter, session -> decide(session).isPresent()),
                classLoader);
    }

    @Override
    public Set<SystemTable> getSystemTables()
    {
        return systemTables;
    }

    @Override
    public Optional<FunctionProvider> getFunctionProvider()
    {
        return delegate.getFunctionProvider();
    }

    @Override
    public Set<Procedure> getProcedures()
    {
        return delegate.getProcedures();
    }

    @Override
    public Set<TableProcedureMetadata> getTableProcedures()
    {
        return delegate.getTableProcedures();
    }

    @Override
    public Set<ConnectorTableFunction> getTableFunctions()
    {
        return delegate.getTableFunctions();
    }

    @Override
    public List<PropertyMetadata<?>> getSessionProperties()
    {
        return delegate.getSessionProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getSchemaProperties()
    {
        return delegate.getSchemaProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getAnalyzeProperties()
    {
        return delegate.getAnalyzeProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getBranchProperties()
    {
        return delegate.getBranchProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getTableProperties()
    {
        return delegate.getTableProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getViewProperties()
    {
        return delegate.getViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getMaterializedViewProperties()
    {
        return delegate.getMaterializedViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getColumnProperties()
    {
        return delegate.getColumnProperties();
    }

    @Override
    public ConnectorAccessControl getAccessControl()
    {
        return delegate.getAccessControl();
    }

    @Override
    public void commit(ConnectorTransactionHandle transactionHandle)
    {
        load.end(transactionHandle);
        delegate.commit(transactionHandle);
    }

    @Override
    public void rollback(ConnectorTransactionHandle transactionHandle)
    {
        load.end(transactionHandle);
        delegate.rollback(transactionHandle);
    }

    @Override
    public boolean isSingleStatementWritesOnly()
    {
        return delegate.isSingleStatementWritesOnly();
    }

    @Override
    public void shutdown()
    {
        delegate.shutdown();
    }

    @Override
    public Set<ConnectorCapabilities> getCapabilities()
    {
        return delegate.getCapabilities();
    }
}
