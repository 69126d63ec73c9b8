package io.cachedhive.benchmark.queries;

import io.cachedhive.testing.cluster.tpch.TpchQuery;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

import static java.util.Objects.requireNonNull;

/**
 * Queries over tables, which one or several clients run.
 *
 * @param tables of which the queries read some
 * @param passes returns the queries of a pass by its number
 * @param streams clients that run the queries, each one a part of them
 * @param steady whether all runs read the same tables, and only warm passes are measured. A cache that is too small for
 *         the tables holds what was read often, so new tables in each run would measure how fast it forgets the old ones
 */
public record Workload(String name, List<BaseTable> tables, IntFunction<List<Query>> passes, int streams, boolean steady)
{
    private static final int DASHBOARD_QUERIES = 50;
    // a scan of one copy takes a second, of which most is not reading
    private static final int WIDE_COPIES = 4;
    private static final int POPULAR_TABLES = 32;
    private static final int POPULAR_QUERIES = 32;
    private static final List<String> SHIP_MODES = List.of("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK");
    private static final List<String> RETURN_FLAGS = List.of("A", "N", "R");

    public Workload
    {
        requireNonNull(name, "name is null");
        tables = List.copyOf(tables);
        requireNonNull(passes, "passes is null");
        int queries = passes.apply(0).size();
        if (streams < 1 || streams > queries) {
            throw new IllegalArgumentException("workload %s has %s streams for %s queries".formatted(name, streams, queries));
        }
    }

    /**
     * Creates a workload with the same queries in each pass.
     */
    private static Workload of(String name, List<BaseTable> tables, List<Query> queries, int streams)
    {
        List<Query> copy = List.copyOf(queries);
        return new Workload(name, tables, _ -> copy, streams, false);
    }

    /**
     * Returns the phase that is measured last.
     */
    Phase lastPhase()
    {
        return steady ? Phase.WARM : Phase.HOST_REPLACED;
    }

    /**
     * @param sql names tables without catalog and schema
     * @param orderBy columns of the result by which it is ordered
     * @param limit of the number of rows
     */
    public record Query(String name, String sql, List<String> orderBy, OptionalInt limit)
    {
        public Query
        {
            requireNonNull(name, "name is null");
            requireNonNull(sql, "sql is null");
            orderBy = List.copyOf(orderBy);
            requireNonNull(limit, "limit is null");
        }

        private static Query of(String name, String sql)
        {
            return new Query(name, sql, List.of(), OptionalInt.empty());
        }

        private static Query of(TpchQuery query)
        {
            return new Query(query.name(), query.sql(), query.orderBy(), query.limit());
        }
    }

    /**
     * Returns all workloads.
     */
    public static List<Workload> all(Scale scale)
    {
        List<Query> tpch = TpchQuery.all().stream().filter(query -> query.number() % scale.everyTpchQuery() == 1 % scale.everyTpchQuery()).map(Query::of).toList();
        List<Workload> workloads = new ArrayList<>();
        workloads.add(Workload.of("tpch-orc", BaseTable.tpch("orc"), tpch, 1));
        workloads.add(Workload.of("tpch-parquet", BaseTable.tpch("parquet"), tpch, 1));
        workloads.add(new Workload("popular", popularTables(), Workload::popular, 1, true));
        workloads.add(Workload.of("wide", List.of(BaseTable.tpch("orc", "lineitem").withCopies(WIDE_COPIES)), List.of(Query.of("wide", scan("lineitem"))), 1));
        workloads.add(Workload.of("needle", List.of(BaseTable.manyFiles()), needles(), 1));
        for (int streams : new int[] {1, 4, 8}) {
            workloads.add(Workload.of("dashboard-" + streams, List.of(BaseTable.tpch("orc", "lineitem")), dashboard(), streams));
        }
        workloads.add(Workload.of(
                "small-files",
                List.of(BaseTable.smallFiles(scale.smallFiles())),
                List.of(Query.of("small", "SELECT count(*), sum(custkey), max(comment) FROM small_files")),
                1));
        workloads.add(Workload.of("text", List.of(BaseTable.text()), List.of(Query.of("text", "SELECT count(*), sum(quantity), max(comment), max(shipdate) FROM text_lines")), 1));
        return workloads;
    }

    private static List<BaseTable> popularTables()
    {
        BaseTable lineitem = BaseTable.tpch("orc", "lineitem");
        return IntStream.range(0, POPULAR_TABLES).mapToObj(table -> lineitem.withCopyName(popularTable(table))).toList();
    }

    private static String popularTable(int table)
    {
        return "lineitem_%02d".formatted(table);
    }

    /**
     * A few tables often and the others now and then, by Zipf's law: what a cache is for that has no room for everything.
     */
    private static List<Query> popular(int pass)
    {
        // nearby seeds are as good as others here
        SplittableRandom random = new SplittableRandom(pass);
        double[] weights = IntStream.rangeClosed(1, POPULAR_TABLES).mapToDouble(rank -> 1.0 / rank).toArray();
        double sum = DoubleStream.of(weights).sum();
        List<Query> drawn = new ArrayList<>();
        for (int i = 0; i < POPULAR_QUERIES; i++) {
            double left = random.nextDouble(sum);
            int table = 0;
            while (table < weights.length - 1 && left >= weights[table]) {
                left -= weights[table];
                table++;
            }
            drawn.add(Query.of("%02d-%s".formatted(i, popularTable(table)), scan(popularTable(table))));
        }
        return drawn;
    }

    private static String scan(String table)
    {
        return "SELECT count(*), sum(l_orderkey), sum(l_partkey), sum(l_suppkey), sum(l_linenumber), sum(l_quantity), sum(l_extendedprice), sum(l_discount), sum(l_tax), " +
                "max(l_returnflag), max(l_linestatus), max(l_shipdate), max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), max(l_shipmode), max(l_comment) FROM " + table;
    }

    // one row each, of a file that can be found by its statistics only
    private static List<Query> needles()
    {
        List<Query> queries = new ArrayList<>();
        for (int key : new int[] {1, 7_000, 31_009, 44_001, 59_999}) {
            queries.add(Query.of("key-" + key, "SELECT custkey, totalprice, comment FROM many_files WHERE orderkey = " + key));
        }
        return queries;
    }

    // the same in each pass, as the panels of a dashboard are
    private static List<Query> dashboard()
    {
        SplittableRandom random = new SplittableRandom(1);
        List<Query> queries = new ArrayList<>();
        for (int i = 0; i < DASHBOARD_QUERIES; i++) {
            int month = random.nextInt(1, 13);
            String sql = switch (i % 3) {
                case 0 -> "SELECT count(*), sum(l_extendedprice) FROM lineitem WHERE l_returnflag = '%s' AND l_shipmode = '%s'".formatted(
                        RETURN_FLAGS.get(random.nextInt(RETURN_FLAGS.size())),
                        SHIP_MODES.get(random.nextInt(SHIP_MODES.size())));
                case 1 -> "SELECT l_linestatus, avg(l_discount) FROM lineitem WHERE l_shipdate BETWEEN DATE '1995-%1$02d-01' AND DATE '1995-%1$02d-20' GROUP BY 1".formatted(month);
                default -> "SELECT l_shipmode, max(l_quantity) FROM lineitem WHERE l_returnflag = 'R' AND l_suppkey < %s GROUP BY 1".formatted(100 * month);
            };
            queries.add(Query.of("panel-%02d".formatted(i), sql));
        }
        return queries;
    }
}
