package io.cachedhive.trino.connector;

import io.cachedhive.trino.preload.ScheduleSession;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.trino.spi.BlocksHashFactory;
import io.trino.spi.Node;
import io.trino.spi.NodeManager;
import io.trino.spi.PageIndexerFactory;
import io.trino.spi.PageSorter;
import io.trino.spi.VersionEmbedder;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorExpressionEvaluator;
import io.trino.spi.connector.MetadataProvider;
import io.trino.spi.function.FunctionBundleFactory;
import io.trino.spi.type.TypeManager;

import static java.util.Objects.requireNonNull;

/**
 * The context of the engine, which also accepts sessions of scheduled preloads. The engine evaluates expressions only in sessions of its own queries, and a
 * scheduled preload has neither a query nor an expression.
 */
public final class ScheduleConnectorContext
        implements ConnectorContext
{
    private final ConnectorContext delegate;

    public ScheduleConnectorContext(ConnectorContext delegate)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
    }

    @Override
    public ConnectorExpressionEvaluator getExpressionEvaluator()
    {
        ConnectorExpressionEvaluator evaluator = delegate.getExpressionEvaluator();
        return (session, expression) -> session instanceof ScheduleSession
                ? ConnectorExpressionEvaluator.NO_OP.prepare(session, expression)
                : evaluator.prepare(session, expression);
    }

    @Override
    public OpenTelemetry getOpenTelemetry()
    {
        return delegate.getOpenTelemetry();
    }

    @Override
    public Tracer getTracer()
    {
        return delegate.getTracer();
    }

    @Override
    public Node getCurrentNode()
    {
        return delegate.getCurrentNode();
    }

    @Override
    public NodeManager getNodeManager()
    {
        return delegate.getNodeManager();
    }

    @Override
    public VersionEmbedder getVersionEmbedder()
    {
        return delegate.getVersionEmbedder();
    }

    @Override
    public String getSpiVersion()
    {
        return delegate.getSpiVersion();
    }

    @Override
    public TypeManager getTypeManager()
    {
        return delegate.getTypeManager();
    }

    @Override
    public MetadataProvider getMetadataProvider()
    {
        return delegate.getMetadataProvider();
    }

    @Override
    public PageSorter getPageSorter()
    {
        return delegate.getPageSorter();
    }

    @Override
    public PageIndexerFactory getPageIndexerFactory()
    {
        return delegate.getPageIndexerFactory();
    }

    @Override
    public FunctionBundleFactory getFunctionBundleFactory()
    {
        return delegate.getFunctionBundleFactory();
    }

    @Override
    public BlocksHashFactory getBlocksHashFactory()
    {
        return delegate.getBlocksHashFactory();
    }
}
