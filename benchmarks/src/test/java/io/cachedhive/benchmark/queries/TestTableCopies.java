package io.cachedhive.benchmark.queries;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestTableCopies
{
    @Test
    void testCopyOf()
    {
        String definition = """
                CREATE TABLE hive.tpch_orc.lineitem (
                   l_orderkey bigint,
                   l_quantity decimal(12, 2),
                   l_returnflag varchar(1)
                )
                WITH (
                   format = 'ORC',
                   partitioned_by = ARRAY['l_returnflag']
                )""";
        assertThat(TableCopies.copyOf(definition, "local.copies_local.lineitem", "local:///copies/lineitem")).isEqualTo("""
                CREATE TABLE local.copies_local.lineitem (
                   l_orderkey bigint,
                   l_quantity decimal(12, 2),
                   l_returnflag varchar(1)
                )
                WITH (
                   external_location = 'local:///copies/lineitem',
                   format = 'ORC',
                   partitioned_by = ARRAY['l_returnflag']
                )""");
    }

    @Test
    void testSchemaOfLocalDisk()
    {
        assertThat(TableCopies.schema("wide_1", false)).isEqualTo("wide_1");
        assertThat(TableCopies.schema("wide_1", true)).isNotEqualTo("wide_1");
    }
}
