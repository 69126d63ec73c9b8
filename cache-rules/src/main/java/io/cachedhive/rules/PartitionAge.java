package io.cachedhive.rules;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * How long ago the time ended that a partition stands for: yesterday's partition is as old as today is long. One that has not ended yet, or is of the
 * future, has the age 0.
 *
 * @param columns the partition columns that name the time, the coarsest first
 * @param zone of the times that the columns name
 * @param min the least age that matches; empty for any
 * @param max the greatest age that matches; empty for any
 */
public record PartitionAge(List<String> columns, ZoneId zone, Optional<Duration> min, Optional<Duration> max)
{
    public PartitionAge
    {
        columns = List.copyOf(columns);
        requireNonNull(zone, "zone is null");
        requireNonNull(min, "min is null");
        requireNonNull(max, "max is null");
    }

    /**
     * @param values by the name of the partition column; empty for a column that the table does not have
     * @return false also for a partition whose columns name no time
     */
    public boolean matches(Function<String, Optional<String>> values, Instant now)
    {
        Optional<PartitionTime> time = PartitionTime.parse(columns.stream().map(values).flatMap(Optional::stream).toList());
        // a table without one of the columns is not partitioned by this time
        if (time.isEmpty() || !columns.stream().allMatch(column -> values.apply(column).isPresent())) {
            return false;
        }
        Duration age = Duration.between(time.get().end(zone), now);
        Duration positiveAge = age.isNegative() ? Duration.ZERO : age;
        return min.map(least -> positiveAge.compareTo(least) >= 0).orElse(true)
                && max.map(most -> positiveAge.compareTo(most) <= 0).orElse(true);
    }
}
