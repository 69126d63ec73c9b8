package io.cachedhive.worker.origin;

import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The bucket and key of a location, parsed like Trino's {@code Location} and {@code S3Location}. The key is everything
 * after the first slash behind the bucket, without any decoding.
 */
public record S3ObjectLocation(String bucket, String key)
{
    private static final Set<String> SCHEMES = Set.of("s3", "s3a", "s3n");

    public S3ObjectLocation
    {
        requireNonNull(bucket, "bucket is null");
        requireNonNull(key, "key is null");
    }

    /**
     * Parses a location.
     *
     * @return empty if Trino's S3 file system would not read a file from this location
     */
    public static Optional<S3ObjectLocation> parse(String location)
    {
        int schemeEnd = location.indexOf(':');
        if (schemeEnd < 0 || !SCHEMES.contains(location.substring(0, schemeEnd)) || !location.startsWith("://", schemeEnd)) {
            return Optional.empty();
        }
        String rest = location.substring(schemeEnd + 3);
        int bucketEnd = rest.indexOf('/');
        if (bucketEnd < 1) {
            return Optional.empty();
        }
        String bucket = rest.substring(0, bucketEnd);
        String key = rest.substring(bucketEnd + 1);
        // S3 locations have no user info and no port, and file names are not empty
        if (bucket.indexOf('@') >= 0 || bucket.indexOf(':') >= 0 || key.isEmpty() || key.endsWith("/")) {
            return Optional.empty();
        }
        return Optional.of(new S3ObjectLocation(bucket, key));
    }
}
