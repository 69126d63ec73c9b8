package io.cachedhive.trino.split;

import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.metrics.Metrics;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Splits of another source, each batch of which is looked at or changed before it is passed on.
 */
public abstract class PassedSplitSource
        implements ConnectorSplitSource
{
    private final ConnectorSplitSource delegate;

    protected PassedSplitSource(ConnectorSplitSource delegate)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
    }

    /**
     * Called once for each batch, by whichever thread has got it.
     *
     * @return the batch in their place, with as many splits
     */
    protected abstract List<ConnectorSplit> pass(List<ConnectorSplit> splits);

    @Override
    public CompletableFuture<List<ConnectorSplit>> getNextBatch(int maxSize, DynamicFilterSnapshot dynamicFilterSnapshot)
    {
        CompletableFuture<List<ConnectorSplit>> batch = delegate.getNextBatch(maxSize, dynamicFilterSnapshot);
        CompletableFuture<List<ConnectorSplit>> passed = batch.thenApply(this::pass);
        // the engine cancels what it was given
        passed.whenComplete((_, _) -> {
            if (passed.isCancelled()) {
                batch.cancel(true);
            }
        });
        return passed;
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
