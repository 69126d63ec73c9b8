package io.cachedhive.trino.preload;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
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
