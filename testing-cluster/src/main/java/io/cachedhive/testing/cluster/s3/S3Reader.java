package io.cachedhive.testing.cluster.s3;

import static java.util.Objects.requireNonNull;

/**
 * A second access key of the S3 server. It has all rights but one: it may not GET or HEAD the objects of a prefix, which it may list.
 *
 * @param forbiddenPrefix {@code bucket/prefix/}
 */
public record S3Reader(String accessKey, String secretKey, String forbiddenPrefix)
{
    public S3Reader
    {
        requireNonNull(accessKey, "accessKey is null");
        requireNonNull(secretKey, "secretKey is null");
        requireNonNull(forbiddenPrefix, "forbiddenPrefix is null");
    }
}
