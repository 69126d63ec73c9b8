package io.cachedhive.hive.conformance;

import io.trino.testing.sql.TestTable;
import org.junit.jupiter.api.Test;

import static io.trino.plugin.hive.HiveStorageFormat.ORC;

/** ORC, whose columns are found by position. */
abstract class AbstractHiveOrcConnectorTest
        extends AbstractHiveConnectorTest
{
    AbstractHiveOrcConnectorTest()
    {
        super(ORC);
    }

    /** A dropped column leaves its values in the files, in its position. */
    @Test
    @Override
    public void testDropAndAddColumnWithSameName()
    {
        try (TestTable table = newTrinoTable("test_drop_add_column", "AS SELECT 1 x, 2 y, 3 z")) {
            assertUpdate("ALTER TABLE " + table.getName() + " DROP COLUMN y");
            assertQuery("SELECT * FROM " + table.getName(), "VALUES (1, 2)");

            assertUpdate("ALTER TABLE " + table.getName() + " ADD COLUMN y int");
            assertQuery("SELECT * FROM " + table.getName(), "VALUES (1, 2, 3)");
        }
    }

    /** A field is not read alone: the reader takes the stripes of a small file whole. */
    @Override
    protected boolean supportsPhysicalPushdown()
    {
        return false;
    }
}
