package io.cachedhive.transport;

/**
 * Limits on how long a client waits for a cache worker.
 *
 * @param silenceMillis for the first and for every further word of an answer, and for a connection
 * @param fetchMillis for every further word of an answer after the worker said that it is fetching from the origin
 * @param reconnectMillis between attempts to connect to a worker that cannot be reached
 * @param probeMillis between probes of a worker whose breaker is open
 * @param hedgeMillis for an answer before the origin is asked as well; longer where the worker usually takes longer
 */
public record Timeouts(long silenceMillis, long fetchMillis, long reconnectMillis, long probeMillis, long hedgeMillis)
{
    public static final Timeouts DEFAULT = new Timeouts(1000, 10_000, 300, 1000);

    private static final long HEDGE_MILLIS = 20;

    public Timeouts
    {
        requirePositive(silenceMillis, "silenceMillis");
        requirePositive(fetchMillis, "fetchMillis");
        requirePositive(reconnectMillis, "reconnectMillis");
        requirePositive(probeMillis, "probeMillis");
        requirePositive(hedgeMillis, "hedgeMillis");
    }

    public Timeouts(long silenceMillis, long fetchMillis, long reconnectMillis, long probeMillis)
    {
        this(silenceMillis, fetchMillis, reconnectMillis, probeMillis, HEDGE_MILLIS);
    }

    private static void requirePositive(long value, String name)
    {
        if (value <= 0) {
            throw new IllegalArgumentException("%s is not positive: %s".formatted(name, value));
        }
    }
}
