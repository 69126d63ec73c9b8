package io.cachedhive.testing.cluster.s3;

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A running S3 server, in this process ({@link S3Server}) or in its own ({@link S3ServerProcess}): where it is, what it was asked, and how it shall misbehave.
 */
public interface S3Service
        extends AutoCloseable
{
    String REGION = "us-east-1";
    String ACCESS_KEY = "quickstart";
    String SECRET_KEY = "quickstart-secret";

    /** {@code http://ADDRESS:PORT}; buckets are paths under it. */
    URI endpoint();

    /** The requests that the server itself saw, over HTTP. */
    S3RequestLog log();

    /** Requests that arrived and whose response has not been sent whole. */
    List<S3Request> inFlight();

    S3Faults faults();

    void setFaults(S3Faults faults);

    /** Holds GETs of data files from now on. Several holds may exist at once; a GET waits for all that match. */
    S3Hold hold(S3Hold.Rule rule);

    /**
     * Gives an object the time at which it was last modified, of which S3 shows whole seconds. No S3 client can do that; tests of files that differ in their bytes alone need it.
     *
     * @throws IllegalStateException if the server keeps its objects in memory
     */
    void setLastModified(String bucket, String key, Instant time);

    /** A new client of this server, to be closed by the caller. Its requests are in the log like any others, with an SDK's user agent. */
    default S3Client client()
    {
        return S3Client.builder()
                .endpointOverride(endpoint())
                .forcePathStyle(true)
                .region(Region.of(REGION))
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY)))
                .build();
    }

    /** The {@code s3.*} properties, as Trino's catalogs and a cache worker's origins name them, that lead to this server. */
    default Map<String, String> clientProperties()
    {
        return Map.of(
                "s3.endpoint", endpoint().toString(),
                "s3.region", REGION,
                "s3.path-style-access", "true",
                "s3.aws-access-key", ACCESS_KEY,
                "s3.aws-secret-key", SECRET_KEY);
    }

    /** Releases all holds and stops the server; stored objects stay if it keeps them in a directory. */
    @Override
    void close();
}
