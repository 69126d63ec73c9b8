package io.cachedhive.trino.adapter;

import io.cachedhive.plugin.table.ScanFile;
import io.trino.spi.connector.ConnectorPartitioningHandle;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.SchemaTableName;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * What the cache has to know of the handles and splits of the connector whose files it caches.
 */
public interface ConnectorAdapter
{
    /**
     * The table of a scan, as queries name it; empty for scans that are none of the cache's business.
     */
    Optional<SchemaTableName> findTable(ConnectorTableHandle table);

    /**
     * Returns whether a scan of the table leaves what it reads in the cache. A scan that reads a table in order to replace its files does not.
     */
    boolean fillsCache(ConnectorTableHandle table);

    /**
     * What the split reads, without the values of its partition; empty for splits that are none of the cache's business. Called on the coordinator and on workers.
     */
    Optional<ScanFile> findFile(ConnectorSplit split);

    /**
     * Returns the function from a split of a scan of the table to the values of its partition, by column or partition field.
     */
    Function<ConnectorSplit, Map<String, String>> partitionValues(ConnectorTableHandle table);

    /**
     * A hash of a bucketed partitioning that is the same in all processes, and equal for partitionings that may be joined bucket by bucket. Empty where the connector's own
     * is to stay.
     */
    OptionalLong bucketHint(ConnectorPartitioningHandle partitioning);
}
