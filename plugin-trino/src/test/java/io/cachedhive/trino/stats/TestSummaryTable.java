package io.cachedhive.trino.stats;

import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.trino.stats.ClusterSummary.HitRates;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.predicate.TupleDomain;
import io.trino.testing.TestingConnectorSession;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static org.assertj.core.api.Assertions.assertThat;

class TestSummaryTable
{
    private static final HitRates NO_READS = new HitRates(Optional.empty(), Optional.empty(), Optional.empty());

    @Test
    void testColumns()
    {
        ClusterSummary summary = new ClusterSummary(
                List.of(
                        report("a", "RUNNING", Optional.empty(), 1),
                        report("b", "DRAINING", Optional.of("disk full: remove files"), 10),
                        unreachable("c"),
                        report("d", "RUNNING", Optional.of("no ring"), 100)),
                CacheMode.READ_ONLY,
                Optional.empty(),
                new HitRates(Optional.of(0.25), Optional.of(0.5), Optional.of(0.75)));
        Map<String, Object> expected = new LinkedHashMap<>();
        expected.put("mode", "READ_ONLY");
        expected.put("workers", 2L);
        expected.put("expected_workers", 4L);
        expected.put("workers_with_problem", 3L);
        expected.put("problem", "b: disk full: remove files");
        expected.put("hit_rate_5_minutes", 0.25);
        expected.put("hit_rate_1_hour", 0.5);
        expected.put("hit_rate_24_hours", 0.75);
        expected.put("ram_used_bytes", 111L);
        expected.put("ram_capacity_bytes", 222L);
        expected.put("ssd_used_bytes", 333L);
        expected.put("ssd_capacity_bytes", 444L);
        assertThat(row(summary)).containsExactlyEntriesOf(expected);
    }

    /**
     * What keeps the whole catalog from the cache hides the problems of cache workers.
     */
    @Test
    void testProblemOfCatalogComesFirst()
    {
        ClusterSummary summary = new ClusterSummary(List.of(unreachable("a")), CacheMode.OFF, Optional.of("the mode is OFF"), NO_READS);
        assertThat(row(summary)).containsEntry("problem", "the mode is OFF").containsEntry("mode", "OFF").containsEntry("workers_with_problem", 1L);
    }

    @Test
    void testNothingIsKnown()
    {
        Map<String, Object> row = row(new ClusterSummary(List.of(), CacheMode.ON, Optional.empty(), NO_READS));
        assertThat(row).containsEntry("workers", 0L).containsEntry("expected_workers", 0L).containsEntry("ram_capacity_bytes", 0L);
        for (String name : List.of("problem", "hit_rate_5_minutes", "hit_rate_1_hour", "hit_rate_24_hours")) {
            assertThat(row).containsEntry(name, null);
        }
    }

    /**
     * Each request reads the state again.
     */
    @Test
    void testCurrentState()
    {
        List<ClusterSummary> summaries = List.of(
                new ClusterSummary(List.of(), CacheMode.ON, Optional.empty(), NO_READS),
                new ClusterSummary(List.of(), CacheMode.OFF, Optional.empty(), NO_READS));
        int[] requests = {0};
        SummaryTable table = new SummaryTable(() -> summaries.get(requests[0]++));
        assertThat(row(table)).containsEntry("mode", "ON");
        assertThat(row(table)).containsEntry("mode", "OFF");
    }

    private static Map<String, Object> row(ClusterSummary summary)
    {
        return row(new SummaryTable(() -> summary));
    }

    private static Map<String, Object> row(SummaryTable table)
    {
        List<ColumnMetadata> columns = table.getTableMetadata().getColumns();
        Map<String, Object> row = new LinkedHashMap<>();
        try (RecordCursor cursor = table.cursor(null, TestingConnectorSession.SESSION, TupleDomain.all())) {
            assertThat(cursor.advanceNextPosition()).isTrue();
            for (int field = 0; field < columns.size(); field++) {
                ColumnMetadata column = columns.get(field);
                row.put(column.getName(), value(cursor, field, column));
            }
            assertThat(cursor.advanceNextPosition()).as("one row").isFalse();
        }
        return row;
    }

    private static Object value(RecordCursor cursor, int field, ColumnMetadata column)
    {
        if (cursor.isNull(field)) {
            return null;
        }
        if (column.getType().equals(BIGINT)) {
            return cursor.getLong(field);
        }
        return column.getType().equals(DOUBLE) ? (Object) cursor.getDouble(field) : cursor.getSlice(field).toStringUtf8();
    }

    private static WorkerReport report(String worker, String state, Optional<String> problem, long bytes)
    {
        Pong pong = new Pong(new CacheWorkerId(worker), new Digest128(0, 1), "1", state, 1, Optional.empty(), 0, 0, new RingEpoch(0), 0);
        Map<String, Long> gauges = Map.of(
                CounterNames.RAM_USED_BYTES, bytes,
                CounterNames.RAM_CAPACITY_BYTES, 2 * bytes,
                CounterNames.SSD_USED_BYTES, 3 * bytes,
                CounterNames.SSD_CAPACITY_BYTES, 4 * bytes);
        return new WorkerReport(place(worker), Optional.of(new Stats(pong, 0, Optional.empty(), Map.of(), gauges)), problem);
    }

    private static WorkerReport unreachable(String worker)
    {
        return new WorkerReport(place(worker), Optional.empty(), Optional.of("no answer"));
    }

    private static Place place(String worker)
    {
        return new Place(new WorkerAddress(worker, 1), PlaceState.ANSWERING, Optional.empty(), Optional.empty(), Optional.empty(), 0, Optional.empty(), 0);
    }
}
