package io.cachedhive.trino.session;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.trino.plugin.base.session.SessionPropertiesProvider;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.session.PropertyMetadata;

import java.util.List;

import static io.trino.spi.StandardErrorCode.INVALID_SESSION_PROPERTY;
import static io.trino.spi.session.PropertyMetadata.booleanProperty;
import static io.trino.spi.session.PropertyMetadata.doubleProperty;
import static io.trino.spi.session.PropertyMetadata.enumProperty;

public final class CacheSessionProperties
        implements SessionPropertiesProvider
{
    public static final String CACHE_ENABLED = "cache_enabled";
    public static final String NODE_SELECTION_STRATEGY = "node_selection_strategy";
    public static final String MAX_SCAN_SKEW = "max_scan_skew";

    private final List<PropertyMetadata<?>> properties;

    @Inject
    public CacheSessionProperties(CachedHiveConfig config)
    {
        properties = ImmutableList.of(
                booleanProperty(
                        CACHE_ENABLED,
                        "Read through the cache; false reads exactly as plain Hive",
                        true,
                        false),
                enumProperty(
                        NODE_SELECTION_STRATEGY,
                        "Node selection for splits: SOFT_AFFINITY, HARD_AFFINITY or NO_PREFERENCE",
                        NodeSelectionStrategy.class,
                        config.getNodeSelectionStrategy(),
                        false),
                doubleProperty(
                        MAX_SCAN_SKEW,
                        "Fraction by which a node may exceed its share of the bytes of a scan",
                        config.getMaxScanSkew(),
                        CacheSessionProperties::checkMaxScanSkew,
                        false));
    }

    @Override
    public List<PropertyMetadata<?>> getSessionProperties()
    {
        return properties;
    }

    private static void checkMaxScanSkew(double value)
    {
        // written so that NaN is refused
        if (!(value >= 0)) {
            throw new TrinoException(INVALID_SESSION_PROPERTY, "%s must be 0 or more: %s".formatted(MAX_SCAN_SKEW, value));
        }
    }

    public static boolean isCacheEnabled(ConnectorSession session)
    {
        return session.getProperty(CACHE_ENABLED, Boolean.class);
    }

    public static NodeSelectionStrategy getNodeSelectionStrategy(ConnectorSession session)
    {
        return session.getProperty(NODE_SELECTION_STRATEGY, NodeSelectionStrategy.class);
    }

    public static double getMaxScanSkew(ConnectorSession session)
    {
        return session.getProperty(MAX_SCAN_SKEW, Double.class);
    }
}
