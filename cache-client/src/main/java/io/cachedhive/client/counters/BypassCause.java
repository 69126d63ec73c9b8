package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.NoCause;

import java.util.Locale;

/**
 * Why a read went to the origin without the cache.
 */
public enum BypassCause
{
    /**
     * No cache worker on this host, or it refuses this client.
     */
    NO_WORKER,
    /**
     * The owner of the chunk cannot be reached, or was lost during the read.
     */
    DISCONNECTED,
    /**
     * The owner of the chunk has no address on the ring.
     */
    NO_ADDRESS,
    /**
     * The owner did not say a word in time.
     */
    TIMEOUT,
    /**
     * The owner was fetching and did not finish in time.
     */
    FETCH_TIMEOUT,
    /**
     * The owner was silent several times in a row and is not asked until it answers a probe.
     */
    BREAKER_OPEN,
    /**
     * This client's memory for blocks on their way to a worker is full, or the worker's queues or frames are.
     */
    OVERLOADED,
    /**
     * The answer did not verify, or the worker found that the block in its memory does not: {@link NoCause#CORRUPT}
     */
    CORRUPT,
    /**
     * Blocks of two states of the file met in one split, or blocks with an ETag and without one.
     */
    ETAG_CHANGED,
    /**
     * The answer was not of the protocol, or the worker refused the request.
     */
    PROTOCOL_ERROR,
    /**
     * {@link NoCause#ABSENT}
     */
    ABSENT,
    /**
     * {@link NoCause#ORIGIN_FAILED}
     */
    ORIGIN_FAILED,
    /**
     * {@link NoCause#VERSION_GONE}, or this client saw it itself
     */
    VERSION_GONE,
    /**
     * {@link NoCause#LEASE_TIMEOUT}
     */
    LEASE_TIMEOUT,
    /**
     * {@link NoCause#ORIGIN_MISMATCH}, or the handshake said so
     */
    ORIGIN_MISMATCH,
    /**
     * {@link NoCause#LOCATION_NOT_ALLOWED}
     */
    LOCATION_NOT_ALLOWED,
    /**
     * {@link NoCause#UNAVAILABLE}
     */
    UNAVAILABLE,
    /**
     * {@link NoCause#INVALID_REQUEST}
     */
    INVALID_REQUEST,
    /**
     * {@link NoCause#ENCRYPTED}
     */
    ENCRYPTED,
    /**
     * A worker was silent for longer than usual, and the origin, asked as well, was faster.
     */
    HEDGED,
    /**
     * A rule of the catalog says so.
     */
    RULE,
    /**
     * The catalog's mode is SHADOW, or a rule of the catalog has the action shadow.
     */
    SHADOW,
    /**
     * The client is closed.
     */
    CLOSED;

    private final String counter = CounterNames.BYPASS_BYTES_PREFIX + name().toLowerCase(Locale.ROOT);

    /**
     * The name of the counter of this cause's bytes: {@code bypass_bytes_timeout}.
     */
    public String counter()
    {
        return counter;
    }

    public static BypassCause of(NoCause cause)
    {
        return switch (cause) {
            case ABSENT -> ABSENT;
            case OVERLOADED -> OVERLOADED;
            case ORIGIN_FAILED -> ORIGIN_FAILED;
            case VERSION_GONE -> VERSION_GONE;
            case LEASE_TIMEOUT -> LEASE_TIMEOUT;
            case ORIGIN_MISMATCH -> ORIGIN_MISMATCH;
            case UNAVAILABLE -> UNAVAILABLE;
            case INVALID_REQUEST -> INVALID_REQUEST;
            case CORRUPT -> CORRUPT;
            case LOCATION_NOT_ALLOWED -> LOCATION_NOT_ALLOWED;
            case ENCRYPTED -> ENCRYPTED;
        };
    }
}
