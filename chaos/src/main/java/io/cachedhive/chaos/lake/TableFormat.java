package io.cachedhive.chaos.lake;

import java.util.Locale;

/**
 * The formats of Hive's tables, as {@code WITH (format = ...)} names them.
 */
public enum TableFormat
{
    ORC,
    PARQUET,
    AVRO,
    RCBINARY,
    RCTEXT,
    SEQUENCEFILE,
    JSON,
    TEXTFILE,
    CSV;

    public String text()
    {
        return name().toLowerCase(Locale.ROOT);
    }
}
