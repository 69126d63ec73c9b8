package io.cachedhive.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.airlift.units.DataSize;

import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Parses the preload schedules of the rules file.
 */
final class ScheduleParser
{
    private static final List<String> FIELDS = List.of(
            "name",
            "cron",
            "timeZone",
            "schema",
            "table",
            "partitionAge",
            "columns",
            "budget",
            "startWithin",
            "user");
    // the name of a job is the name of the schedule, a dot, and the time, of at most 128 characters
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Duration DEFAULT_START_WITHIN = Duration.ofHours(1);
    private static final Duration MAX_START_WITHIN = Duration.ofDays(7);
    private static final String DEFAULT_USER = "cachedhive";

    private ScheduleParser() {}

    /**
     * Parses the field {@code preloads} of the file, which may be absent.
     */
    static List<PreloadSchedule> parse(Optional<JsonNode> preloads)
            throws RulesException
    {
        List<PreloadSchedule> schedules = new ArrayList<>();
        if (preloads.isEmpty()) {
            return schedules;
        }
        if (!preloads.get().isArray()) {
            throw new RulesException("the file, \"preloads\" is %s: write a list of schedules, [{ ... }]".formatted(preloads.get()));
        }
        Set<String> names = new HashSet<>();
        for (JsonNode node : preloads.get()) {
            PreloadSchedule schedule = schedule(schedules.size() + 1, node);
            if (!names.add(schedule.name())) {
                throw new RulesException("preload %s has the name \"%s\" of another preload: give it one of its own".formatted(schedules.size() + 1, schedule.name()));
            }
            schedules.add(schedule);
        }
        return schedules;
    }

    private static PreloadSchedule schedule(int number, JsonNode node)
            throws RulesException
    {
        String where = "preload " + number;
        if (node.path("name").isTextual()) {
            where += " (\"%s\")".formatted(node.get("name").textValue());
        }
        RuleFields fields = new RuleFields(where, node, FIELDS);
        String name = fields.required("name", "a name for the table cache.preloads");
        if (!NAME.matcher(name).matches()) {
            throw fields.invalid("name", "write 1 to 64 letters, digits, '-', '_', '.'");
        }
        ZoneId zone = RulesParser.timeZone(fields).orElse(ZoneOffset.UTC);
        fields.required("cron", "five fields such as \"30 5 * * mon-fri\": minute, hour, day of the month, month, day of the week");
        CronSchedule cron = fields.parsed(
                "cron",
                text -> CronSchedule.parse(text, zone),
                "write minute, hour, day of the month, month and day of the week, such as \"30 5 * * mon-fri\"").orElseThrow();
        return new PreloadSchedule(
                name,
                cron,
                fields.required("schema", "the schema of the table").toLowerCase(Locale.ENGLISH),
                fields.required("table", "the table to load").toLowerCase(Locale.ENGLISH),
                RulesParser.partitionAge(fields),
                columns(fields),
                budget(fields),
                startWithin(fields),
                fields.text("user").orElse(DEFAULT_USER),
                node.toString());
    }

    private static Optional<List<String>> columns(RuleFields fields)
            throws RulesException
    {
        List<String> columns = fields.texts("columns").stream().map(column -> column.toLowerCase(Locale.ENGLISH)).toList();
        if (Set.copyOf(columns).size() < columns.size()) {
            throw fields.invalid("columns", "name each column once");
        }
        return columns.isEmpty() ? Optional.empty() : Optional.of(columns);
    }

    private static OptionalLong budget(RuleFields fields)
            throws RulesException
    {
        Optional<DataSize> budget = fields.parsed("budget", DataSize::valueOf, "write a size, such as \"200GB\"");
        if (budget.isPresent() && budget.get().toBytes() == 0) {
            throw fields.invalid("budget", "write a size above 0, or remove the schedule");
        }
        return budget.map(size -> OptionalLong.of(size.toBytes())).orElseGet(OptionalLong::empty);
    }

    private static Duration startWithin(RuleFields fields)
            throws RulesException
    {
        Optional<Duration> time = RulesParser.duration(fields, "startWithin");
        if (time.isPresent() && (time.get().toMillis() < 60_000 || time.get().compareTo(MAX_START_WITHIN) > 0)) {
            throw fields.invalid("startWithin", "write a duration of \"1m\" to \"7d\"");
        }
        return time.orElse(DEFAULT_START_WITHIN);
    }
}
