package io.cachedhive.worker.origin;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TestS3ObjectLocation
{
    @Test
    void testKeysAreNotDecoded()
    {
        assertParsed("s3://bucket/a/b.orc", "bucket", "a/b.orc");
        assertParsed("s3a://bucket/a/b.orc", "bucket", "a/b.orc");
        assertParsed("s3n://bucket/a/b.orc", "bucket", "a/b.orc");
        assertParsed("s3://bucket/day=2024-01-01%2012:00/x y", "bucket", "day=2024-01-01%2012:00/x y");
        assertParsed("s3://bucket//a//b", "bucket", "/a//b");
        assertParsed("s3://bucket/a?b#c@d", "bucket", "a?b#c@d");
        assertParsed("s3://my.bucket_1/ü", "my.bucket_1", "ü");
        assertParsed("s3://bucket/..", "bucket", "..");
    }

    private static void assertParsed(String location, String bucket, String key)
    {
        assertThat(S3ObjectLocation.parse(location)).contains(new S3ObjectLocation(bucket, key));
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "hdfs://namenode/a",
            "S3://bucket/a",
            "s3:/bucket/a",
            "/a/b",
            "file:///a",
            "s3://bucket",
            "s3://bucket/",
            "s3://bucket/directory/",
            "s3:///a",
            "s3://user@bucket/a",
            "s3://bucket:80/a",
            "s3",
            "",
    })
    void testNotOfS3(String location)
    {
        assertThat(S3ObjectLocation.parse(location)).isEmpty();
    }
}
