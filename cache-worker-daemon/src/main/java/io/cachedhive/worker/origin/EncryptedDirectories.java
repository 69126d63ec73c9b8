package io.cachedhive.worker.origin;

import com.google.common.base.Ticker;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import io.airlift.log.Logger;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The directories in which an object was seen that is encrypted with SSE-KMS and must not be cached. The objects of a directory usually have the same encryption, so
 * that only the first of them costs a request that is aborted. A directory is forgotten after ten minutes, because its objects may have been replaced.
 */
final class EncryptedDirectories
{
    private static final Logger log = Logger.get(EncryptedDirectories.class);

    static final int MAX_DIRECTORIES = 10_000;
    static final Duration KEPT = Duration.ofMinutes(10);

    private final Cache<S3ObjectLocation, Boolean> directories;
    private final AtomicBoolean logged = new AtomicBoolean();

    EncryptedDirectories()
    {
        this(Ticker.systemTicker());
    }

    EncryptedDirectories(Ticker ticker)
    {
        this.directories = CacheBuilder.newBuilder()
                .maximumSize(MAX_DIRECTORIES)
                .expireAfterWrite(KEPT)
                .ticker(ticker)
                .build();
    }

    boolean contains(S3ObjectLocation object)
    {
        return directories.getIfPresent(directory(object)) != null;
    }

    void add(S3ObjectLocation object)
    {
        directories.put(directory(object), true);
        if (logged.compareAndSet(false, true)) {
            log.warn(
                    "Objects such as s3://%s/%s are encrypted with SSE-KMS and are not cached: turn on encryption at rest, or set s3.sse-kms-caching=ALLOWED in the origin file",
                    object.bucket(),
                    object.key());
        }
    }

    private static S3ObjectLocation directory(S3ObjectLocation object)
    {
        return new S3ObjectLocation(object.bucket(), object.key().substring(0, object.key().lastIndexOf('/') + 1));
    }
}
