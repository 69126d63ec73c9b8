package io.cachedhive.client.connection;

/**
 * How long a client waits.
 *
 * @param silenceMillis for the first and for every further word of an answer, and for a connection
 * @param fetchMillis for every further word of an answer after the worker said that it is fetching from the origin
 * @param reconnectMillis between attempts to connect to a worker that cannot be reached
 * @param probeMillis between probes of a worker whose breaker is open
 */
public record Timeouts(long silenceMillis, long fetchMillis, long reconnectMillis, long probeMillis)
{
    public static final Timeouts DEFAULT = new Timeouts(1000, 10_000, 300, 1000);

    public Timeouts
    {
        requirePositive(silenceMillis, "silenceMillis");
        requirePositive(fetchMillis, "fetchMillis");
        requirePositive(reconnectMillis, "reconnectMillis");
        requirePositive(probeMillis, "probeMillis");
    }

    private static void requirePositive(long value, String name)
    {
        if (value <= 0) {
            throw new IllegalArgumentException("%s is not positive: %s".formatted(name, value));
        }
    }
}
