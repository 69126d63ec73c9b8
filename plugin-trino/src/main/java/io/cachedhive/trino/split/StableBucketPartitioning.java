package io.cachedhive.trino.split;

import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.trino.spi.connector.BucketFunction;
import io.trino.spi.connector.ConnectorBucketNodeMap;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPartitioningHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.type.Type;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

import static java.util.Objects.requireNonNull;

/**
 * Keeps the buckets of tables on their nodes when the coordinator restarts.
 *
 * <p>The engine gives buckets to nodes by rendezvous hashing with a hint of the connector. Hive's hint depends on the process that computes it, and so each
 * restart would send every bucket elsewhere, away from where its bytes are. This hint depends on the partitioning alone. A fixed map of buckets to nodes
 * would do as well, but with one the engine does not rebalance writes, nor replaces a node under fault-tolerant execution.
 */
public final class StableBucketPartitioning
        implements ConnectorNodePartitioningProvider
{
    private final ConnectorNodePartitioningProvider delegate;
    private final ConnectorAdapter adapter;
    private final Predicate<ConnectorSession> cached;

    /**
     * @param cached false for a query that shall be exactly the connector's own
     */
    public StableBucketPartitioning(ConnectorNodePartitioningProvider delegate, ConnectorAdapter adapter, Predicate<ConnectorSession> cached)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.adapter = requireNonNull(adapter, "adapter is null");
        this.cached = requireNonNull(cached, "cached is null");
    }

    @Override
    public Optional<ConnectorBucketNodeMap> getBucketNodeMapping(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorPartitioningHandle partitioning)
    {
        Optional<ConnectorBucketNodeMap> map = delegate.getBucketNodeMapping(transaction, session, partitioning);
        OptionalLong hint = adapter.bucketHint(partitioning);
        if (hint.isEmpty() || !cached.test(session)) {
            return map;
        }
        return map.map(value -> value.hasFixedMapping() ? value : value.withCacheKeyHint(hint.getAsLong()));
    }

    @Override
    public ToIntFunction<ConnectorSplit> getSplitBucketFunction(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorPartitioningHandle partitioning,
            int bucketCount)
    {
        ToIntFunction<ConnectorSplit> buckets = delegate.getSplitBucketFunction(transaction, session, partitioning, bucketCount);
        return split -> buckets.applyAsInt(CachedSplit.unwrap(split));
    }

    @Override
    public BucketFunction getBucketFunction(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorPartitioningHandle partitioning,
            List<Type> partitionChannelTypes,
            int bucketCount)
    {
        return delegate.getBucketFunction(transaction, session, partitioning, partitionChannelTypes, bucketCount);
    }
}
