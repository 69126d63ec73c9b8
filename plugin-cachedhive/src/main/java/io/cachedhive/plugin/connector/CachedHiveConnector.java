package io.cachedhive.plugin.connector;

import com.google.common.collect.ImmutableSet;
import io.cachedhive.plugin.ahead.AnnouncingSplitManager;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.scan.ReadContextPageSourceProvider;
import io.cachedhive.plugin.session.CacheSessionProperties;
import io.cachedhive.plugin.split.CachedHiveSplitManager;
import io.cachedhive.plugin.split.StableBucketPartitioning;
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
 * Hive's connector, with splits sent to where their bytes are, a read context around its scans, and the cache's system tables.
 */
final class CachedHiveConnector
        implements Connector
{
    private final Connector hive;
    private final String catalogName;
    private final ClassLoader classLoader;
    private final ConnectorSplitManager splitManager;
    private final CacheDecisions decisions;
    private final Set<SystemTable> systemTables;

    CachedHiveConnector(Connector hive, ConnectorExtensions extensions, String catalogName, ClassLoader classLoader)
    {
        this.hive = requireNonNull(hive, "hive is null");
        this.catalogName = requireNonNull(catalogName, "catalogName is null");
        this.classLoader = requireNonNull(classLoader, "classLoader is null");
        this.decisions = extensions.decisions();
        ConnectorSplitManager placing = new CachedHiveSplitManager(
                hive.getSplitManager(),
                extensions.origins(),
                extensions.config().getChunkSize().toBytes(),
                extensions.ringView(),
                this::decide,
                CacheSessionProperties::getNodeSelectionStrategy,
                CacheSessionProperties::getMaxScanSkew,
                extensions.rules());
        this.splitManager = new ClassLoaderSafeConnectorSplitManager(new AnnouncingSplitManager(placing, extensions.fetchAhead()), classLoader);
        ImmutableSet.Builder<SystemTable> systemTables = ImmutableSet.builder();
        systemTables.addAll(hive.getSystemTables());
        extensions.systemTables().forEach(table -> systemTables.add(new ClassLoaderSafeSystemTable(table, classLoader)));
        this.systemTables = systemTables.build();
    }

    private Optional<CacheDecision> decide(ConnectorSession session)
    {
        return decisions.decide(CacheSessionProperties.isCacheEnabled(session));
    }

    @Override
    public ConnectorTransactionHandle beginTransaction(IsolationLevel isolationLevel, boolean readOnly, boolean autoCommit)
    {
        return hive.beginTransaction(isolationLevel, readOnly, autoCommit);
    }

    @Override
    public ConnectorMetadata getMetadata(ConnectorSession session, ConnectorTransactionHandle transactionHandle)
    {
        return hive.getMetadata(session, transactionHandle);
    }

    @Override
    public ConnectorSplitManager getSplitManager()
    {
        return splitManager;
    }

    @Override
    public ConnectorPageSourceProvider getPageSourceProvider()
    {
        return withReadContext(hive.getPageSourceProvider());
    }

    @Override
    public ConnectorPageSourceProviderFactory getPageSourceProviderFactory()
    {
        ConnectorPageSourceProviderFactory factory = hive.getPageSourceProviderFactory();
        return () -> withReadContext(factory.createPageSourceProvider());
    }

    private ConnectorPageSourceProvider withReadContext(ConnectorPageSourceProvider provider)
    {
        return new ClassLoaderSafeConnectorPageSourceProvider(new ReadContextPageSourceProvider(catalogName, provider), classLoader);
    }

    @Override
    public ConnectorRecordSetProvider getRecordSetProvider()
    {
        return hive.getRecordSetProvider();
    }

    @Override
    public ConnectorPageSinkProvider getPageSinkProvider()
    {
        return hive.getPageSinkProvider();
    }

    @Override
    public ConnectorIndexProvider getIndexProvider()
    {
        return hive.getIndexProvider();
    }

    @Override
    public ConnectorNodePartitioningProvider getNodePartitioningProvider()
    {
        return new ClassLoaderSafeNodePartitioningProvider(
                new StableBucketPartitioning(hive.getNodePartitioningProvider(), session -> decide(session).isPresent()),
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
        return hive.getFunctionProvider();
    }

    @Override
    public Set<Procedure> getProcedures()
    {
        return hive.getProcedures();
    }

    @Override
    public Set<TableProcedureMetadata> getTableProcedures()
    {
        return hive.getTableProcedures();
    }

    @Override
    public Set<ConnectorTableFunction> getTableFunctions()
    {
        return hive.getTableFunctions();
    }

    @Override
    public List<PropertyMetadata<?>> getSessionProperties()
    {
        return hive.getSessionProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getSchemaProperties()
    {
        return hive.getSchemaProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getAnalyzeProperties()
    {
        return hive.getAnalyzeProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getBranchProperties()
    {
        return hive.getBranchProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getTableProperties()
    {
        return hive.getTableProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getViewProperties()
    {
        return hive.getViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getMaterializedViewProperties()
    {
        return hive.getMaterializedViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getColumnProperties()
    {
        return hive.getColumnProperties();
    }

    @Override
    public ConnectorAccessControl getAccessControl()
    {
        return hive.getAccessControl();
    }

    @Override
    public void commit(ConnectorTransactionHandle transactionHandle)
    {
        hive.commit(transactionHandle);
    }

    @Override
    public void rollback(ConnectorTransactionHandle transactionHandle)
    {
        hive.rollback(transactionHandle);
    }

    @Override
    public boolean isSingleStatementWritesOnly()
    {
        return hive.isSingleStatementWritesOnly();
    }

    @Override
    public void shutdown()
    {
        hive.shutdown();
    }

    @Override
    public Set<ConnectorCapabilities> getCapabilities()
    {
        return hive.getCapabilities();
    }
}
