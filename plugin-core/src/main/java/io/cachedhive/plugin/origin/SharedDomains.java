package io.cachedhive.plugin.origin;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.plugin.origin.FileOrigins.OriginRights;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static java.util.Objects.requireNonNull;

/**
 * Finds the catalogs of this process that share cached bytes although their credentials differ. This is possible if they have the same
 * {@code cachedhive.isolation-domain}, or {@code cachedhive.shared-permissions=true}: then the users of one catalog can read bytes that only the
 * credentials of the other may read.
 */
public final class SharedDomains
{
    private static final SharedDomains THIS_PROCESS = new SharedDomains();

    @GuardedBy("this")
    private final Map<String, Map<String, FileOrigins>> catalogsByNode = new TreeMap<>();

    SharedDomains() {}

    /**
     * Returns the registry of all catalogs in this process that the same plugin created.
     */
    public static SharedDomains ofThisProcess()
    {
        return THIS_PROCESS;
    }

    /**
     * Adds a catalog. It replaces an earlier catalog of the name.
     *
     * @param node the node of the catalog, because several nodes of a test can be in one process
     * @return a sentence for each other catalog that shares cached bytes with this one despite other credentials
     */
    public synchronized List<String> add(String node, String catalog, FileOrigins origins)
    {
        Map<String, FileOrigins> catalogs = catalogsByNode.computeIfAbsent(node, _ -> new TreeMap<>());
        catalogs.put(catalog, origins);
        ImmutableList.Builder<String> sentences = ImmutableList.builder();
        catalogs.forEach((other, others) -> others.rights().stream()
                .flatMap(theirs -> origins.rights().stream().filter(ours -> share(ours, theirs)))
                .findFirst()
                .ifPresent(shared -> sentences.add(sentence(other, catalog, shared))));
        return sentences.build();
    }

    /**
     * Removes a catalog that was shut down, unless another one of its name was added since.
     */
    public synchronized void remove(String node, String catalog, FileOrigins origins)
    {
        requireNonNull(origins, "origins is null");
        Map<String, FileOrigins> catalogs = catalogsByNode.getOrDefault(node, Map.of());
        if (catalogs.get(catalog) == origins) {
            catalogs.remove(catalog);
            if (catalogs.isEmpty()) {
                catalogsByNode.remove(node);
            }
        }
    }

    private static boolean share(OriginRights ours, OriginRights theirs)
    {
        return ours.origin().id().equals(theirs.origin().id()) && !ours.credentials().equals(theirs.credentials());
    }

    private static String sentence(String first, String second, OriginRights shared)
    {
        return ("catalogs %s and %s share cached bytes (%s) but have different credentials, so users of either read what only the other may read from the origin: "
                + "remove cachedhive.isolation-domain and cachedhive.shared-permissions, or set different domains, unless Trino's access control is enough")
                .formatted(first, second, shared.domain().description());
    }
}
