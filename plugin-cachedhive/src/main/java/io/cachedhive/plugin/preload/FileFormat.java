package io.cachedhive.plugin.preload;

import io.trino.plugin.hive.parquet.ParquetPageSourceFactory;

import static io.trino.hive.formats.HiveClassNames.ORC_SERDE_CLASS;

/**
 * What is known of how columns lie in a file.
 */
enum FileFormat
{
    PARQUET,
    ORC,
    /**
     * Whoever reads a column reads all of the file.
     */
    BY_ROW;

    static FileFormat of(String serializationLibrary)
    {
        if (ParquetPageSourceFactory.isParquetSerde(serializationLibrary)) {
            return PARQUET;
        }
        return ORC_SERDE_CLASS.equals(serializationLibrary) ? ORC : BY_ROW;
    }
}
