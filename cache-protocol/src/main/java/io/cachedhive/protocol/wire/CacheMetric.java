package io.cachedhive.protocol.wire;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A counter or gauge of a cache worker. The list of all metrics is the source of the names and descriptions in JMX,
 * {@code /metrics}, the table {@code cache.stats_detail} and the monitoring page.
 *
 * @param name unique, in snake case; the suffixes {@code _bytes} and {@code _seconds} are the unit, counts have none
 * @param description a noun phrase that stands alone
 * @param optional whether a cache worker may have no value, which is then absent instead of 0
 */
public record CacheMetric(String name, Type type, Scope scope, String description, boolean optional)
{
    public static final List<CacheMetric> ALL = List.of(
            table(CounterNames.REQUESTS, "Reads by the Trino worker of this host"),
            table(CounterNames.REQUESTED_BYTES, "Bytes requested by queries, counted independently of their source"),
            table(CounterNames.RAM_HIT_BYTES, "Bytes read from the local RAM tier"),
            table(CounterNames.SSD_HIT_BYTES, "Bytes read from the local SSD tier"),
            table(CounterNames.NON_LOCAL_HIT_BYTES, "Bytes read from cache workers of other hosts"),
            table(CounterNames.REMOTE_READ_BYTES, "Bytes read from the origin into the cache"),
            table(CounterNames.BYPASS_BYTES, "Bytes read from the origin, bypassing the cache"),
            table(CounterNames.RAM_HIT_REQUESTS, "Reads with bytes from the local RAM tier"),
            table(CounterNames.SSD_HIT_REQUESTS, "Reads with bytes from the local SSD tier"),
            table(CounterNames.NON_LOCAL_HIT_REQUESTS, "Reads with bytes from cache workers of other hosts"),
            table(CounterNames.REMOTE_READ_REQUESTS, "Reads with bytes from the origin into the cache"),
            table(CounterNames.BYPASS_REQUESTS, "Reads with bytes from the origin, bypassing the cache"),
            table(CounterNames.HEDGES, "Hedged reads: requests sent to the origin because a cache worker did not answer in time"),
            table(CounterNames.HEDGES_WON, "Hedged reads that the origin answered first"),
            table(CounterNames.HEDGE_EXTRA_BYTES, "Bytes requested from the origin by hedged reads that lost"),
            table(CounterNames.CROSS_ZONE_BYTES, "Bytes read from cache workers of other zones; also counted as non-local hits or remote reads"),
            table(CounterNames.VERIFIED_BYTES, "Bytes of hits that were verified against the origin"),
            table(CounterNames.VERIFY_MISMATCHES, "Verified hits whose bytes differed from the origin"),
            gauge(CounterNames.RAM_CAPACITY_BYTES, "Capacity of the RAM tier"),
            gauge(CounterNames.RAM_ALLOCATED_BYTES, "Allocated part of the RAM tier; the whole capacity soon after the cache worker started"),
            gauge(CounterNames.RAM_USED_BYTES, "Bytes of blocks in the RAM tier, over all catalogs"),
            gauge(CounterNames.SSD_CAPACITY_BYTES, "Capacity of the SSD tier"),
            gauge(CounterNames.SSD_USED_BYTES, "Bytes of blocks in the SSD tier, over all catalogs"),
            gauge(CounterNames.RAM_BLOCKS, "Blocks in the RAM tier"),
            gauge(CounterNames.SSD_BLOCKS, "Blocks in the SSD tier"),
            gauge(CounterNames.RESTORED_BLOCKS, "Blocks restored when the cache worker started"),
            counter(CounterNames.RAM_EVICTIONS, "Blocks evicted from the RAM tier"),
            counter(CounterNames.SSD_EVICTIONS, "Blocks evicted from the SSD tier"),
            counter(CounterNames.EXPIRED_BLOCKS, "Blocks removed because they expired"),
            counter(CounterNames.CORRUPT_BLOCKS, "Blocks dropped because their checksum did not match"),
            counter(CounterNames.QUARANTINED_FILES, "File versions dropped because the origin had different bytes"),
            counter(CounterNames.RELEASED_FILES, "File versions dropped because a statement removed the file"),
            counter(CounterNames.RELEASED_BLOCKS, "Blocks dropped because a statement removed their file; a block in RAM and on SSD counts twice"),
            counter(CounterNames.RELEASED_BYTES, "Bytes of blocks dropped because a statement removed their file"),
            gauge(CounterNames.SSD_DIRECTORIES_OFFLINE, "SSD directories that are offline or do not accept blocks"),
            counter(CounterNames.SSD_ERRORS_NO_SPACE, "SSD operations that failed because a file system was full"),
            counter(CounterNames.SSD_ERRORS_READ_ONLY, "SSD operations that failed because a file system was read-only"),
            counter(CounterNames.SSD_ERRORS_IO_ERROR, "SSD operations that failed with an I/O error"),
            counter(CounterNames.SSD_ERRORS_SLOW, "SSD operations that took longer than a read from the origin"),
            counter(CounterNames.SSD_ERRORS_OTHER, "SSD operations that failed for another reason"),
            counter(CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED, "Blocks kept in RAM only because they were requested less often than the blocks on SSD"),
            counter(CounterNames.SSD_WRITES_REJECTED_QUEUE_FULL, "Blocks kept in RAM only because the write queue of the SSD tier was full"),
            counter(CounterNames.SSD_WRITES_REJECTED_OFFLINE, "Blocks kept in RAM only because their SSD directory was offline"),
            counter(CounterNames.SSD_WRITES_REJECTED_NO_SPACE, "Blocks kept in RAM only because no block on SSD could be evicted"),
            counter(CounterNames.ORIGIN_GETS, "GET requests to origins"),
            counter(CounterNames.ORIGIN_HEADS, "HEAD requests to origins"),
            counter(CounterNames.ORIGIN_BYTES, "Bytes read from origins"),
            counter(CounterNames.EXTRA_BYTES, "Bytes read from origins beyond the requested ones: alignment to blocks, preloads"),
            counter(CounterNames.ORIGIN_ERRORS, "Requests to origins that failed"),
            counter(CounterNames.ORIGIN_THROTTLED, "Requests to origins that were throttled"),
            counter(CounterNames.ORIGIN_RETRIES, "Retried requests to origins"),
            counter(CounterNames.ORIGIN_LOCATIONS_REFUSED, "Block reads refused because their origin does not allow the location"),
            gauge(CounterNames.FETCH_REQUESTS, "Requests to origins in progress"),
            gauge(CounterNames.FETCH_QUEUED_BLOCKS, "Blocks waiting for a request to the origin"),
            gauge(CounterNames.FETCH_REQUEST_LIMIT, "Lowest current request limit of any bucket; 0 before the first request"),
            counter(CounterNames.OVERLOADED_FETCH_QUEUE, "Block reads rejected because the request queue of their bucket was full"),
            counter(CounterNames.OVERLOADED_LOAD_QUEUE, "Block reads rejected because the read queue of the SSD tier was full"),
            counter(CounterNames.OVERLOADED_FRAMES, "Block reads rejected because the RAM tier had no free frame"),
            counter(CounterNames.OVERLOADED_HEAP, "Block reads rejected because the heap for blocks outside the RAM tier was full"),
            counter(CounterNames.OVERLOADED_REQUESTS, "Block reads rejected because a connection had too many open requests"),
            counter(CounterNames.SENT_BYTES, "Bytes of blocks sent over connections: to other hosts, and to local readers without shared memory"),
            counter(CounterNames.FILLS_REJECTED, "Blocks not kept or not loaded from SSD because the RAM tier had no free frame"),
            counter(CounterNames.GUEST_BLOCKS_OFFERED, "Guest blocks offered by clients"),
            counter(CounterNames.GUEST_BLOCKS_ACCEPTED, "Guest blocks accepted"),
            counter(CounterNames.GUEST_BLOCKS_REJECTED, "Guest blocks rejected"),
            gauge(CounterNames.GUEST_BYTES, "Bytes of guest blocks: blocks in RAM that other cache workers own"),
            gauge(CounterNames.PINNED_BYTES, "Bytes of blocks of class PINNED"),
            gauge(CounterNames.PINNED_MAX_BYTES, "Limit on pinned bytes: a fraction of the SSD tier, or of the RAM tier when there is no SSD"),
            counter(CounterNames.REJECTED_PINS, "Blocks stored with class HIGH because the limit on pinned bytes was reached"),
            counter(CounterNames.VERSION_CHANGES, "Files replaced at the origin with the same name, length and modification time"),
            counter(CounterNames.HANDOVER_BLOCKS_RECEIVED, "Blocks received from former owners"),
            counter(CounterNames.HANDOVER_BYTES_RECEIVED, "Bytes of blocks received from former owners"),
            counter(CounterNames.HANDOVER_FAILURES, "Failed requests for blocks to former owners"),
            counter(CounterNames.HANDOVER_BLOCKS_SENT, "Blocks sent to new owners while this cache worker was drained"),
            counter(CounterNames.REJECTED_CONNECTIONS, "Connections rejected"),
            counter(CounterNames.REJECTED_REQUESTS, "Requests rejected because the peer may not send them, or because they are not valid"),
            counter(CounterNames.PLAIN_CONNECTIONS, "TCP connections accepted without TLS"),
            gauge(CounterNames.FORMER_SECRET_CONNECTIONS, "Open connections of peers that use another shared secret than the preferred one"),
            optionalGauge(CounterNames.CERTIFICATE_EXPIRY_SECONDS, "Seconds until the certificate of the block port expires; no value without a configured certificate"),
            gauge(CounterNames.CONNECTIONS, "Open connections"),
            counter(CounterNames.ACCEPTED_CONNECTIONS, "Connections accepted since the cache worker process started"),
            gauge(CounterNames.ACTIVE_REQUESTS, "Requests in progress"),
            gauge(CounterNames.REFERENCED_BLOCKS, "Blocks currently being sent"),
            gauge(CounterNames.SIZING_CAPACITY_BYTES, "Current capacity, with which the predictions for other capacities compare"),
            gauge(CounterNames.SIZING_REQUESTED_BYTES, "Bytes of the blocks requested by queries in the last one to two days"),
            gauge(CounterNames.SIZING_DISTINCT_BYTES, "Bytes of distinct blocks among the requested ones, limited to 16 times the capacity"),
            gauge(CounterNames.PROBLEMS, "1 if the cache worker reports a problem, 0 if it is healthy"),
            gauge(CounterNames.sizingHitBytes(25), "Predicted hits in bytes with a quarter of the current capacity"),
            gauge(CounterNames.sizingHitBytes(50), "Predicted hits in bytes with half of the current capacity"),
            gauge(CounterNames.sizingHitBytes(100), "Predicted hits in bytes with exactly the current capacity"),
            gauge(CounterNames.sizingHitBytes(200), "Predicted hits in bytes with 2 times the current capacity"),
            gauge(CounterNames.sizingHitBytes(400), "Predicted hits in bytes with 4 times the current capacity"),
            gauge(CounterNames.sizingHitBytes(800), "Predicted hits in bytes with 8 times the current capacity"),
            gauge(CounterNames.sizingHitBytes(1600), "Predicted hits in bytes with 16 times the current capacity"));

    public enum Type
    {
        /**
         * A metric that only increases.
         */
        COUNTER,
        GAUGE,
    }

    public enum Scope
    {
        /**
         * A metric that clients count per table.
         */
        TABLE,
        /**
         * A metric that the cache worker measures itself.
         */
        WORKER,
    }

    public CacheMetric
    {
        requireNonNull(name, "name is null");
        requireNonNull(type, "type is null");
        requireNonNull(scope, "scope is null");
        requireNonNull(description, "description is null");
    }

    private static CacheMetric table(String name, String description)
    {
        return new CacheMetric(name, Type.COUNTER, Scope.TABLE, description, false);
    }

    private static CacheMetric counter(String name, String description)
    {
        return new CacheMetric(name, Type.COUNTER, Scope.WORKER, description, false);
    }

    private static CacheMetric gauge(String name, String description)
    {
        return new CacheMetric(name, Type.GAUGE, Scope.WORKER, description, false);
    }

    private static CacheMetric optionalGauge(String name, String description)
    {
        return new CacheMetric(name, Type.GAUGE, Scope.WORKER, description, true);
    }
}
