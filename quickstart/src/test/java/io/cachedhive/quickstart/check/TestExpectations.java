package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.s3.S3Operation;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.ResultColumn;
import io.cachedhive.testing.cluster.statistics.BytesBySource;
import io.cachedhive.testing.cluster.tpch.TpchQuery;
import io.cachedhive.testing.cluster.tpch.TpchTables.Schema;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

import static io.cachedhive.testing.cluster.s3.S3Operation.GET_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.HEAD_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.LIST_OBJECTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

final class TestExpectations
{
    private static final QueryTask ONE = new QueryTask(Schema.ORC, new TpchQuery(1, "SELECT 1", List.of("n"), OptionalInt.empty()));
    private static final QueryTask TWO = new QueryTask(Schema.PARQUET, new TpchQuery(2, "SELECT 2", List.of(), OptionalInt.empty()));

    private final List<String> reports = new ArrayList<>();
    private final Expectations expectations = new Expectations(reports::add);

    @Test
    void testSameRows()
    {
        expectations.sameRows(run("plain", query(ONE, 1L, 2L), query(TWO, 1L, 2L)), run("second run", query(ONE, 1L, 2L), query(TWO, 2L, 1L)));
        assertThat(expectations.failures()).isEmpty();
        assertThat(reports).containsExactly("ok      second run: the rows of plain (2 queries return them)");

        expectations.sameRows(run("plain", query(ONE, 1L, 2L), query(TWO, 1L)), run("second run", query(ONE, 2L, 1L), query(TWO, 3L)));
        assertThat(expectations.failures()).containsExactly("expected second run: the rows of plain; "
                + "seen: 2 do not: tpch_orc q01: row 1 is [2] where the order expects [1]; tpch_parquet q02: row [1] is missing");
        assertThat(reports.getLast()).startsWith("FAILED  expected second run: the rows of plain; seen: 2 do not");
        assertThat(expectations.count()).isEqualTo(2);
    }

    @Test
    void testRowsOfFewerQueries()
    {
        expectations.sameRows(run("plain", query(ONE, 1L), query(TWO, 2L)), run("few", query(TWO, 2L)));
        assertThat(expectations.failures()).isEmpty();
        assertThatThrownBy(() -> expectations.sameRows(run("plain", query(TWO, 2L)), run("more", query(ONE, 2L)))).hasMessage("plain has no tpch_orc q01 to compare with");
    }

    @Test
    void testHasRows()
    {
        expectations.hasRows(run("plain", query(ONE, 1L), query(ONE, 1L), query(ONE, 1L), query(TWO)));
        assertThat(expectations.failures()).isEmpty();
        expectations.hasRows(run("plain", query(ONE, 1L), query(TWO)));
        assertThat(expectations.failures()).containsExactly("expected plain: most queries return rows; seen: no rows of [tpch_parquet q02]");
    }

    @Test
    void testNoDataFileRequests()
    {
        S3Request metastore = request(GET_OBJECT, "warehouse/tpch/lineitem/.trinoSchema", "");
        S3Request list = request(LIST_OBJECTS, null, "list-type=2&prefix=warehouse%2Ftpch%2Flineitem%2F");
        expectations.noDataFileRequests(run("second run", metastore, list));
        assertThat(expectations.failures()).isEmpty();

        expectations.noDataFileRequests(run("second run", metastore, request(GET_OBJECT, "warehouse/tpch/lineitem/file", "")));
        expectations.noDataFileRequests(run("second run", request(HEAD_OBJECT, "warehouse/tpch/lineitem/file", "")));
        assertThat(expectations.failures()).containsExactly(
                "expected second run: 0 GET and 0 HEAD of data files; seen: 1, such as GET lake/warehouse/tpch/lineitem/file bytes=0-9 by agent",
                "expected second run: 0 GET and 0 HEAD of data files; seen: 1, such as HEAD lake/warehouse/tpch/lineitem/file bytes=0-9 by agent");
    }

    @Test
    void testSomeDataFileGets()
    {
        expectations.someDataFileGets(run("first run", request(GET_OBJECT, "warehouse/tpch/lineitem/file", "")));
        assertThat(expectations.failures()).isEmpty();
        expectations.someDataFileGets(run("first run", request(GET_OBJECT, "warehouse/tpch/lineitem/.trinoSchema", ""), request(HEAD_OBJECT, "warehouse/tpch/lineitem/file", "")));
        assertThat(expectations.failures()).containsExactly("expected first run: GETs of data files; seen: none");
    }

    @Test
    void testSameLists()
    {
        S3Request a = request(LIST_OBJECTS, null, "list-type=2&prefix=a%2F");
        S3Request b = request(LIST_OBJECTS, null, "list-type=2&prefix=b%2F");
        expectations.sameLists(run("plain", a, b), run("second run", b, a));
        assertThat(expectations.failures()).isEmpty();
        // as many, but of other prefixes
        expectations.sameLists(run("plain", a, b), run("second run", a, a));
        expectations.sameLists(run("plain", a), run("second run", a, a));
        assertThat(expectations.failures()).containsExactly(
                "expected second run: the LISTs of plain; seen: 2 LISTs where 2 were expected: lake/a/ 2 times instead of 1, lake/b/ 0 times instead of 1",
                "expected second run: the LISTs of plain; seen: 2 LISTs where 1 were expected: lake/a/ 2 times instead of 1");
    }

    @Test
    void testSourcesSumToRequested()
    {
        expectations.sourcesSumToRequested(run(new BytesBySource(1, 2, 3, 4, 5, 15)));
        assertThat(expectations.failures()).isEmpty();
        expectations.sourcesSumToRequested(run(new BytesBySource(1, 2, 3, 4, 5, 16)));
        // nothing was counted at all
        expectations.sourcesSumToRequested(run(new BytesBySource(0, 0, 0, 0, 0, 0)));
        assertThat(expectations.failures()).hasSize(2).first().asString().contains("seen: 16 bytes requested, but 15 by source");
    }

    @Test
    void testNonLocal()
    {
        expectations.nonLocalAtMost(run(new BytesBySource(90, 5, 5, 0, 0, 100)), 0.05);
        expectations.someNonLocal(run(new BytesBySource(90, 5, 5, 0, 0, 100)));
        assertThat(expectations.failures()).isEmpty();
        expectations.nonLocalAtMost(run(new BytesBySource(89, 5, 6, 0, 0, 100)), 0.05);
        expectations.nonLocalAtMost(run(new BytesBySource(0, 0, 0, 0, 0, 0)), 0.05);
        expectations.someNonLocal(run(new BytesBySource(90, 10, 0, 0, 0, 100)));
        assertThat(expectations.failures()).hasSize(3).first().asString().startsWith("expected run: non-local bytes at most 5 %; seen: 6.00 %");
    }

    @Test
    void testAllFromCache()
    {
        expectations.allFromCache(run(new BytesBySource(1, 2, 3, 0, 0, 6)));
        assertThat(expectations.failures()).isEmpty();
        expectations.allFromCache(run(new BytesBySource(1, 2, 3, 1, 0, 7)));
        expectations.allFromCache(run(new BytesBySource(1, 2, 3, 0, 1, 7)));
        assertThat(expectations.failures()).hasSize(2);
    }

    @Test
    void testBytesBySource()
    {
        BytesBySource bytes = new BytesBySource(60, 20, 10, 10, 100, 200).minus(new BytesBySource(0, 0, 0, 0, 0, 0));
        assertThat(bytes.served()).isEqualTo(200);
        assertThat(bytes.hitRate()).hasValue(0.9);
        assertThat(bytes.nonLocalShare()).hasValue(0.05);
        assertThat(bytes.minus(bytes).hitRate()).isEmpty();
        assertThat(bytes.minus(bytes).nonLocalShare()).isEmpty();
    }

    private static WorkloadRun run(String name, QueryRun... queries)
    {
        return new WorkloadRun(name, List.of(queries), List.of(), Optional.empty());
    }

    private static WorkloadRun run(String name, S3Request... requests)
    {
        return new WorkloadRun(name, List.of(), List.of(requests), Optional.empty());
    }

    private static WorkloadRun run(BytesBySource bytes)
    {
        return new WorkloadRun("run", List.of(), List.of(), Optional.of(bytes));
    }

    private static QueryRun query(QueryTask task, Object... values)
    {
        List<List<Object>> rows = Arrays.stream(values).map(List::of).toList();
        return new QueryRun(task, new QueryResult(Optional.empty(), List.of(new ResultColumn("n", "bigint")), rows, OptionalLong.empty(), 1), List.of());
    }

    private static S3Request request(S3Operation operation, String key, String query)
    {
        return new S3Request(
                Instant.EPOCH,
                Duration.ZERO,
                operation == HEAD_OBJECT ? "HEAD" : "GET",
                operation,
                Optional.of("lake"),
                Optional.ofNullable(key),
                query,
                key == null ? Optional.empty() : Optional.of("bytes=0-9"),
                Optional.empty(),
                200,
                10,
                S3Request.Outcome.COMPLETED,
                "agent");
    }
}
