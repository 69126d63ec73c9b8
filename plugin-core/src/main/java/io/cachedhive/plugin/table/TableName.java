package io.cachedhive.plugin.table;

import static java.util.Objects.requireNonNull;

/**
 * A table of the catalog, as queries name it.
 */
public record TableName(String schemaName, String tableName)
{
    public TableName
    {
        requireNonNull(schemaName, "schemaName is null");
        requireNonNull(tableName, "tableName is null");
    }

    /**
     * As counters and cache workers name it.
     */
    @Override
    public String toString()
    {
        return schemaName + "." + tableName;
    }
}
