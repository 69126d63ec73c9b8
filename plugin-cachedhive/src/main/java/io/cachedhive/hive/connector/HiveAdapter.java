package io.cachedhive.hive.connector;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.trino.metastore.HiveType;
import io.trino.plugin.hive.HivePartitionKey;
import io.trino.plugin.hive.HivePartitioningHandle;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.HiveTableHandle;
import io.trino.spi.connector.ConnectorPartitioningHandle;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.SchemaTableName;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Hive's handles and splits.
 */
public final class HiveAdapter
        implements ConnectorAdapter
{
    @Override
    public Optional<SchemaTableName> findTable(ConnectorTableHandle table)
    {
        return table instanceof HiveTableHandle handle ? Optional.of(handle.getSchemaTableName()) : Optional.empty();
    }

    @Override
    public Optional<ScanFile> findFile(ConnectorSplit split)
    {
        if (!(split instanceof HiveSplit hiveSplit)) {
            return Optional.empty();
        }
        return Optional.of(new ScanFile(
                hiveSplit.getPath(),
                hiveSplit.getStart(),
                hiveSplit.getLength(),
                hiveSplit.getEstimatedFileSize(),
                hiveSplit.getFileModifiedTime(),
                Map.of()));
    }

    @Override
    public boolean fillsCache(ConnectorTableHandle table)
    {
        return true;
    }

    @Override
    public Function<ConnectorSplit, Map<String, String>> partitionValues(ConnectorTableHandle table)
    {
        return split -> partitionValues((HiveSplit) split);
    }

    private static Map<String, String> partitionValues(HiveSplit split)
    {
        ImmutableMap.Builder<String, String> values = ImmutableMap.builder();
        for (HivePartitionKey key : split.getPartitionKeys()) {
            values.put(key.name(), key.value());
        }
        return values.buildOrThrow();
    }

    @Override
    public OptionalLong bucketHint(ConnectorPartitioningHandle partitioning)
    {
        return partitioning instanceof HivePartitioningHandle handle ? OptionalLong.of(hint(handle)) : OptionalLong.empty();
    }

    /**
     * Equal for partitionings that may be joined bucket by bucket, as Hive's is.
     */
    private static long hint(HivePartitioningHandle handle)
    {
        StringBuilder text = new StringBuilder("cachedhive-buckets-1\n");
        text.append(handle.getBucketingVersion().getVersion()).append('\n');
        text.append(handle.getBucketCount()).append('\n');
        for (HiveType type : handle.getHiveTypes()) {
            text.append(type).append('\n');
        }
        return Digest128.sha256(ByteBuffer.wrap(text.toString().getBytes(UTF_8))).high();
    }
}
