package io.cachedhive.worker.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.fetch.FetchTarget;
import io.cachedhive.worker.server.Connection;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A FETCH_AHEAD: answered when nothing of its list waits any more.
 */
final class AheadTask
        implements ActiveRequests.Active
{
    private final FetchAhead fetchAhead;
    private final Connection connection;
    private final ActiveRequests requests;
    private final long requestId;

    @GuardedBy("this")
    private FetchAhead.Announcement announcement;
    @GuardedBy("this")
    private boolean cancelled;

    AheadTask(FetchAhead fetchAhead, Connection connection, ActiveRequests requests, long requestId)
    {
        this.fetchAhead = requireNonNull(fetchAhead, "fetchAhead is null");
        this.connection = requireNonNull(connection, "connection is null");
        this.requests = requireNonNull(requests, "requests is null");
        this.requestId = requestId;
    }

    void start(Digest128 scan, List<FetchTarget> files)
    {
        synchronized (this) {
            if (cancelled) {
                return;
            }
        }
        FetchAhead.Announcement begun = fetchAhead.announce(scan, files, this::ended);
        boolean late;
        synchronized (this) {
            announcement = begun;
            late = cancelled;
        }
        if (late) {
            begun.cancel();
        }
    }

    private void ended()
    {
        requests.remove(requestId);
        synchronized (this) {
            if (cancelled) {
                return;
            }
        }
        connection.send(requestId, new Ack());
    }

    @Override
    public void cancel()
    {
        FetchAhead.Announcement begun;
        synchronized (this) {
            cancelled = true;
            begun = announcement;
        }
        if (begun != null) {
            begun.cancel();
        }
    }
}
