package io.cachedhive.hive.partition;

import com.google.inject.Inject;
import io.cachedhive.hive.preload.PartitionNames;
import io.cachedhive.hive.preload.PreloadPlan;
import io.cachedhive.plugin.preload.PreloadListing;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.cachedhive.trino.partition.TableFiles;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * Files of Hive's tables: places from the metastore, files from the splits of a scan.
 */
public final class HiveTableFiles
        implements TableFiles
{
    private final TablePartitions partitions;
    private final PreloadPlan plan;

    @Inject
    HiveTableFiles(HiveTransactionManager transactionManager, HiveMetastoreFactory metastores, PreloadPlan plan)
    {
        this.partitions = new TablePartitions(transactionManager, metastores);
        this.plan = requireNonNull(plan, "plan is null");
    }

    @Override
    public void checkReadable(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table)
    {
        partitions.checkReadable(session, accessControl, table);
    }

    @Override
    public List<PartitionLocation> locations(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        return partitions.locations(session, accessControl, table, values);
    }

    @Override
    public Map<String, String> partitionValues(String partition)
    {
        return PartitionNames.values(partition);
    }

    @Override
    public PreloadListing list(ConnectorSession session, ConnectorAccessControl accessControl, PreloadRequest request)
    {
        return plan.list(session, accessControl, request);
    }
}
