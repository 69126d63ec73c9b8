package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.rules.RulesException;
import io.cachedhive.rules.RulesFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRulesParser
{
    private static List<CacheRule> parse(String json)
            throws RulesException
    {
        return RulesParser.parse(json.getBytes(UTF_8)).rules();
    }

    @Test
    void testDecisions()
            throws Exception
    {
        List<CacheRule> rules = parse(
                """
                {
                  "rules": [
                    {"name": "dashboards", "user": "grafana", "class": "high", "ttl": "12h"},
                    {"table": "log_.*", "action": "bypass"},
                    {"table": "keep", "action": "cache", "class": "pinned"},
                    {}
                  ]
                }
                """);
        assertThat(rules).extracting(CacheRule::name).containsExactly("dashboards", "rule_2", "rule_3", "rule_4");
        assertThat(rules).extracting(CacheRule::decision).containsExactly(
                CacheDecision.cache(Optional.of(FillClass.HIGH), OptionalLong.of(12 * 3_600_000)),
                CacheDecision.BYPASS,
                CacheDecision.cache(Optional.of(FillClass.PINNED), OptionalLong.empty()),
                CacheDecision.CACHE);
        assertThat(rules).extracting(CacheRule::conditionsText).containsExactly("{\"user\":\"grafana\"}", "{\"table\":\"log_.*\"}", "{\"table\":\"keep\"}", "{}");
        assertThat(parse("{\"rules\": []}")).isEmpty();
    }

    @Test
    void testQuotas()
            throws Exception
    {
        List<CacheRule> rules = parse(
                """
                {
                  "rules": [
                    {"schema": "s", "table": "t", "action": "cache", "quota": "100GB", "class": "high"},
                    {"quota": "1.5kB"},
                    {}
                  ]
                }
                """);
        assertThat(rules).extracting(CacheRule::tableQuotaBytes).containsExactly(OptionalLong.of(100L << 30), OptionalLong.of(1536), OptionalLong.empty());
    }

    @Test
    void testMode()
            throws RulesException
    {
        assertThat(RulesFile.MODES).isEqualTo(Stream.of(CacheMode.values()).map(CacheMode::name).toList());
        assertThat(RulesParser.parse("{\"rules\": []}".getBytes(UTF_8)).mode()).isEmpty();
        assertThat(RulesParser.parse("{\"mode\": \"read_only\", \"rules\": []}".getBytes(UTF_8)).mode()).hasValue(CacheMode.READ_ONLY);
        assertThatThrownBy(() -> parse("{\"mode\": \"away\", \"rules\": []}"))
                .isInstanceOf(RulesException.class)
                .hasMessage("the file, \"mode\" is \"away\": write one of [ON, READ_ONLY, SHADOW, OFF]");
    }

    @Test
    void testWhatIsNotAListOfRules()
    {
        assertThatThrownBy(() -> parse("{\n  \"rules\": [\n    {\"user\": }\n  ]\n}"))
                .isInstanceOf(RulesException.class)
                .hasMessageStartingWith("line 3, column 1")
                .hasMessageContaining(" is not JSON: Unexpected character ('}'");
        assertThatThrownBy(() -> parse("")).isInstanceOf(RulesException.class).hasMessage("there is no list of rules: write {\"rules\": [ ... ]}");
        assertThatThrownBy(() -> parse("[]")).isInstanceOf(RulesException.class).hasMessage("there is no list of rules: write {\"rules\": [ ... ]}");
        assertThatThrownBy(() -> parse("{\"rules\": [], \"rule\": 1}"))
                .isInstanceOf(RulesException.class)
                .hasMessage("the file has a field \"rule\", which is none: write one of mode, rules, preloads");
        assertThatThrownBy(() -> parse("{\"rules\": []} x")).isInstanceOf(RulesException.class).hasMessageStartingWith("line 1, column 1");
        assertThatThrownBy(() -> parse("{\"rules\": [{\"user\": \"a\", \"user\": \"b\"}]}"))
                .isInstanceOf(RulesException.class)
                .hasMessageContaining("Duplicate field 'user'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock =
            """
            "tabel": "a" | has a field "tabel", which is none: write one of name, schema, table, partitionAge, fileSize, scanBytes, user, source
            "table": "a(" | , "table" is "a(": write a regular expression of Java's for the whole name (Unclosed group near index 2)
            "table": 5 | , "table" is 5: write a string
            "table": null | , "table" is null: write a string
            "name": "a b" | , "name" is "a b": write 1 to 64 letters, digits, '-', '_', '.', and not "default"
            "name": "default" | , "name" is "default": write 1 to 64 letters, digits, '-', '_', '.', and not "default"
            "clientTags": "a" | , "clientTags" is "a": write ["...", "..."], with at least one string
            "clientTags": [] | , "clientTags" is []: write ["...", "..."], with at least one string
            "clientTags": [1] | , "clientTags" is [1]: write strings only
            "sample": 0 | , "sample" is 0: write a share of the files above 0 and at most 1, such as 0.05
            "sample": 5 | , "sample" is 5: write a share of the files above 0 and at most 1, such as 0.05
            "sample": "5%" | , "sample" is "5%": write a number
            "fileSize": "1MB" | , "fileSize" is not an object but "1MB": write { ... }
            "fileSize": {} | , "fileSize" is {}: write "min", "max" or both
            "fileSize": {"min": "1"} | , "fileSize", "min" is "1": write a size, such as "64MB"
            "scanBytes": {"min": "2MB", "max": "1MB"} | , "scanBytes" is {"min":"2MB","max":"1MB"}: "min" is more than "max", so that nothing matches: exchange them
            "partitionAge": {"max": "1d"} | , "partitionAge" is {"max":"1d"}: add "columns": the partition columns that name the time
            "partitionAge": {"columns": ["ds"]} | , "partitionAge" is {"columns":["ds"]}: write "min", "max" or both
            "partitionAge": {"columns": ["ds"], "max": "1"} | , "partitionAge", "max" is "1": write a duration, such as "7d" or "12h"
            "partitionAge": {"columns": ["ds"], "max": "1d", "timeZone": "X"} | , "partitionAge", "timeZone" is "X": write a time zone, such as "UTC" or "Europe/Berlin"
            "partitionAge": {"columns": ["ds"], "max": "1d", "min": "2d"} | "min" is more than "max", so that nothing matches: exchange them
            "action": "skip" | , "action" is "skip": write "cache", "read_only", "shadow" or "bypass"
            "class": "guest" | , "class" is "guest": write "normal", "high" or "pinned"
            "ttl": "0.5s" | , "ttl" is "0.5s": write at least "1s": blocks expire at whole seconds
            "action": "bypass", "ttl": "1d" | , "ttl" is "1d": nothing is kept with the action "bypass": remove one of the two
            "action": "bypass", "quota": "1GB" | , "quota" is "1GB": nothing is kept with the action "bypass": remove one of the two
            "quota": "lots" | , "quota" is "lots": write a size, such as "100GB"
            "quota": 5 | , "quota" is 5: write a string
            "quota": "0B" | , "quota" is "0B": write a size above 0, or the action "bypass" for a table of which nothing is to be kept
            "quota": "1GB", "user": "a" | , "quota" is "1GB": it counts for the whole table, and not only where "user" matches: give it a rule of its own
            "quota": "1GB", "table": "t", "sample": 0.5 | , "quota" is "1GB": it counts for the whole table, and not only where "sample" matches
            "action": "read_only", "ttl": "1d" | , "ttl" is "1d": nothing is kept with the action "read_only": remove one of the two
            "action": "shadow", "class": "high" | , "class" is "high": nothing is kept with the action "shadow": remove one of the two
            "action": "bypass", "class": "high" | , "class" is "high": nothing is kept with the action "bypass": remove one of the two
            """)
    void testBrokenRules(String fields, String message)
    {
        assertThatThrownBy(() -> parse("{\"rules\": [{}, {%s}]}".formatted(fields)))
                .isInstanceOf(RulesException.class)
                .hasMessageStartingWith("rule 2")
                .hasMessageContaining(message);
    }

    @Test
    void testRulesAreNamedInComplaints()
    {
        assertThatThrownBy(() -> parse("{\"rules\": [{\"name\": \"big\", \"sample\": 2}]}"))
                .isInstanceOf(RulesException.class)
                .hasMessageStartingWith("rule 1 (\"big\"), \"sample\" is 2");
        assertThatThrownBy(() -> parse("{\"rules\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}"))
                .isInstanceOf(RulesException.class)
                .hasMessage("rule 2 has the name \"a\" of another rule: give it one of its own");
        assertThatThrownBy(() -> parse("{\"rules\": [5]}")).isInstanceOf(RulesException.class).hasMessage("rule 1 is not an object but 5: write { ... }");
    }
}
