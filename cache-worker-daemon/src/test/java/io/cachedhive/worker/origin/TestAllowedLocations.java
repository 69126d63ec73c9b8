package io.cachedhive.worker.origin;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestAllowedLocations
{
    private final AllowedLocations allowed = AllowedLocations.of(List.of("s3://lake/sales/", "s3://lake/log", "s3://archive", "s3://backup/"));

    @Test
    void testAllWithoutList()
    {
        assertThat(AllowedLocations.of(List.of()).permit("s3://any/a/../b")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3://lake/sales/a", "s3a://lake/sales/2026/a", "s3n://lake/log", "s3://lake/log/a", "s3://archive/a", "s3://backup/b/c", "s3://lake/sales/..a/b"})
    void testPermitted(String location)
    {
        assertThat(allowed.permit(location)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {
            // other elements and buckets
            "s3://lake/sales", "s3://lake/sales2/a", "s3://lake/logs/a", "s3://lake/a", "s3://lake/SALES/a", "s3://archive2/a", "s3://archiv/a",
            // other names of keys below the prefix, and of keys that are not
            "s3://lake/sales/../hr/a", "s3://lake/sales/./a", "s3://lake/sales//a", "s3://lake//sales/a", "s3://lake/x/../sales/a", "s3://lake/sales/a/..",
            "s3://archive/../lake/a", "s3://archive//a",
            // no files of S3
            "s3://lake/sales/", "s3://key@archive/a", "s3://archive:80/a", "gs://archive/a", "/archive/a", "archive/a", "s3:/archive/a"})
    void testRefused(String location)
    {
        assertThat(allowed.permit(location)).isFalse();
    }

    @Test
    void testPrefixIsAlsoAFile()
    {
        assertThat(AllowedLocations.of(List.of("s3://lake/a/b")).permit("s3://lake/a/b")).isTrue();
        assertThat(AllowedLocations.of(List.of("s3://lake/a/b")).permit("s3://lake/a")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "lake/sales", "s3a://lake/sales", "s3://", "s3:///sales", "s3://lake//", "s3://lake//sales", "s3://lake/a/../b", "s3://lake/.", "s3://k@lake/a", "s3://lake:80/a"})
    void testNoLocation(String location)
    {
        assertThatThrownBy(() -> AllowedLocations.of(List.of("s3://archive", location)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("allowed-locations has " + location + ",");
    }
}
