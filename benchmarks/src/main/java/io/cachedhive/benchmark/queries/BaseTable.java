package io.cachedhive.benchmark.queries;

import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.tpch.TpchTables;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

import static java.util.Objects.requireNonNull;

/**
 * A table that is written once. What is measured reads copies of its files.
 *
 * @param schema in which the table is written
 * @param copies of each of its files in a copy of the table
 * @param copyName name of a copy of the table
 */
record BaseTable(String schema, String name, Source source, int copies, String copyName)
{
    private static final String BENCHMARK_SCHEMA = "queries_base";
    private static final List<String> TPCH_TABLES = List.of("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem");

    BaseTable
    {
        requireNonNull(schema, "schema is null");
        requireNonNull(name, "name is null");
        requireNonNull(source, "source is null");
        requireNonNull(copyName, "copyName is null");
    }

    private static BaseTable of(String schema, String name, Source source, int copies)
    {
        return new BaseTable(schema, name, source, copies, name);
    }

    /**
     * Writes the table.
     */
    interface Source
    {
        void write(SqlConnection connection, BaseTable table, Scale scale)
                throws SQLException;
    }

    static List<BaseTable> tpch(String format)
    {
        return TPCH_TABLES.stream().map(name -> tpch(format, name)).toList();
    }

    static BaseTable tpch(String format, String name)
    {
        TpchTables.Schema schema = TpchTables.Schema.valueOf(format.toUpperCase(Locale.ROOT));
        return of(schema.schemaName(), name, (connection, _, scale) -> TpchTables.load(connection, Contender.HIVE.catalog(false), schema, name, scale.tpch()), 1);
    }

    /**
     * A hundred partitions, of files whose statistics say which keys they have.
     */
    static BaseTable manyFiles()
    {
        return created("many_files", "format = 'ORC', partitioned_by = ARRAY['part']", "orderkey, custkey, totalprice, comment, orderkey % 100 AS part FROM %s.orders", 1);
    }

    /**
     * @param files of a few kilobytes
     */
    static BaseTable smallFiles(int files)
    {
        int written = Math.min(files, 100);
        return created(
                "small_files",
                "format = 'ORC', partitioned_by = ARRAY['part']",
                "custkey, name, address, comment, custkey %% %s AS part FROM tpch.tiny.customer".formatted(written),
                files / written);
    }

    static BaseTable text()
    {
        return created("text_lines", "format = 'TEXTFILE'", "orderkey, linenumber, quantity, extendedprice, shipdate, comment FROM %s.lineitem", 1);
    }

    private static BaseTable created(String name, String properties, String select, int copies)
    {
        return of(
                BENCHMARK_SCHEMA,
                name,
                (connection, table, scale) -> {
                    connection.setSession("hive.compression_codec", "NONE");
                    String source = scale.tpch() == Math.rint(scale.tpch()) ? "%.0f".formatted(scale.tpch()) : Double.toString(scale.tpch());
                    connection.query("CREATE TABLE %s.%s.%s WITH (%s) AS SELECT %s".formatted(
                            Contender.HIVE.catalog(false),
                            table.schema(),
                            table.name(),
                            properties,
                            select.replace("%s", "tpch.\"sf" + source + "\"").replace("%%", "%")));
                },
                copies);
    }

    BaseTable withCopies(int copies)
    {
        return new BaseTable(schema, name, source, copies, copyName);
    }

    BaseTable withCopyName(String copyName)
    {
        return new BaseTable(schema, name, source, copies, copyName);
    }

    void write(SqlConnection connection, Scale scale)
            throws SQLException
    {
        source.write(connection, this, scale);
    }
}
