package io.cachedhive.admin.settings;

import java.util.Map;
import java.util.Set;

/// The connectors of this project, as catalogs name them.
public final class CacheConnectors
{
    public static final String HIVE = "cachedhive";
    public static final String ICEBERG = "cachediceberg";

    private static final Set<String> NAMES = Set.of(HIVE, ICEBERG);

    private CacheConnectors() {}

    /// Whether a catalog with these properties reads through the cache.
    public static boolean isCached(Map<String, String> properties)
    {
        return NAMES.contains(properties.getOrDefault("connector.name", ""));
    }

    /// Whether a catalog with these properties needs the plugin for Iceberg tables.
    public static boolean isIceberg(Map<String, String> properties)
    {
        return ICEBERG.equals(properties.get("connector.name"));
    }
}
