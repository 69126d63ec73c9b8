package io.cachedhive.plugin.connector;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.split.NodeSelectionStrategy;
import io.trino.plugin.base.session.SessionPropertiesProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.session.PropertyMetadata;

import java.util.List;

import static io.trino.spi.session.PropertyMetadata.booleanProperty;
import static io.trino.spi.session.PropertyMetadata.enumProperty;

public final class CacheSessionProperties
        implements SessionPropertiesProvider
{
    public static final String CACHE_ENABLED = "cache_enabled";
    public static final String NODE_SELECTION_STRATEGY = "node_selection_strategy";

    private final List<PropertyMetadata<?>> properties;

    @Inject
    public CacheSessionProperties(CachedHiveConfig config)
    {
        properties = ImmutableList.of(
                booleanProperty(
                        CACHE_ENABLED,
                        "Read through the cache; if not, exactly as plain Hive",
                        true,
                        false),
                enumProperty(
                        NODE_SELECTION_STRATEGY,
                        "How splits find their nodes: SOFT_AFFINITY, HARD_AFFINITY or NO_PREFERENCE",
                        NodeSelectionStrategy.class,
                        config.getNodeSelectionStrategy(),
                        false));
    }

    @Override
    public List<PropertyMetadata<?>> getSessionProperties()
    {
        return properties;
    }

    public static boolean isCacheEnabled(ConnectorSession session)
    {
        return session.getProperty(CACHE_ENABLED, Boolean.class);
    }

    public static NodeSelectionStrategy getNodeSelectionStrategy(ConnectorSession session)
    {
        return session.getProperty(NODE_SELECTION_STRATEGY, NodeSelectionStrategy.class);
    }
}
