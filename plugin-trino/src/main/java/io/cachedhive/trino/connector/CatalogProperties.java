package io.cachedhive.trino.connector;

import io.trino.spi.TrinoException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static java.util.Objects.requireNonNull;

/**
 * What a catalog's file system properties mean to the cache.
 */
public final class CatalogProperties
{
    // the name, and the former name
    private static final List<String> S3_SWITCHES = List.of("fs.s3.enabled", "fs.native-s3.enabled");

    private final String catalog;
    private final Map<String, String> properties;
    private final Set<String> perUserSwitches;

    /**
     * @param perUserSwitches properties of the connector that, set to true, make the origin decide by user
     */
    public CatalogProperties(String catalog, Map<String, String> properties, Set<String> perUserSwitches)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.perUserSwitches = Set.copyOf(perUserSwitches);
        this.properties = Map.copyOf(properties);
    }

    /**
     * Returns the properties for the wrapped connector. Settings of S3 enable the file system of S3, unless the catalog says
     * whether it is enabled: Trino would refuse them otherwise.
     */
    public Map<String, String> withFileSystems()
    {
        if (S3_SWITCHES.stream().anyMatch(properties::containsKey) || properties.keySet().stream().noneMatch(name -> name.startsWith("s3."))) {
            return properties;
        }
        Map<String, String> complete = new HashMap<>(properties);
        complete.put(S3_SWITCHES.getFirst(), "true");
        return complete;
    }

    /**
     * @throws TrinoException if the catalog has Trino's own file system cache enabled
     */
    public void refuseFileSystemCache()
    {
        if (isTrue("fs.cache.enabled")) {
            throw new TrinoException(CONFIGURATION_INVALID, ("Catalog %s has fs.cache.enabled=true, but cachedhive is the cache of its files already: "
                    + "remove the fs.cache.* properties, see docs/operations/migrate.md").formatted(catalog));
        }
    }

    /**
     * Says so if the origin's answer depends on who asks: then the bytes of one user's read may be none of another's business.
     */
    public Optional<String> findPermissionsByUser()
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
        return perUserSwitches.stream()
                .filter(this::isTrue)
                .findFirst()
                .map("%s=true"::formatted);
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
