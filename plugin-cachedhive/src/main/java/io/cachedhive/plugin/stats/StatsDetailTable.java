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
        super("stats_detail", "Further counters and capacities of cache workers", columns(new MapType(VARCHAR, BIGINT, typeManager.getTypeOperators())));
        this.reports = requireNonNull(reports, "reports is null");
    }

    private static List<Column<WorkerReport>> columns(MapType bytesByCause)
    {
        return ImmutableList.<Column<WorkerReport>>builder()
                .add(Column.ofOptional("node_id", VARCHAR, "Cache worker id; NULL if no cache worker ever answered there", WorkerReport::nodeId))
                .add(Column.of("host", VARCHAR, "Host of the cache worker", report -> report.place().address().host()))
                .add(counter(CounterNames.REQUESTED_BYTES, "Bytes that queries asked for, counted apart from their sources"))
                .add(counter(CounterNames.RAM_HIT_REQUESTS, "Reads with bytes from RAM of the own host"))
                .add(counter(CounterNames.SSD_HIT_REQUESTS, "Reads with bytes from SSD of the own host"))
                .add(counter(CounterNames.NON_LOCAL_HIT_REQUESTS, "Reads with bytes from other hosts' cache workers"))
                .add(counter(CounterNames.REMOTE_READ_REQUESTS, "Reads with bytes from the origin into the cache"))
                .add(counter(CounterNames.BYPASS_REQUESTS, "Reads with bytes from the origin without the cache"))
                .add(Column.ofOptional("bypass_bytes_by_cause", bytesByCause, "Bytes read from the origin without the cache, by cause",
                        report -> report.stats().map(_ -> toMap(bytesByCause, report.bypassBytesByCause()))))
                .add(counter(CounterNames.HEDGES, "Reads for which the origin was asked beside a cache worker that was silent"))
                .add(counter(CounterNames.HEDGES_WON, "Of those, the ones that the origin answered first"))
                .add(counter(CounterNames.HEDGE_EXTRA_BYTES, "Bytes asked of the origin by the others of those"))
                .add(counter(CounterNames.CROSS_ZONE_BYTES, "Bytes that came from cache workers of other zones; they are non-local hits or remote reads as well"))
                .add(counter(CounterNames.VERIFIED_BYTES, "Bytes of hits that were read from the origin once more, and compared"))
                .add(counter(CounterNames.VERIFY_MISMATCHES, "Hits among them that were not what the origin has"))
                .add(gauge(CounterNames.RAM_CAPACITY_BYTES, "Bytes of the RAM tier"))
                .add(gauge(CounterNames.SSD_CAPACITY_BYTES, "Bytes of the SSD tier"))
                .add(gauge(CounterNames.RAM_BLOCKS, "Blocks in RAM"))
                .add(gauge(CounterNames.SSD_BLOCKS, "Blocks on SSD"))
                .add(gauge(CounterNames.SENT_BYTES, "Bytes of blocks sent over connections: to other hosts, and on this one where shared memory does not do"))
                .add(gauge(CounterNames.GUEST_BYTES, "RAM that blocks of other cache workers take"))
                .add(gauge(CounterNames.PINNED_BYTES, "Bytes of the blocks of class pinned"))
                .add(gauge(CounterNames.PINNED_MAX_BYTES, "How many there may be: a share of the SSD tier, without one of the RAM tier"))
                .add(gauge(CounterNames.REFUSED_PINS, "Blocks for which there was no room among them, so that they are of class high"))
                .add(gauge(CounterNames.GUESTS_OFFERED, "Blocks of other cache workers that clients offered"))
                .add(gauge(CounterNames.GUESTS_KEPT, "Of those, the ones that were kept"))
                .add(gauge(CounterNames.GUESTS_REFUSED, "Of those, the ones that were not"))
                .add(gauge(CounterNames.RESTORED_BLOCKS, "Blocks that the cache worker had at its start"))
                .add(gauge(CounterNames.RAM_EVICTIONS, "Blocks that left RAM for others"))
                .add(gauge(CounterNames.SSD_EVICTIONS, "Blocks that left SSD for others"))
                .add(gauge(CounterNames.EXPIRED_BLOCKS, "Blocks that left RAM or SSD since they had expired"))
                .add(gauge(CounterNames.CORRUPT_BLOCKS, "Blocks that did not verify and were dropped"))
                .add(gauge(CounterNames.QUARANTINED_FILES, "File versions dropped because the origin had other bytes"))
                .add(gauge(CounterNames.SSD_DIRECTORIES_OUT, "SSD directories that are not used, or take no blocks"))
                .add(gauge(CounterNames.SSD_ERRORS_NO_SPACE, "Calls to SSDs that failed since a file system was full"))
                .add(gauge(CounterNames.SSD_ERRORS_READ_ONLY, "Calls to SSDs that failed since a file system was read-only"))
                .add(gauge(CounterNames.SSD_ERRORS_IO_ERROR, "Calls to SSDs that failed since a device failed"))
                .add(gauge(CounterNames.SSD_ERRORS_SLOW, "Calls to SSDs that took longer than the origin would have"))
                .add(gauge(CounterNames.SSD_ERRORS_OTHER, "Calls to SSDs that failed for another reason"))
                .add(gauge(CounterNames.REFUSED_SSD_WRITES_NOT_ADMITTED, "Blocks kept in RAM only since they were asked for less often than others"))
                .add(gauge(CounterNames.REFUSED_SSD_WRITES_QUEUE_FULL, "Blocks kept in RAM only since there was too much to write"))
                .add(gauge(CounterNames.REFUSED_SSD_WRITES_OUT_OF_SERVICE, "Blocks kept in RAM only since an SSD directory took none"))
                .add(gauge(CounterNames.REFUSED_SSD_WRITES_NO_ROOM, "Blocks kept in RAM only since nothing on SSD could leave for them"))
                .add(gauge(CounterNames.ORIGIN_GETS, "GET requests to origins"))
                .add(gauge(CounterNames.ORIGIN_HEADS, "HEAD requests to origins"))
                .add(gauge(CounterNames.ORIGIN_BYTES, "Bytes that came from origins"))
                .add(gauge(CounterNames.EXTRA_BYTES, "Bytes that came from origins beyond what was asked for: alignment to blocks, preload"))
                .add(gauge(CounterNames.ORIGIN_ERRORS, "Requests that origins refused or failed"))
                .add(gauge(CounterNames.ORIGIN_THROTTLED, "Requests that origins refused as too many"))
                .add(gauge(CounterNames.ORIGIN_RETRIES, "Requests to origins that were made again"))
                .add(gauge(CounterNames.FETCH_REQUESTS, "Requests for blocks under way"))
                .add(gauge(CounterNames.FETCH_QUEUED_BLOCKS, "Blocks that wait for a request"))
                .add(gauge(CounterNames.OVERLOADED_FETCH_QUEUE, "Blocks refused to readers because too many waited for requests to their bucket"))
                .add(gauge(CounterNames.OVERLOADED_LOAD_QUEUE, "Blocks refused to readers because too many waited to be read from SSD"))
                .add(gauge(CounterNames.OVERLOADED_FRAMES, "Blocks refused to readers because RAM had no room for them"))
                .add(gauge(CounterNames.OVERLOADED_HEAP, "Blocks refused to readers because the heap for blocks without a place in RAM was full"))
                .add(gauge(CounterNames.OVERLOADED_REQUESTS, "Blocks refused to readers because a connection had too many requests without an answer"))
                .add(gauge(CounterNames.VERSION_CHANGES, "Files found changed at the origin under the same name, length and time"))
                .add(gauge(CounterNames.TAKEN_OVER_BLOCKS, "Blocks that came from cache workers that owned them before"))
                .add(gauge(CounterNames.TAKEN_OVER_BYTES, "Bytes of these blocks"))
                .add(gauge(CounterNames.FAILED_TAKE_OVERS, "Times when a former owner did not answer, or not as it should"))
                .add(gauge(CounterNames.HANDED_OVER_BLOCKS, "Blocks that their new owners took when this cache worker was drained"))
                .add(gauge(CounterNames.REFUSED_CONNECTIONS, "Connections refused"))
                .add(gauge(CounterNames.CONNECTIONS, "Connections open"))
                .add(gauge(CounterNames.ACCEPTED_CONNECTIONS, "Connections accepted since the cache worker started"))
                .add(gauge(CounterNames.ACTIVE_REQUESTS, "Requests that the cache worker is answering"))
                .add(gauge(CounterNames.PINNED_BLOCKS, "Blocks that answers are being sent from"))
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
