package io.cachedhive.rules;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * A condition on the age of a partition: the time since the end of the period that its columns name. Yesterday's daily
 * partition, for instance, is as old as the current day. A partition whose period has not ended yet has the age 0.
 *
 * @param columns the partition columns that name the time, the coarsest first
 * @param zone the time zone of the partition values
 * @param min the minimum age, inclusive; empty for no minimum
 * @param max the maximum age, inclusive; empty for no maximum
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
     * Returns whether the partition's age is in the range, or false if its values are not a time.
     *
     * @param values returns the value of a partition column, or empty if the table has no such column
     */
    public boolean matches(Function<String, Optional<String>> values, Instant now)
    {
        return end(values).map(end -> {
            Duration age = Duration.between(end, now);
            Duration positiveAge = age.isNegative() ? Duration.ZERO : age;
            return min.map(least -> positiveAge.compareTo(least) >= 0).orElse(true)
                    && max.map(most -> positiveAge.compareTo(most) <= 0).orElse(true);
        }).orElse(false);
    }

    /**
     * Returns the end of the period that the partition covers, or empty if its values are not a time.
     *
     * @param values returns the value of a partition column, or empty if the table has no such column
     */
    public Optional<Instant> end(Function<String, Optional<String>> values)
    {
        // a table that lacks one of the columns is not partitioned by this time
        if (!columns.stream().allMatch(column -> values.apply(column).isPresent())) {
            return Optional.empty();
        }
        return PartitionTime.parse(columns.stream().map(values).flatMap(Optional::stream).toList()).map(time -> time.end(zone));
    }
}
