package io.cachedhive.trino.stats;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.inject.Inject;
import io.cachedhive.plugin.counters.CacheStats;
import io.trino.spi.Node;
import io.trino.spi.catalog.CatalogName;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.weakref.jmx.MBeanExporter;

import javax.management.MBeanServer;
import javax.management.ObjectName;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Exports the JMX bean while the catalog is loaded, and removes all beans of the catalog when it ends: Trino leaves its own beans of a dropped Hive catalog, and each
 * of them holds all objects that it can reach.
 *
 * <p>Two catalogs of the same name may be loaded at the same time. DROP CATALOG ends a catalog seconds later, and by then CREATE CATALOG may have created the next one.
 * JMX keeps the beans of the first catalog under the common names. When that catalog ends, the beans of the other one take their place.
 */
final class CacheStatsExporter
{
    // of all loaded catalogs of this JVM
    @GuardedBy("itself")
    private static final Set<CacheStatsExporter> EXPORTERS = new LinkedHashSet<>();

    private final MBeanServer server;
    private final MBeanExporter exporter;
    private final CacheStats stats;
    private final String name;

    @Inject
    CacheStatsExporter(MBeanServer server, MBeanExporter exporter, CacheStats stats, CatalogName catalog, Node node)
    {
        this.server = requireNonNull(server, "server is null");
        this.exporter = requireNonNull(exporter, "exporter is null");
        this.stats = requireNonNull(stats, "stats is null");
        this.name = "cachedhive:name=%s,type=stats,node=%s".formatted(quoteIfNecessary(catalog.toString()), quoteIfNecessary(node.getNodeIdentifier()));
    }

    private static String quoteIfNecessary(String value)
    {
        return value.matches("[A-Za-z0-9._-]+") ? value : ObjectName.quote(value);
    }

    @PostConstruct
    public void export()
    {
        synchronized (EXPORTERS) {
            exporter.export(name, stats);
            // another catalog of this name may have ended after Hive's beans were exported
            registerMissing();
            EXPORTERS.add(this);
        }
    }

    @PreDestroy
    public void unexport()
    {
        synchronized (EXPORTERS) {
            EXPORTERS.remove(this);
            // Hive's beans and those of its file systems are exported by the same exporter; some may be gone already
            exporter.unexportAllAndReportMissing();
            EXPORTERS.forEach(CacheStatsExporter::registerMissing);
        }
    }

    /**
     * Registers the beans of this catalog whose names are free.
     */
    private void registerMissing()
    {
        for (ObjectName exported : List.copyOf(exporter.getManagedObjectExports().keySet())) {
            if (!server.isRegistered(exported)) {
                // the catalog's own exporter knows the name, and unregisters it at the end
                exporter.getExportedObject(exported).ifPresent(bean -> new MBeanExporter(server).export(exported, bean));
            }
        }
    }
}
