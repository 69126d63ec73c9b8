package io.cachedhive.plugin.origin;

import io.cachedhive.protocol.file.Tombstone;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestTombstones
{
    private final FileOrigins origins = FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "fs.azure.enabled", "true"), false);

    @Test
    void testAsFewAsCoverTheFiles()
    {
        List<Tombstone> tombstones = new Tombstones(origins).of(List.of(
                "s3://lake/t/day=1/",
                "s3://lake/t/",
                "s3://lake/t/day=2/",
                "s3://lake/t2/",
                "s3://lake/file",
                "s3://lake/file2",
                "gs://lake/other/"));
        assertThat(tombstones).extracting(Tombstone::location).containsExactly("s3://lake/file", "s3://lake/file2", "s3://lake/t/", "s3://lake/t2/");
        assertThat(tombstones.stream().map(Tombstone::id).distinct()).hasSize(4);
        assertThat(tombstones).extracting(Tombstone::origin).containsOnly(origins.find("s3://lake/t/").orElseThrow().id());
    }

    @Test
    void testSpellings()
    {
        assertThat(origins.spellings("s3a://lake/t/")).containsExactlyInAnyOrder("s3a://lake/t/", "s3://lake/t/", "s3n://lake/t/");
        assertThat(origins.spellings("S3://lake/t/")).containsExactlyInAnyOrder("S3://lake/t/", "s3a://lake/t/", "s3://lake/t/", "s3n://lake/t/");
        assertThat(origins.spellings("abfs://c@account/x")).contains("abfss://c@account/x").noneMatch(location -> location.startsWith("s3"));
    }

    @Test
    void testPaths()
    {
        assertThat(FileOrigins.hasPath("s3://lake")).isFalse();
        assertThat(FileOrigins.hasPath("s3://lake/")).isTrue();
        assertThat(FileOrigins.hasPath("s3://lake/t")).isTrue();
        assertThat(FileOrigins.hasPath("file:/data/t")).isTrue();
        assertThat(FileOrigins.hasPath("file:///data/t")).isTrue();
    }
}
