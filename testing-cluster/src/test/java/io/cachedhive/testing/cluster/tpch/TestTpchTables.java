package io.cachedhive.testing.cluster.tpch;

import io.cachedhive.testing.cluster.tpch.TpchTables.Schema;
import io.trino.sql.parser.SqlParser;
import io.trino.sql.tree.CreateTableAsSelect;
import io.trino.sql.tree.Identifier;
import io.trino.sql.tree.QuerySpecification;
import io.trino.sql.tree.SelectItem;
import io.trino.sql.tree.SingleColumn;
import io.trino.sql.tree.Table;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

final class TestTpchTables
{
    @Test
    void testTables()
    {
        assertThat(TpchTables.tableNames()).containsExactlyInAnyOrder("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier");
        int columns = 0;
        for (String table : TpchTables.tableNames()) {
            for (Schema schema : Schema.values()) {
                CreateTableAsSelect create = parse(schema, table, 0.1);
                assertThat(create.getName().toString()).isEqualTo("lake." + schema.schemaName() + "." + table);
                assertThat(((Table) specification(create).getFrom().orElseThrow()).getName().toString()).isEqualTo("tpch.sf0.1." + table);
            }
            columns += columnNames(parse(Schema.ORC, table, 0.1)).size();
        }
        // the number of columns in the specification
        assertThat(columns).isEqualTo(61);
    }

    @Test
    void testPartitionColumnIsLast()
    {
        assertThat(columnNames(parse(Schema.ORC, "lineitem", 1))).last().isEqualTo("l_returnflag");
        assertThat(columnNames(parse(Schema.PARQUET, "lineitem", 1))).last().isEqualTo("l_comment");
        assertThat(columnNames(parse(Schema.PARQUET, "orders", 1))).last().isEqualTo("o_orderpriority");
        assertThat(TpchTables.createTable("lake", Schema.ORC, "lineitem", 1)).contains("format = 'ORC', partitioned_by = ARRAY['l_returnflag']");
        assertThat(TpchTables.createTable("lake", Schema.PARQUET, "orders", 1)).contains("format = 'PARQUET', partitioned_by = ARRAY['o_orderpriority']");
        assertThat(TpchTables.createTable("lake", Schema.PARQUET, "lineitem", 1)).doesNotContain("partitioned_by");
    }

    @Test
    void testScale()
    {
        assertThat(TpchTables.createTable("lake", Schema.ORC, "region", 1)).contains("FROM tpch.\"sf1\".region");
        assertThat(TpchTables.createTable("lake", Schema.ORC, "region", 0.01)).contains("FROM tpch.\"sf0.01\".region");
        assertThat(TpchTables.createTable("lake", Schema.ORC, "region", 100)).contains("FROM tpch.\"sf100\".region");
    }

    @Test
    void testUnknownTable()
    {
        assertThatThrownBy(() -> TpchTables.createTable("lake", Schema.ORC, "sales", 1)).hasMessage("no such TPC-H table: sales");
    }

    private static CreateTableAsSelect parse(Schema schema, String table, double scale)
    {
        return (CreateTableAsSelect) new SqlParser().createStatement(TpchTables.createTable("lake", schema, table, scale));
    }

    private static List<String> columnNames(CreateTableAsSelect create)
    {
        return specification(create).getSelect().getSelectItems().stream()
                .map(TestTpchTables::columnName)
                .toList();
    }

    private static String columnName(SelectItem item)
    {
        return ((SingleColumn) item).getAlias().map(Identifier::getValue).orElseThrow();
    }

    private static QuerySpecification specification(CreateTableAsSelect create)
    {
        return (QuerySpecification) create.getQuery().getQueryBody();
    }
}
