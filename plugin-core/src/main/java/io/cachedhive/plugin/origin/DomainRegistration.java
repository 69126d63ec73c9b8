package io.cachedhive.plugin.origin;

import io.airlift.log.Logger;
import jakarta.annotation.PreDestroy;

import static java.util.Objects.requireNonNull;

/**
 * Adds a catalog to {@link SharedDomains} until it is shut down, and logs what the registry finds.
 */
public final class DomainRegistration
{
    private static final Logger log = Logger.get(DomainRegistration.class);

    private final SharedDomains domains;
    private final String node;
    private final String catalog;
    private final FileOrigins origins;

    /**
     * @param caches whether the catalog uses the cache; it is not added otherwise
     */
    public DomainRegistration(SharedDomains domains, String node, String catalog, FileOrigins origins, boolean caches)
    {
        this.domains = requireNonNull(domains, "domains is null");
        this.node = requireNonNull(node, "node is null");
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.origins = requireNonNull(origins, "origins is null");
        if (caches) {
            domains.add(node, catalog, origins).forEach(sentence -> log.warn("%s", sentence));
        }
    }

    @PreDestroy
    public void remove()
    {
        domains.remove(node, catalog, origins);
    }
}
