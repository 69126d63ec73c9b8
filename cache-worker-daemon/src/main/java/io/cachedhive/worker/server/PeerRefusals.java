package io.cachedhive.worker.server;

import io.airlift.log.Logger;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Counts rejected peers and rejected requests, and logs at most one of each per minute so that a peer cannot flood the
 * log.
 */
public final class PeerRefusals
{
    private static final Logger log = Logger.get(PeerRefusals.class);

    private final LogLimit connections;
    private final LogLimit requests;

    public PeerRefusals()
    {
        this(System::nanoTime);
    }

    PeerRefusals(LongSupplier nanoTime)
    {
        connections = new LogLimit(nanoTime);
        requests = new LogLimit(nanoTime);
    }

    /**
     * Counts a rejected peer, whose connection is closed.
     *
     * @return whether it was logged
     */
    boolean refused(String peer, String reason)
    {
        OptionalLong closed = connections.add();
        closed.ifPresent(count -> log.warn("Closed the connection of %s: %s (%s closed since the last message)", peer, LogLimit.line(reason), count));
        return closed.isPresent();
    }

    /**
     * Counts a rejected request, whose connection stays open.
     *
     * @return whether it was logged
     */
    boolean requestRefused(String peer, String reason)
    {
        OptionalLong refused = requests.add();
        refused.ifPresent(count -> log.warn("Refused a request of %s: %s (%s refused since the last message)", peer, LogLimit.line(reason), count));
        return refused.isPresent();
    }

    /**
     * Returns the number of rejected peers since the start.
     */
    public long count()
    {
        return connections.count();
    }

    /**
     * Returns the number of rejected requests since the start.
     */
    public long requestCount()
    {
        return requests.count();
    }
}
