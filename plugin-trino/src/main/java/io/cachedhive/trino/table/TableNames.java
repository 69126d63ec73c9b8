package io.cachedhive.trino.table;

import io.cachedhive.plugin.table.TableName;
import io.trino.spi.connector.SchemaTableName;

/**
 * Trino's names of tables, and those of the cache.
 */
public final class TableNames
{
    private TableNames() {}

    public static TableName fromTrino(SchemaTableName table)
    {
        return new TableName(table.getSchemaName(), table.getTableName());
    }

    public static SchemaTableName toTrino(TableName table)
    {
        return new SchemaTableName(table.schemaName(), table.tableName());
    }
}
