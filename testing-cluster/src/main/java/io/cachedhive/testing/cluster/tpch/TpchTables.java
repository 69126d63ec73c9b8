package io.cachedhive.testing.cluster.tpch;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The TPC-H tables, written from Trino's tpch connector into two schemas of a Hive catalog: one of ORC and one of Parquet files,
 * with the specification's column names and its decimals.
 * In the ORC schema {@code lineitem} is partitioned by {@code l_returnflag}, in the Parquet schema {@code orders} by {@code o_orderpriority}.
 */
public final class TpchTables
{
    private static final List<Table> TABLES = List.of(
            new Table("region", "r", List.of("regionkey", "name", "comment"), List.of()),
            new Table("nation", "n", List.of("nationkey", "name", "regionkey", "comment"), List.of()),
            new Table("supplier", "s", List.of("suppkey", "name", "address", "nationkey", "phone", "acctbal", "comment"), List.of("acctbal")),
            new Table("customer", "c", List.of("custkey", "name", "address", "nationkey", "phone", "acctbal", "mktsegment", "comment"), List.of("acctbal")),
            new Table("part", "p", List.of("partkey", "name", "mfgr", "brand", "type", "size", "container", "retailprice", "comment"), List.of("retailprice")),
            new Table("partsupp", "ps", List.of("partkey", "suppkey", "availqty", "supplycost", "comment"), List.of("supplycost")),
            new Table(
                    "orders",
                    "o",
                    List.of("orderkey", "custkey", "orderstatus", "totalprice", "orderdate", "orderpriority", "clerk", "shippriority", "comment"),
                    List.of("totalprice")),
            new Table(
                    "lineitem",
                    "l",
                    List.of("orderkey", "partkey", "suppkey", "linenumber", "quantity", "extendedprice", "discount", "tax", "returnflag", "linestatus",
                            "shipdate", "commitdate", "receiptdate", "shipinstruct", "shipmode", "comment"),
                    List.of("quantity", "extendedprice", "discount", "tax")));

    private TpchTables() {}

    /**
     * A file format and the schema that holds the tables in it.
     */
    public enum Schema
    {
        ORC("tpch_orc", ImmutableMap.of("lineitem", "returnflag")),
        PARQUET("tpch_parquet", ImmutableMap.of("orders", "orderpriority"));

        private final String schemaName;
        // partition column by table, both without prefix
        private final ImmutableMap<String, String> partitioning;

        Schema(String schemaName, ImmutableMap<String, String> partitioning)
        {
            this.schemaName = schemaName;
            this.partitioning = partitioning;
        }

        public String schemaName()
        {
            return schemaName;
        }
    }

    /**
     * Copies the first rows of all tables into a schema of its own, without partitions. Keeps copies that are there.
     *
     * @param catalog of the tables and the copies
     */
    public static void copyFirstRows(SqlConnection connection, String catalog, Schema schema, String target, int rows)
            throws SQLException
    {
        connection.query("CREATE SCHEMA IF NOT EXISTS %s.%s".formatted(catalog, target));
        for (Table table : TABLES) {
            connection.query("CREATE TABLE IF NOT EXISTS %s.%s.%s WITH (format = '%s') AS SELECT * FROM %s.%s.%s LIMIT %s".formatted(
                    catalog, target, table.name(), schema.name(), catalog, schema.schemaName(), table.name(), rows));
        }
    }

    /// Tables of the schema that are not there. A table that is there is whole: Hive shows it only after all of its files are written.
    public static List<String> missing(SqlConnection connection, String catalog, Schema schema)
            throws SQLException
    {
        connection.query("CREATE SCHEMA IF NOT EXISTS %s.%s".formatted(catalog, schema.schemaName()));
        List<Object> present = connection.query("SHOW TABLES FROM %s.%s".formatted(catalog, schema.schemaName())).rows().stream()
                .map(List::getFirst)
                .toList();
        return TABLES.stream().map(Table::name).filter(name -> !present.contains(name)).toList();
    }

    /**
     * Creates and fills a table that is not there, from a catalog {@code tpch} with its default column names. Leaves session properties of writers on the connection.
     *
     * @param scale of the data, 1 is about 1 GB of text
     * @return rows written
     */
    public static long load(SqlConnection connection, String catalog, Schema schema, String tableName, double scale)
            throws SQLException
    {
        // At small scales Trino would start with one writer and end with one file: every worker shall write, so that tables have several.
        connection.setSession("scale_writers", "false");
        connection.setSession("task_scale_writers_enabled", "false");
        connection.setSession("task_min_writer_count", "2");
        return connection.query(createTable(catalog, schema, tableName, scale)).updateCount().orElse(0);
    }

    static String createTable(String catalog, Schema schema, String tableName, double scale)
    {
        Table table = TABLES.stream()
                .filter(candidate -> candidate.name().equals(tableName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such TPC-H table: " + tableName));
        return table.createTable(catalog, schema, scale);
    }

    static List<String> tableNames()
    {
        return TABLES.stream().map(Table::name).toList();
    }

    private record Table(String name, String prefix, List<String> columns, List<String> decimals)
    {
        private Table
        {
            requireNonNull(name, "name is null");
            requireNonNull(prefix, "prefix is null");
            columns = List.copyOf(columns);
            decimals = List.copyOf(decimals);
        }

        String createTable(String catalog, Schema schema, double scale)
        {
            List<String> ordered = new ArrayList<>(columns);
            List<String> properties = new ArrayList<>(List.of("format = '%s'".formatted(schema.name())));
            String partitionColumn = schema.partitioning.get(name);
            if (partitionColumn != null) {
                // Hive wants partition columns last
                ordered.remove(partitionColumn);
                ordered.addLast(partitionColumn);
                properties.add("partitioned_by = ARRAY['%s_%s']".formatted(prefix, partitionColumn));
            }
            String select = ordered.stream()
                    .map(column -> {
                        // the connector's doubles would make sums depend on the order of addition, and Q15 compares two of them for equality
                        String expression = decimals.contains(column) ? "CAST(%s AS decimal(12, 2))".formatted(column) : column;
                        return "%s AS %s_%s".formatted(expression, prefix, column);
                    })
                    .collect(joining(", "));
            return "CREATE TABLE %s.%s.%s WITH (%s) AS SELECT %s FROM tpch.\"sf%s\".%s".formatted(
                    catalog, schema.schemaName(), name, String.join(", ", properties), select, scaleName(scale), name);
        }
    }

    private static String scaleName(double scale)
    {
        return scale == Math.rint(scale) ? Long.toString((long) scale) : Double.toString(scale);
    }
}
