package io.cachedhive.rules;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestPartitionAge
{
    @ParameterizedTest
    @CsvSource(textBlock =
            """
            2024,               2025-01-01T00:00:00Z
            2024-02,            2024-03-01T00:00:00Z
            202402,             2024-03-01T00:00:00Z
            2024-02-29,         2024-03-01T00:00:00Z
            20240229,           2024-03-01T00:00:00Z
            2024-02-29-07,      2024-02-29T08:00:00Z
            2024022923,         2024-03-01T00:00:00Z
            2024-02-29 07:30,   2024-02-29T07:31:00Z
            2024-02-29T07:30:59.999, 2024-02-29T07:31:00Z
            2024/02,            2024-03-01T00:00:00Z
            2024/2,             2024-03-01T00:00:00Z
            2024/02/29,         2024-03-01T00:00:00Z
            2024/2/29/7,        2024-02-29T08:00:00Z
            2024-02-29/07,      2024-02-29T08:00:00Z
            20240229/07/30,     2024-02-29T07:31:00Z
            2024/2024-02/2024-02-29, 2024-03-01T00:00:00Z
            """)
    void testTimes(String values, Instant end)
    {
        assertThat(PartitionTime.parse(List.of(values.split("/"))).orElseThrow().end(ZoneOffset.UTC)).isEqualTo(end);
    }

    @ParameterizedTest
    @CsvSource({
            "__HIVE_DEFAULT_PARTITION__",
            "24", "2024-13", "2024-02-30", "2024/02/30", "2024/02/29/24", "eu", "2024-02-29/x", "2024-02-29/2024-02", "2024-02-29 07:30/1", "2024-2-9"})
    void testWhatIsNoTime(String values)
    {
        assertThat(PartitionTime.parse(List.of(values.split("/")))).isEmpty();
    }

    @Test
    void testAgeIsThatOfTheEnd()
    {
        PartitionAge week = new PartitionAge(List.of("ds"), ZoneOffset.UTC, Optional.empty(), Optional.of(Duration.ofDays(7)));
        Instant end = Instant.parse("2024-03-01T00:00:00Z");
        assertThat(matches(week, Map.of("ds", "2024-02-29"), end.minus(Duration.ofDays(100)))).as("of the future").isTrue();
        assertThat(matches(week, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(7)))).isTrue();
        assertThat(matches(week, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(7)).plusMillis(1))).isFalse();

        PartitionAge older = new PartitionAge(List.of("ds"), ZoneOffset.UTC, Optional.of(Duration.ofDays(7)), Optional.of(Duration.ofDays(30)));
        assertThat(matches(older, Map.of("ds", "2024-02-29"), end)).isFalse();
        assertThat(matches(older, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(7)).minusMillis(1))).isFalse();
        assertThat(matches(older, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(7)))).isTrue();
        assertThat(matches(older, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(30)))).isTrue();
        assertThat(matches(older, Map.of("ds", "2024-02-29"), end.plus(Duration.ofDays(30)).plusMillis(1))).isFalse();
    }

    @Test
    void testTimeZone()
    {
        PartitionAge hour = new PartitionAge(List.of("ds", "hour"), ZoneId.of("America/New_York"), Optional.empty(), Optional.of(Duration.ofHours(1)));
        Map<String, String> partition = Map.of("ds", "2024-06-30", "hour", "23");
        assertThat(matches(hour, partition, Instant.parse("2024-07-01T05:00:00Z"))).isTrue();
        assertThat(matches(hour, partition, Instant.parse("2024-07-01T05:00:01Z"))).isFalse();
    }

    @Test
    void testPartitionsThatNameNoTime()
    {
        PartitionAge any = new PartitionAge(List.of("year", "month"), ZoneOffset.UTC, Optional.of(Duration.ZERO), Optional.empty());
        Instant now = Instant.parse("2024-07-01T05:00:00Z");
        assertThat(matches(any, Map.of("year", "2024", "month", "6"), now)).isTrue();
        assertThat(matches(any, Map.of("year", "2024"), now)).as("of another table").isFalse();
        assertThat(matches(any, Map.of(), now)).isFalse();
        assertThat(matches(any, Map.of("year", "2024", "month", "__HIVE_DEFAULT_PARTITION__"), now)).isFalse();
    }

    private static boolean matches(PartitionAge age, Map<String, String> partition, Instant now)
    {
        return age.matches(column -> Optional.ofNullable(partition.get(column)), now);
    }
}
