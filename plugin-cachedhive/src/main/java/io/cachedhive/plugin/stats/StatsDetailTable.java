package io.cachedhive.plugin.stats;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.plugin.table.CacheTable;
import io.cachedhive.protocol.wire.CounterNames;
import io.trino.spi.block.SqlMap;
import io.trino.spi.type.MapType;
import io.trino.spi.type.TypeManager;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.block.MapValueBuilder.buildMapValue;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class StatsDetailTable
        extends CacheTable<WorkerReport>
{
    private final WorkerReports reports;

    @Inject
    StatsDetailTable(WorkerReports reports, TypeManager typeManager)
    {
        super("stats_detail", "Detailed counters and capacities of the cache workers", columns(new MapType(VARCHAR, BIGINT, typeManager.getTypeOperators())));
        this.reports = requireNonNull(reports, "reports is null");
    }

    private static List<Column<WorkerReport>> columns(MapType bytesByCause)
    {
        return ImmutableList.<Column<WorkerReport>>builder()
                .add(Column.ofOptional("node_id", VARCHAR, "Cache worker id; NULL if no cache worker has ever answered on this host", WorkerReport::nodeId))
                .add(Column.of("host", VARCHAR, "Host of the cache worker", report -> report.place().address().host()))
                .add(counter(CounterNames.REQUESTED_BYTES, "Bytes requested by queries, counted independently of their source"))
                .add(counter(CounterNames.RAM_HIT_REQUESTS, "Reads with bytes from the local RAM tier"))
                .add(counter(CounterNames.SSD_HIT_REQUESTS, "Reads with bytes from the local SSD tier"))
                .add(counter(CounterNames.NON_LOCAL_HIT_REQUESTS, "Reads with bytes from cache workers of other hosts"))
                .add(counter(CounterNames.REMOTE_READ_REQUESTS, "Reads with bytes from the origin into the cache"))
                .add(counter(CounterNames.BYPASS_REQUESTS, "Reads with bytes from the origin, bypassing the cache"))
                .add(Column.ofOptional("bypass_bytes_by_cause", bytesByCause, "Bytes read from the origin, bypassing the cache, by cause",
                        report -> report.stats().map(_ -> toMap(bytesByCause, report.bypassBytesByCause()))))
                .add(counter(CounterNames.HEDGES, "Hedged reads: requests sent to the origin because a cache worker did not answer in time"))
                .add(counter(CounterNames.HEDGES_WON, "Hedged reads that the origin answered first"))
                .add(counter(CounterNames.HEDGE_EXTRA_BYTES, "Bytes requested from the origin by hedged reads that lost"))
                .add(counter(CounterNames.CROSS_ZONE_BYTES, "Bytes read from cache workers of other zones; also counted as non-local hits or remote reads"))
                .add(counter(CounterNames.VERIFIED_BYTES, "Bytes of hits that were verified against the origin"))
                .add(counter(CounterNames.VERIFY_MISMATCHES, "Verified hits whose bytes differed from the origin"))
                .add(gauge(CounterNames.RAM_CAPACITY_BYTES, "Capacity of the RAM tier"))
                .add(gauge(CounterNames.SSD_CAPACITY_BYTES, "Capacity of the SSD tier"))
                .add(gauge(CounterNames.RAM_BLOCKS, "Blocks in the RAM tier"))
                .add(gauge(CounterNames.SSD_BLOCKS, "Blocks in the SSD tier"))
                .add(gauge(CounterNames.SENT_BYTES, "Bytes of blocks sent over connections: to other hosts, and to local readers without shared memory"))
                .add(gauge(CounterNames.GUEST_BYTES, "Bytes of guest blocks: blocks in RAM that other cache workers own"))
                .add(gauge(CounterNames.PINNED_BYTES, "Bytes of blocks of class PINNED"))
                .add(gauge(CounterNames.PINNED_MAX_BYTES, "Limit on pinned bytes: a fraction of the SSD tier, or of the RAM tier when there is no SSD"))
                .add(gauge(CounterNames.REJECTED_PINS, "Blocks stored with class HIGH because the limit on pinned bytes was reached"))
                .add(gauge(CounterNames.GUEST_BLOCKS_OFFERED, "Guest blocks offered by clients"))
                .add(gauge(CounterNames.GUEST_BLOCKS_ACCEPTED, "Guest blocks accepted"))
                .add(gauge(CounterNames.GUEST_BLOCKS_REJECTED, "Guest blocks rejected"))
                .add(gauge(CounterNames.RESTORED_BLOCKS, "Blocks restored when the cache worker started"))
                .add(gauge(CounterNames.RAM_EVICTIONS, "Blocks evicted from the RAM tier"))
                .add(gauge(CounterNames.SSD_EVICTIONS, "Blocks evicted from the SSD tier"))
                .add(gauge(CounterNames.EXPIRED_BLOCKS, "Blocks removed because they expired"))
                .add(gauge(CounterNames.CORRUPT_BLOCKS, "Blocks dropped because their checksum did not match"))
                .add(gauge(CounterNames.QUARANTINED_FILES, "File versions dropped because the origin had different bytes"))
                .add(gauge(CounterNames.SSD_DIRECTORIES_OFFLINE, "SSD directories that are offline or do not accept blocks"))
                .add(gauge(CounterNames.SSD_ERRORS_NO_SPACE, "SSD operations that failed because a file system was full"))
                .add(gauge(CounterNames.SSD_ERRORS_READ_ONLY, "SSD operations that failed because a file system was read-only"))
                .add(gauge(CounterNames.SSD_ERRORS_IO_ERROR, "SSD operations that failed with an I/O error"))
                .add(gauge(CounterNames.SSD_ERRORS_SLOW, "SSD operations that took longer than a read from the origin"))
                .add(gauge(CounterNames.SSD_ERRORS_OTHER, "SSD operations that failed for another reason"))
                .add(gauge(CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED, "Blocks kept in RAM only because they were requested less often than the blocks on SSD"))
                .add(gauge(CounterNames.SSD_WRITES_REJECTED_QUEUE_FULL, "Blocks kept in RAM only because the write queue of the SSD tier was full"))
                .add(gauge(CounterNames.SSD_WRITES_REJECTED_OFFLINE, "Blocks kept in RAM only because their SSD directory was offline"))
                .add(gauge(CounterNames.SSD_WRITES_REJECTED_NO_SPACE, "Blocks kept in RAM only because no block on SSD could be evicted"))
                .add(gauge(CounterNames.ORIGIN_GETS, "GET requests to origins"))
                .add(gauge(CounterNames.ORIGIN_HEADS, "HEAD requests to origins"))
                .add(gauge(CounterNames.ORIGIN_BYTES, "Bytes read from origins"))
                .add(gauge(CounterNames.EXTRA_BYTES, "Bytes read from origins beyond the requested ones: alignment to blocks, preloads"))
                .add(gauge(CounterNames.ORIGIN_ERRORS, "Requests to origins that failed"))
                .add(gauge(CounterNames.ORIGIN_THROTTLED, "Requests to origins that were throttled"))
                .add(gauge(CounterNames.ORIGIN_RETRIES, "Retried requests to origins"))
                .add(gauge(CounterNames.FETCH_REQUESTS, "Requests to origins in progress"))
                .add(gauge(CounterNames.FETCH_QUEUED_BLOCKS, "Blocks waiting for a request to the origin"))
                .add(gauge(CounterNames.OVERLOADED_FETCH_QUEUE, "Block reads rejected because the request queue of their bucket was full"))
                .add(gauge(CounterNames.OVERLOADED_LOAD_QUEUE, "Block reads rejected because the read queue of the SSD tier was full"))
                .add(gauge(CounterNames.OVERLOADED_FRAMES, "Block reads rejected because the RAM tier had no free frame"))
                .add(gauge(CounterNames.OVERLOADED_HEAP, "Block reads rejected because the heap for blocks outside the RAM tier was full"))
                .add(gauge(CounterNames.OVERLOADED_REQUESTS, "Block reads rejected because a connection had too many open requests"))
                .add(gauge(CounterNames.VERSION_CHANGES, "Files replaced at the origin with the same name, length and modification time"))
                .add(gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED, "Blocks received from former owners"))
                .add(gauge(CounterNames.HANDOVER_BYTES_RECEIVED, "Bytes of blocks received from former owners"))
                .add(gauge(CounterNames.HANDOVER_FAILURES, "Failed requests for blocks to former owners"))
                .add(gauge(CounterNames.HANDOVER_BLOCKS_SENT, "Blocks sent to new owners while this cache worker was drained"))
                .add(gauge(CounterNames.REJECTED_CONNECTIONS, "Connections rejected"))
                .add(gauge(CounterNames.CONNECTIONS, "Open connections"))
                .add(gauge(CounterNames.ACCEPTED_CONNECTIONS, "Connections accepted since the cache worker process started"))
                .add(gauge(CounterNames.ACTIVE_REQUESTS, "Requests in progress"))
                .add(gauge(CounterNames.REFERENCED_BLOCKS, "Blocks currently being sent"))
                .build();
    }

    @Override
    protected List<WorkerReport> rows()
    {
        return reports.ask();
    }

    private static Column<WorkerReport> counter(String name, String comment)
    {
        return Column.ofOptional(name, BIGINT, comment, report -> report.counter(name));
    }

    private static Column<WorkerReport> gauge(String name, String comment)
    {
        return Column.ofOptional(name, BIGINT, comment, report -> report.gauge(name));
    }

    private static SqlMap toMap(MapType type, Map<String, Long> values)
    {
        return buildMapValue(type, values.size(), (keys, counts) -> new TreeMap<>(values).forEach((key, count) -> {
            VARCHAR.writeSlice(keys, utf8Slice(key));
            BIGINT.writeLong(counts, count);
        }));
    }
}
