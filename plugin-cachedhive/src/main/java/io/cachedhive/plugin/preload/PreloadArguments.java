package io.cachedhive.plugin.preload;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;

/**
 * Checks what a CALL says.
 */
final class PreloadArguments
{
    private static final Pattern JOB = Pattern.compile("[A-Za-z0-9._-]{1,128}");

    private PreloadArguments() {}

    /**
     * @return by partition column, in the order of the arguments; empty if neither was given
     */
    static Map<String, String> partition(List<String> columns, List<String> values)
    {
        checkProcedureArgument((columns == null) == (values == null), "partition_columns and partition_values are required both or neither");
        if (columns == null) {
            return Map.of();
        }
        checkProcedureArgument(columns.size() == values.size(), "partition_columns has %s elements and partition_values %s", columns.size(), values.size());
        checkProcedureArgument(!columns.isEmpty(), "partition_columns cannot be empty: leave it out for an unpartitioned table");
        Map<String, String> partition = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            checkProcedureArgument(columns.get(i) != null, "partition_columns cannot contain null");
            checkProcedureArgument(values.get(i) != null, "partition_values cannot contain null: the partition of null is __HIVE_DEFAULT_PARTITION__");
            String column = columns.get(i).toLowerCase(Locale.ENGLISH);
            checkProcedureArgument(partition.put(column, values.get(i)) == null, "partition_columns names %s twice", column);
        }
        return partition;
    }

    static Optional<List<String>> columns(List<String> columns)
    {
        if (columns == null) {
            return Optional.empty();
        }
        checkProcedureArgument(!columns.isEmpty(), "columns cannot be empty: leave it out for all columns");
        Set<String> names = new LinkedHashSet<>();
        for (String column : columns) {
            checkProcedureArgument(column != null, "columns cannot contain null");
            String name = column.toLowerCase(Locale.ENGLISH);
            checkProcedureArgument(names.add(name), "columns names %s twice", name);
        }
        return Optional.of(List.copyOf(names));
    }

    static Optional<String> job(String job)
    {
        checkProcedureArgument(job == null || JOB.matcher(job).matches(), "job must be 1 to 128 letters, digits, '-', '_', '.': %s", job);
        return Optional.ofNullable(job);
    }

    static OptionalLong maxBytesPerSecond(Long bytes)
    {
        checkProcedureArgument(bytes == null || bytes > 0, "max_bytes_per_second must be positive: %s", bytes);
        return bytes == null ? OptionalLong.empty() : OptionalLong.of(bytes);
    }
}
