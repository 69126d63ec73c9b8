package io.cachedhive.trino.scan;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.filesystem.ReplacedFiles;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.SourcePage;
import io.trino.spi.metrics.Metric;
import io.trino.spi.metrics.Metrics;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;

/**
 * Opens the scan's {@link ReadContext} around every call, since readers open some files late, and adds the scan's bytes by source to its metrics.
 *
 * <p>The metrics come from here and not from the inputs because only some of Hive's readers pass an input's metrics on.
 */
final class ReadContextPageSource
        implements ConnectorPageSource
{
    private final ConnectorPageSource delegate;
    private final ReadContext context;

    ReadContextPageSource(ConnectorPageSource delegate, ReadContext context)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.context = requireNonNull(context, "context is null");
    }

    private <T> T inContext(Supplier<T> call)
    {
        try (ReadContext.Opened _ = context.open()) {
            return call.get();
        }
        catch (RuntimeException e) {
            throw ReplacedFiles.find(e).<RuntimeException>map(identity()).orElse(e);
        }
    }

    @Override
    public long getCompletedBytes()
    {
        return inContext(delegate::getCompletedBytes);
    }

    @Override
    public OptionalLong getCompletedPositions()
    {
        return inContext(delegate::getCompletedPositions);
    }

    @Override
    public long getReadTimeNanos()
    {
        return inContext(delegate::getReadTimeNanos);
    }

    @Override
    public boolean isFinished()
    {
        return inContext(delegate::isFinished);
    }

    @Override
    public SourcePage getNextSourcePage()
    {
        return inContext(delegate::getNextSourcePage);
    }

    @Deprecated
    @Override
    public long getMemoryUsage()
    {
        return inContext(delegate::getMemoryUsage);
    }

    @Override
    public void close()
            throws IOException
    {
        try (ReadContext.Opened _ = context.open()) {
            delegate.close();
        }
    }

    @Override
    public CompletableFuture<?> isBlocked()
    {
        return inContext(delegate::isBlocked);
    }

    @Override
    public Metrics getMetrics()
    {
        return inContext(delegate::getMetrics).mergeWith(bytesBySource());
    }

    private Metrics bytesBySource()
    {
        Map<String, Metric<?>> values = new HashMap<>();
        values.put(CounterNames.REQUESTED_BYTES, new LongCount(context.requestedBytes()));
        for (ReadSource source : ReadSource.values()) {
            values.put(source.bytesCounter(), new LongCount(context.observer().bytes(source)));
            putPositive(values, source.requestsCounter(), context.observer().requests(source));
            putPositive(values, source.waitMetric(), context.observer().waitNanos(source));
        }
        for (Map.Entry<BypassCause, Long> bypass : context.observer().bypassBytes().entrySet()) {
            values.put(bypass.getKey().counter(), new LongCount(bypass.getValue()));
        }
        return new Metrics(values);
    }

    // the engine requests the metrics after each page and merges each of them
    private static void putPositive(Map<String, Metric<?>> values, String name, long value)
    {
        if (value > 0) {
            values.put(name, new LongCount(value));
        }
    }

    @Override
    public String toString()
    {
        return delegate.toString();
    }
}
