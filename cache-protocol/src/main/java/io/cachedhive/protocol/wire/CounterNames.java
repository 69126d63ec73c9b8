package io.cachedhive.protocol.wire;

/**
 * The names of counters and gauges, on the wire and in the HTTP API of the cache worker. {@link CacheMetric} describes
 * them. Readers ignore unknown names.
 */
public final class CounterNames
{
    public static final String REQUESTS = "requests";
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
     * The prefix of a cause in lower case: {@code bypass_bytes_timeout}.
     */
    public static final String BYPASS_BYTES_PREFIX = "bypass_bytes_";

    public static final String HEDGES = "hedges";
    public static final String HEDGES_WON = "hedges_won";
    public static final String HEDGE_EXTRA_BYTES = "hedge_extra_bytes";

    public static final String CROSS_ZONE_BYTES = "cross_zone_bytes";

    public static final String VERIFIED_BYTES = "verified_bytes";
    public static final String VERIFY_MISMATCHES = "verify_mismatches";

    public static final String RAM_CAPACITY_BYTES = "ram_capacity_bytes";
    public static final String RAM_ALLOCATED_BYTES = "ram_allocated_bytes";
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
    public static final String QUARANTINED_FILES = "quarantined_files";
    public static final String RELEASED_FILES = "released_files";
    public static final String RELEASED_BLOCKS = "released_blocks";
    public static final String RELEASED_BYTES = "released_bytes";
    public static final String SSD_DIRECTORIES_OFFLINE = "ssd_directories_offline";
    public static final String SSD_ERRORS_NO_SPACE = "ssd_errors_no_space";
    public static final String SSD_ERRORS_READ_ONLY = "ssd_errors_read_only";
    public static final String SSD_ERRORS_IO_ERROR = "ssd_errors_io_error";
    public static final String SSD_ERRORS_SLOW = "ssd_errors_slow";
    public static final String SSD_ERRORS_OTHER = "ssd_errors_other";
    public static final String SSD_WRITES_REJECTED_NOT_ADMITTED = "ssd_writes_rejected_not_admitted";
    public static final String SSD_WRITES_REJECTED_QUEUE_FULL = "ssd_writes_rejected_queue_full";
    public static final String SSD_WRITES_REJECTED_OFFLINE = "ssd_writes_rejected_offline";
    public static final String SSD_WRITES_REJECTED_NO_SPACE = "ssd_writes_rejected_no_space";
    public static final String ORIGIN_GETS = "origin_gets";
    public static final String ORIGIN_HEADS = "origin_heads";
    public static final String ORIGIN_BYTES = "origin_bytes";
    public static final String EXTRA_BYTES = "extra_bytes";
    public static final String ORIGIN_ERRORS = "origin_errors";
    public static final String ORIGIN_THROTTLED = "origin_throttled";
    public static final String ORIGIN_RETRIES = "origin_retries";
    public static final String ORIGIN_LOCATIONS_REFUSED = "origin_locations_refused";
    public static final String FETCH_REQUESTS = "fetch_requests";
    public static final String FETCH_QUEUED_BLOCKS = "fetch_queued_blocks";
    public static final String FETCH_REQUEST_LIMIT = "fetch_request_limit";
    public static final String PROBLEMS = "problems";
    public static final String OVERLOADED_FETCH_QUEUE = "overloaded_fetch_queue";
    public static final String OVERLOADED_LOAD_QUEUE = "overloaded_load_queue";
    public static final String OVERLOADED_FRAMES = "overloaded_frames";
    public static final String OVERLOADED_HEAP = "overloaded_heap";
    public static final String OVERLOADED_REQUESTS = "overloaded_requests";
    public static final String SENT_BYTES = "sent_bytes";
    public static final String FILLS_REJECTED = "fills_rejected";
    public static final String GUEST_BLOCKS_OFFERED = "guest_blocks_offered";
    public static final String GUEST_BLOCKS_ACCEPTED = "guest_blocks_accepted";
    public static final String GUEST_BLOCKS_REJECTED = "guest_blocks_rejected";
    public static final String GUEST_BYTES = "guest_bytes";
    public static final String PINNED_BYTES = "pinned_bytes";
    public static final String PINNED_MAX_BYTES = "pinned_max_bytes";
    public static final String REJECTED_PINS = "rejected_pins";
    public static final String VERSION_CHANGES = "version_changes";
    public static final String HANDOVER_BLOCKS_RECEIVED = "handover_blocks_received";
    public static final String HANDOVER_BYTES_RECEIVED = "handover_bytes_received";
    public static final String HANDOVER_FAILURES = "handover_failures";
    public static final String HANDOVER_BLOCKS_SENT = "handover_blocks_sent";
    public static final String REJECTED_CONNECTIONS = "rejected_connections";
    public static final String REJECTED_REQUESTS = "rejected_requests";
    public static final String PLAIN_CONNECTIONS = "plain_connections";
    public static final String FORMER_SECRET_CONNECTIONS = "former_secret_connections";
    public static final String CERTIFICATE_EXPIRY_SECONDS = "certificate_expiry_seconds";
    public static final String CONNECTIONS = "connections";
    public static final String ACCEPTED_CONNECTIONS = "accepted_connections";
    public static final String ACTIVE_REQUESTS = "active_requests";
    public static final String REFERENCED_BLOCKS = "referenced_blocks";

    public static final String SIZING_CAPACITY_BYTES = "sizing_capacity_bytes";
    public static final String SIZING_REQUESTED_BYTES = "sizing_requested_bytes";
    public static final String SIZING_DISTINCT_BYTES = "sizing_distinct_bytes";

    private CounterNames() {}

    /**
     * Returns the name of the gauge for predicted hits, out of {@link #SIZING_REQUESTED_BYTES}, with another capacity.
     *
     * @param percent the capacity relative to the current one
     */
    public static String sizingHitBytes(int percent)
    {
        return "sizing_hit_bytes_at_%s_percent".formatted(percent);
    }
}
