package io.cachedhive.testing.cluster.s3;

import java.time.Duration;

/**
 * GETs that an S3 server keeps waiting. Closing releases them and ends the hold.
 */
public interface S3Hold
        extends AutoCloseable
{
    /** GETs that wait now. */
    int heldCount();

    /**
     * Waits until at least {@code count} GETs wait at the same time, or did so before they were released.
     *
     * @throws IllegalStateException if that does not happen in time
     */
    void awaitHeld(int count, Duration timeout);

    /** Lets all waiting GETs go on; later ones are not held. */
    void release();

    @Override
    default void close()
    {
        release();
    }

    /**
     * Which GETs are held, where, and until when.
     *
     * @param bucket empty for every bucket
     * @param keyPrefix empty for every key
     * @param fromPosition least position in the object at which the bytes of a GET begin; 0 for every GET
     * @param afterBytes bytes of the body sent before the GET waits; 0 waits before the response begins
     * @param releaseAtCount with this number of GETs waiting at the same time all are released and the hold ends (a barrier); 0 for never
     */
    record Rule(String bucket, String keyPrefix, long fromPosition, long afterBytes, int releaseAtCount)
    {
        /** Holds GETs of the objects under a prefix before their response begins, until released. */
        public static Rule gets(String bucket, String keyPrefix)
        {
            return new Rule(bucket, keyPrefix, 0, 0, 0);
        }

        /** Holds every GET of a data file. */
        public static Rule allGets()
        {
            return gets("", "");
        }

        public Rule fromPosition(long fromPosition)
        {
            return new Rule(bucket, keyPrefix, fromPosition, afterBytes, releaseAtCount);
        }

        public Rule afterBytes(long afterBytes)
        {
            return new Rule(bucket, keyPrefix, fromPosition, afterBytes, releaseAtCount);
        }

        public Rule releaseAtCount(int releaseAtCount)
        {
            return new Rule(bucket, keyPrefix, fromPosition, afterBytes, releaseAtCount);
        }

        /** Files of the metastore are never held: a query could not even be planned. */
        boolean matches(S3Request request)
        {
            return request.isGet() && request.isDataFile()
                    && (bucket.isEmpty() || request.bucket().orElse("").equals(bucket))
                    && request.key().orElse("").startsWith(keyPrefix)
                    && request.startPosition() >= fromPosition;
        }
    }
}
