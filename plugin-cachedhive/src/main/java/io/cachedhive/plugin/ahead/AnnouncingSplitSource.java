package io.cachedhive.plugin.ahead;

import io.cachedhive.plugin.ahead.ScanAnnouncements.Announcer;
import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.plugin.split.CachedHiveSplit;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.metrics.Metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Announces the small files among the splits as it gives them out. The engine asks for splits a few thousand before they run, and for no more than that.
 */
final class AnnouncingSplitSource
        implements ConnectorSplitSource
{
    private final ConnectorSplitSource delegate;
    private final FetchAhead fetchAhead;
    private final Announcer announcer;
    // made when the first split tells the table; guarded by this
    private ScanAnnouncements announcements;
    private boolean closed;

    AnnouncingSplitSource(ConnectorSplitSource delegate, FetchAhead fetchAhead, Announcer announcer)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.fetchAhead = requireNonNull(fetchAhead, "fetchAhead is null");
        this.announcer = requireNonNull(announcer, "announcer is null");
    }

    @Override
    public CompletableFuture<List<ConnectorSplit>> getNextBatch(int maxSize, DynamicFilterSnapshot dynamicFilterSnapshot)
    {
        CompletableFuture<List<ConnectorSplit>> batch = delegate.getNextBatch(maxSize, dynamicFilterSnapshot);
        CompletableFuture<List<ConnectorSplit>> announced = batch.thenApply(splits -> {
            announce(splits);
            return splits;
        });
        // the engine cancels what it was given
        announced.whenComplete((_, _) -> {
            if (announced.isCancelled()) {
                batch.cancel(true);
            }
        });
        return announced;
    }

    private void announce(List<ConnectorSplit> splits)
    {
        List<SmallFile> files = new ArrayList<>();
        Optional<String> table = Optional.empty();
        for (ConnectorSplit split : splits) {
            if (split instanceof CachedHiveSplit cachedSplit) {
                Optional<SmallFile> file = fetchAhead.smallFile(cachedSplit);
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
        boolean finished = delegate.isFinished();
        delegate.close();
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

    @Override
    public boolean isFinished()
    {
        return delegate.isFinished();
    }

    @Override
    public Optional<List<Object>> getTableExecuteSplitsInfo()
    {
        return delegate.getTableExecuteSplitsInfo();
    }

    @Override
    public long getRequestedDynamicFilterWaitTimeoutMillis()
    {
        return delegate.getRequestedDynamicFilterWaitTimeoutMillis();
    }

    @Override
    public Metrics getMetrics()
    {
        return delegate.getMetrics();
    }
}
