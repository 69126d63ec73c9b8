package io.cachedhive.admin.settings;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static io.cachedhive.admin.settings.IsolationSettings.CATALOG_PREFIX;
import static java.util.Objects.requireNonNull;

/**
 * What a catalog with Trino's file system cache ({@code fs.cache.*}), or with the cache of older releases ({@code hive.cache.*}), becomes.
 *
 * @param catalog for Trino
 * @param origin of the cache workers for the same object store; empty if they cannot read it
 * @param hostSettings lines for the hosts file
 * @param notes what could not be carried over, a sentence each
 */
public record CatalogMigration(String catalog, String origin, List<String> hostSettings, List<String> notes)
{
    private static final String PERCENTAGES = "shares of the disks";
    /// Properties of the cache worker; the shares become a part of `ssd`.
    private static final Map<String, String> WORKER_NAMES = Map.of(
            "fs.cache.ttl", "cache.ttl",
            "fs.cache.page-size", "cache.block-size",
            "fs.cache.max-disk-usage-percentages", PERCENTAGES,
            "hive.cache.ttl", "cache.ttl",
            "hive.cache.disk-usage-percentage", PERCENTAGES);
    private static final Set<String> CONNECTORS = Set.of("hive", "hive-hadoop2", "iceberg", CacheConnectors.HIVE, CacheConnectors.ICEBERG);
    /// What only concerned the old caches themselves.
    private static final Set<String> WITHOUT_COUNTERPART = Set.of(
            "fs.cache.enabled", "fs.cache.preferred-hosts-count", "fs.cache.disable-metrics",
            "hive.cache.enabled", "hive.cache.start-server-on-coordinator", "hive.cache.read-mode", "hive.cache.bookkeeper-port", "hive.cache.data-transfer-port");

    public CatalogMigration
    {
        requireNonNull(catalog, "catalog is null");
        requireNonNull(origin, "origin is null");
        hostSettings = List.copyOf(hostSettings);
        notes = List.copyOf(notes);
    }

    /// @throws IllegalArgumentException if it is no catalog of the Hive or Iceberg connector; the message says so with a remedy
    public static CatalogMigration of(String text)
    {
        Map<String, String> properties = PropertiesText.read(text);
        String connector = properties.getOrDefault("connector.name", "");
        String cached = connector.endsWith("iceberg") ? CacheConnectors.ICEBERG : CacheConnectors.HIVE;
        if (!CONNECTORS.contains(connector)) {
            throw new IllegalArgumentException("connector.name is %s, and only catalogs of the connectors hive and iceberg can be migrated"
                    .formatted(connector.isEmpty() ? "missing" : connector));
        }
        List<String> notes = new ArrayList<>();
        Map<String, String> worker = new LinkedHashMap<>();
        properties.forEach((name, value) -> {
            if (WORKER_NAMES.containsKey(name)) {
                worker.put(WORKER_NAMES.get(name), value);
            }
            else if (isOld(name) && !WITHOUT_COUNTERPART.contains(name) && !isDirectories(name) && !name.equals("fs.cache.max-sizes")) {
                notes.add("%s=%s has no counterpart, and was left out.".formatted(name, value));
            }
        });

        List<String> settings = new ArrayList<>();
        String directories = properties.getOrDefault("fs.cache.directories", properties.getOrDefault("hive.cache.location", ""));
        String sizes = properties.get("fs.cache.max-sizes");
        if (directories.isBlank()) {
            worker.remove(PERCENTAGES);
            notes.add("The catalog names no directories of a cache: name disks under ssd in the hosts file, or the cache is in RAM only.");
        }
        else {
            String[] paths = directories.split("\\s*,\\s*");
            String[] capacities = sizes == null ? new String[0] : sizes.split("\\s*,\\s*");
            boolean sized = capacities.length == paths.length;
            String[] shares = worker.getOrDefault(PERCENTAGES, "80").split("\\s*,\\s*");
            settings.add("ssd:");
            for (int index = 0; index < paths.length; index++) {
                settings.add("  - directory: " + beside(paths[index]));
                // one share for all disks, where a share for each is wanted
                settings.add(sized ? "    size: " + capacities[index] : "    percentage: " + shares[shares.length == paths.length ? index : 0]);
            }
            worker.remove(PERCENTAGES);
            notes.add("The files of the old cache in %s are no longer used: delete them.".formatted(directories));
        }
        if (!worker.isEmpty()) {
            settings.add("worker-properties:");
            worker.forEach((name, value) -> settings.add("  %s: '%s'".formatted(name, value)));
        }

        String catalog = PropertiesText.without(text, CatalogMigration::isOld);
        catalog = PropertiesText.with(catalog, Map.of("connector.name", cached));
        StringBuilder origin = new StringBuilder("# for the cache workers: the same store as in the catalog\n");
        Set<String> known = KnownProperties.ofOrigins();
        properties.forEach((name, value) -> {
            if (name.equals("s3.sse.customer-key") || (name.equals("s3.sse.type") && value.equalsIgnoreCase("CUSTOMER"))) {
                notes.add("%s: objects with customer-provided keys cannot be cached. Leave the catalog with the connector that it has.".formatted(name));
            }
            if (known.contains(name)) {
                origin.append(name).append('=').append(value).append('\n');
            }
            else if (isIsolation(name)) {
                origin.append(name.substring(CATALOG_PREFIX.length())).append('=').append(value).append('\n');
            }
            else if (name.startsWith("s3.") && !name.startsWith("s3.security-mapping.") && !name.equals("s3.sse.customer-key") && !KnownProperties.isWriteOnly(name)) {
                notes.add("%s was not copied to the origin: no cache worker knows it. Correct it in the catalog, too, if Trino does not know it.".formatted(name));
            }
            else if (name.startsWith("s3.security-mapping.")) {
                notes.add("%s: who may read what depends on the user, so nothing is cached unless cachedhive.shared-permissions=true.".formatted(name));
            }
        });
        if (!namesS3(properties)) {
            notes.add("The catalog names no S3 store, and cache workers read no other ones: there is no origin for it, Trino workers fill the cache, and preloads do not work.");
            return new CatalogMigration(catalog, "", settings, notes);
        }
        return new CatalogMigration(catalog, origin.toString(), settings, notes);
    }

    /// Part of the identity of the origin, as the access key is, so that the cache workers accept the catalog.
    private static boolean isIsolation(String name)
    {
        return name.equals(CATALOG_PREFIX + IsolationSettings.DOMAIN) || name.equals(CATALOG_PREFIX + IsolationSettings.SHARED);
    }

    /// Whether cache workers can read files of the catalog.
    static boolean namesS3(Map<String, String> catalog)
    {
        return catalog.keySet().stream().anyMatch(name -> name.startsWith("s3."))
                || List.of("fs.s3.enabled", "fs.native-s3.enabled").stream().anyMatch(name -> "true".equalsIgnoreCase(catalog.get(name)));
    }

    private static boolean isOld(String name)
    {
        return name.startsWith("fs.cache.") || name.startsWith("hive.cache.");
    }

    private static boolean isDirectories(String name)
    {
        return name.equals("fs.cache.directories") || name.equals("hive.cache.location");
    }

    /// On the same disk, and not among the old cache's files.
    private static String beside(String path)
    {
        String clean = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return clean + "-cachedhive";
    }
}
