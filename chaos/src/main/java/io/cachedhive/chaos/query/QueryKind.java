package io.cachedhive.chaos.query;

import java.util.Locale;

/**
 * What a query is about.
 */
public enum QueryKind
{
    /** Of a table whose files stay, compared with plain Hive. */
    STEADY,
    /** Of a table whose files are replaced. */
    MOVING,
    /** CREATE TABLE AS, INSERT, DELETE of a partition, DROP. Trino's file metastore fails at INSERT OVERWRITE. */
    WRITE,
    /** Of what was written. */
    WRITTEN,
    /** Through the plain Hive connector, for comparison. */
    PLAIN;

    public String text()
    {
        return name().toLowerCase(Locale.ROOT);
    }
}
