package io.cachedhive.rules;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;

import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Times that a cron expression of five fields names in a time zone: minute, hour, day of the month, month, day of the week.
 */
public final class CronSchedule
{
    private static final CronParser PARSER = new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX));
    // a leap year follows within eight years of any time, so a date that exists comes by then
    private static final Instant ANY_TIME = Instant.parse("2024-01-01T00:00:00Z");

    private final ExecutionTime times;
    private final ZoneId zone;

    private CronSchedule(ExecutionTime times, ZoneId zone)
    {
        this.times = requireNonNull(times, "times is null");
        this.zone = requireNonNull(zone, "zone is null");
    }

    /**
     * Parses a cron expression.
     *
     * @throws IllegalArgumentException if the expression is invalid, or names no time, such as the 30th of February
     */
    public static CronSchedule parse(String expression, ZoneId zone)
    {
        CronSchedule schedule = new CronSchedule(ExecutionTime.forCron(PARSER.parse(expression).validate()), zone);
        if (schedule.next(ANY_TIME).isEmpty()) {
            throw new IllegalArgumentException("there is no such time");
        }
        return schedule;
    }

    /**
     * Returns the first time after another time. A time that the change to summer time skips does not come on that day.
     */
    public Optional<Instant> next(Instant after)
    {
        return times.nextExecution(after.atZone(zone)).map(time -> time.toInstant());
    }
}
