package io.cachedhive.admin.settings;

import io.cachedhive.protocol.file.IsolationDomain;

import java.util.Map;
import java.util.Optional;

/**
 * The isolation domains that a catalog and the origin file of its cache workers configure. The properties have the same meaning in both files.
 */
final class IsolationSettings
{
    static final String CATALOG_PREFIX = "cachedhive.";
    static final String DOMAIN = "isolation-domain";
    static final String SHARED = "shared-permissions";

    private IsolationSettings() {}

    /// Returns a sentence if the cache workers would refuse the catalog.
    ///
    /// @return empty if the domains are equal, or differ only in values that come from the environment of the processes
    static Optional<String> difference(Map<String, String> catalog, Map<String, String> origin, String originName)
    {
        IsolationDomain ofCatalog = domain(catalog, CATALOG_PREFIX);
        IsolationDomain ofOrigin = domain(origin, "");
        if (ofCatalog.equals(ofOrigin) || isFromEnvironment(ofCatalog) || isFromEnvironment(ofOrigin)) {
            return Optional.empty();
        }
        return Optional.of(("it has %s, and the origin %s has %s, so that the cache workers refuse the catalog: set the same access key or IAM role in both files, "
                + "or the same name in cachedhive.isolation-domain of the catalog and isolation-domain of the origin.")
                .formatted(ofCatalog.description(), originName, ofOrigin.description()));
    }

    private static IsolationDomain domain(Map<String, String> properties, String prefix)
    {
        if (properties.getOrDefault(prefix + SHARED, "").strip().equalsIgnoreCase("true")) {
            return IsolationDomain.NONE;
        }
        return Optional.ofNullable(properties.get(prefix + DOMAIN))
                .map(String::strip)
                .map(IsolationDomain::named)
                .orElseGet(() -> IsolationDomain.ofS3(properties));
    }

    private static boolean isFromEnvironment(IsolationDomain domain)
    {
        return domain.value().contains("${");
    }
}
