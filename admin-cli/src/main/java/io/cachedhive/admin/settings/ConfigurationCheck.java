package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.fault.Fault.Kind;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Looks at the configuration on this machine, before any host sees it.
 */
public final class ConfigurationCheck
{
    private static final List<String> FOREIGN_PREFIXES = List.of("http-server.", "log.", "node.", "jmx.", "openmetrics.", "otel.", "tracing.");

    private final List<Fault> faults = new ArrayList<>();

    private ConfigurationCheck() {}

    public static List<Fault> check(Cluster cluster, HostFiles files)
    {
        ConfigurationCheck check = new ConfigurationCheck();
        check.workers(cluster);
        check.origins(cluster, files);
        check.catalogs(cluster, files);
        return check.faults;
    }

    private void workers(Cluster cluster)
    {
        Set<String> reported = new LinkedHashSet<>();
        for (ClusterHost host : cluster.workers()) {
            for (String name : host.workerProperties().keySet()) {
                if (!KnownProperties.ofWorker().contains(name) && FOREIGN_PREFIXES.stream().noneMatch(name::startsWith) && reported.add(name)) {
                    add(host.name(), "%s: worker-properties has %s, which no cache worker knows, and with which it does not start: correct it by docs/configuration.md."
                            .formatted(host, name));
                }
            }
        }
        Set<Integer> ports = new LinkedHashSet<>();
        cluster.workers().forEach(host -> ports.add(host.workerPort()));
        if (ports.size() > 1) {
            add(Fault.THIS_MACHINE, "worker-port has the values %s, and a catalog knows one for all hosts: set it once, for all.".formatted(ports));
        }
        if (cluster.workers().stream().map(host -> host.zone().isPresent()).distinct().count() > 1) {
            add(Fault.THIS_MACHINE, "some workers have a zone and some have none: give all of them one, or none.");
        }
        if (cluster.secretFile().isEmpty() && cluster.workers().stream().anyMatch(host -> !host.bindAddress().orElse(host.address().orElse(host.name())).startsWith("127."))) {
            add(Fault.THIS_MACHINE, "there is no secret-file, without which cache workers serve only Trino on their own host: name one in %s.".formatted(cluster.file()));
        }
    }

    private void origins(Cluster cluster, HostFiles files)
    {
        Optional<OriginParser> parser = OriginParser.find();
        if (parser.isPresent() && !files.origins().isEmpty()) {
            try {
                parser.get().problems(cluster.configurationDirectory().resolve("origins")).forEach(problem -> add(Fault.THIS_MACHINE, problem));
                return;
            }
            catch (IOException e) {
                add(Fault.THIS_MACHINE, "the origins could not be checked (%s): correct that, and run this again.".formatted(e.getMessage()));
            }
        }
        files.origins().forEach((origin, text) -> {
            for (String name : PropertiesText.read(text).keySet()) {
                if (!KnownProperties.ofOrigins().contains(name) && !KnownProperties.isWriteOnly(name)) {
                    add(Fault.THIS_MACHINE, "%s: %s is no property of an origin, and a cache worker refuses it: remove it."
                            .formatted(cluster.configurationDirectory().resolve("origins").resolve(origin + ".properties"), name));
                }
            }
        });
    }

    private void catalogs(Cluster cluster, HostFiles files)
    {
        files.catalogs().forEach((catalog, text) -> {
            String file = cluster.configurationDirectory().resolve("catalog").resolve(catalog + ".properties").toString();
            Map<String, String> properties = PropertiesText.read(text);
            if (!properties.containsKey("connector.name")) {
                add(Fault.THIS_MACHINE, "%s: connector.name is missing, without which Trino does not start: set connector.name=cachedhive, or cachediceberg.".formatted(file));
                return;
            }
            if (!CacheConnectors.isCached(properties)) {
                return;
            }
            for (String name : properties.keySet()) {
                if (name.startsWith("cachedhive.") && !KnownProperties.ofCatalogs().contains(name)) {
                    add(Fault.THIS_MACHINE, "%s: %s does not exist, and Trino does not start with it: correct it; docs/configuration.md has all of them.".formatted(file, name));
                }
            }
            if ("true".equals(properties.get("fs.cache.enabled"))) {
                add(Fault.THIS_MACHINE, "%s: fs.cache.enabled=true, and two caches on top of one another are refused: run cache-admin config migrate on it.".formatted(file));
            }
            properties.keySet().stream().filter(name -> name.startsWith("hive.cache.")).findFirst().ifPresent(name ->
                    add(Fault.THIS_MACHINE, "%s: %s is of an older cache and no longer exists: run cache-admin config migrate on it.".formatted(file, name)));
            String origin = properties.getOrDefault("cachedhive.origin", "default");
            String store = files.origins().get(origin);
            if (store == null && !CatalogMigration.namesS3(properties)) {
                return;
            }
            if (store == null) {
                add(Fault.THIS_MACHINE, "%s: its object store has no %s for the cache workers: write one with the same s3.endpoint and s3.region, and keys to read it."
                        .formatted(file, cluster.configurationDirectory().resolve("origins").resolve(origin + ".properties")));
                return;
            }
            Map<String, String> stored = PropertiesText.read(store);
            for (String name : List.of("s3.endpoint", "s3.region")) {
                if (!properties.getOrDefault(name, "").equals(stored.getOrDefault(name, ""))) {
                    add(Fault.THIS_MACHINE, "%s: %s=%s, and the origin %s has %s: set both to exactly the same value.".formatted(
                            file, name, properties.getOrDefault(name, ""), origin, stored.getOrDefault(name, "nothing")));
                }
            }
            IsolationSettings.difference(properties, stored, origin)
                    .ifPresent(sentence -> add(Fault.THIS_MACHINE, "%s: %s".formatted(file, sentence)));
        });
    }

    private void add(String where, String sentence)
    {
        faults.add(new Fault(where, Kind.CONFIGURATION, sentence));
    }
}
