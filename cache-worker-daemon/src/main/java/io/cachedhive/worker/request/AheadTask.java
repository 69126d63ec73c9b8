package io.cachedhive.worker.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.worker.fetch.FetchAhead;
import io.cachedhive.worker.fetch.FetchTarget;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Handles a FETCH_AHEAD request. It is answered when no file of the list is queued any more.
 */
final class AheadTask
        implements ActiveRequests.Active
{
    private final FetchAhead fetchAhead;
    private final ClientRequest request;

    @GuardedBy("this")
    private FetchAhead.Announcement announcement;
    @GuardedBy("this")
    private boolean cancelled;

    AheadTask(FetchAhead fetchAhead, ClientRequest request)
    {
        this.fetchAhead = requireNonNull(fetchAhead, "fetchAhead is null");
        this.request = requireNonNull(request, "request is null");
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
        request.end();
        synchronized (this) {
            if (cancelled) {
                return;
            }
        }
        request.send(new Ack());
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
