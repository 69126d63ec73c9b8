package io.cachedhive.trino.stats;

import com.google.inject.Inject;
import io.cachedhive.plugin.counters.CacheStats;
import io.trino.spi.Node;
import io.trino.spi.catalog.CatalogName;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.weakref.jmx.MBeanExporter;

import javax.management.ObjectName;

import static java.util.Objects.requireNonNull;

/**
 * Exports the JMX bean for as long as the catalog is loaded, and sees to it that none is left of the catalog: Trino's own beans of a Hive catalog stay behind when it
 * is dropped, and each holds all that it can reach.
 */
final class CacheStatsExporter
{
    private final MBeanExporter exporter;
    private final CacheStats stats;
    private final String name;

    @Inject
    CacheStatsExporter(MBeanExporter exporter, CacheStats stats, CatalogName catalog, Node node)
    {
        this.exporter = requireNonNull(exporter, "exporter is null");
        this.stats = requireNonNull(stats, "stats is null");
        this.name = "cachedhive:catalog=%s,node=%s,name=stats".formatted(quoteIfNecessary(catalog.toString()), quoteIfNecessary(node.getNodeIdentifier()));
    }

    private static String quoteIfNecessary(String value)
    {
        return value.matches("[A-Za-z0-9._-]+") ? value : ObjectName.quote(value);
    }

    @PostConstruct
    public void export()
    {
        exporter.export(name, stats);
    }

    @PreDestroy
    public void unexport()
    {
        // those of Hive and of its file systems are exported through the same one, which is the catalog's; that some are gone already is no harm
        exporter.unexportAllAndReportMissing();
    }
}
