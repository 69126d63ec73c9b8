package io.cachedhive.plugin.split;

import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.metrics.Metrics;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;

/**
 * Turns Hive's splits into cached ones. Never cuts them anew: a split does not say whether its file can be cut.
 */
final class CachedHiveSplitSource
        implements ConnectorSplitSource
{
    private final ConnectorSplitSource delegate;
    private final Function<HiveSplit, CachedHiveSplit> placement;

    CachedHiveSplitSource(ConnectorSplitSource delegate, Function<HiveSplit, CachedHiveSplit> placement)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.placement = requireNonNull(placement, "placement is null");
    }

    @Override
    public CompletableFuture<List<ConnectorSplit>> getNextBatch(int maxSize, DynamicFilterSnapshot dynamicFilterSnapshot)
    {
        CompletableFuture<List<ConnectorSplit>> batch = delegate.getNextBatch(maxSize, dynamicFilterSnapshot);
        CompletableFuture<List<ConnectorSplit>> placed = batch.thenApply(this::place);
        // the engine cancels what it was given
        placed.whenComplete((_, _) -> {
            if (placed.isCancelled()) {
                batch.cancel(true);
            }
        });
        return placed;
    }

    private List<ConnectorSplit> place(List<ConnectorSplit> splits)
    {
        return splits.stream()
                .map(this::place)
                .collect(toImmutableList());
    }

    private ConnectorSplit place(ConnectorSplit split)
    {
        return split instanceof HiveSplit hiveSplit ? placement.apply(hiveSplit) : split;
    }

    @Override
    public void close()
    {
        delegate.close();
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
