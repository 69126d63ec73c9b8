package io.cachedhive.rules;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * The period that a partition covers: a year, a month, a day, an hour or a minute.
 */
record PartitionTime(LocalDateTime start, ChronoUnit unit)
{
    private static final List<ChronoUnit> UNITS = List.of(ChronoUnit.YEARS, ChronoUnit.MONTHS, ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES);
    // 2024, 2024-01, 202401, 2024-01-31, 20240131, 2024-01-31-10, 2024013110, 2024-01-31 10:30, and a timestamp
    private static final Pattern WHOLE = Pattern.compile("(\\d{4})(?:-?(\\d{2})(?:-?(\\d{2})(?:[-_ T]?(\\d{2})(?::?(\\d{2})(?::?\\d{2}(?:\\.\\d*)?)?)?)?)?)?");
    private static final Pattern PART = Pattern.compile("\\d{1,2}");

    PartitionTime
    {
        requireNonNull(start, "start is null");
        requireNonNull(unit, "unit is null");
    }

    /**
     * Parses the values of time partition columns. The first value names at least a year. Each later value names either
     * the next smaller unit alone, or the whole time down to that unit.
     *
     * @param values the values of the partition columns, the coarsest first
     * @return empty if the values are not a time
     */
    static Optional<PartitionTime> parse(List<String> values)
    {
        // year, month, day, hour, minute
        int[] parts = {0, 1, 1, 0, 0};
        int known = 0;
        for (String value : values) {
            if (known > 0 && PART.matcher(value).matches()) {
                if (known == parts.length) {
                    return Optional.empty();
                }
                parts[known] = Integer.parseInt(value);
                known++;
                continue;
            }
            Matcher whole = WHOLE.matcher(value);
            if (!whole.matches()) {
                return Optional.empty();
            }
            int count = 0;
            while (count < parts.length && whole.group(count + 1) != null) {
                parts[count] = Integer.parseInt(whole.group(count + 1));
                count++;
            }
            if (count <= known) {
                return Optional.empty();
            }
            known = count;
        }
        if (known == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(new PartitionTime(LocalDateTime.of(parts[0], parts[1], parts[2], parts[3], parts[4]), UNITS.get(known - 1)));
        }
        catch (DateTimeException _) {
            return Optional.empty();
        }
    }

    /**
     * Returns the exclusive end of the period.
     */
    Instant end(ZoneId zone)
    {
        return start.plus(1, unit).atZone(zone).toInstant();
    }
}
