package io.cachedhive.hive.preload;

import io.trino.metastore.Partitions;

import java.util.HashMap;
import java.util.Map;

/**
 * Names of partitions, such as {@code ds=2024-03-08/hour=5}.
 */
public final class PartitionNames
{
    private PartitionNames() {}

    /**
     * Returns the values that a partition's name contains, by column.
     */
    public static Map<String, String> values(String partition)
    {
        Map<String, String> values = new HashMap<>();
        for (String column : partition.split("/")) {
            int equals = column.indexOf('=');
            if (equals > 0) {
                values.put(Partitions.unescapePathName(column.substring(0, equals)), Partitions.unescapePathName(column.substring(equals + 1)));
            }
        }
        return values;
    }
}
