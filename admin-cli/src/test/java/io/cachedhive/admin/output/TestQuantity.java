package io.cachedhive.admin.output;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.OptionalDouble;
import java.util.OptionalLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestQuantity
{
    @ParameterizedTest
    @CsvSource({
            "0, 0B",
            "1023, 1023B",
            "1024, 1.0kB",
            "1536, 1.5kB",
            "1048524, 1023.9kB",
            "1048525, 1.0MB",
            "1073741824, 1.0GB",
            "430000000000, 400.5GB",
            "9223372036854775807, 8.0EB",
    })
    void testBytes(long value, String text)
    {
        assertThat(Quantity.bytes(OptionalLong.of(value))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
            "0, 0ms",
            "999, 999ms",
            "1000, 1s",
            "59999, 59s",
            "60000, 1m 0s",
            "3599999, 59m 59s",
            "3600000, 1h 0m",
            "86400000, 1d 0h",
            "273600000, 3d 4h",
    })
    void testDuration(long millis, String text)
    {
        assertThat(Quantity.duration(OptionalLong.of(millis))).isEqualTo(text);
    }

    @Test
    void testPercent()
    {
        assertThat(Quantity.percent(OptionalDouble.of(0))).isEqualTo("0.0%");
        assertThat(Quantity.percent(OptionalDouble.of(0.98765))).isEqualTo("98.8%");
        assertThat(Quantity.percent(OptionalDouble.of(1))).isEqualTo("100.0%");
    }

    @Test
    void testUnknown()
    {
        assertThat(Quantity.bytes(OptionalLong.empty())).isEqualTo("-");
        assertThat(Quantity.count(OptionalLong.empty())).isEqualTo("-");
        assertThat(Quantity.duration(OptionalLong.empty())).isEqualTo("-");
        assertThat(Quantity.percent(OptionalDouble.empty())).isEqualTo("-");
    }
}
