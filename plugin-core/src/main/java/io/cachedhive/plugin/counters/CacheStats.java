package io.cachedhive.plugin.counters;

import com.google.inject.Inject;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.cachedhive.protocol.wire.CounterNames;
import org.weakref.jmx.Managed;

import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * What this Trino node read of the catalog since the catalog was loaded: the JMX bean. Beside the names of the table {@code cache.stats} it has those of
 * RubiX, for dashboards that know them. All amounts of data are bytes, all rates 0 to 1, and a rate of nothing is not a number.
 */
public final class CacheStats
{
    private final Supplier<Map<String, Long>> totals;
    private final LongSupplier extraBytes;
    private final LongSupplier droppedReleases;
    private final LongSupplier unrecordedFlushes;
    private final BooleanSupplier active;

    @Inject
    CacheStats(NodeCacheClient client, LocalExtraBytes extraBytes, FileReleases releases, DropFlushes flushes, CacheDecisions decisions)
    {
        this(client::totals, extraBytes::get, releases::dropped, flushes::unrecorded, () -> decisions.problem().isEmpty());
    }

    CacheStats(Supplier<Map<String, Long>> totals, LongSupplier extraBytes, LongSupplier droppedReleases, LongSupplier unrecordedFlushes, BooleanSupplier active)
    {
        this.totals = requireNonNull(totals, "totals is null");
        this.extraBytes = requireNonNull(extraBytes, "extraBytes is null");
        this.droppedReleases = requireNonNull(droppedReleases, "droppedReleases is null");
        this.unrecordedFlushes = requireNonNull(unrecordedFlushes, "unrecordedFlushes is null");
        this.active = requireNonNull(active, "active is null");
    }

    private long counter(String name)
    {
        return totals.get().getOrDefault(name, 0L);
    }

    @Managed(description = "Whether scans that begin now read through the cache and fill it, as in the mode ON; decided by the coordinator")
    public boolean isActive()
    {
        return active.getAsBoolean();
    }

    @Managed(description = "Reads with bytes from the local cache worker")
    public long getCachedReads()
    {
        Map<String, Long> values = totals.get();
        return values.get(CounterNames.RAM_HIT_REQUESTS) + values.get(CounterNames.SSD_HIT_REQUESTS);
    }

    @Managed(description = "Reads with bytes from cache workers of other hosts")
    public long getNonLocalReads()
    {
        return counter(CounterNames.NON_LOCAL_HIT_REQUESTS);
    }

    @Managed(description = "Reads with bytes from the origin into the cache")
    public long getRemoteReads()
    {
        return counter(CounterNames.REMOTE_READ_REQUESTS);
    }

    @Managed(description = "Fraction of cacheable bytes served from RAM, SSD and other hosts")
    public double getHitRate()
    {
        return HitRate.of(totals.get()).orElse(Double.NaN);
    }

    @Managed(description = "Fraction of cacheable bytes read from the origin into the cache")
    public double getMissRate()
    {
        return 1 - getHitRate();
    }

    @Managed(description = "Bytes read from the local cache worker")
    public long getReadFromCache()
    {
        Map<String, Long> values = totals.get();
        return values.get(CounterNames.RAM_HIT_BYTES) + values.get(CounterNames.SSD_HIT_BYTES);
    }

    @Managed(description = "Bytes read from the origin for queries")
    public long getReadFromRemote()
    {
        return getRemoteReadBytes();
    }

    @Managed(description = "Bytes read from cache workers of other hosts")
    public long getNonLocalDataRead()
    {
        return getNonLocalHitBytes();
    }

    @Managed(description = "Bytes read from origins beyond the requested ones, by the local cache worker, lost hedged reads and verifications")
    public long getExtraReadFromRemote()
    {
        return extraBytes.getAsLong() + counter(CounterNames.HEDGE_EXTRA_BYTES) + counter(CounterNames.VERIFIED_BYTES);
    }

    @Managed(description = "Reads")
    public long getRequests()
    {
        return counter(CounterNames.REQUESTS);
    }

    @Managed(description = "Bytes requested by queries, counted independently of their source")
    public long getRequestedBytes()
    {
        return counter(CounterNames.REQUESTED_BYTES);
    }

    @Managed(description = "Bytes read from the local RAM tier")
    public long getRamHitBytes()
    {
        return counter(CounterNames.RAM_HIT_BYTES);
    }

    @Managed(description = "Bytes read from the local SSD tier")
    public long getSsdHitBytes()
    {
        return counter(CounterNames.SSD_HIT_BYTES);
    }

    @Managed(description = "Bytes read from cache workers of other hosts")
    public long getNonLocalHitBytes()
    {
        return counter(CounterNames.NON_LOCAL_HIT_BYTES);
    }

    @Managed(description = "Bytes read from the origin into the cache")
    public long getRemoteReadBytes()
    {
        return counter(CounterNames.REMOTE_READ_BYTES);
    }

    @Managed(description = "Bytes read from the origin, bypassing the cache")
    public long getBypassBytes()
    {
        return counter(CounterNames.BYPASS_BYTES);
    }

    @Managed(description = "Notifications of removed files that a cache worker did not take, on the coordinator: one for each file or directory and cache worker")
    public long getDroppedReleases()
    {
        return droppedReleases.getAsLong();
    }

    @Managed(description = "Dropped tables and partitions whose flush no cache worker recorded, on the coordinator")
    public long getUnrecordedFlushes()
    {
        return unrecordedFlushes.getAsLong();
    }
}
