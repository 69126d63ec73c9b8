package io.cachedhive.trino.partition;

import io.cachedhive.plugin.preload.PreloadListing;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Where the files of the connector's tables are, for procedures. All methods refuse whoever may not select from the table.
 */
public interface TableFiles
{
    /**
     * Where files lie.
     *
     * @param partition its name ({@code day=1/hour=2}); empty for what lies with the table itself
     * @param location ends in {@code /}
     */
    record PartitionLocation(Optional<String> partition, String location)
    {
        public PartitionLocation
        {
            requireNonNull(partition, "partition is null");
            requireNonNull(location, "location is null");
        }
    }

    /**
     * Refuses who may not read all of the table, if there is one, and who may not read it if there was.
     */
    void checkReadable(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table);

    /**
     * All places of the files of the table, or of the partitions that have these values.
     *
     * @param values by partition column, of some or all of them; empty for the whole table
     * @throws TrinoException if there is no such table or partition
     */
    List<PartitionLocation> locations(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values);

    /**
     * The values that a partition's name tells, by column.
     */
    Map<String, String> partitionValues(String partition);

    /**
     * The files of a table or of some of its partitions, as a scan of all of them would list them.
     *
     * @throws TrinoException if there is no such table, partition or column
     */
    PreloadListing list(ConnectorSession session, ConnectorAccessControl accessControl, PreloadRequest request);
}
