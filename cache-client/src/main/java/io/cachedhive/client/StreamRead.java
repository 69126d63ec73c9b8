package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;

import static java.util.Objects.requireNonNull;

/**
 * What became of a read for a stream.
 */
public sealed interface StreamRead
{
    /**
     * The bytes are in the buffer.
     *
     * @param bytes counts those that are used
     */
    record Served(ReadAhead bytes)
            implements StreamRead
    {
        public Served
        {
            requireNonNull(bytes, "bytes is null");
        }
    }

    /**
     * The cache does not serve. The stream reads the origin by itself from here to its end, by one request as plain Hive does, so that all its bytes are of one state.
     *
     * @param waitNanos how long the reader waited for the cache
     */
    record Bypassed(BypassCause cause, long waitNanos)
            implements StreamRead
    {
        public Bypassed
        {
            requireNonNull(cause, "cause is null");
        }
    }
}
