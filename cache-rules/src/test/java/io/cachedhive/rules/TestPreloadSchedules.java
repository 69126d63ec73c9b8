package io.cachedhive.rules;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.OptionalLong;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPreloadSchedules
{
    private static List<PreloadSchedule> parse(String... schedules)
            throws RulesException
    {
        return RulesParser.parse("{\"rules\": [], \"preloads\": [%s]}".formatted(String.join(", ", schedules)).getBytes(UTF_8)).preloads();
    }

    @Test
    void testFields()
            throws RulesException
    {
        assertThat(RulesParser.parse("{\"rules\": []}".getBytes(UTF_8)).preloads()).isEmpty();
        List<PreloadSchedule> schedules = parse(
                """
                {
                  "name": "morning", "cron": "30 5 * * mon-fri", "timeZone": "Europe/Berlin", "schema": "Sales", "table": "Orders",
                  "partitionAge": {"columns": ["ds"], "max": "7d"}, "columns": ["Price", "id"], "budget": "200GB", "startWithin": "2h", "user": "etl"
                }
                """,
                """
                {"name": "hourly", "cron": "0 * * * *", "schema": "s", "table": "t"}
                """);
        PreloadSchedule morning = schedules.getFirst();
        assertThat(morning.name()).isEqualTo("morning");
        assertThat(morning.schema()).isEqualTo("sales");
        assertThat(morning.table()).isEqualTo("orders");
        assertThat(morning.partitionAge()).get().extracting(PartitionAge::columns).isEqualTo(List.of("ds"));
        assertThat(morning.columns()).hasValue(List.of("price", "id"));
        assertThat(morning.budgetBytes()).isEqualTo(OptionalLong.of(200L << 30));
        assertThat(morning.startWithin()).isEqualTo(Duration.ofHours(2));
        assertThat(morning.user()).isEqualTo("etl");
        // a Friday in winter, so the next one is a Monday, an hour before UTC
        assertThat(morning.cron().next(Instant.parse("2024-03-08T05:00:00Z"))).hasValue(Instant.parse("2024-03-11T04:30:00Z"));

        PreloadSchedule hourly = schedules.getLast();
        assertThat(hourly.partitionAge()).isEmpty();
        assertThat(hourly.columns()).isEmpty();
        assertThat(hourly.budgetBytes()).isEmpty();
        assertThat(hourly.startWithin()).isEqualTo(Duration.ofHours(1));
        assertThat(hourly.cron().next(Instant.parse("2024-03-08T05:00:00Z"))).hasValue(Instant.parse("2024-03-08T06:00:00Z"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0 6 * * *       | 2024-03-30T12:00:00Z | 2024-03-31T04:00:00Z
            30 2 * * *      | 2024-03-30T12:00:00Z | 2024-04-01T00:30:00Z
            30 * * * *      | 2024-03-31T00:30:00Z | 2024-03-31T01:30:00Z
            30 2 * * *      | 2024-10-26T12:00:00Z | 2024-10-27T00:30:00Z
            30 2 * * *      | 2024-10-27T00:30:00Z | 2024-10-28T01:30:00Z
            0,30 8-9 1 * *  | 2024-05-01T06:00:00Z | 2024-05-01T06:30:00Z
            0 12 29 2 *     | 2024-03-01T00:00:00Z | 2028-02-29T11:00:00Z
            */15 * * * sun  | 2024-03-09T12:00:00Z | 2024-03-09T23:00:00Z
            """)
    void testTimesInBerlin(String cron, Instant after, Instant next)
    {
        assertThat(CronSchedule.parse(cron, ZoneId.of("Europe/Berlin")).next(after)).hasValue(next);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock =
            """
            "cron": "0 6 * * *", "schema": "s", "table": "t" | preload 2 has no "name": write a name for the table cache.preloads
            "name": "a b", "cron": "0 6 * * *", "schema": "s", "table": "t" | "name" is "a b": write 1 to 64 letters, digits, '-', '_', '.'
            "name": "first", "cron": "0 6 * * *", "schema": "s", "table": "t" | preload 2 has the name "first" of another preload: give it one of its own
            "name": "a", "schema": "s", "table": "t" | preload 2 ("a") has no "cron": write five fields such as "30 5 * * mon-fri"
            "name": "a", "cron": "0 6 * *", "schema": "s", "table": "t" | "cron" is "0 6 * *": write minute, hour, day of the month, month and day of the week
            "name": "a", "cron": "0 25 * * *", "schema": "s", "table": "t" | "cron" is "0 25 * * *": write minute, hour
            "name": "a", "cron": "0 0 30 2 *", "schema": "s", "table": "t" | "cron" is "0 0 30 2 *": write minute, hour
            "name": "a", "cron": "0 6 * * *", "timeZone": "Berlin", "schema": "s", "table": "t" | "timeZone" is "Berlin": write a time zone, such as "UTC"
            "name": "a", "cron": "0 6 * * *", "table": "t" | preload 2 ("a") has no "schema": write the schema of the table
            "name": "a", "cron": "0 6 * * *", "schema": "s" | preload 2 ("a") has no "table": write the table to load
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "budget": "0B" | "budget" is "0B": write a size above 0, or remove the schedule
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "budget": 5 | "budget" is 5: write a string
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "columns": ["x", "X"] | "columns" is ["x","X"]: name each column once
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "startWithin": "5s" | "startWithin" is "5s": write a duration of "1m" to "7d"
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "partitionAge": {"max": "1d"} | "partitionAge" is {"max":"1d"}: add "columns"
            "name": "a", "cron": "0 6 * * *", "schema": "s", "table": "t", "tabel": 1 | preload 2 ("a") has a field "tabel", which is none: write one of name, cron
            """)
    void testBrokenSchedules(String fields, String message)
    {
        assertThatThrownBy(() -> parse("{\"name\": \"first\", \"cron\": \"0 6 * * *\", \"schema\": \"s\", \"table\": \"t\"}", "{%s}".formatted(fields)))
                .isInstanceOf(RulesException.class)
                .hasMessageStartingWith("preload 2")
                .hasMessageContaining(message);
    }

    @Test
    void testNoListOfSchedules()
    {
        assertThatThrownBy(() -> RulesParser.parse("{\"rules\": [], \"preloads\": {}}".getBytes(UTF_8)))
                .isInstanceOf(RulesException.class)
                .hasMessage("the file, \"preloads\" is {}: write a list of schedules, [{ ... }]");
    }
}
