package io.cachedhive.engine;

import io.trino.spi.Plugin;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.transaction.IsolationLevel;

import java.util.List;
import java.util.Map;
import java.util.Set;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/** A connector of the given name that has nothing but system tables, chosen by the name of the catalog. */
final class TestingConnectorPlugin
        implements Plugin
{
    private final String connectorName;
    private final Map<String, Set<SystemTable>> systemTablesByCatalog;

    TestingConnectorPlugin(String connectorName, Map<String, Set<SystemTable>> systemTablesByCatalog)
    {
        this.connectorName = requireNonNull(connectorName, "connectorName is null");
        this.systemTablesByCatalog = Map.copyOf(systemTablesByCatalog);
    }

    @Override
    public Iterable<ConnectorFactory> getConnectorFactories()
    {
        return List.of(new ConnectorFactory()
        {
            @Override
            public String getName()
            {
                return connectorName;
            }

            @Override
            public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
            {
                checkArgument(systemTablesByCatalog.containsKey(catalogName), "no tables for catalog: %s", catalogName);
                return new TestingConnector(systemTablesByCatalog.get(catalogName));
            }
        });
    }

    private enum TransactionHandle
            implements ConnectorTransactionHandle
    {
        INSTANCE
    }

    private record TestingConnector(Set<SystemTable> systemTables)
            implements Connector
    {
        @Override
        public ConnectorTransactionHandle beginTransaction(IsolationLevel isolationLevel, boolean readOnly, boolean autoCommit)
        {
            return TransactionHandle.INSTANCE;
        }

        @Override
        public ConnectorMetadata getMetadata(ConnectorSession session, ConnectorTransactionHandle transactionHandle)
        {
            return new ConnectorMetadata() {};
        }

        @Override
        public Set<SystemTable> getSystemTables()
        {
            return systemTables;
        }

        @Override
        public void shutdown() {}
    }
}
