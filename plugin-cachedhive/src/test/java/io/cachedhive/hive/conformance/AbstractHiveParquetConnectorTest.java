package io.cachedhive.hive.conformance;

import io.trino.testing.sql.TestTable;
import org.junit.jupiter.api.Test;

import static io.trino.plugin.hive.HiveStorageFormat.PARQUET;

/** Parquet, whose columns are found by name. */
abstract class AbstractHiveParquetConnectorTest
        extends AbstractHiveConnectorTest
{
    AbstractHiveParquetConnectorTest()
    {
        super(PARQUET);
    }

    /** A dropped column leaves its values in the files, under its name. */
    @Test
    @Override
    public void testDropAndAddColumnWithSameName()
    {
        try (TestTable table = newTrinoTable("test_drop_add_column", "AS SELECT 1 x, 2 y, 3 z")) {
            assertUpdate("ALTER TABLE " + table.getName() + " DROP COLUMN y");
            assertQuery("SELECT * FROM " + table.getName(), "VALUES (1, 3)");

            assertUpdate("ALTER TABLE " + table.getName() + " ADD COLUMN y int");
            assertQuery("SELECT * FROM " + table.getName(), "VALUES (1, 3, 2)");
        }
    }

    /** The files that are there keep the old name. */
    @Test
    @Override
    public void testRenameColumn()
    {
        try (TestTable table = newTrinoTable("test_rename_column", "AS SELECT 'some value' x")) {
            assertUpdate("ALTER TABLE " + table.getName() + " RENAME COLUMN x TO y");
            assertQuery("SELECT y FROM " + table.getName(), "VALUES CAST(NULL AS varchar)");
            assertQueryFails("SELECT x FROM " + table.getName(), ".*Column 'x' cannot be resolved");

            assertUpdate("INSERT INTO " + table.getName() + " VALUES 'other text'", 1);
            assertQuery("SELECT y FROM " + table.getName(), "VALUES CAST(NULL AS varchar), 'other text'");
        }
    }

    @Test
    @Override
    public void testAlterTableRenameColumnToLongName()
    {
        String longName = "c" + "z".repeat(65535);
        try (TestTable table = newTrinoTable("test_rename_long_column", "AS SELECT 123 x")) {
            assertUpdate("ALTER TABLE %s RENAME COLUMN x TO %s".formatted(table.getName(), longName));
            assertUpdate("INSERT INTO " + table.getName() + " VALUES 456", 1);
            assertQuery("SELECT %s FROM %s".formatted(longName, table.getName()), "VALUES NULL, 456");
        }
    }

    @Override
    protected boolean supportsPhysicalPushdown()
    {
        return true;
    }
}
