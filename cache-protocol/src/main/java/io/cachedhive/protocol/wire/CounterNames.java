package io.cachedhive.protocol.wire;

/**
 * The names of counters and gauges, on the wire and in the worker's HTTP API. A reader ignores names that it does not know.
 */
public final class CounterNames
{
    // counted by clients, by table: every byte that a query asks for is exactly one of the five sources
    public static final String REQUESTS = "requests";
    /**
     * Counted by a wrapper that knows no sources.
     */
    public static final String REQUESTED_BYTES = "requested_bytes";
    public static final String RAM_HIT_BYTES = "ram_hit_bytes";
    public static final String SSD_HIT_BYTES = "ssd_hit_bytes";
    public static final String NON_LOCAL_HIT_BYTES = "non_local_hit_bytes";
    public static final String REMOTE_READ_BYTES = "remote_read_bytes";
    public static final String BYPASS_BYTES = "bypass_bytes";
    public static final String RAM_HIT_REQUESTS = "ram_hit_requests";
    public static final String SSD_HIT_REQUESTS = "ssd_hit_requests";
    public static final String NON_LOCAL_HIT_REQUESTS = "non_local_hit_requests";
    public static final String REMOTE_READ_REQUESTS = "remote_read_requests";
    public static final String BYPASS_REQUESTS = "bypass_requests";
    /**
     * Followed by a cause in lower case: {@code bypass_bytes_timeout}.
     */
    public static final String BYPASS_BYTES_PREFIX = "bypass_bytes_";

    /**
     * Reads for which the origin was asked beside a worker that was silent for too long.
     */
    public static final String HEDGES = "hedges";
    /**
     * Hedged reads that the origin answered first.
     */
    public static final String HEDGES_WON = "hedges_won";
    /**
     * Bytes asked of the origin by hedges whose worker answered first.
     */
    public static final String HEDGE_EXTRA_BYTES = "hedge_extra_bytes";

    /**
     * Bytes that came from workers of other zones, whether they had them or fetched them. They are non-local hits or remote reads as well.
     */
    public static final String CROSS_ZONE_BYTES = "cross_zone_bytes";

    /**
     * Bytes of hits that were verified against the origin.
     */
    public static final String VERIFIED_BYTES = "verified_bytes";
    /**
     * Verified hits whose bytes differed from the origin.
     */
    public static final String VERIFY_MISMATCHES = "verify_mismatches";

    // gauges and counters of the whole worker
    public static final String RAM_CAPACITY_BYTES = "ram_capacity_bytes";
    public static final String RAM_USED_BYTES = "ram_used_bytes";
    public static final String SSD_CAPACITY_BYTES = "ssd_capacity_bytes";
    public static final String SSD_USED_BYTES = "ssd_used_bytes";
    public static final String RAM_BLOCKS = "ram_blocks";
    public static final String SSD_BLOCKS = "ssd_blocks";
    public static final String RESTORED_BLOCKS = "restored_blocks";
    public static final String RAM_EVICTIONS = "ram_evictions";
    public static final String SSD_EVICTIONS = "ssd_evictions";
    public static final String EXPIRED_BLOCKS = "expired_blocks";
    public static final String CORRUPT_BLOCKS = "corrupt_blocks";
    /**
     * File versions that were dropped because the origin had other bytes.
     */
    public static final String QUARANTINED_FILES = "quarantined_files";
    /**
     * SSD directories that are offline or do not accept blocks.
     */
    public static final String SSD_DIRECTORIES_OFFLINE = "ssd_directories_offline";
    // calls to the disks of the SSD tier that did not do what they should, by cause
    public static final String SSD_ERRORS_NO_SPACE = "ssd_errors_no_space";
    public static final String SSD_ERRORS_READ_ONLY = "ssd_errors_read_only";
    public static final String SSD_ERRORS_IO_ERROR = "ssd_errors_io_error";
    public static final String SSD_ERRORS_SLOW = "ssd_errors_slow";
    public static final String SSD_ERRORS_OTHER = "ssd_errors_other";
    // blocks that were kept in RAM only, by cause
    public static final String SSD_WRITES_REJECTED_NOT_ADMITTED = "ssd_writes_rejected_not_admitted";
    public static final String SSD_WRITES_REJECTED_QUEUE_FULL = "ssd_writes_rejected_queue_full";
    public static final String SSD_WRITES_REJECTED_OFFLINE = "ssd_writes_rejected_offline";
    public static final String SSD_WRITES_REJECTED_NO_SPACE = "ssd_writes_rejected_no_space";
    public static final String ORIGIN_GETS = "origin_gets";
    public static final String ORIGIN_HEADS = "origin_heads";
    public static final String ORIGIN_BYTES = "origin_bytes";
    /**
     * Bytes fetched beyond what was asked for: alignment to blocks, preload.
     */
    public static final String EXTRA_BYTES = "extra_bytes";
    public static final String ORIGIN_ERRORS = "origin_errors";
    /**
     * Requests to origins that were throttled.
     */
    public static final String ORIGIN_THROTTLED = "origin_throttled";
    /**
     * Requests that were made again.
     */
    public static final String ORIGIN_RETRIES = "origin_retries";
    /**
     * Requests for blocks under way.
     */
    public static final String FETCH_REQUESTS = "fetch_requests";
    /**
     * Blocks waiting for a request to the origin.
     */
    public static final String FETCH_QUEUED_BLOCKS = "fetch_queued_blocks";
    // blocks that were refused to readers, by what was full
    public static final String OVERLOADED_FETCH_QUEUE = "overloaded_fetch_queue";
    public static final String OVERLOADED_LOAD_QUEUE = "overloaded_load_queue";
    public static final String OVERLOADED_FRAMES = "overloaded_frames";
    public static final String OVERLOADED_HEAP = "overloaded_heap";
    public static final String OVERLOADED_REQUESTS = "overloaded_requests";
    /**
     * Bytes of blocks sent over connections: to other hosts, and to local readers without shared memory.
     */
    public static final String SENT_BYTES = "sent_bytes";
    // blocks of other workers' that clients offered to be kept, and what became of them
    public static final String GUEST_BLOCKS_OFFERED = "guest_blocks_offered";
    public static final String GUEST_BLOCKS_ACCEPTED = "guest_blocks_accepted";
    public static final String GUEST_BLOCKS_REJECTED = "guest_blocks_rejected";
    /**
     * RAM that guests take.
     */
    public static final String GUEST_BYTES = "guest_bytes";
    /**
     * Bytes of blocks of class PINNED, how many there may be, and blocks for which there was no room among them.
     */
    public static final String PINNED_BYTES = "pinned_bytes";
    public static final String PINNED_MAX_BYTES = "pinned_max_bytes";
    public static final String REJECTED_PINS = "rejected_pins";
    public static final String VERSION_CHANGES = "version_changes";
    // blocks that came from workers that owned them before, on a miss or since one of them was drained
    public static final String HANDOVER_BLOCKS_RECEIVED = "handover_blocks_received";
    public static final String HANDOVER_BYTES_RECEIVED = "handover_bytes_received";
    /**
     * Failed requests for blocks to former owners.
     */
    public static final String HANDOVER_FAILURES = "handover_failures";
    /**
     * Blocks that their new owners took when this worker was drained.
     */
    public static final String HANDOVER_BLOCKS_SENT = "handover_blocks_sent";
    public static final String REJECTED_CONNECTIONS = "rejected_connections";
    public static final String CONNECTIONS = "connections";
    /**
     * Connections since the start of the process: grows when clients reconnect.
     */
    public static final String ACCEPTED_CONNECTIONS = "accepted_connections";
    /**
     * Requests without their last answer.
     */
    public static final String ACTIVE_REQUESTS = "active_requests";
    /**
     * Blocks that cannot be evicted at the moment, since an answer is being sent from them.
     */
    public static final String REFERENCED_BLOCKS = "referenced_blocks";

    /**
     * The capacity that the following compare with.
     */
    public static final String SIZING_CAPACITY_BYTES = "sizing_capacity_bytes";
    /**
     * Bytes of the blocks requested by queries in the last one to two days.
     */
    public static final String SIZING_REQUESTED_BYTES = "sizing_requested_bytes";
    /**
     * Bytes of different blocks among them.
     */
    public static final String SIZING_DISTINCT_BYTES = "sizing_distinct_bytes";

    private CounterNames() {}

    /**
     * The bytes of {@link #SIZING_REQUESTED_BYTES} that a cache of another capacity would have had.
     *
     * @param percent of the capacity
     */
    public static String sizingHitBytes(int percent)
    {
        return "sizing_hit_bytes_at_%s_percent".formatted(percent);
    }
}
