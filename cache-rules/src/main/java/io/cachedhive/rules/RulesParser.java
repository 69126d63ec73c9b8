package io.cachedhive.rules;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.airlift.units.DataSize;
import io.cachedhive.protocol.wire.FillClass;

import java.io.IOException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Parses the rules file. docs/rules.md describes its schema.
 */
public final class RulesParser
{
    /**
     * The name reported for files that no rule matches.
     */
    public static final String DEFAULT_NAME = "default";

    private static final List<String> CONDITIONS = List.of("schema", "table", "partitionAge", "fileSize", "scanBytes", "user", "source", "clientTags", "sample");
    private static final List<String> ACTIONS = List.of("action", "class", "ttl", "quota");
    // a quota applies to a whole table, regardless of the user, the query and the partition
    private static final List<String> CONDITIONS_OF_QUOTAS = List.of("schema", "table");
    private static final List<String> FIELDS = fields();
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private RulesParser() {}

    private static List<String> fields()
    {
        List<String> fields = new ArrayList<>(List.of("name"));
        fields.addAll(CONDITIONS);
        fields.addAll(ACTIONS);
        return List.copyOf(fields);
    }

    /**
     * Parses a rules file.
     *
     * @param json the content of the file
     * @throws RulesException if any part of the file is invalid
     */
    public static RulesFile parse(byte[] json)
            throws RulesException
    {
        JsonNode root;
        try {
            root = MAPPER.readTree(json);
        }
        catch (JsonProcessingException e) {
            throw new RulesException("line %s, column %s is not JSON: %s".formatted(
                    e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
                    e.getLocation() == null ? 1 : e.getLocation().getColumnNr(),
                    e.getOriginalMessage()));
        }
        catch (IOException e) {
            throw new RulesException("not readable as JSON: " + e.getMessage());
        }
        if (!root.isObject() || !root.path("rules").isArray()) {
            throw new RulesException("there is no list of rules: write {\"rules\": [ ... ]}");
        }
        Optional<String> mode = mode(new RuleFields("the file", root, List.of("mode", "rules", "preloads")));
        List<Rule> rules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (JsonNode node : root.get("rules")) {
            Rule rule = rule(rules.size() + 1, node);
            if (!names.add(rule.name())) {
                throw new RulesException("rule %s has the name \"%s\" of another rule: give it one of its own".formatted(rules.size() + 1, rule.name()));
            }
            rules.add(rule);
        }
        return new RulesFile(mode, rules, ScheduleParser.parse(Optional.ofNullable(root.get("preloads"))));
    }

    private static Optional<String> mode(RuleFields fields)
            throws RulesException
    {
        Optional<String> name = fields.text("mode");
        if (name.isEmpty()) {
            return Optional.empty();
        }
        for (String mode : RulesFile.MODES) {
            if (mode.equalsIgnoreCase(name.get())) {
                return Optional.of(mode);
            }
        }
        throw fields.invalid("mode", "write one of " + RulesFile.MODES);
    }

    private static Rule rule(int number, JsonNode node)
            throws RulesException
    {
        String where = "rule " + number;
        if (node.path("name").isTextual()) {
            where += " (\"%s\")".formatted(node.get("name").textValue());
        }
        RuleFields fields = new RuleFields(where, node, FIELDS);
        String name = fields.text("name").orElse("rule_" + number);
        if (!NAME.matcher(name).matches() || name.equals(DEFAULT_NAME)) {
            throw fields.invalid("name", "write 1 to 64 letters, digits, '-', '_', '.', and not \"%s\"".formatted(DEFAULT_NAME));
        }
        RuleConditions conditions = conditions(fields);
        RuleAction action = action(fields);
        Optional<FillClass> fillClass = fields.parsed(
                "class",
                text -> FillClass.valueOf(text.toUpperCase(Locale.ENGLISH)),
                "write \"normal\", \"high\" or \"pinned\"");
        Optional<Duration> ttl = ttl(fields);
        return new Rule(
                name,
                conditions,
                action,
                fillClass,
                ttl,
                quota(fields),
                node.<ObjectNode>deepCopy().retain(CONDITIONS).toString(),
                node.toString());
    }

    private static RuleConditions conditions(RuleFields fields)
            throws RulesException
    {
        return new RuleConditions(
                pattern(fields, "schema"),
                pattern(fields, "table"),
                pattern(fields, "user"),
                pattern(fields, "source"),
                Set.copyOf(fields.texts("clientTags")),
                partitionAge(fields),
                sizeRange(fields, "fileSize"),
                sizeRange(fields, "scanBytes"),
                sample(fields));
    }

    private static OptionalDouble sample(RuleFields fields)
            throws RulesException
    {
        OptionalDouble sample = fields.number("sample");
        // the negated form also rejects NaN
        if (sample.isPresent() && !(sample.getAsDouble() > 0 && sample.getAsDouble() <= 1)) {
            throw fields.invalid("sample", "write a share of the files above 0 and at most 1, such as 0.05");
        }
        return sample;
    }

    private static Optional<Pattern> pattern(RuleFields fields, String name)
            throws RulesException
    {
        return fields.parsed(name, Pattern::compile, "write a regular expression of Java's for the whole name");
    }

    private static Optional<SizeRange> sizeRange(RuleFields fields, String name)
            throws RulesException
    {
        Optional<RuleFields> range = fields.object(name, List.of("min", "max"));
        if (range.isEmpty()) {
            return Optional.empty();
        }
        Optional<DataSize> min = range.get().parsed("min", DataSize::valueOf, "write a size, such as \"64MB\"");
        Optional<DataSize> max = range.get().parsed("max", DataSize::valueOf, "write a size, such as \"64MB\"");
        if (min.isEmpty() && max.isEmpty()) {
            throw fields.invalid(name, "write \"min\", \"max\" or both");
        }
        if (min.isPresent() && max.isPresent() && min.get().toBytes() > max.get().toBytes()) {
            throw fields.invalid(name, "\"min\" is more than \"max\", so that nothing matches: exchange them");
        }
        return Optional.of(new SizeRange(min, max));
    }

    static Optional<PartitionAge> partitionAge(RuleFields fields)
            throws RulesException
    {
        String name = "partitionAge";
        Optional<RuleFields> age = fields.object(name, List.of("columns", "min", "max", "timeZone"));
        if (age.isEmpty()) {
            return Optional.empty();
        }
        List<String> columns = age.get().texts("columns").stream().map(column -> column.toLowerCase(Locale.ENGLISH)).toList();
        if (columns.isEmpty()) {
            throw fields.invalid(name, "add \"columns\": the partition columns that name the time, such as [\"ds\"] or [\"year\", \"month\", \"day\"]");
        }
        Optional<Duration> min = duration(age.get(), "min");
        Optional<Duration> max = duration(age.get(), "max");
        if (min.isEmpty() && max.isEmpty()) {
            throw fields.invalid(name, "write \"min\", \"max\" or both");
        }
        if (min.isPresent() && max.isPresent() && min.get().compareTo(max.get()) > 0) {
            throw fields.invalid(name, "\"min\" is more than \"max\", so that nothing matches: exchange them");
        }
        ZoneId zone = timeZone(age.get()).orElse(ZoneOffset.UTC);
        return Optional.of(new PartitionAge(columns, zone, min, max));
    }

    static Optional<ZoneId> timeZone(RuleFields fields)
            throws RulesException
    {
        return fields.parsed("timeZone", ZoneId::of, "write a time zone, such as \"UTC\" or \"Europe/Berlin\"");
    }

    static Optional<Duration> duration(RuleFields fields, String name)
            throws RulesException
    {
        return fields.parsed(name, text -> io.airlift.units.Duration.valueOf(text).toJavaTime(), "write a duration, such as \"7d\" or \"12h\"");
    }

    private static OptionalLong quota(RuleFields fields)
            throws RulesException
    {
        Optional<DataSize> quota = fields.parsed("quota", DataSize::valueOf, "write a size, such as \"100GB\"");
        if (quota.isEmpty()) {
            return OptionalLong.empty();
        }
        if (quota.get().toBytes() == 0) {
            throw fields.invalid("quota", "write a size above 0, or the action \"bypass\" for a table of which nothing is to be kept");
        }
        for (String name : CONDITIONS) {
            if (fields.has(name) && !CONDITIONS_OF_QUOTAS.contains(name)) {
                throw fields.invalid(
                        "quota",
                        "it counts for the whole table, and not only where \"%s\" matches: give it a rule of its own with \"schema\" and \"table\" only".formatted(name));
            }
        }
        return OptionalLong.of(quota.get().toBytes());
    }

    private static Optional<Duration> ttl(RuleFields fields)
            throws RulesException
    {
        Optional<Duration> ttl = duration(fields, "ttl");
        if (ttl.isPresent() && ttl.get().toMillis() < 1000) {
            throw fields.invalid("ttl", "write at least \"1s\": blocks expire at whole seconds");
        }
        return ttl;
    }

    private static RuleAction action(RuleFields fields)
            throws RulesException
    {
        String text = fields.text("action").orElse("cache");
        RuleAction action = switch (text) {
            case "cache" -> RuleAction.CACHE;
            case "read_only" -> RuleAction.READ_ONLY;
            case "shadow" -> RuleAction.SHADOW;
            case "bypass" -> RuleAction.BYPASS;
            default -> throw fields.invalid("action", "write \"cache\", \"read_only\", \"shadow\" or \"bypass\"");
        };
        if (action != RuleAction.CACHE) {
            for (String name : List.of("class", "ttl", "quota")) {
                if (fields.has(name)) {
                    throw fields.invalid(name, "nothing is kept with the action \"%s\": remove one of the two".formatted(text));
                }
            }
        }
        return action;
    }
}
