package io.cachedhive.trino.ahead;

import io.airlift.log.Logger;
import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.ahead.ScanAnnouncements;
import io.cachedhive.plugin.ahead.ScanAnnouncements.Announcer;
import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.split.CachedSplit;
import io.cachedhive.trino.split.PassedSplitSource;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Announces the small files among the splits as it gives them out. The engine asks for splits a few thousand before they run, and for no more than that.
 */
final class AnnouncingSplitSource
        extends PassedSplitSource
{
    private static final Logger log = Logger.get(AnnouncingSplitSource.class);

    private final ConnectorAdapter adapter;
    private final FetchAhead fetchAhead;
    private final Announcer announcer;
    // made when the first split tells the table; guarded by this
    private ScanAnnouncements announcements;
    private boolean closed;

    AnnouncingSplitSource(ConnectorSplitSource delegate, ConnectorAdapter adapter, FetchAhead fetchAhead, Announcer announcer)
    {
        super(delegate);
        this.adapter = requireNonNull(adapter, "adapter is null");
        this.fetchAhead = requireNonNull(fetchAhead, "fetchAhead is null");
        this.announcer = requireNonNull(announcer, "announcer is null");
    }

    @Override
    protected List<ConnectorSplit> pass(List<ConnectorSplit> splits)
    {
        try {
            announce(splits);
        }
        catch (RuntimeException e) {
            // it helps the query, which needs it for nothing
            log.warn(e, "Small files of a scan are not announced to cache workers");
        }
        return splits;
    }

    private void announce(List<ConnectorSplit> splits)
    {
        List<SmallFile> files = new ArrayList<>();
        Optional<String> table = Optional.empty();
        for (ConnectorSplit split : splits) {
            if (split instanceof CachedSplit cachedSplit) {
                Optional<SmallFile> file = adapter.findFile(cachedSplit.getSplit())
                        .flatMap(read -> fetchAhead.smallFile(read, cachedSplit.getDecision(), cachedSplit.ringEpoch(), cachedSplit.prefersNodes()));
                if (file.isPresent()) {
                    files.add(file.get());
                    table = table.or(() -> Optional.of(cachedSplit.getTable().toString()));
                }
            }
        }
        if (files.isEmpty()) {
            return;
        }
        ScanAnnouncements announcements;
        synchronized (this) {
            if (closed) {
                return;
            }
            if (this.announcements == null) {
                this.announcements = new ScanAnnouncements(announcer, table.orElseThrow());
            }
            announcements = this.announcements;
        }
        announcements.announce(files);
    }

    @Override
    public void close()
    {
        boolean finished = wasFinished();
        super.close();
        ScanAnnouncements announcements;
        synchronized (this) {
            closed = true;
            announcements = this.announcements;
        }
        if (announcements == null) {
            return;
        }
        if (finished) {
            announcements.finish();
        }
        else {
            announcements.cancel();
        }
    }

    /**
     * A source that failed, or was closed before, says so only by an exception, which is no reason to fail a query that needs nothing more of it.
     */
    private boolean wasFinished()
    {
        try {
            return isFinished();
        }
        catch (RuntimeException _) {
            return false;
        }
    }
}
