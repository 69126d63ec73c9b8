package io.cachedhive.worker.http;

import com.google.inject.Inject;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.worker.fetch.BlockFetcher.BucketState;
import io.cachedhive.worker.service.CacheWorkerService;
import org.weakref.jmx.Managed;

import static java.util.Objects.requireNonNull;

/**
 * The worker's gauges and the totals of what its clients counted, for JMX and {@code /metrics}.
 */
public final class WorkerMetrics
{
    private final CacheWorkerService worker;

    @Inject
    public WorkerMetrics(CacheWorkerService worker)
    {
        this.worker = requireNonNull(worker, "worker is null");
    }

    private long gauge(String name)
    {
        return worker.status().gauges().get(name);
    }

    private long counted(String name)
    {
        return worker.usage().accounts().stream()
                .flatMap(account -> worker.usage().tables(account).values().stream())
                .mapToLong(counters -> counters.getOrDefault(name, 0L))
                .sum();
    }

    @Managed
    public long getRamCapacityBytes()
    {
        return gauge(CounterNames.RAM_CAPACITY_BYTES);
    }

    @Managed
    public long getRamUsedBytes()
    {
        return gauge(CounterNames.RAM_USED_BYTES);
    }

    @Managed
    public long getRamBlocks()
    {
        return gauge(CounterNames.RAM_BLOCKS);
    }

    @Managed
    public long getRamEvictions()
    {
        return gauge(CounterNames.RAM_EVICTIONS);
    }

    @Managed
    public long getSsdCapacityBytes()
    {
        return gauge(CounterNames.SSD_CAPACITY_BYTES);
    }

    @Managed
    public long getSsdUsedBytes()
    {
        return gauge(CounterNames.SSD_USED_BYTES);
    }

    @Managed
    public long getSsdBlocks()
    {
        return gauge(CounterNames.SSD_BLOCKS);
    }

    @Managed
    public long getSsdEvictions()
    {
        return gauge(CounterNames.SSD_EVICTIONS);
    }

    @Managed
    public long getRestoredBlocks()
    {
        return gauge(CounterNames.RESTORED_BLOCKS);
    }

    @Managed
    public long getExpiredBlocks()
    {
        return gauge(CounterNames.EXPIRED_BLOCKS);
    }

    @Managed
    public long getCorruptBlocks()
    {
        return gauge(CounterNames.CORRUPT_BLOCKS);
    }

    @Managed
    public long getGuestBytes()
    {
        return gauge(CounterNames.GUEST_BYTES);
    }

    @Managed
    public long getPinnedBytes()
    {
        return gauge(CounterNames.PINNED_BYTES);
    }

    @Managed
    public long getPinnedMaxBytes()
    {
        return gauge(CounterNames.PINNED_MAX_BYTES);
    }

    @Managed
    public long getRejectedPins()
    {
        return gauge(CounterNames.REJECTED_PINS);
    }

    @Managed
    public long getGuestBlocksOffered()
    {
        return gauge(CounterNames.GUEST_BLOCKS_OFFERED);
    }

    @Managed
    public long getGuestBlocksAccepted()
    {
        return gauge(CounterNames.GUEST_BLOCKS_ACCEPTED);
    }

    @Managed
    public long getGuestBlocksRejected()
    {
        return gauge(CounterNames.GUEST_BLOCKS_REJECTED);
    }

    @Managed
    public long getHedges()
    {
        return counted(CounterNames.HEDGES);
    }

    @Managed
    public long getHedgesWon()
    {
        return counted(CounterNames.HEDGES_WON);
    }

    @Managed
    public long getHedgeExtraBytes()
    {
        return counted(CounterNames.HEDGE_EXTRA_BYTES);
    }

    @Managed
    public long getCrossZoneBytes()
    {
        return counted(CounterNames.CROSS_ZONE_BYTES);
    }

    @Managed
    public long getSsdDirectoriesOffline()
    {
        return gauge(CounterNames.SSD_DIRECTORIES_OFFLINE);
    }

    @Managed
    public long getSsdErrorsNoSpace()
    {
        return gauge(CounterNames.SSD_ERRORS_NO_SPACE);
    }

    @Managed
    public long getSsdErrorsReadOnly()
    {
        return gauge(CounterNames.SSD_ERRORS_READ_ONLY);
    }

    @Managed
    public long getSsdErrorsIoError()
    {
        return gauge(CounterNames.SSD_ERRORS_IO_ERROR);
    }

    @Managed
    public long getSsdErrorsSlow()
    {
        return gauge(CounterNames.SSD_ERRORS_SLOW);
    }

    @Managed
    public long getSsdErrorsOther()
    {
        return gauge(CounterNames.SSD_ERRORS_OTHER);
    }

    @Managed
    public long getSsdWritesRejectedNotAdmitted()
    {
        return gauge(CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED);
    }

    @Managed
    public long getSsdWritesRejectedQueueFull()
    {
        return gauge(CounterNames.SSD_WRITES_REJECTED_QUEUE_FULL);
    }

    @Managed
    public long getSsdWritesRejectedOffline()
    {
        return gauge(CounterNames.SSD_WRITES_REJECTED_OFFLINE);
    }

    @Managed
    public long getSsdWritesRejectedNoSpace()
    {
        return gauge(CounterNames.SSD_WRITES_REJECTED_NO_SPACE);
    }

    @Managed
    public long getOriginGets()
    {
        return gauge(CounterNames.ORIGIN_GETS);
    }

    @Managed
    public long getOriginHeads()
    {
        return gauge(CounterNames.ORIGIN_HEADS);
    }

    @Managed
    public long getSentBytes()
    {
        return gauge(CounterNames.SENT_BYTES);
    }

    @Managed
    public long getOriginBytes()
    {
        return gauge(CounterNames.ORIGIN_BYTES);
    }

    @Managed
    public long getOriginErrors()
    {
        return gauge(CounterNames.ORIGIN_ERRORS);
    }

    @Managed
    public long getOriginThrottled()
    {
        return gauge(CounterNames.ORIGIN_THROTTLED);
    }

    @Managed
    public long getOriginRetries()
    {
        return gauge(CounterNames.ORIGIN_RETRIES);
    }

    @Managed
    public long getFetchRequests()
    {
        return gauge(CounterNames.FETCH_REQUESTS);
    }

    @Managed
    public long getFetchQueuedBlocks()
    {
        return gauge(CounterNames.FETCH_QUEUED_BLOCKS);
    }

    /**
     * Requests at the same time that the bucket bears that bears the fewest.
     */
    @Managed
    public long getFetchRequestLimit()
    {
        return worker.status().buckets().stream().mapToLong(BucketState::limit).min().orElse(0);
    }

    @Managed
    public long getOverloadedFetchQueue()
    {
        return gauge(CounterNames.OVERLOADED_FETCH_QUEUE);
    }

    @Managed
    public long getOverloadedLoadQueue()
    {
        return gauge(CounterNames.OVERLOADED_LOAD_QUEUE);
    }

    @Managed
    public long getOverloadedFrames()
    {
        return gauge(CounterNames.OVERLOADED_FRAMES);
    }

    @Managed
    public long getOverloadedHeap()
    {
        return gauge(CounterNames.OVERLOADED_HEAP);
    }

    @Managed
    public long getOverloadedRequests()
    {
        return gauge(CounterNames.OVERLOADED_REQUESTS);
    }

    @Managed
    public long getExtraBytes()
    {
        return gauge(CounterNames.EXTRA_BYTES);
    }

    @Managed
    public long getQuarantinedFiles()
    {
        return gauge(CounterNames.QUARANTINED_FILES);
    }

    @Managed
    public long getVerifiedBytes()
    {
        return counted(CounterNames.VERIFIED_BYTES);
    }

    @Managed
    public long getVerifyMismatches()
    {
        return counted(CounterNames.VERIFY_MISMATCHES);
    }

    @Managed
    public long getVersionChanges()
    {
        return gauge(CounterNames.VERSION_CHANGES);
    }

    @Managed
    public long getHandoverBlocksReceived()
    {
        return gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED);
    }

    @Managed
    public long getHandoverBytesReceived()
    {
        return gauge(CounterNames.HANDOVER_BYTES_RECEIVED);
    }

    @Managed
    public long getHandoverFailures()
    {
        return gauge(CounterNames.HANDOVER_FAILURES);
    }

    @Managed
    public long getHandoverBlocksSent()
    {
        return gauge(CounterNames.HANDOVER_BLOCKS_SENT);
    }

    @Managed
    public long getRejectedConnections()
    {
        return gauge(CounterNames.REJECTED_CONNECTIONS);
    }

    @Managed
    public long getConnections()
    {
        return gauge(CounterNames.CONNECTIONS);
    }

    @Managed
    public long getAcceptedConnections()
    {
        return gauge(CounterNames.ACCEPTED_CONNECTIONS);
    }

    @Managed
    public long getActiveRequests()
    {
        return gauge(CounterNames.ACTIVE_REQUESTS);
    }

    @Managed
    public long getReferencedBlocks()
    {
        return gauge(CounterNames.REFERENCED_BLOCKS);
    }

    @Managed
    public long getRequests()
    {
        return counted(CounterNames.REQUESTS);
    }

    @Managed
    public long getRequestedBytes()
    {
        return counted(CounterNames.REQUESTED_BYTES);
    }

    @Managed
    public long getRamHitBytes()
    {
        return counted(CounterNames.RAM_HIT_BYTES);
    }

    @Managed
    public long getSsdHitBytes()
    {
        return counted(CounterNames.SSD_HIT_BYTES);
    }

    @Managed
    public long getNonLocalHitBytes()
    {
        return counted(CounterNames.NON_LOCAL_HIT_BYTES);
    }

    @Managed
    public long getRemoteReadBytes()
    {
        return counted(CounterNames.REMOTE_READ_BYTES);
    }

    @Managed
    public long getBypassBytes()
    {
        return counted(CounterNames.BYPASS_BYTES);
    }

    @Managed
    public long getSizingCapacityBytes()
    {
        return gauge(CounterNames.SIZING_CAPACITY_BYTES);
    }

    @Managed
    public long getSizingRequestedBytes()
    {
        return gauge(CounterNames.SIZING_REQUESTED_BYTES);
    }

    @Managed
    public long getSizingDistinctBytes()
    {
        return gauge(CounterNames.SIZING_DISTINCT_BYTES);
    }

    @Managed
    public long getSizingHitBytesAt25Percent()
    {
        return gauge(CounterNames.sizingHitBytes(25));
    }

    @Managed
    public long getSizingHitBytesAt50Percent()
    {
        return gauge(CounterNames.sizingHitBytes(50));
    }

    @Managed
    public long getSizingHitBytesAt100Percent()
    {
        return gauge(CounterNames.sizingHitBytes(100));
    }

    @Managed
    public long getSizingHitBytesAt200Percent()
    {
        return gauge(CounterNames.sizingHitBytes(200));
    }

    @Managed
    public long getSizingHitBytesAt400Percent()
    {
        return gauge(CounterNames.sizingHitBytes(400));
    }

    @Managed
    public long getSizingHitBytesAt800Percent()
    {
        return gauge(CounterNames.sizingHitBytes(800));
    }

    @Managed
    public long getSizingHitBytesAt1600Percent()
    {
        return gauge(CounterNames.sizingHitBytes(1600));
    }

    /**
     * 1 when there is a problem, see {@code /v1/status}.
     */
    @Managed
    public int getProblems()
    {
        return worker.status().problem().isPresent() ? 1 : 0;
    }
}
