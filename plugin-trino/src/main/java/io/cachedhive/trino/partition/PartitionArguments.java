package io.cachedhive.trino.partition;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;

/**
 * The arguments {@code partition_columns} and {@code partition_values} of procedures.
 */
public final class PartitionArguments
{
    private PartitionArguments() {}

    /**
     * Partition columns and values of a call, by column.
     *
     * @param columns null if not given
     * @param values null if not given; as strings of a partition's name
     * @param withoutThem what a call without either is for, such as {@code the whole table}
     * @return in the order of the arguments; empty if neither was given
     */
    public static Map<String, String> parse(List<String> columns, List<String> values, String withoutThem)
    {
        checkProcedureArgument((columns == null) == (values == null), "partition_columns and partition_values are required both or neither");
        if (columns == null) {
            return Map.of();
        }
        checkProcedureArgument(columns.size() == values.size(), "partition_columns has %s elements and partition_values %s", columns.size(), values.size());
        checkProcedureArgument(!columns.isEmpty(), "partition_columns cannot be empty: leave it out for %s", withoutThem);
        Map<String, String> partition = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            checkProcedureArgument(columns.get(i) != null, "partition_columns cannot contain null");
            checkProcedureArgument(values.get(i) != null, "partition_values cannot contain null: the partition of null is __HIVE_DEFAULT_PARTITION__");
            String column = columns.get(i).toLowerCase(Locale.ENGLISH);
            checkProcedureArgument(partition.put(column, values.get(i)) == null, "partition_columns names %s twice", column);
        }
        return partition;
    }
}
