package io.cachedhive.plugin.connector;

import io.trino.spi.TrinoException;

import java.util.Map;
import java.util.Optional;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static java.util.Objects.requireNonNull;

/**
 * What a catalog's Hive and file system properties mean to the cache.
 */
final class CatalogProperties
{
    private final String catalog;
    private final Map<String, String> properties;

    CatalogProperties(String catalog, Map<String, String> properties)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.properties = Map.copyOf(properties);
    }

    /**
     * @throws TrinoException if the catalog has Trino's own file system cache enabled
     */
    void refuseFileSystemCache()
    {
        if (isTrue("fs.cache.enabled")) {
            throw new TrinoException(CONFIGURATION_INVALID, ("Catalog %s has fs.cache.enabled=true, but cachedhive is the cache of its files already: "
                    + "remove the fs.cache.* properties, see docs/operations/migrate.md").formatted(catalog));
        }
    }

    /**
     * Says so if the origin's answer depends on who asks: then the bytes of one user's read may be none of another's business.
     */
    Optional<String> findPermissionsByUser()
    {
        return permissionsByUser().map(property ->
                ("catalog %s is read without the cache, because with %s the origin decides by user who may read what: "
                        + "set cachedhive.shared-permissions=true if Trino's access control is enough").formatted(catalog, property));
    }

    private Optional<String> permissionsByUser()
    {
        if (isTrue("s3.security-mapping.enabled")) {
            return Optional.of("s3.security-mapping.enabled=true");
        }
        if ("CUSTOMER".equalsIgnoreCase(value("s3.sse.type"))) {
            return Optional.of("s3.sse.type=CUSTOMER");
        }
        if ("ACCESS_TOKEN".equalsIgnoreCase(value("gcs.auth-type"))) {
            return Optional.of("gcs.auth-type=ACCESS_TOKEN");
        }
        if (isTrue("gcs.use-access-token")) {
            return Optional.of("gcs.use-access-token=true");
        }
        if (isTrue("hive.hdfs.impersonation.enabled")) {
            return Optional.of("hive.hdfs.impersonation.enabled=true");
        }
        return Optional.empty();
    }

    private boolean isTrue(String name)
    {
        return "true".equalsIgnoreCase(value(name));
    }

    private String value(String name)
    {
        return properties.getOrDefault(name, "").strip();
    }
}
